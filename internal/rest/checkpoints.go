package rest

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/snapshot/record"
)

// untaken is what is remembered of the checkpoints of a job that takes none: what
// is asked about them is answered as Flink answers for a job without a checkpoint
// interval.
var untaken = record.NewTracker(0, record.Settings{
	Timeout: 10 * time.Minute, MaxConcurrent: 1, DeleteOnCancel: true, Backend: "hashmap", InMemory: true, AfterFinish: true,
}).View()

// checkpointsOf gives what is remembered of a job's checkpoints.
func checkpointsOf(v *execgraph.View) *record.View {
	if v.Checkpoints == nil {
		return untaken
	}
	return v.Checkpoints
}

func (s *Server) checkpoints(r *request) (answer, error) {
	v, err := s.view(r)
	if err != nil {
		return answer{}, err
	}
	if v.Plan.Batch {
		return answer{}, fail(http.StatusNotFound, restException+"Checkpointing has not been enabled.")
	}
	return ok(checkpointsBody(checkpointsOf(&v)))
}

func (s *Server) checkpointConfig(r *request) (answer, error) {
	v, err := s.view(r)
	if err != nil {
		return answer{}, err
	}
	if v.Plan.Batch {
		return answer{}, fail(http.StatusNotFound, restException+fmt.Sprintf("Checkpointing is not enabled for this job (%s).", v.Job))
	}
	return ok(checkpointConfigBody(checkpointsOf(&v).Settings))
}

func (r *request) checkpointID() (int64, error) {
	id, err := strconv.ParseInt(r.params["checkpointid"], 10, 64)
	if err != nil {
		return 0, badParameter("path", "checkpointid", r.params["checkpointid"])
	}
	return id, nil
}

// checkpoint finds the checkpoint of a request.
func (s *Server) checkpoint(r *request) (*record.Checkpoint, error) {
	id, err := r.checkpointID()
	if err != nil {
		return nil, err
	}
	v, err := s.view(r)
	if err != nil {
		return nil, err
	}
	if c := checkpointsOf(&v).Find(id); c != nil {
		return c, nil
	}
	return nil, fail(http.StatusNotFound, restException+fmt.Sprintf("Could not find checkpointing statistics for checkpoint %d.", id))
}

func (s *Server) checkpointDetails(r *request) (answer, error) {
	c, err := s.checkpoint(r)
	if err != nil {
		return answer{}, err
	}
	return ok(checkpointBody(c, true))
}

func (s *Server) checkpointSubtasks(r *request) (answer, error) {
	c, err := s.checkpoint(r)
	if err != nil {
		return answer{}, err
	}
	vertex, err := r.vertexID()
	if err != nil {
		return answer{}, err
	}
	body := checkpointSubtasksBody(c, vertex)
	if body == nil {
		return answer{}, fail(http.StatusNotFound, notFoundException+fmt.Sprintf("There is no checkpoint statistics for task %s.", vertex))
	}
	return ok(body)
}
