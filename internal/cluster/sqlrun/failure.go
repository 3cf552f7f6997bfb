package sqlrun

import (
	"errors"
	"fmt"

	"github.com/weirstream/weir/internal/status"
)

// told adds to why a job has failed which record it was.
func told(err error) error {
	f, ok := errors.AsType[*status.Failure](err)
	if !ok || f.Record == nil {
		return err
	}
	if f.Record.Value == "" {
		return fmt.Errorf("%w\nRecord: %s", err, f.Record.Origin)
	}
	return fmt.Errorf("%w\nRecord: %s: %s", err, f.Record.Origin, f.Record.Value)
}
