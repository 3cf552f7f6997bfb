package files

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"time"

	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/format"
	"github.com/weirstream/weir/internal/coordinator/files/split"
)

// CoordinatorKind names the coordinator that hands out splits of files.
const CoordinatorKind = "files"

// Source reads the records of files, one a line. Files are cut into splits that the
// subtasks ask for, so records come in the order of the file only within a split.
//
// It is bounded: files are found when the job begins, and the stream ends with them.
// MonitorContinuously makes it go on.
type Source[T any] struct {
	// Paths are patterns: "*" and "?" stay within a name, "**" matches any number of
	// directories. A pattern that names a directory means all files below it whose
	// names, and whose directories' names, do not begin with "." or "_". On a cluster
	// they must be absolute, and mean the same to all its machines.
	Paths []string
	// Format is how records are read.
	Format format.Decoding[T]
	// Monitor is the time from one look for new files to the next, at least 1ms; 0:
	// there is one look. See MonitorContinuously.
	Monitor time.Duration
}

// Lines is the source of the lines of files, without their ends "\n" or "\r\n".
func Lines(paths ...string) Source[string] {
	return Source[string]{Paths: paths, Format: format.Lines{}}
}

// MonitorContinuously makes the source look for new files every interval; it never
// ends. Each file is read once under its name, in no particular order among those
// that are found together; what has been found is part of checkpoints.
//
// A file must be complete when it gets its name, and must not be changed afterwards:
// write it under a name that begins with "." or "_", which is overlooked, and rename
// it. One that has another size than it was found with fails the job. Empty files
// wait until they hold something. A file may be removed or moved away when it has been
// read, and is forgotten three looks later; then one of the same name is a new one.
// One that is gone before it has been read fails the job. At most 131072 files may be
// there at once.
func (s Source[T]) MonitorContinuously(interval time.Duration) Source[T] {
	s.Monitor = interval
	if interval == 0 {
		s.Monitor = -1 // for Check
	}
	return s
}

// Bounded reports whether the source ends.
func (s Source[T]) Bounded() bool { return s.Monitor == 0 }

// Check refuses what cannot be read.
func (s Source[T]) Check(onCluster bool) error {
	switch {
	case len(s.Paths) == 0:
		return errors.New("read files: no path given")
	case s.Format == nil:
		return errors.New("read files: Format is nil: say how records are read, for example by csv.Format or format.Lines")
	case s.Monitor != 0 && s.Monitor < time.Millisecond:
		return fmt.Errorf("read files: the interval of MonitorContinuously is %s, want at least 1ms", max(0, s.Monitor))
	}
	return CheckPaths(onCluster, s.Paths...)
}

// Coordinator is who finds the files.
func (s Source[T]) Coordinator() (kind, spec string) {
	text, err := json.Marshal(split.Spec{Patterns: s.Paths, MonitorMillis: s.Monitor.Milliseconds()})
	if err != nil { // a pattern that is not UTF-8
		text = []byte(err.Error()) // which the coordinator will refuse
	}
	return CoordinatorKind, string(text)
}

// Open makes the reader of one subtask.
func (s Source[T]) Open(c connector.SourceContext, out connector.Output[T]) (connector.Reader, error) {
	r := &reader[T]{c: c, out: out, format: s.Format, begins: noLine}
	_, r.plain = any(s.Format).(format.Lines)
	return r, nil
}
