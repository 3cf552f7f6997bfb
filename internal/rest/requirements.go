package rest

import (
	"errors"
	"net/http"

	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/jobmaster/rescale"
)

// requirement is how parallel a vertex is to be.
type requirement struct {
	Parallelism bounds `json:"parallelism"`
}

type bounds struct {
	Lower int `json:"lowerBound"`
	Upper int `json:"upperBound"`
}

// requirements says how parallel the vertices of a job are to be.
func (s *Server) requirements(r *request) (answer, error) {
	v, err := s.view(r)
	switch {
	case err != nil:
		return answer{}, err
	case v.State.Terminal():
		return answer{}, &dispatcher.NotFoundError{Job: v.Job}
	case v.Plan.Batch:
		return answer{}, cannotRescale(rescale.ErrBatch)
	case v.Adaptive == nil:
		return answer{}, cannotRescale(rescale.ErrFixed)
	}
	all := map[string]requirement{}
	for i, b := range v.Adaptive.Bounds {
		all[v.Vertices[i].ID.String()] = requirement{bounds(b)}
	}
	return ok(all)
}

// require sets how parallel the vertices of a job are to be.
func (s *Server) require(r *request) (answer, error) {
	id, err := r.jobID()
	if err != nil {
		return answer{}, err
	}
	body := map[string]requirement{}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	if len(body) == 0 {
		return answer{}, fail(http.StatusBadRequest, restException+"Request body does not specify resource requirements.")
	}
	wish := map[ident.VertexID]execgraph.Bounds{}
	for text, one := range body { // order: it becomes a map
		var vertex ident.VertexID
		if err := vertex.UnmarshalText([]byte(text)); err != nil {
			return answer{}, badBody(r.format, "A field is named "+clip(text)+"; allowed is the id of a vertex, 32 hexadecimal digits.")
		}
		wish[vertex] = execgraph.Bounds(one.Parallelism)
	}
	switch err := s.Jobs.Require(r.Context(), id, wish); {
	case err == nil:
		return ok(empty{})
	case errors.Is(err, rescale.ErrBatch), errors.Is(err, rescale.ErrFixed), errors.Is(err, rescale.ErrReactive):
		return answer{}, cannotRescale(err)
	default:
		if refused, is := errors.AsType[*rescale.RefusedError](err); is {
			return answer{}, fail(http.StatusBadRequest, restException+refused.Error())
		}
		if _, is := errors.AsType[*jobmaster.EndedError](err); is {
			err = &dispatcher.NotFoundError{Job: id}
		}
		return answer{}, err
	}
}

// cannotRescale says why the parallelism of a job is fixed.
func cannotRescale(why error) error {
	return fail(http.StatusBadRequest, "java.lang.UnsupportedOperationException: "+why.Error())
}
