package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/internal/worker"
	"github.com/weirstream/weir/internal/worker/assignment"
)

// sqlWorker makes the process the worker of an SQL job, if it was started as one; it
// then returns only what kept it from starting.
func sqlWorker(stderr io.Writer) (status int, is bool) {
	path, assigned := os.Getenv(assignment.SQLVariable), os.Getenv(assignment.WorkerVariable)
	if path == "" || assigned == "" {
		return 0, false
	}
	fmt.Fprintf(stderr, "start the worker of an SQL job: %v\n", serveSQL(path, assigned))
	return 1, true
}

func serveSQL(path, assigned string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	j, err := plan.Decode(text, builtin.Registry())
	if err != nil {
		return err
	}
	c, err := exec.Compile(j, builtin.Registry(), builtin.Connectors())
	if err != nil {
		return err
	}
	return worker.Serve(context.Background(), assigned, c.Compiled, c.BufferTimeout)
}
