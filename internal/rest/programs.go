package rest

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"

	"github.com/weirstream/weir/internal/program"
)

// Flink calls an uploaded program a jar; so do the paths.

func (s *Server) programRoutes() []route {
	return []route{
		get("/jars", s.programs),
		endpoint(http.MethodPost, "/jars/upload", emptyBody, s.upload).reading(),
		endpoint(http.MethodDelete, "/jars/:jarid", emptyBody, s.deleteProgram),
		get("/jars/:jarid/plan", s.planProgram).acting(),
		endpoint(http.MethodPost, "/jars/:jarid/plan", "JarPlanRequestBody", s.planProgram),
		endpoint(http.MethodPost, "/jars/:jarid/run", "JarRunRequestBody", s.runProgram),
	}
}

func (s *Server) programs(r *request) (answer, error) {
	stored, err := s.Programs.List()
	if err != nil {
		return answer{}, err
	}
	type entry struct {
		Name        string  `json:"name"`
		Description *string `json:"description"`
	}
	type file struct {
		ID       string  `json:"id"`
		Name     string  `json:"name"`
		Uploaded int64   `json:"uploaded"`
		Entry    []entry `json:"entry"`
	}
	files := []file{}
	for _, p := range stored {
		files = append(files, file{p.ID, p.Name, millis(p.Uploaded), []entry{{Name: "main"}}})
	}
	return ok(struct {
		Address string `json:"address"`
		Files   []file `json:"files"`
	}{"http://" + hostOf(r.Request), files})
}

// upload takes the one file of a form, under whatever name its field has, and
// gives the file to the store as it comes in.
func (s *Server) upload(r *request) (answer, error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		if err := r.readBody(); err != nil {
			return answer{}, err
		}
		return answer{}, wrongFiles(0)
	}
	kept, files, err := s.keepFiles(multipart.NewReader(r.Body, params["boundary"]))
	if err == nil && files != 1 {
		err = wrongFiles(files)
	}
	if err != nil {
		if kept.ID != "" {
			err = errors.Join(err, s.Programs.Delete(kept.ID))
		}
		return answer{}, err
	}
	return ok(struct {
		Filename string `json:"filename"`
		Status   string `json:"status"`
	}{kept.Path, "success"})
}

func wrongFiles(n int) *failure {
	return fail(http.StatusBadRequest, restException+fmt.Sprintf("Exactly 1 file must be sent, received %d.", n))
}

// keepFiles keeps the first file of a form and counts all.
func (s *Server) keepFiles(form *multipart.Reader) (kept program.Program, files int, err error) {
	for {
		part, err := form.NextRawPart()
		if err == io.EOF {
			return kept, files, nil
		}
		if err != nil {
			return kept, files, badForm(err)
		}
		name, isFile := fileName(part)
		if !isFile {
			continue
		}
		files++
		if files > 1 {
			continue
		}
		// The program's own faults come first; what broke in the form is told
		// as such.
		source := &formReader{part: part}
		kept, err = s.Programs.Upload(name, source)
		if source.err != nil {
			return kept, files, badForm(source.err)
		}
		if err != nil {
			return kept, files, programFailure(err)
		}
	}
}

// fileName is the name a part was sent with, path and all: to cut it is the
// store's work.
func fileName(part *multipart.Part) (name string, isFile bool) {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return "", false
	}
	name, isFile = params["filename"]
	return name, isFile
}

// badForm refuses a form that cannot be read; too large a one keeps its error.
func badForm(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return err
	}
	return fail(http.StatusBadRequest, "The uploaded form cannot be read: "+clip(err.Error())+".")
}

// formReader remembers what went wrong with the client's side of an upload.
type formReader struct {
	part *multipart.Part
	err  error
}

func (f *formReader) Read(p []byte) (int, error) {
	n, err := f.part.Read(p)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

func (s *Server) deleteProgram(r *request) (answer, error) {
	err := s.Programs.Delete(r.params["jarid"])
	if errors.Is(err, program.ErrNotFound) {
		return answer{}, fail(http.StatusBadRequest, restException+fmt.Sprintf("File %s does not exist in %s.", clip(r.params["jarid"]), s.Programs.Dir()))
	}
	if err != nil {
		return answer{}, err
	}
	return ok(empty{})
}

// programOf finds the program the path names.
func (s *Server) programOf(r *request) (program.Program, error) {
	p, err := s.Programs.Get(r.params["jarid"])
	if errors.Is(err, program.ErrNotFound) {
		return p, fail(http.StatusNotFound, restException+fmt.Sprintf("Jar file %s/%s does not exist", s.Programs.Dir(), clip(r.params["jarid"])))
	}
	return p, err
}

// unlessDeleted gives why a program was not run, or, if it was deleted meanwhile, that it
// does not exist: whoever has it may upload it and try again, for nothing was submitted.
func (s *Server) unlessDeleted(r *request, why error) error {
	if _, err := s.programOf(r); err != nil {
		return err
	}
	return why
}

func (s *Server) planProgram(r *request) (answer, error) {
	run, err := r.runRequest()
	if err != nil {
		return answer{}, err
	}
	p, err := s.programOf(r)
	if err != nil {
		return answer{}, err
	}
	graph, err := s.describe(r, p, run, true)
	if err != nil {
		return answer{}, s.unlessDeleted(r, err)
	}
	return ok(planBody{planOf(graph, nil)})
}

func (s *Server) runProgram(r *request) (answer, error) {
	run, err := r.runRequest()
	if err != nil {
		return answer{}, err
	}
	p, err := s.programOf(r)
	if err != nil {
		return answer{}, err
	}
	graph, err := s.describe(r, p, run, false)
	if err != nil {
		return answer{}, s.unlessDeleted(r, err)
	}
	if err := s.begins(graph); err != nil {
		return answer{}, err
	}
	if s.Publish != nil {
		if err := s.Publish(r.Context(), p, graph.Artifact.SHA256); err != nil {
			return answer{}, s.unlessDeleted(r, err)
		}
	}
	if err := s.Jobs.Submit(r.Context(), graph); err != nil {
		return answer{}, submitFailure(err)
	}
	return ok(struct {
		Job         any               `json:"jobid"`
		Application any               `json:"applicationId"`
		Ignored     map[string]string `json:"ignored,omitempty"` // what was sent and has no effect, and why
	}{graph.Job, graph.Job, maps.Clone(run.ignored)})
}
