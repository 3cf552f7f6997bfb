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
	// last is kept whatever it takes. Zero: no bound. It is
	// jobstore.cache-size.
	MaxBytes int64
	// Expiration is how long a job is kept: jobstore.expiration-time. Zero:
	// for ever.
	Expiration time.Duration
}

// store holds the last views of finished jobs, the one that ended first at the
// front.
//
// Invariant: bytes is the sum of the weights, and byID has the same views.
type store struct {
	options StoreOptions
	order   []ident.JobID
	byID    map[ident.JobID]execgraph.View
	bytes   int64
}

func newStore(o StoreOptions) *store {
	return &store{options: o, byID: map[ident.JobID]execgraph.View{}}
}

func (s *store) len() int { return len(s.order) }

func (s *store) put(v execgraph.View) {
	s.drop(v.Job)
	s.order = append(s.order, v.Job)
	s.byID[v.Job] = v
	s.bytes += weight(&v)
	for len(s.order) > s.options.MaxCapacity || s.options.MaxBytes > 0 && s.bytes > s.options.MaxBytes && len(s.order) > 1 {
		s.drop(s.order[0])
	}
}

func (s *store) get(id ident.JobID) (execgraph.View, bool) {
	v, ok := s.byID[id]
	return v, ok
}

// appendTo adds all views, those that ended last first.
func (s *store) appendTo(all []execgraph.View) []execgraph.View {
	for _, id := range slices.Backward(s.order) {
		all = append(all, s.byID[id])
	}
	return all
}

func (s *store) drop(id ident.JobID) {
	v, ok := s.byID[id]
	if !ok {
		return
	}
	delete(s.byID, id)
	s.bytes -= weight(&v)
	s.order = slices.DeleteFunc(s.order, func(other ident.JobID) bool { return other == id })
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
