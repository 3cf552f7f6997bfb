package execgraph

import (
	"slices"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/status"
)

// Unread gives the TaskManagers on which a task has finished while some task that reads
// from its vertex as it goes on has not: what it has left there may be unread.
func (g *Graph) Unread() []ident.ResourceID {
	var where []ident.ResourceID
	for _, v := range g.Vertices {
		if v.finished == 0 || !v.readAsItGoes() {
			continue
		}
		for _, s := range v.Subtasks {
			if e := s.Current; e.State() == status.Finished && e.Slot != nil && !slices.Contains(where, e.Slot.TaskManager) {
				where = append(where, e.Slot.TaskManager)
			}
		}
	}
	return where
}

// readAsItGoes reports whether a task that has not ended reads what the vertex produces
// before it is whole.
func (v *JobVertex) readAsItGoes() bool {
	return slices.ContainsFunc(v.Outputs, func(out *Input) bool {
		return out.Set.Type == jobgraph.Pipelined &&
			slices.ContainsFunc(out.Consumer.Subtasks, func(s *Vertex) bool { return !s.Current.State().Terminal() })
	})
}
