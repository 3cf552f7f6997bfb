package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/storage"
)

func (s *Server) savepointRoutes() []route {
	return []route{
		endpoint(http.MethodPost, "/jobs/:jobid/savepoints", "SavepointTriggerRequestBody", s.savepoint),
		get("/jobs/:jobid/savepoints/:triggerid", s.savepointStatus),
		endpoint(http.MethodPost, "/jobs/:jobid/stop", "StopWithSavepointRequestBody", s.stop),
		get("/jobs/:jobid/yarn-stop", s.yarnStop).acting(),
		endpoint(http.MethodPost, "/jobs/:jobid/checkpoints", "CheckpointTriggerRequestBody", s.takeCheckpoint),
		get("/jobs/:jobid/checkpoints/:triggerid", s.takenCheckpoint),
		endpoint(http.MethodPost, "/savepoint-disposal", "SavepointDisposalRequest", s.dispose),
		get("/savepoint-disposal/:triggerid", s.disposed),
	}
}

// triggerAnswer is the answer to who begins an operation.
type triggerAnswer struct {
	Request ident.ID `json:"request-id"`
}

// triggered answers who begins an operation.
func triggered(status int, key operationKey) (answer, error) {
	return answer{status: status, body: triggerAnswer{key.trigger}}, nil
}

// triggerID reads the path parameter triggerid.
func (r *request) triggerID() (ident.ID, error) {
	id, err := ident.Parse(r.params["triggerid"])
	if err != nil {
		return id, badParameter("path", "triggerid", r.params["triggerid"])
	}
	return id, nil
}

// operation names a new operation on the job of a request; trigger is the one the
// client has chosen, if not nil.
func (s *Server) operation(r *request, kind string, trigger *ident.ID) (operationKey, error) {
	job, err := r.jobID()
	if err != nil {
		return operationKey{}, err
	}
	if trigger == nil {
		drawn := s.NewJobID().ID
		trigger = &drawn
	}
	return operationKey{kind, job, *trigger}, nil
}

// operationOf answers about an operation on the job of a request.
func (s *Server) operationOf(r *request, kind string) (answer, error) {
	trigger, err := r.triggerID()
	if err != nil {
		return answer{}, err
	}
	job, err := r.jobID()
	if err != nil {
		return answer{}, err
	}
	if status, known := s.operations.status(operationKey{kind, job, trigger}); known {
		return ok(status)
	}
	return answer{}, fail(http.StatusNotFound, restException+fmt.Sprintf("There is no %s operation with triggerId=%s for job %s.", kind, trigger, job))
}

// savepoint takes a savepoint, after which the job may be canceled.
func (s *Server) savepoint(r *request) (answer, error) {
	var body struct {
		Directory *string    `json:"target-directory"`
		Cancel    *looseBool `json:"cancel-job"`
		Format    *string    `json:"formatType"`
		Trigger   *ident.ID  `json:"triggerId"`
	}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	stop := checkpoint.KeepRunning
	if body.Cancel != nil && bool(*body.Cancel) {
		stop = checkpoint.Cancel
	}
	return s.beginSavepoint(r, wish{deref(body.Directory), "target-directory", deref(body.Format), stop}, body.Trigger)
}

// stop ends a job by a savepoint.
func (s *Server) stop(r *request) (answer, error) {
	var body struct {
		Directory *string    `json:"targetDirectory"`
		Drain     *looseBool `json:"drain"`
		Format    *string    `json:"formatType"`
		Trigger   *ident.ID  `json:"triggerId"`
	}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	stop := checkpoint.Suspend
	if body.Drain != nil && bool(*body.Drain) {
		stop = checkpoint.Drain
	}
	return s.beginSavepoint(r, wish{deref(body.Directory), "targetDirectory", deref(body.Format), stop}, body.Trigger)
}

// wish is a savepoint as it is asked for. field is how the body calls directory.
type wish struct {
	directory, field string
	format           string
	stop             checkpoint.Stop
}

func (s *Server) beginSavepoint(r *request, w wish, trigger *ident.ID) (answer, error) {
	savepoint := jobmaster.Savepoint{Stop: w.stop}
	switch w.format {
	case "", "CANONICAL":
	case "NATIVE":
		savepoint.Format = snapshot.Native
	default:
		return answer{}, badBody(r.format, fmt.Sprintf("formatType is %q; allowed are CANONICAL, NATIVE.", clip(w.format)))
	}
	key, err := s.operation(r, "savepoint", trigger)
	if err != nil {
		return answer{}, err
	}
	directory := cmp.Or(w.directory, config.SavepointDirectory.In(s.Config), s.ownSavepointDirectory(r.Context(), key.job))
	if directory == "" {
		return answer{}, fail(http.StatusBadRequest, restException+fmt.Sprintf("Config key [%s] is not set. Property [%s] must be provided.", config.SavepointDirectory.Key, w.field))
	}
	s.operations.begin(key, func(ctx context.Context) any {
		var err error
		if savepoint.Target, err = fs.Parse(directory); err != nil {
			return savepointResult{Cause: operationFailure(&checkpoint.Error{Reason: checkpoint.IOProblem, Cause: err})}
		}
		at, err := s.Jobs.Savepoint(ctx, key.job, savepoint)
		if err != nil {
			return savepointResult{Cause: operationFailure(err)}
		}
		return savepointResult{Location: at.String()}
	})
	return triggered(http.StatusAccepted, key)
}

// ownSavepointDirectory is where a job's program has its savepoints go; empty: it
// does not say.
func (s *Server) ownSavepointDirectory(ctx context.Context, job ident.JobID) string {
	v, err := s.Jobs.Job(ctx, job)
	if err != nil || v.Plan == nil {
		return "" // the operation says that there is no such job
	}
	c, err := config.New(v.Plan.Configuration)
	if err != nil {
		return ""
	}
	return config.SavepointDirectory.In(c)
}

// savepointResult is what became of a savepoint, or of the files of one.
type savepointResult struct {
	Location string     `json:"location,omitempty"`
	Cause    *throwable `json:"failure-cause,omitempty"`
}

func (s *Server) savepointStatus(r *request) (answer, error) { return s.operationOf(r, "savepoint") }

// yarnStop refuses what Flink has removed.
func (s *Server) yarnStop(r *request) (answer, error) {
	if _, err := r.jobID(); err != nil {
		return answer{}, err
	}
	return answer{}, stopRemoved()
}

func (s *Server) takeCheckpoint(r *request) (answer, error) {
	var body struct {
		Type    *string   `json:"checkpointType"`
		Trigger *ident.ID `json:"triggerId"`
	}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	full := false
	switch deref(body.Type) {
	case "", "CONFIGURED":
	case "FULL":
		full = true
	case "INCREMENTAL":
		return answer{}, fail(http.StatusBadRequest, "Flink does not support triggering incremental checkpoint explicitly. See FLINK-33723.")
	default:
		return answer{}, badBody(r.format, fmt.Sprintf("checkpointType is %q; allowed are CONFIGURED, FULL, INCREMENTAL.", clip(*body.Type)))
	}
	key, err := s.operation(r, "checkpoint", body.Trigger)
	if err != nil {
		return answer{}, err
	}
	s.operations.begin(key, func(ctx context.Context) any {
		id, err := s.Jobs.Checkpoint(ctx, key.job, full)
		if err != nil {
			return checkpointResult{Cause: operationFailure(err)}
		}
		return checkpointResult{ID: &id}
	})
	return triggered(http.StatusAccepted, key)
}

// checkpointResult is what became of a checkpoint.
type checkpointResult struct {
	ID    *int64     `json:"checkpointId,omitempty"`
	Cause *throwable `json:"failureCause,omitempty"`
}

func (s *Server) takenCheckpoint(r *request) (answer, error) { return s.operationOf(r, "checkpoint") }

// dispose deletes the files of a savepoint.
func (s *Server) dispose(r *request) (answer, error) {
	var body struct {
		Path *string `json:"savepoint-path"`
	}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	if body.Path == nil {
		return answer{}, fail(http.StatusBadRequest, restException+"Field savepoint-path must not be omitted or be null.")
	}
	key := operationKey{kind: "disposal", trigger: s.NewJobID().ID}
	path := *body.Path
	s.operations.begin(key, func(ctx context.Context) any {
		at, err := fs.Parse(path)
		if err == nil {
			_, err = storage.Dispose(ctx, s.Files, at)
		}
		if err == nil {
			return savepointResult{}
		}
		class := ioException
		if errors.Is(err, fs.ErrNotExist) {
			class = "java.io.FileNotFoundException"
		}
		return savepointResult{Cause: caused(flinkException, fmt.Sprintf("Could not dispose savepoint %s.", path), class+": "+err.Error())}
	})
	return triggered(http.StatusOK, key)
}

func (s *Server) disposed(r *request) (answer, error) {
	trigger, err := r.triggerID()
	if err != nil {
		return answer{}, err
	}
	if status, known := s.operations.status(operationKey{kind: "disposal", trigger: trigger}); known {
		return ok(status)
	}
	return answer{}, fail(http.StatusNotFound, notFoundException+fmt.Sprintf("Operation not found under key: %s", trigger))
}
