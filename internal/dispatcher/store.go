package dispatcher

import (
	"slices"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
)

// StoreOptions bound what is remembered of finished jobs. Whichever bound is
// reached first, the job that ended longest ago is forgotten.
type StoreOptions struct {
	// MaxCapacity is how many jobs are kept: jobstore.max-capacity. Zero: none.
	MaxCapacity int
	// MaxBytes bounds the memory they take, by estimate; the job that ended
	// last is kept there whatever it takes. Zero: no bound. It is
	// jobstore.cache-size.
	MaxBytes int64
	// Expiration is how long a job is kept: jobstore.expiration-time. Zero:
	// for ever.
	Expiration time.Duration
	// Files takes what has no room in memory; nil: that is forgotten. It is
	// jobstore.type.
	Files Files
}

// Files keeps jobs outside memory. Its methods are called on the loop, on which
// they call then, and do not block. What they report is told to nobody else.
type Files interface {
	Write(v execgraph.View, then func(error))
	Read(id ident.JobID, then func(execgraph.View, error))
	Remove(id ident.JobID)
}

// store holds the last views of finished jobs, the one that ended first at the
// front.
//
//	put ─▶ in memory ──too much there─▶ being written ─▶ in a file, its summary in memory
//	             └──── no files ─────────────┴─ failed ──▶ forgotten
//
// Invariant: bytes is the sum of the weights of the whole views, and leaving that
// of those being written.
type store struct {
	options        StoreOptions
	order          []*kept
	byID           map[ident.JobID]*kept
	bytes, leaving int64
}

// kept is one finished job.
type kept struct {
	view   execgraph.View // a summary once it is filed
	weight int64
	filing bool // it is being written
	filed  bool
}

func newStore(o StoreOptions) *store {
	return &store{options: o, byID: map[ident.JobID]*kept{}}
}

func (s *store) len() int { return len(s.order) }

func (s *store) put(v execgraph.View) {
	s.drop(v.Job)
	k := &kept{view: v, weight: weight(&v)}
	s.order = append(s.order, k)
	s.byID[v.Job] = k
	s.bytes += k.weight
	for len(s.order) > s.options.MaxCapacity {
		s.drop(s.order[0].view.Job)
	}
	if s.options.MaxBytes > 0 {
		s.makeRoom()
	}
}

// makeRoom lets the jobs that ended first leave memory, but not the last.
func (s *store) makeRoom() {
	for _, k := range slices.Clone(s.order) {
		if s.bytes-s.leaving <= s.options.MaxBytes || k == s.order[len(s.order)-1] {
			return
		}
		switch {
		case k.filed || k.filing:
		case s.options.Files == nil:
			s.drop(k.view.Job)
		default:
			s.file(k)
		}
	}
}

// file writes a job to its file. Until that is done it is in memory.
func (s *store) file(k *kept) {
	k.filing = true
	s.leaving += k.weight
	s.options.Files.Write(k.view, func(err error) {
		id := k.view.Job
		k.filing = false
		switch {
		case s.byID[id] != k: // dropped meanwhile, and perhaps there again
			if s.byID[id] == nil {
				s.options.Files.Remove(id)
			}
		case err != nil:
			s.leaving -= k.weight
			s.drop(id)
		default:
			s.leaving -= k.weight
			s.bytes -= k.weight
			k.filed, k.view = true, k.view.Summary()
		}
	})
}

// get finds a job; it may be a summary.
func (s *store) get(id ident.JobID) (execgraph.View, bool) {
	k := s.byID[id]
	if k == nil {
		return execgraph.View{}, false
	}
	return k.view, true
}

// whole calls then with all of a job that was found, at once or once it is read.
func (s *store) whole(id ident.JobID, then func(execgraph.View, error)) {
	if k := s.byID[id]; !k.filed {
		then(k.view, nil)
		return
	}
	s.options.Files.Read(id, then)
}

// appendTo adds all views, those that ended last first; some are summaries.
func (s *store) appendTo(all []execgraph.View) []execgraph.View {
	for _, k := range slices.Backward(s.order) {
		all = append(all, k.view)
	}
	return all
}

func (s *store) drop(id ident.JobID) {
	k := s.byID[id]
	if k == nil {
		return
	}
	delete(s.byID, id)
	s.order = slices.DeleteFunc(s.order, func(other *kept) bool { return other == k })
	if k.filed {
		s.options.Files.Remove(id)
		return
	}
	s.bytes -= k.weight
	if k.filing {
		s.leaving -= k.weight
	}
}

// weight estimates the bytes a view keeps alive.
func weight(v *execgraph.View) int64 {
	const perJob, perVertex, perAttempt, perFailure = 2048, 1024, 640, 512
	sum := int64(perJob)
	for _, vertex := range v.Vertices {
		sum += perVertex
		for i := range vertex.Subtasks {
			sum += perAttempt * int64(1+len(vertex.Subtasks[i].Earlier))
		}
	}
	for _, entry := range v.Failures {
		sum += failureWeight(entry, perFailure)
		for _, beside := range [][]execgraph.FailureEntry{entry.Concurrent, entry.Folded} {
			for _, f := range beside {
				sum += failureWeight(f, perFailure)
			}
		}
	}
	return sum
}

func failureWeight(e execgraph.FailureEntry, fixed int64) int64 {
	if e.Failure == nil {
		return fixed
	}
	return fixed + int64(len(e.Failure.Message)+len(e.Failure.Stack)+len(e.Failure.Stderr))
}
