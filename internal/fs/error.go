package fs

import (
	"errors"
	"fmt"
)

// An Error is what went wrong with one file.
type Error struct {
	Op       string // "create", "write", "commit", "open", "read", "stat", "list", "delete"
	Location Location
	// Free is how many bytes the file system had left when a write failed; -1:
	// not known, or it was no write.
	Free int64
	Err  error
}

func (e *Error) Error() string {
	if e.Free >= 0 {
		return fmt.Sprintf("%s %s (%d bytes free): %s", e.Op, e.Location, e.Free, e.Err)
	}
	return fmt.Sprintf("%s %s: %s", e.Op, e.Location, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Failed makes the Error of an operation; nil stays nil, and one that is an
// Error already stays as it is.
func Failed(op string, at Location, free int64, err error) error {
	if err == nil {
		return nil
	}
	if _, already := errors.AsType[*Error](err); already {
		return err
	}
	return &Error{Op: op, Location: at, Free: free, Err: err}
}
