package jobmaster

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster/schedule"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// hosted is the coordinator of one operator.
type hosted struct {
	operator    ident.OperatorID
	vertex      *execgraph.JobVertex
	coordinator coordinator.Coordinator
	started     bool
	fence       fence
}

// makeCoordinators makes the coordinators of the job's operators, in order.
func (m *Master) makeCoordinators() error {
	for _, v := range m.graph.Vertices {
		for _, o := range v.Job.Operators {
			if o.Coordinator == nil {
				continue
			}
			c, err := m.makeCoordinator(v, o)
			if err != nil {
				return fmt.Errorf("operator %q of vertex %q: coordinator of kind %q: %w", o.Name, v.Job.Name, o.Coordinator.Kind, err)
			}
			m.coordinators = append(m.coordinators, &hosted{operator: o.ID, vertex: v, coordinator: c, fence: newFence()})
		}
	}
	return nil
}

// startCoordinators starts those that are not, unless one of them fails the job. What
// they begin with is known by then: a source that goes on with what a checkpoint had
// must not fail because files are gone that were read before it.
func (m *Master) startCoordinators() {
	for _, h := range m.coordinators {
		if !h.started && !m.graph.State().Terminal() {
			h.started = true
			h.coordinator.Start()
		}
	}
}

// remakeCoordinators puts new ones in the place of all, for other parallelisms, which
// are still to be started. What the old ones know is in a checkpoint, or begins anew
// with the job.
func (m *Master) remakeCoordinators() error {
	for _, h := range m.coordinators {
		h.coordinator.Close()
	}
	m.coordinators = nil
	return m.makeCoordinators()
}

func (m *Master) makeCoordinator(v *execgraph.JobVertex, o *jobgraph.Operator) (coordinator.Coordinator, error) {
	factory := m.options.Coordinators[o.Coordinator.Kind]
	if factory == nil {
		known := slices.Sorted(maps.Keys(m.options.Coordinators))
		return nil, fmt.Errorf("this master knows only: %s", strings.Join(known, ", "))
	}
	return factory(coordinator.Context{
		Loop: m.loop, Operator: o.ID, Name: o.Name, Parallelism: m.adaptive.parallelism(v), Spec: o.Coordinator.Spec,
		Fail: func(cause error) {
			m.onceStarted(func() {
				m.sourceSized(v, nil) // a vertex must have subtasks to be restarted
				m.Fail(fmt.Errorf("coordinator of operator %q: %w", o.Name, cause))
			})
		},
		Sized: func(splits int, bytes int64) { m.sourceSized(v, &execgraph.Splits{Count: splits, Bytes: bytes}) },
		Peers: func() (all []coordinator.Coordinator) {
			for _, h := range m.coordinators {
				all = append(all, h.coordinator)
			}
			return all
		},
		Log: m.log.With("operator", o.Name),
	})
}

// sourceSized tells the scheduler what a source has to read; nil: it cannot say.
func (m *Master) sourceSized(v *execgraph.JobVertex, splits *execgraph.Splits) {
	m.schedule(schedule.SourceSized{Vertex: v.Job.ID, Splits: splits})
}

// sizeSources tells the scheduler which sources cannot say what they have to
// read: those without a coordinator that will.
func (m *Master) sizeSources() {
	for _, v := range m.graph.Vertices {
		says := slices.ContainsFunc(m.coordinators, func(h *hosted) bool {
			s, sizing := h.coordinator.(coordinator.Sizing)
			return sizing && h.vertex == v && s.Sizing()
		})
		if v.Job.Source() && !says {
			m.sourceSized(v, nil)
		}
	}
}

// describe tells what the coordinators that give work to subtasks have left.
func (m *Master) describe() (all []execgraph.CoordinatorView) {
	for _, h := range m.coordinators {
		e, ok := h.coordinator.(coordinator.Enumerating)
		if !ok {
			continue
		}
		if splits, known := e.Unassigned(); known {
			all = append(all, execgraph.CoordinatorView{Vertex: h.vertex.Job.ID, VertexName: h.vertex.Job.Name, Operator: h.operator, Unassigned: splits})
		}
	}
	return all
}

// requestOperator hands a task's request to the coordinator of its operator.
func (m *Master) requestOperator(req *pb.OperatorRequest, reply func(*pb.OperatorResponse, error)) {
	var operator ident.OperatorID
	attempt, err := ident.ParseAttempt(req.Attempt)
	if err == nil {
		err = operator.UnmarshalText([]byte(req.Operator))
	}
	if err != nil {
		reply(nil, rpc.Refuse("request to a coordinator: %v", err))
		return
	}
	e := m.graph.Attempt(attempt)
	if e == nil || e.State().Terminal() || e.State() == status.Canceling {
		// One that is being canceled is given nothing any more: its successor may have
		// been given back already what it had.
		reply(nil, rpc.Refuse("request to a coordinator: task %s is not running", attempt))
		return
	}
	i := slices.IndexFunc(m.coordinators, func(h *hosted) bool { return h.operator == operator && h.vertex == e.Vertex.Parent })
	if i < 0 {
		reply(nil, rpc.Refuse("request to a coordinator: operator %s of %s has none", operator, e.Vertex.Name()))
		return
	}
	h := m.coordinators[i]
	h.fence.settled(attempt, req.Settled)
	_, stateful := h.coordinator.(coordinator.Stateful)
	h.coordinator.HandleRequest(attempt.Subtask, attempt.Attempt, req.Payload, func(payload []byte, err error) {
		answer := func() { reply(&pb.OperatorResponse{Payload: payload}, nil) }
		switch {
		case err != nil:
			reply(nil, rpc.Refuse("coordinator of operator %s: %v", operator, err))
		case stateful:
			h.fence.answer(attempt, req.Number, answer)
		default: // it is the same before and after a checkpoint
			answer()
		}
	})
}

// Request hands a request of who has submitted the job to an operator's coordinator, and
// calls then with its answer.
func (m *Master) Request(operator ident.OperatorID, payload []byte, then func([]byte, error)) {
	for _, h := range m.coordinators {
		if c, answers := h.coordinator.(coordinator.Answering); answers && h.operator == operator {
			c.Answer(payload, then)
			return
		}
	}
	then(nil, fmt.Errorf("request to a coordinator: no operator %s has one that answers", operator))
}
