package rest

import (
	"cmp"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/program"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/storage"
)

// A runRequest is how a program is to be run: from the body, and for what is
// not there from the query.
type runRequest struct {
	args     []string
	settings map[string]string
	job      ident.JobID       // zero: not given
	ignored  map[string]string // what has no effect, and why
}

// runBody is the body of run and plan. What a client of Flink sends as text
// where a number or a truth value belongs is read as such.
type runBody struct {
	EntryClass    *string           `json:"entryClass"`
	Arguments     []string          `json:"programArgsList"`
	ArgumentText  *string           `json:"programArgs"`
	Parallelism   *looseInt         `json:"parallelism"`
	Job           *string           `json:"jobId"`
	NonRestored   *looseBool        `json:"allowNonRestoredState"`
	Savepoint     *string           `json:"savepointPath"`
	Restore       *string           `json:"restoreMode"`
	Claim         *string           `json:"claimMode"`
	Configuration map[string]string `json:"flinkConfiguration"`
}

func (r *request) runRequest() (*runRequest, error) {
	var body runBody
	if err := r.decode(&body); err != nil {
		return nil, err
	}
	for _, mode := range []*string{body.Restore, body.Claim} {
		if mode != nil && *mode != "" && *mode != "CLAIM" && *mode != "NO_CLAIM" && *mode != "LEGACY" {
			return nil, badBody(r.format, fmt.Sprintf("claimMode is %q; allowed are LEGACY, CLAIM, NO_CLAIM.", clip(*mode)))
		}
	}
	run := &runRequest{settings: maps.Clone(body.Configuration), ignored: map[string]string{}}
	if run.settings == nil {
		run.settings = map[string]string{}
	}
	if err := r.parallelism(&body, run); err != nil {
		return nil, err
	}
	if err := r.arguments(&body, run); err != nil {
		return nil, err
	}
	if body.Job != nil && *body.Job != "" {
		id, err := ident.Parse(*body.Job)
		if err != nil {
			return nil, badBody(r.format, "jobId: "+err.Error())
		}
		run.job = ident.JobID{ID: id}
	}
	if err := r.recovery(&body, run); err != nil {
		return nil, err
	}
	if class := cmp.Or(deref(body.EntryClass), r.query.Get("entry-class")); class != "" {
		run.ignored["entryClass"] = "a Go program has one entry point, its main function"
	}
	return run, nil
}

// recovery takes over into the settings what the job begins with.
func (r *request) recovery(body *runBody, run *runRequest) error {
	if path := cmp.Or(deref(body.Savepoint), r.query.Get("savepointPath")); path != "" {
		run.settings[config.RecoveryPath.Key] = path
	}
	allow := body.NonRestored != nil && bool(*body.NonRestored)
	if text := r.query.Get("allowNonRestoredState"); body.NonRestored == nil && text != "" {
		var err error
		if allow, err = strconv.ParseBool(text); err != nil {
			return badParameter("query", "allowNonRestoredState", text)
		}
	}
	if allow {
		run.settings[config.RecoveryIgnoreUnclaimed.Key] = "true"
	}
	switch mode := cmp.Or(deref(body.Claim), deref(body.Restore)); mode {
	case "":
	case "LEGACY":
		return couldNotExecute("claimMode is LEGACY, in which nobody owns the savepoint; allowed are CLAIM, NO_CLAIM.")
	default:
		run.settings[config.RecoveryClaimMode.Key] = mode
	}
	return nil
}

// begins refuses a job that could not begin with what its settings name, before it
// is submitted; its JobMaster would find the same.
func (s *Server) begins(graph *jobgraph.Graph) error {
	c, err := config.New(graph.Configuration)
	if err != nil {
		return nil // it is refused with the job
	}
	path := config.RecoveryPath.In(c)
	if path == "" {
		return nil
	}
	if graph.Batch {
		return couldNotExecute(fmt.Sprintf("%s is %s, and the job is a batch job, which has no state to begin with: leave it out, or run it in STREAMING mode.", config.RecoveryPath.Key, clip(path)))
	}
	refuse := func(class string, err error) error {
		return fail(http.StatusBadRequest, restException+"Could not execute application.",
			"org.apache.flink.runtime.client.JobInitializationException: Could not start the JobMaster.", class+err.Error())
	}
	at, err := fs.Parse(path)
	if err != nil {
		return refuse("", err)
	}
	m, dir, err := storage.Disk{Files: s.Files}.Read(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse("java.io.FileNotFoundException: ", err)
	case err != nil:
		return refuse("", err)
	}
	_, err = snapshot.Assign(m, checkpoint.Targets(graph), snapshot.Rules{Source: dir.String(), AllowNonRestored: config.RecoveryIgnoreUnclaimed.In(c)})
	if err != nil {
		return refuse("java.lang.IllegalStateException: ", err)
	}
	return nil
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// couldNotExecute refuses to run a program, with Flink's text and the reason.
func couldNotExecute(reason string) *failure {
	return fail(http.StatusBadRequest, restException+"Could not execute application.", reason)
}

// parallelism takes the parallelism over into the settings; -1 means that
// nobody has chosen one.
func (r *request) parallelism(body *runBody, run *runRequest) error {
	p, err := r.queryInt("parallelism", -1)
	if err != nil {
		return err
	}
	if body.Parallelism != nil {
		p = int(*body.Parallelism)
	}
	switch {
	case p == -1:
	case p < 1:
		return couldNotExecute("java.lang.IllegalArgumentException: Parallelism must be at least one, or ExecutionConfig.PARALLELISM_DEFAULT (use system default).")
	default:
		run.settings[config.ParallelismDefault.Key] = strconv.Itoa(p)
	}
	return nil
}

// arguments takes the first of: the list in the body, the text in the body,
// programArg and program-args in the query.
func (r *request) arguments(body *runBody, run *runRequest) error {
	text := cmp.Or(deref(body.ArgumentText), r.query.Get("program-args"))
	switch {
	case body.Arguments != nil:
		run.args = body.Arguments
	case deref(body.ArgumentText) == "" && r.query.Get("programArg") != "":
		run.args = strings.Split(r.query.Get("programArg"), ",")
	case text != "":
		args, err := words(text)
		if err != nil {
			return fail(http.StatusBadRequest, "The program arguments cannot be read: "+err.Error()+".")
		}
		run.args = args
	}
	for i, a := range run.args {
		if strings.ContainsRune(a, 0) {
			return fail(http.StatusBadRequest, fmt.Sprintf("Program argument %d holds a zero byte, which no process can be given.", i))
		}
	}
	return nil
}

// words splits a text at blanks; what stands in single or double quotes is
// kept together.
func words(text string) ([]string, error) {
	var all []string
	var word strings.Builder
	var quote rune
	inWord := false
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			quote, inWord = c, true
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			if inWord {
				all = append(all, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if inWord {
		all = append(all, word.String())
	}
	return all, nil
}

// settingsOf gives what the program of a run is started with: what the cluster
// sets where the run sets nothing. The restart strategy is the JobMaster's to
// add, since whether it is the job's own makes a difference in what is shown.
func (s *Server) settingsOf(run *runRequest) map[string]string {
	settings := s.Config.JobSettings()
	maps.DeleteFunc(settings, func(key, _ string) bool { return strings.HasPrefix(key, "restart-strategy") })
	for key := range run.settings { // order: each key takes away its own option's names
		e, err := config.Explain(key)
		if err != nil {
			continue // it is refused with the others
		}
		for _, o := range e.Options {
			delete(settings, o.Key)
			for _, old := range o.OldKeys {
				delete(settings, old)
			}
		}
	}
	maps.Copy(settings, run.settings)
	return settings
}

// describe runs the program until it has described its job, and gives the job
// its id.
func (s *Server) describe(r *request, p program.Program, run *runRequest, preview bool) (*jobgraph.Graph, error) {
	settings := s.settingsOf(run)
	if _, err := config.New(settings); err != nil {
		return nil, couldNotExecute("flinkConfiguration: " + err.Error())
	}
	planner := *s.Planner
	planner.Preview = preview
	graph, err := planner.Plan(r.Context(), p, run.args, settings)
	if err != nil {
		return nil, programFailure(err)
	}
	graph.Job = run.job
	if graph.Job.IsZero() {
		graph.Job = s.NewJobID()
	}
	return graph, nil
}

// submitFailure turns what the Dispatcher says of a submission into an answer.
func submitFailure(err error) error {
	var duplicate *dispatcher.DuplicateError
	var refused *dispatcher.SubmissionError
	switch {
	case errors.As(err, &duplicate):
		return couldNotExecute("org.apache.flink.runtime.client.DuplicateApplicationSubmissionException: " + duplicate.Error() + " Job has already been submitted: " + duplicate.Job.String())
	case errors.As(err, &refused):
		return couldNotExecute(refused.Error())
	}
	return err
}

// looseInt reads a whole number that may stand in quotes.
type looseInt int

func (n *looseInt) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, err := loose(d, '0')
	if err != nil {
		return err
	}
	v, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return fmt.Errorf("want a whole number, got %q", clip(text))
	}
	*n = looseInt(v)
	return nil
}

// looseBool reads true or false that may stand in quotes.
type looseBool bool

func (b *looseBool) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, err := loose(d, 't', 'f')
	if err != nil {
		return err
	}
	switch strings.ToLower(text) {
	case "true":
		*b = true
	case "false", "":
		*b = false
	default:
		return fmt.Errorf("want true or false, got %q", clip(text))
	}
	return nil
}

// loose reads a scalar of one of the kinds, or a string, and gives its text.
func loose(d *jsontext.Decoder, kinds ...jsontext.Kind) (string, error) {
	value, err := d.ReadValue()
	if err != nil {
		return "", err
	}
	if value.Kind() == '"' {
		var text string
		err := json.Unmarshal(value, &text)
		return strings.TrimSpace(text), err
	}
	for _, k := range kinds {
		if value.Kind() == k {
			return string(value), nil
		}
	}
	return "", fmt.Errorf("want a value of another type than %q", clip(string(value)))
}
