// Package history watches directories with archives of jobs for a history
// server: it knows which there are, reads the one a request is about, and deletes
// those that are beyond what is kept.
//
// It promises that an archive is seen at the latest one refresh interval after it
// appeared and is no longer seen once its file is gone, that an archive that
// cannot be read is named once in the log and hides no other, and that it deletes
// nothing but archives it could read. It never changes one.
package history

import (
	"cmp"
	"context"
	"encoding/json/jsontext"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/weirstream/weir/internal/cluster/archive"
	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/ident"
)

// Options are what a Watcher is made of.
type Options struct {
	// Directories hold the archives; one that is not there is looked for again.
	Directories []string
	// Interval is the time between two looks.
	Interval time.Duration
	// RetainedJobs is how many archives each directory keeps, the newest ones;
	// 0: all.
	RetainedJobs int
	// RetainedTime is how long an archive is kept; 0: for ever.
	RetainedTime time.Duration
	Logger       *slog.Logger // nil: nothing is logged
}

// Watcher knows the archives there are. Its methods may be called from any
// goroutine.
type Watcher struct {
	options Options
	log     *slog.Logger

	mu sync.Mutex // guards what follows; held for no input or output
	// known are the archives by job. When two directories have one of the same
	// job, the first directory's counts.
	known map[ident.JobID]*entry
	// broken are the files that could not be read, as they were then.
	broken map[string]version
	cache  cache
}

// entry is one archive that was read.
type entry struct {
	job     ident.JobID
	path    string
	version version
	lists   map[string]jsontext.Value // what it adds to the lists of all jobs
}

// version tells whether a file is the one that was read.
type version struct {
	modified time.Time
	size     int64
}

// listed are the paths whose answers are lists with one entry from each archive.
var listed = []string{"/jobs/overview", "/applications/overview"}

// New makes a Watcher, which knows no archive before Refresh or Run.
func New(o Options) *Watcher {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Watcher{options: o, log: o.Logger, known: map[ident.JobID]*entry{}, broken: map[string]version{}}
}

// Run looks for archives at the interval until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	ticker := time.NewTicker(w.options.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			w.Refresh(now)
		}
	}
}

// Refresh looks into every directory. Only one call may be under way.
func (w *Watcher) Refresh(now time.Time) {
	found := map[ident.JobID]*entry{}
	broken := map[string]version{}
	for _, dir := range w.options.Directories {
		for _, e := range w.retain(w.scan(dir, broken), now) {
			if found[e.job] == nil {
				found[e.job] = e
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known, w.broken = found, broken
	w.cache.keep(found)
}

// scan gives the archives of a directory, and adds those that cannot be read to
// broken.
func (w *Watcher) scan(dir string, broken map[string]version) []*entry {
	files, err := os.ReadDir(dir)
	if err != nil {
		v := version{}
		if w.tell(dir, v) {
			w.log.Warn("a directory of archives cannot be read", "directory", dir, "error", err)
		}
		broken[dir] = v
		return nil
	}
	var all []*entry
	for _, f := range files {
		job, ok := archive.Name(f.Name())
		if !ok || f.IsDir() {
			continue // a draft, or nobody's archive
		}
		info, err := f.Info()
		if err != nil {
			continue // it has gone meanwhile
		}
		path, v := filepath.Join(dir, f.Name()), version{info.ModTime(), info.Size()}
		if e := w.unchanged(job, path, v); e != nil {
			all = append(all, e)
			continue
		}
		if !w.tell(path, v) {
			broken[path] = v
			continue
		}
		e, err := read(job, path, v)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			w.log.Warn("an archive is left out", "job", job, "error", err)
			broken[path] = v
		default:
			w.log.Info("archive found", "job", job, "path", path)
			all = append(all, e)
		}
	}
	return all
}

// unchanged gives the entry of a file that was read before.
func (w *Watcher) unchanged(job ident.JobID, path string, v version) *entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.known[job]; e != nil && e.path == path && e.version == v {
		return e
	}
	return nil
}

// tell reports whether what is at path, in this version, was not found broken
// before.
func (w *Watcher) tell(path string, v version) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, known := w.broken[path]
	return !known || before != v
}

func read(job ident.JobID, path string, v version) (*entry, error) {
	a, err := archive.Read(path)
	if err != nil {
		return nil, err
	}
	e := &entry{job: job, path: path, version: v, lists: map[string]jsontext.Value{}}
	for _, list := range listed {
		if text := a.At(list); text != nil {
			e.lists[list] = slices.Clone(text)
		}
	}
	return e, nil
}

// retain deletes the archives of a directory that are not to be kept, and gives
// the others.
func (w *Watcher) retain(all []*entry, now time.Time) []*entry {
	slices.SortStableFunc(all, newestFirst)
	var kept []*entry
	for _, e := range all {
		why := ""
		switch o := &w.options; {
		case o.RetainedTime > 0 && now.Sub(e.version.modified) > o.RetainedTime:
			why = "it is older than historyserver.archive.retained-ttl"
		case o.RetainedJobs > 0 && len(kept) >= o.RetainedJobs:
			why = "there are more than historyserver.archive.retained-jobs"
		default:
			kept = append(kept, e)
			continue
		}
		if err := os.Remove(e.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.log.Warn("an archive that is not to be kept stays", "job", e.job, "path", e.path, "reason", why, "error", err)
			continue
		}
		w.log.Info("archive deleted", "job", e.job, "path", e.path, "reason", why)
	}
	return kept
}

func newestFirst(a, b *entry) int {
	return cmp.Or(b.version.modified.Compare(a.version.modified), cmp.Compare(a.path, b.path))
}

// Lists gives what each archive has at a path that lists jobs or applications,
// those that were archived last first.
func (w *Watcher) Lists(_ context.Context, path string) []jsontext.Value {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]*entry, 0, len(w.known))
	for _, e := range w.known {
		all = append(all, e)
	}
	slices.SortFunc(all, newestFirst)
	var texts []jsontext.Value
	for _, e := range all {
		if text := e.lists[path]; text != nil {
			texts = append(texts, text)
		}
	}
	return texts
}

// Find gives what the archive of a job has at a path; nil: nothing. It fails with
// a *dispatcher.NotFoundError when there is no archive of the job.
func (w *Watcher) Find(_ context.Context, job ident.JobID, path string) (jsontext.Value, error) {
	w.mu.Lock()
	e := w.known[job]
	var a *archive.Archive
	if e != nil {
		a = w.cache.get(e)
	}
	w.mu.Unlock()
	switch {
	case e == nil:
		return nil, &dispatcher.NotFoundError{Job: job}
	case a != nil:
		return a.At(path), nil
	}
	a, err := archive.Read(e.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &dispatcher.NotFoundError{Job: job}
	}
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.cache.put(e, a)
	w.mu.Unlock()
	return a.At(path), nil
}
