package sqlrun

import (
	"context"
	"errors"
	"os"

	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/worker"
	"github.com/weirstream/weir/internal/worker/assignment"
	"github.com/weirstream/weir/types"
)

// Describe is the runner of a program that was started to describe its job: the first
// job is written where the cluster reads it, and the process ends.
type Describe struct{}

// errRows refuses a job whose rows nobody would read.
var errRows = errors.New("the rows of a query go to the program that asks for them, and on a cluster it does not wait for its job: INSERT INTO a table, or run the program by itself")

// Submit describes the job, and does not return.
func (Describe) Submit(_ context.Context, c *exec.Compiled, schema []types.Field) (engine.Job, error) {
	if schema != nil {
		return nil, errRows
	}
	if os.Getenv(assignment.PreviewVariable) == "" {
		if err := c.Check(true); err != nil {
			return nil, err
		}
	}
	return nil, worker.Describe(os.Getenv(assignment.PlanVariable), c.Compiled)
}
