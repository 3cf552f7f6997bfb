package snapshot

import (
	"fmt"

	"github.com/weirstream/weir/internal/fs"
)

// A CorruptError is a file of a snapshot that is not what was written: it is
// missing, cut short, damaged, or the file of something else.
type CorruptError struct {
	Location fs.Location
	// Offset is the first byte of what does not fit.
	Offset int64
	What   string
	Err    error // what the file system said; nil: nothing
}

func (e *CorruptError) Error() string {
	text := fmt.Sprintf("%s at byte %d: %s", e.Location, e.Offset, e.What)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *CorruptError) Unwrap() error { return e.Err }
