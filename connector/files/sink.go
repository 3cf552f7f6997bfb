package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/format"
)

// Sink writes records into files below a directory, each record once: a file is
// seen when the checkpoint that all of its records belong to is complete, or, in a
// job without checkpoints, when its subtask has finished.
//
// A finished file is named part-JOB-SUBTASK-CHECKPOINT-ATTEMPT-NUMBER, where JOB stands for
// the job and the operation, CHECKPOINT is the one before the file was begun, and
// NUMBER counts from 0; it is never changed again, and whoever reads the directory
// may take it away. Until then it is in a hidden directory beside the finished
// ones, ".weir-JOB", which is removed when nothing is left in it. Files that a
// failed attempt has left there are removed by the next one, which also keeps one that
// only seemed to have failed from beginning others and from making any seen; those of a
// canceled job stay if a checkpoint may hold them.
type Sink[T any] struct {
	// Dir is where finished files are, or the directories of Partition. It is made
	// if it is missing, and may hold other files. On a cluster it must be an absolute
	// path that means the same to all its machines.
	Dir string
	// Format is how records are written.
	Format format.Encoding[T]
	// Partition, if not nil, names the directory below Dir that a record goes to, as
	// "city=Ulm/day=7"; "" is Dir itself. No part of the name may begin with a dot.
	// 256 of them have an open file at once in a subtask; the one opened first is
	// closed for the next.
	Partition func(T) string
	// Rolling says when a file is closed and the next one begun.
	Rolling Rolling
	// Suffix ends the names of files, as ".csv".
	Suffix string
	// Replace says that what is written takes the place of what was there: once the new
	// files are seen, those that were there before the first of them are removed from the
	// directories of Partition that have new ones, or from Dir, if there is no Partition.
	// Those whose name, or whose directory's name, begins with "." or "_" stay. Source, and
	// tables of SQL, read either the old files or the new ones at every moment: a hidden file
	// in Dir, ".weir-replaced", tells them which, and goes when the old ones are gone. It is
	// for a job without checkpoints that writes with one subtask.
	Replace bool
	// Success, if not empty, is the name of a file of no bytes that is made once all records
	// are seen: in every directory of Partition that has new files, or in Dir, if there is
	// no Partition, even without a record. It is for the same jobs as Replace.
	Success string
}

// Rolling says when a file is closed. Its zero value closes files with every
// checkpoint, which makes records be seen as early as can be. If Size or Interval
// are set, and not OnCheckpoint, a file goes on over checkpoints until it is large
// or old enough.
type Rolling struct {
	// Size closes a file that holds as many bytes; 0: whatever its size.
	Size int64
	// Interval closes a file when as much time has passed since its first record; 0:
	// whatever its age. It is at least a millisecond.
	Interval time.Duration
	// OnCheckpoint closes all files with every checkpoint.
	OnCheckpoint bool
}

// Check refuses what cannot be written.
func (s Sink[T]) Check(onCluster bool) error {
	switch r := s.Rolling; {
	case s.Dir == "":
		return errors.New("write files: Dir is empty, want a directory")
	case s.Format == nil:
		return errors.New("write files: Format is nil: say how records are written, for example by csv.Format or format.Text")
	case r.Size < 0:
		return fmt.Errorf("write files: Rolling.Size is %d, want a positive number, or 0 for no bound", r.Size)
	case r.Interval != 0 && r.Interval < time.Millisecond:
		return fmt.Errorf("write files: Rolling.Interval is %s, want at least 1ms, or 0 for no bound", r.Interval)
	case s.Success != "" && (s.Success != filepath.Base(s.Success) || !filepath.IsLocal(s.Success) || s.Success == "."):
		return fmt.Errorf("write files: Success is %q, want the name of a file, without directories", s.Success)
	case strings.ContainsAny(s.Suffix, "/\\"):
		return fmt.Errorf("write files: Suffix is %q, want the end of a name, without a separator of directories", s.Suffix)
	}
	if _, err := s.Format.NewEncoder(); err != nil {
		return fmt.Errorf("write files: %w", err)
	}
	return CheckPaths(onCluster, s.Dir)
}

// Open makes the writer of one subtask, which removes what earlier attempts have
// left behind.
func (s Sink[T]) Open(c connector.SinkContext) (connector.Writer[T], connector.Committer, error) {
	encoder, err := s.Format.NewEncoder()
	if err != nil {
		return nil, nil, fmt.Errorf("write files: %w", err)
	}
	if s.Rolling == (Rolling{}) {
		s.Rolling.OnCheckpoint = true
	}
	if _, whole := encoder.(format.FileEncoder[T]); whole && !s.Rolling.OnCheckpoint {
		return nil, nil, errors.New("write files: Rolling lets files go on over checkpoints, and those of Format have an end: set Rolling.OnCheckpoint")
	}
	if (s.Replace || s.Success != "") && (c.Checkpoints || c.Parallelism > 1) {
		return nil, nil, fmt.Errorf("write files: Replace or Success is set, and the job has checkpoints (%t) or writes with %d subtasks, want none and 1", c.Checkpoints, c.Parallelism)
	}
	sum := sha256.Sum256([]byte(c.Job + " " + c.Operator))
	id := hex.EncodeToString(sum[:4])
	w := &writer[T]{
		sink: s, c: c, encoder: encoder, prefix: "part-" + id + "-", hidden: filepath.Join(s.Dir, ".weir-"+id),
		open: map[string]*inProgress[T]{},
	}
	if err := w.restore(); err != nil {
		return nil, nil, fmt.Errorf("write files: %w", err)
	}
	var writes connector.Writer[T] = w
	var commits connector.Committer = committer{c.Logger}
	if s.Replace {
		writes, commits = replacing[T]{w}, &replacer{committer: committer{c.Logger}, dir: s.Dir, partitions: s.Partition != nil, prefix: w.prefix, attempt: c.Attempt}
	}
	if s.Success != "" {
		writes, commits = announcing[T]{writes}, &announcer{Committer: commits, dir: s.Dir, partitions: s.Partition != nil, name: s.Success}
	}
	return writes, commits, nil
}
