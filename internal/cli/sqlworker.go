package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/weirstream/weir/internal/cluster/sqlrun"
	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/worker/assignment"
)

// sqlWorker makes the process the worker of an SQL job, if it was started as one; it
// then returns only what kept it from starting.
func sqlWorker(stderr io.Writer) (status int, is bool) {
	if os.Getenv(assignment.SQLVariable) == "" || os.Getenv(assignment.WorkerVariable) == "" {
		return 0, false
	}
	fmt.Fprintf(stderr, "start the worker of an SQL job: %v\n", sqlrun.Serve(context.Background(), builtin.Registry(), builtin.Connectors()))
	return 1, true
}
