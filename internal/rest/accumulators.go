package rest

import (
	"cmp"
	"maps"
	"slices"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
)

// accumulator is one named result of a task. A task gives its value as text.
type accumulator struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value string `json:"value"`
}

func accumulatorsOf(a *execgraph.AttemptView) []accumulator {
	all := []accumulator{}
	for _, name := range slices.Sorted(maps.Keys(a.Accumulators)) {
		all = append(all, accumulator{name, "String", a.Accumulators[name]})
	}
	return all
}

// jobAccumulators lists the results of all tasks, each as its task gave it.
func (s *Server) jobAccumulators(r *request) (answer, error) {
	v, err := s.view(r)
	if err != nil {
		return answer{}, err
	}
	return ok(struct {
		Job        []empty          `json:"job-accumulators"`
		User       []accumulator    `json:"user-task-accumulators"`
		Serialized map[string]empty `json:"serialized-user-task-accumulators"`
	}{User: allAccumulators(&v)})
}

func allAccumulators(v *execgraph.View) []accumulator {
	all := []accumulator{}
	for _, a := range v.Accumulators {
		all = append(all, accumulator{a.Name, "String", a.Value})
	}
	return all
}

func (s *Server) vertexAccumulators(r *request) (answer, error) {
	v, err := s.vertexOf(r, noVertex)
	if err != nil {
		return answer{}, err
	}
	all := []accumulator{}
	for i := range v.Subtasks {
		all = append(all, accumulatorsOf(&v.Subtasks[i].AttemptView)...)
	}
	return ok(struct {
		ID           ident.VertexID `json:"id"`
		Accumulators []accumulator  `json:"user-accumulators"`
	}{v.ID, all})
}

func (s *Server) subtaskAccumulators(r *request) (answer, error) {
	v, err := s.vertexOf(r, noVertex)
	if err != nil {
		return answer{}, err
	}
	type one struct {
		Subtask      int           `json:"subtask"`
		Attempt      int           `json:"attempt"`
		Endpoint     string        `json:"endpoint"`
		Accumulators []accumulator `json:"user-accumulators"`
	}
	all := []one{}
	for i := range v.Subtasks {
		a := &v.Subtasks[i].AttemptView
		all = append(all, one{i, a.ID.Attempt, cmp.Or(a.Host, unassigned), accumulatorsOf(a)})
	}
	return ok(struct {
		ID          ident.VertexID `json:"id"`
		Parallelism int            `json:"parallelism"`
		Subtasks    []one          `json:"subtasks"`
	}{v.ID, parallelismOf(v.Parallelism), all})
}

func (s *Server) attemptAccumulators(r *request) (answer, error) {
	a, err := s.attemptIn(r)
	if err != nil {
		return answer{}, err
	}
	return ok(struct {
		Subtask      int             `json:"subtask"`
		Attempt      int             `json:"attempt"`
		ID           ident.AttemptID `json:"id"`
		Accumulators []accumulator   `json:"user-accumulators"`
	}{a.ID.Subtask, a.ID.Attempt, a.ID, accumulatorsOf(a)})
}
