package worker

import (
	"fmt"
	"os"

	"github.com/weirstream/weir/internal/worker/assignment"
)

// Plan gives the SQL plan that the process was started for, as a worker; nil: it was
// started for none.
func Plan() ([]byte, error) {
	path := os.Getenv(assignment.SQLVariable)
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the job's plan: %w", err)
	}
	return text, nil
}
