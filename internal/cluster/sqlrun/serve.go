package sqlrun

import (
	"context"
	"errors"
	"os"

	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/internal/worker"
	"github.com/weirstream/weir/internal/worker/assignment"
)

// Serve makes the process the worker of the SQL job that it was started for. It ends the
// process with the job, and returns only what kept it from starting.
func Serve(ctx context.Context, registry *expr.Registry, connectors exec.Connectors) error {
	text, err := worker.Plan()
	if err != nil {
		return err
	}
	if text == nil {
		return errors.New("the job that this process was started for is no SQL job: its program does something else here than where the job was submitted")
	}
	j, err := plan.Decode(text, registry)
	if err != nil {
		return err
	}
	c, err := exec.Compile(j, registry, connectors)
	if err != nil {
		return err
	}
	return worker.Serve(ctx, os.Getenv(assignment.WorkerVariable), c.Compiled, c.BufferTimeout)
}
