package engine

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/fs/local"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/session"
)

// Options are what an engine works with.
type Options struct {
	Registry   *expr.Registry
	Connectors exec.Connectors
	Runner     Runner
	// Functions finds a user's function by the name that it was registered under; nil:
	// there are none.
	Functions func(class string) (*expr.Function, bool)
	// Settings are those that all sessions begin with.
	Settings map[string]string
	// Rehearsal says that statements were carried out elsewhere and are gone through here:
	// what they make in files lasts no longer than the session.
	Rehearsal bool
	// Files is where compiled plans and catalogs are kept; nil: on the local disk.
	Files fs.FileSystem
	// Now is the time of day.
	Now func() time.Time
}

// Engine opens sessions.
type Engine struct{ o Options }

// New makes an engine.
func New(o Options) *Engine {
	if o.Files == nil {
		o.Files = local.FileSystem{}
	}
	return &Engine{o}
}

// Open begins a session.
func (e *Engine) Open(_ context.Context, o session.Options) (session.Session, error) {
	s := &Session{o: e.o, names: catalog.NewManager(), own: maps.Clone(o.Settings), compiled: map[fs.Location]bool{}, fillers: map[catalog.Path]*filler{}, jobs: map[Job]bool{}}
	store, err := e.o.store(s.Settings())
	if err != nil {
		return nil, err
	}
	if store != nil {
		s.names.Keep(store, func(_ string, d *catalog.Definition) (catalog.Catalog, error) { return e.o.openCatalog(d.Options) })
	}
	return s, nil
}

// Session is one user's: the names and the settings that statements see.
type Session struct {
	o       Options
	names   *catalog.Manager
	inserts *statementSet // that was begun; nil: none
	// unloaded says that the module core was.
	unloaded bool
	// compiled are the files of plans that were compiled where statements are checked only.
	compiled map[fs.Location]bool

	mu   sync.Mutex // guards what follows
	own  map[string]string
	jobs map[Job]bool // of queries that have not ended
	// fillers write materialized tables anew. They are of tables in memory, which end with
	// the session too.
	fillers map[catalog.Path]*filler
}

// Settings gives all that hold.
func (s *Session) Settings() map[string]string {
	all := maps.Clone(s.o.Settings)
	if all == nil {
		all = map[string]string{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(all, s.own)
	return all
}

// Close cancels the session's queries, and ends what writes materialized tables anew.
func (s *Session) Close() error {
	s.mu.Lock()
	jobs, fillers := s.jobs, s.fillers
	s.jobs, s.fillers = nil, nil
	s.mu.Unlock()
	for _, f := range fillers {
		f.close()
	}
	var first error
	for j := range jobs {
		if err := j.Cancel(); first == nil {
			first = err
		}
	}
	return first
}

// keep notes a query's job; false: the session is closed.
func (s *Session) keep(j Job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs == nil {
		return false
	}
	s.jobs[j] = true
	return true
}

// filler gives what writes a table anew; nil: nothing does.
func (s *Session) filler(path catalog.Path) *filler {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fillers[path]
}

// setFiller says what writes a table anew from now on; nil: nothing does. What did is
// closed.
func (s *Session) setFiller(path catalog.Path, f *filler) {
	s.mu.Lock()
	old, closed := s.fillers[path], s.fillers == nil
	delete(s.fillers, path)
	if f != nil && !closed {
		s.fillers[path] = f
	}
	s.mu.Unlock()
	if old != nil {
		old.close()
	}
	if f != nil && closed {
		f.close()
	}
}

func (s *Session) forget(j Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.jobs, j)
}
