package rest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/ident"
)

// A logDir is the log directory of one process.
type logDir struct {
	files fs.FS
	main  string // the process's own log in there; "": it has none
}

// noFile answers for a file that is not there.
func noFile(text string) *failure { return fail(http.StatusNotFound, text) }

// open gives one file of the directory. Files elsewhere cannot be reached.
func (d logDir) open(name, missing string) (answer, error) {
	if d.files == nil || name == "" || !fs.ValidPath(name) || strings.Contains(name, "/") {
		return answer{}, noFile(missing)
	}
	file, err := d.files.Open(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return answer{}, noFile(missing)
	}
	if err != nil {
		return answer{}, fmt.Errorf("open log file %s: %w", name, err)
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return answer{}, errors.Join(noFile(missing), err, file.Close())
	}
	return answer{status: http.StatusOK, file: file}, nil
}

// stdout gives what the process printed: the output of its jobs, or else the
// last words of the process itself, which `weir cluster start` keeps.
func (d logDir) stdout(missing string) (answer, error) {
	if d.main == "" {
		return answer{}, noFile(missing)
	}
	name := strings.TrimSuffix(d.main, ".log")
	a, err := d.open(name+".out", missing)
	if a.file != nil {
		return a, err
	}
	return d.open(name+".err", missing)
}

// logFile is one file of a log directory.
type logFile struct {
	Name     string `json:"name"`
	Size     int64  `json:"size"`
	Modified int64  `json:"mtime"`
}

// list lists the files.
func (d logDir) list() (answer, error) {
	all := []logFile{}
	if d.files != nil {
		entries, err := fs.ReadDir(d.files, ".")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return answer{}, fmt.Errorf("list the log files: %w", err)
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
				all = append(all, logFile{e.Name(), info.Size(), millis(info.ModTime())})
			}
		}
	}
	slices.SortFunc(all, func(a, b logFile) int { return cmp.Compare(a.Name, b.Name) })
	return ok(struct {
		Logs []logFile `json:"logs"`
	}{all})
}

const notInJobManager = "This file does not exist in JobManager log dir."

func (s *Server) own() logDir { return logDir{s.Logs, s.LogFile} }

func (s *Server) jobManagerLog(*request) (answer, error) {
	return s.own().open(s.LogFile, notInJobManager)
}

func (s *Server) jobManagerStdout(*request) (answer, error) {
	return s.own().stdout(notInJobManager)
}

func (s *Server) jobManagerLogs(*request) (answer, error) { return s.own().list() }

func (s *Server) jobManagerLogFile(r *request) (answer, error) {
	return s.own().open(r.params["filename"], notInJobManager)
}

// logsOf finds the log directory of the TaskManager the path names.
func (s *Server) logsOf(r *request) (logDir, ident.ResourceID, error) {
	id := ident.ResourceID(r.params["taskmanagerid"])
	managers, err := s.TaskManagers.TaskManagers(r.Context())
	if err != nil {
		return logDir{}, id, err
	}
	for i := range managers {
		if managers[i].ID != id {
			continue
		}
		dir, main := path.Split(managers[i].LogFile)
		if dir == "" || s.OpenLogs == nil {
			return logDir{}, id, nil
		}
		return logDir{s.OpenLogs(dir), main}, id, nil
	}
	return logDir{}, id, fail(http.StatusNotFound, notFoundException+"Failed to transfer file from TaskExecutor "+clip(string(id))+" because it was unknown.", unregistered(id))
}

func notInTaskManager(id ident.ResourceID) string {
	return "This file does not exist in the log dir of TaskManager " + clip(string(id)) + "."
}

func (s *Server) taskManagerLog(r *request) (answer, error) {
	d, id, err := s.logsOf(r)
	if err != nil {
		return answer{}, err
	}
	return d.open(d.main, notInTaskManager(id))
}

func (s *Server) taskManagerStdout(r *request) (answer, error) {
	d, id, err := s.logsOf(r)
	if err != nil {
		return answer{}, err
	}
	return d.stdout(notInTaskManager(id))
}

func (s *Server) taskManagerLogs(r *request) (answer, error) {
	d, id, err := s.logsOf(r)
	var unknown *failure
	if errors.As(err, &unknown) {
		return answer{}, fail(http.StatusNotFound, restException+"Could not find TaskExecutor "+clip(string(id)), unregistered(id))
	}
	if err != nil {
		return answer{}, err
	}
	return d.list()
}

func (s *Server) taskManagerLogFile(r *request) (answer, error) {
	d, id, err := s.logsOf(r)
	if err != nil {
		return answer{}, err
	}
	return d.open(r.params["filename"], notInTaskManager(id))
}
