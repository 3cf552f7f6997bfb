package checkpoint

import (
	"fmt"
	"slices"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/snapshot/record"
	"github.com/weirstream/weir/internal/status"
)

// tasks are the current attempts of a job's subtasks.
type tasks struct {
	graph *jobgraph.Graph
	// attempts and states are by vertex, in the order of the graph, and subtask. An
	// attempt is zero before anything was heard of it.
	attempts [][]ident.AttemptID
	states   [][]status.Execution
	places   map[ident.VertexID]int // looked up, never ranged
	waiting  int                    // subtasks that neither run nor have finished
}

func newTasks(graph *jobgraph.Graph) *tasks {
	t := &tasks{graph: graph, places: map[ident.VertexID]int{}}
	for i, v := range graph.Vertices {
		t.attempts = append(t.attempts, make([]ident.AttemptID, v.Parallelism))
		t.states = append(t.states, make([]status.Execution, v.Parallelism))
		t.places[v.ID] = i
		t.waiting += v.Parallelism
	}
	return t
}

// update notes a state, and reports whether the attempt is the current one.
func (t *tasks) update(a ident.AttemptID, state status.Execution) bool {
	place, known := t.places[a.Vertex]
	if !known || a.Subtask >= len(t.attempts[place]) {
		return false
	}
	current := &t.attempts[place][a.Subtask]
	if a.Graph == current.Graph && a.Attempt < current.Attempt {
		return false
	}
	*current = a
	was := &t.states[place][a.Subtask]
	if !up(*was) {
		t.waiting--
	}
	if !up(state) {
		t.waiting++
	}
	*was = state
	return true
}

func up(s status.Execution) bool { return s == status.Running || s == status.Finished }

// allRun reports whether every subtask runs or has finished.
func (t *tasks) allRun() bool { return t.waiting == 0 }

// name is a subtask as people read it.
func (t *tasks) name(vertex, subtask int) string {
	v := t.graph.Vertices[vertex]
	return fmt.Sprintf("%s (%d/%d)", v.Name, subtask+1, v.Parallelism)
}

// A plan says who takes part in a checkpoint.
type plan struct {
	// trigger are told to begin: sources, and tasks all of whose producers have
	// finished. acknowledge are all that run. Both in the order of the graph.
	trigger, acknowledge []ident.AttemptID
	// finished is by vertex and subtask who had finished.
	finished [][]bool
	// operators have coordinators, which take part too.
	operators []ident.OperatorID
	parts     []record.Part
}

// plan makes the plan of a checkpoint taken now. It fails with an *Error when a
// task it needs does not run.
func (t *tasks) plan(afterFinish bool) (*plan, *Error) {
	p := &plan{}
	for i, v := range t.graph.Vertices {
		finished := make([]bool, v.Parallelism)
		part := record.Part{Vertex: v.ID}
		for s, state := range t.states[i] {
			switch state {
			case status.Running:
				p.acknowledge = append(p.acknowledge, t.attempts[i][s])
				part.Subtasks = append(part.Subtasks, s)
			case status.Finished:
				finished[s] = true
				if !afterFinish {
					return nil, &Error{Reason: TasksNotRunning, Detail: "Some tasks of the job have already finished and checkpointing with finished tasks is not enabled."}
				}
			default:
				return nil, &Error{Reason: TasksNotRunning, Detail: fmt.Sprintf(
					"Checkpoint triggering task %s of job %s is not being executed at the moment. Aborting checkpoint.", t.name(i, s), t.graph.Job)}
			}
		}
		p.finished = append(p.finished, finished)
		p.parts = append(p.parts, part)
		for _, o := range v.Operators {
			if o.Coordinator != nil {
				p.operators = append(p.operators, o.ID)
			}
		}
	}
	if len(p.acknowledge) == 0 {
		return nil, &Error{Reason: TasksNotRunning, Detail: "All tasks of the job have already finished."}
	}
	for _, a := range p.acknowledge {
		if t.begins(a, p.finished) {
			p.trigger = append(p.trigger, a)
		}
	}
	return p, nil
}

// begins reports whether no barrier can reach the task: all it reads from has
// finished.
func (t *tasks) begins(a ident.AttemptID, finished [][]bool) bool {
	v := t.graph.Vertices[t.places[a.Vertex]]
	for _, in := range v.Inputs {
		source := t.places[in.Source]
		if !slices.Contains(finished[source], true) {
			return false
		}
		for _, link := range execgraph.Links(in.Distribution, len(finished[source]), v.Parallelism, a.Subtask) {
			if !finished[source][link.Producer] {
				return false
			}
		}
	}
	return true
}
