package rest

import (
	"fmt"
	"net/http"

	"github.com/weirstream/weir/internal/execgraph"
)

// subtaskOf asks for the subtask the path names.
func (s *Server) subtaskOf(r *request) (*execgraph.SubtaskView, error) {
	index, err := r.number("subtaskindex")
	if err != nil {
		return nil, err
	}
	v, err := s.vertexOf(r, noVertex)
	if err != nil {
		return nil, err
	}
	if index >= len(v.Subtasks) {
		return nil, fail(http.StatusNotFound, restException+fmt.Sprintf("Invalid subtask index for vertex %s", v.ID))
	}
	return &v.Subtasks[index], nil
}

func (s *Server) subtask(r *request) (answer, error) {
	sub, err := s.subtaskOf(r)
	if err != nil {
		return answer{}, err
	}
	return ok(attemptOf(&sub.AttemptView, s.Now()))
}

// attemptIn asks for the attempt the path names.
func (s *Server) attemptIn(r *request) (*execgraph.AttemptView, error) {
	number, err := r.number("attempt")
	if err != nil {
		return nil, err
	}
	sub, err := s.subtaskOf(r)
	if err != nil {
		return nil, err
	}
	if sub.ID.Attempt == number {
		return &sub.AttemptView, nil
	}
	for i := range sub.Earlier {
		if sub.Earlier[i].ID.Attempt == number {
			return &sub.Earlier[i], nil
		}
	}
	return nil, fail(http.StatusNotFound, restException+fmt.Sprintf("Invalid attempt num %d", number))
}

func (s *Server) attempt(r *request) (answer, error) {
	a, err := s.attemptIn(r)
	if err != nil {
		return answer{}, err
	}
	return ok(attemptOf(a, s.Now()))
}
