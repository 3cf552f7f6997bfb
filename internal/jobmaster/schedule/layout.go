package schedule

import (
	"fmt"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/jobgraph"
)

// sourceSized takes what a source has to read, or that it cannot say.
func (s *Scheduler) sourceSized(ev SourceSized) {
	v := s.graph.JobVertex(ev.Vertex)
	if v == nil || !v.Job.Source() {
		return
	}
	if ev.Splits != nil {
		v.Say(*ev.Splits)
	}
	s.sized[v] = true
	if s.active() {
		s.scheduleRegions()
	}
}

// layOut gives their subtasks to all vertices for which that can be decided now,
// for good: whatever fails later, the decision stands.
func (s *Scheduler) layOut() {
	if s.graph.AllLaidOut() {
		return
	}
	for _, v := range s.graph.Vertices {
		if !s.active() {
			return
		}
		if !v.CanLayOut() {
			continue
		}
		l, decided := s.layoutOf(v)
		if !decided {
			continue
		}
		for _, r := range s.graph.LayOut(v, l, s.now) {
			s.addRegion(r)
		}
		s.emit(LaidOut{Vertex: v})
	}
}

// addRegion takes a region that the graph has got.
func (s *Scheduler) addRegion(r *execgraph.Region) {
	s.scheduled = append(s.scheduled, false)
	for _, producer := range r.Awaits {
		s.readers[producer] = append(s.readers[producer], r)
	}
}

// layoutOf decides how a vertex is laid out, all of whose producers are.
func (s *Scheduler) layoutOf(v *execgraph.JobVertex) (l execgraph.Layout, decided bool) {
	if !v.Job.Undecided() {
		return execgraph.Layout{Parallelism: v.Job.Parallelism, Why: v.Job.Why}, true
	}
	if v.Job.Source() {
		if !s.sized[v] {
			return l, false
		}
		return s.sizing.source(v.Splits, v.Job.MaxParallelism), true
	}
	for _, in := range v.Inputs {
		if in.Edge.Ship == execgraph.Forward {
			n := len(in.Source.Subtasks)
			return execgraph.Layout{Parallelism: n, Why: fmt.Sprintf("as many as %s has, from which it reads forward", in.Source.Job.Name)}, true
		}
	}
	if !s.produced(v) {
		return l, false
	}
	var inputs []consumed
	for _, in := range v.Inputs {
		inputs = append(inputs, consumed{
			from: in.Source.Job.Name, producers: len(in.Source.Subtasks), sizes: in.Sizes(),
			alike: execgraph.Alike(in.Edge.Ship), pointwise: in.Edge.Distribution == jobgraph.Pointwise,
		})
	}
	return s.sizing.reader(inputs, v.Job.MaxParallelism), true
}

// produced reports whether all that a vertex reads is there, and lets what was
// there and is lost be produced again.
func (s *Scheduler) produced(v *execgraph.JobVertex) bool {
	for _, in := range v.Inputs {
		if !in.Source.Finished() {
			return false
		}
	}
	if !s.someLost {
		return true
	}
	var lost []*execgraph.Execution
	for _, in := range v.Inputs {
		for _, producer := range in.Source.Subtasks {
			if s.waiting[producer] != nil {
				return false
			}
			if producer.Current.OutputLost {
				lost = append(lost, producer.Current)
			}
		}
	}
	if len(lost) > 0 {
		s.produceAgain(v.Job.Name, lost)
		return false
	}
	return true
}
