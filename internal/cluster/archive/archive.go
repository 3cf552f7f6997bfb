// Package archive writes and reads the file that is left of a job that has
// ended: everything the REST API had to say about it, in the format of Flink's
// history server, which reads these files too.
//
//	{"archive": [{"path": "/jobs/overview", "json": "{\"jobs\": …}"}, …]}
//
// A directory of archives has one file for each job, named by the job's id. It
// promises that a file appears under its name only when it is complete and on
// disk, and that what is read is well-formed JSON about the job the file is
// named after. It never interprets what was answered at a path.
package archive

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"github.com/weirstream/weir/internal/ident"
)

// An Entry is one path of the REST API and the answer it had.
type Entry struct {
	Path string
	JSON jsontext.Value
}

// An Archive is what a file holds.
type Archive struct {
	Job ident.JobID
	// Size is the length of the file, in bytes.
	Size  int64
	paths map[string]jsontext.Value
}

// At gives the answer at a path; nil: there is none. It must not be changed.
func (a *Archive) At(path string) jsontext.Value { return a.paths[path] }

// jobsOverview is the path every archive has: the list of jobs with this one.
const jobsOverview = "/jobs/overview"

// maxSize bounds the file that is read: a job of 100,000 subtasks takes a
// quarter of it.
const maxSize = 1 << 30

// written is the file as Flink defines it.
type written struct {
	Archive []writtenEntry `json:"archive"`
}

// writtenEntry has an answer as text, in JSON within JSON.
type writtenEntry struct {
	Path string `json:"path"`
	JSON string `json:"json"`
}

// Directory gives the path of a directory that the configuration names: a path,
// or a file: URI.
func Directory(location string) (string, error) {
	u, err := url.Parse(location)
	if err != nil || len(u.Scheme) < 2 { // a letter is a drive
		return location, nil
	}
	switch {
	case u.Scheme != "file":
		return "", fmt.Errorf("%s: archives are kept in local or mounted directories in this version, and not in %q", location, u.Scheme)
	case u.Host != "" && u.Host != "localhost":
		return "", fmt.Errorf("%s: a file URI has three slashes before the path; %q would be a host", location, u.Host)
	case u.Path == "":
		return "", fmt.Errorf("%s: the URI has no path", location)
	}
	return filepath.FromSlash(u.Path), nil
}

// Write makes the archive of a job in dir, which is made when missing. An
// earlier archive of the job is replaced.
func Write(dir string, job ident.JobID, entries []Entry) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write the archive of job %s to %s: %w", job, dir, err)
		}
	}()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	all := written{Archive: make([]writtenEntry, len(entries))}
	for i, e := range entries {
		all.Archive[i] = writtenEntry{e.Path, string(e.JSON)}
	}
	draft, err := os.CreateTemp(dir, "."+job.String()+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(draft.Name()))
		}
	}()
	err = json.MarshalWrite(draft, &all)
	if err = errors.Join(err, draft.Chmod(0o644), draft.Sync(), draft.Close()); err != nil {
		return err
	}
	return os.Rename(draft.Name(), filepath.Join(dir, job.String()))
}

// Name reads the name of a file as that of an archive; false: it is none.
func Name(name string) (ident.JobID, bool) {
	id, err := ident.Parse(name)
	job := ident.JobID{ID: id}
	return job, err == nil && job.String() == name
}

// Read reads the archive at path, whose name is the job's id.
func Read(path string) (a *Archive, err error) {
	job, ok := Name(filepath.Base(path))
	if !ok {
		return nil, fmt.Errorf("read archive %s: the name of the file is no job id", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read an archive: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read archive %s: %w", path, err)
	}
	if len(text) > maxSize {
		return nil, fmt.Errorf("read archive %s: it is longer than %d bytes", path, maxSize)
	}
	if a, err = Decode(text, job); err != nil {
		return nil, fmt.Errorf("read archive %s: %w", path, err)
	}
	return a, nil
}

// Decode reads the content of the archive of a job.
func Decode(text []byte, job ident.JobID) (*Archive, error) {
	var all written
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("it is no archive: %w", err)
	}
	a := &Archive{Job: job, Size: int64(len(text)), paths: make(map[string]jsontext.Value, len(all.Archive))}
	for i, e := range all.Archive {
		value := jsontext.Value(e.JSON)
		if err := value.Compact(); err != nil {
			return nil, fmt.Errorf("entry %d, %q, is no JSON: %w", i, e.Path, err)
		}
		if _, twice := a.paths[e.Path]; twice {
			return nil, fmt.Errorf("entry %d, %q, is there twice", i, e.Path)
		}
		a.paths[e.Path] = bytes.Clone(value)
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	return a, nil
}

// check finds the job in its list of jobs.
func (a *Archive) check() error {
	text := a.paths[jobsOverview]
	if text == nil {
		return fmt.Errorf("there is nothing at %s", jobsOverview)
	}
	var list struct {
		Jobs []struct {
			ID ident.JobID `json:"jid"`
		} `json:"jobs"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("what is at %s is no list of jobs: %w", jobsOverview, err)
	}
	if len(list.Jobs) != 1 || list.Jobs[0].ID != a.Job {
		return fmt.Errorf("what is at %s is not the one job %s", jobsOverview, a.Job)
	}
	return nil
}
