package execgraph

import (
	"slices"
	"time"

	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/status"
)

// Late reports whether the graph was made by NewLate.
func (g *Graph) Late() bool { return g.late }

// Resize gives every vertex of a graph made by NewLate so many subtasks, in the
// order of Vertices, and cuts the graph into regions anew. All current attempts
// have ended. All subtasks of a vertex get a new attempt of one number, which is higher
// than any that the vertex has had: of two attempts of a vertex at different parallelism
// the number says which one is older. It returns the new attempts of subtasks that had one.
func (g *Graph) Resize(layouts []Layout, now time.Time) []*Execution {
	invariant.Check(g.late && len(layouts) == len(g.Vertices), "a job of %d vertices is given %d layouts", len(g.Vertices), len(layouts))
	invariant.Check(g.AllTerminal(), "job %s is resized while %d of its attempts have not ended", g.Job.Job, g.open)
	var again []*Execution
	for i, v := range g.Vertices {
		again = append(again, g.resize(v, layouts[i], now)...)
	}
	g.Regions = buildRegions(g)
	return again
}

func (g *Graph) resize(v *JobVertex, l Layout, now time.Time) (again []*Execution) {
	invariant.Check(l.Parallelism >= 1 && l.Parallelism <= v.Job.MaxParallelism && l.Shares == nil,
		"vertex %q, at most %d parallel, is laid out with %d", v.Job.Name, v.Job.MaxParallelism, l.Parallelism)
	if !v.LaidOut() {
		g.laidOut++
	}
	v.layout, v.view = l, nil
	if n := len(v.Subtasks); n > l.Parallelism {
		gone := v.Subtasks[l.Parallelism:]
		for _, s := range gone {
			g.count(s, -1)
			s.Region = nil
		}
		v.retired = append(append([]*Vertex{}, gone...), v.retired...)
		v.Subtasks = v.Subtasks[:l.Parallelism:l.Parallelism]
	}
	for len(v.Subtasks) < l.Parallelism && len(v.retired) > 0 {
		g.count(v.retired[0], 1)
		v.Subtasks = append(v.Subtasks, v.retired[0])
		v.retired = v.retired[1:]
	}
	number := 0
	for _, s := range slices.Concat(v.Subtasks, v.retired) {
		number = max(number, s.Current.ID.Attempt+1)
	}
	for _, s := range v.Subtasks {
		again = append(again, g.newAttempt(s, number, now))
	}
	for i := len(v.Subtasks); i < l.Parallelism; i++ {
		s := &Vertex{Parent: v, Subtask: i}
		s.Current = newExecution(g.ID, s, number, now)
		v.Subtasks = append(v.Subtasks, s)
		g.open++
	}
	return again
}

// count adds a subtask, whose attempt has ended, to what is counted, or takes it
// away.
func (g *Graph) count(s *Vertex, by int) {
	if s.Current.state == status.Finished {
		g.finished += by
		s.Parent.finished += by
	}
}
