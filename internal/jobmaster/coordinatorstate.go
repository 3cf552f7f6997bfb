package jobmaster

import (
	"fmt"
	"slices"

	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/status"
)

// SnapshotCoordinators takes the state of coordinators, and holds back what they
// answer from then on.
func (c *checkpoints) SnapshotCoordinators(id int64, operators []ident.OperatorID, then func(ident.OperatorID, snapshot.Handle, error)) {
	for _, operator := range operators {
		h := c.m.hosted(operator)
		if h == nil {
			then(operator, snapshot.Handle{}, fmt.Errorf("operator %s has no coordinator", operator))
			continue
		}
		var state snapshot.Handle
		var err error
		if s, ok := h.coordinator.(coordinator.Stateful); ok {
			var data []byte
			data, err = s.Snapshot(id)
			state = snapshot.Handle{Inline: data, Length: int64(len(data)), Checksum: snapshot.Checksum(data)}
		}
		var run []ident.AttemptID
		for _, v := range h.vertex.Subtasks {
			if v.Current.State() == status.Running {
				run = append(run, v.Current.ID)
			}
		}
		h.fence.raise(id, run)
		then(operator, state, err)
	}
}

// acknowledged lets through what was held back from an attempt.
func (c *checkpoints) acknowledged(id int64, attempt ident.AttemptID) {
	for _, h := range c.m.coordinators {
		h.fence.pass(id, attempt)
	}
}

// given are the answers that tasks must have received before they begin a checkpoint.
func (c *checkpoints) given(id int64, attempts []ident.AttemptID) (all []*pb.GivenAnswers) {
	for _, attempt := range attempts {
		for _, h := range c.m.coordinators {
			if h.vertex.Job.ID != attempt.Vertex {
				continue
			}
			if numbers := h.fence.before(id, attempt); len(numbers) > 0 {
				all = append(all, &pb.GivenAnswers{Attempt: attempt.String(), Operator: h.operator.String(), Numbers: numbers})
			}
		}
	}
	return all
}

// release ends what was held back for a checkpoint that is over, and tells the
// coordinators of one that is complete.
func (c *checkpoints) release(operators []ident.OperatorID, id int64, complete bool) {
	for _, h := range c.m.coordinators {
		h.fence.lower(id)
		if s, ok := h.coordinator.(coordinator.Stateful); ok && complete && slices.Contains(operators, h.operator) {
			s.Completed(id)
		}
	}
}

// restoreCoordinators gives coordinators the state of a checkpoint.
func (c *checkpoints) restoreCoordinators(a *snapshot.Assignment) {
	for i := range a.Operators {
		o := &a.Operators[i]
		h := c.m.hosted(o.ID)
		if h == nil || o.Coordinator.IsZero() {
			continue
		}
		s, ok := h.coordinator.(coordinator.Stateful)
		if !ok {
			continue
		}
		if err := s.Restore(o.Coordinator.Inline); err != nil {
			c.m.Fail(fmt.Errorf("restore the coordinator of operator %q: %w", o.Name, err))
		}
	}
}

// resetCoordinator tells a coordinator that subtasks begin anew, with what they
// had in the checkpoint that is restored.
func (m *Master) resetCoordinator(h *hosted, e *execgraph.Execution) {
	s, ok := h.coordinator.(coordinator.Stateful)
	switch {
	case !ok || m.checkpoints == nil || m.checkpoints.restore.checkpoint == 0:
		h.coordinator.Reset(e.ID.Subtask)
	case !m.checkpoints.restore.global:
		s.ResetTo(e.ID.Subtask, m.checkpoints.restore.checkpoint)
	}
}

// hosted finds the coordinator of an operator.
func (m *Master) hosted(id ident.OperatorID) *hosted {
	for _, h := range m.coordinators {
		if h.operator == id {
			return h
		}
	}
	return nil
}
