package files

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/format"
	"github.com/weirstream/weir/internal/operator"
)

// writeBuffer is how much text a part file collects before it is written.
const writeBuffer = 64 << 10

// WriteLines makes the sink that writes line of every record into one part file
// a subtask below dir. In a job with checkpoints it is Sink with its default rolling,
// and writes several.
func WriteLines[T any](dir string, line func(T) string) operator.Factory {
	return operator.FactoryFunc(func(c *operator.Context, out any) any {
		if c.Checkpoints {
			return operator.SinkTo(Sink[T]{Dir: dir, Format: format.Text[T](line)}).Build(c, out)
		}
		p, err := createPart(dir, author{c.Subtask, c.Parallelism, c.Attempt})
		operator.Check(err)
		c.OnClose(func(failed bool) { operator.Check(p.close(failed)) })
		c.Keep(c.OperatorID, operator.Kept{Refuse: errWriteText})
		return &operator.Receiver[T]{
			Push: func(v T, _ int64) {
				p.text.WriteString(line(v)) // bufio keeps the error for Flush
				if err := p.text.WriteByte('\n'); err != nil {
					operator.Abort(fmt.Errorf("write text: %w", err))
				}
			},
			Watermark: func(int64) {},
			Idle:      func(bool) {},
			Finish:    func() {},
		}
	})
}

// CheckPaths refuses relative paths on a cluster: its processes have working
// directories of their own, which go with the job.
func CheckPaths(onCluster bool, paths ...string) error {
	for _, path := range paths {
		if onCluster && !filepath.IsAbs(path) {
			return fmt.Errorf("path %q is relative: on a cluster every process has a working directory of its own; give an absolute path", path)
		}
	}
	return nil
}

// CheckEmpty refuses a dir that holds anything: results must not mix with those
// of another run.
func CheckEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("write text: output directory %s: %w", dir, err)
	case len(entries) > 0:
		return fmt.Errorf("write text: output directory %s exists and is not empty: remove it or choose another", dir)
	}
	return nil
}

// part is a part file that is being written.
//
// Invariant: it is at hidden until close has renamed it to final or removed it, or
// until another attempt has taken the place of this one, which it does by removing it.
// The final name is the subtask's alone: when a restart makes a subtask that had
// finished run again, its new part takes the place of the old one.
type part struct {
	file          *os.File
	text          *bufio.Writer
	dir           string
	author        author
	hidden, final string
}

// author is the attempt that writes a part.
type author struct{ subtask, parallelism, attempt int }

func hiddenPart(subtask, attempt int) string {
	return fmt.Sprintf(".part-%d-%d.inprogress", subtask, attempt)
}

// succeeds reports whether what a subtask has left, whatever the parallelism of then, is
// this one's to remove.
func (a author) succeeds(subtask int) bool {
	c := connector.SinkContext{Subtask: a.subtask, Parallelism: a.parallelism}
	return c.Owns(subtask)
}

// marker is a file in an output directory that a job has made, until one of its
// parts is whole: when all fail, the job takes the directory away.
const marker = ".made"

// makeDirectory makes an output directory, if there is none.
func makeDirectory(dir string) error {
	err := os.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(dir), 0o777); err == nil {
			err = os.Mkdir(dir, 0o777)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		info, statErr := os.Stat(dir)
		if statErr == nil && info.IsDir() {
			return nil
		}
		if errors.Is(statErr, fs.ErrNotExist) {
			return statErr // taken away just now
		}
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, marker), nil, 0o666)
}

// removeIfVain removes a directory that the job made and in which nothing is left.
// Others may do the same at the same time.
func removeIfVain(dir string) {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) == 1 && entries[0].Name() == marker {
		_ = os.Remove(filepath.Join(dir, marker)) // if it stays, so does the directory
		_ = os.Remove(dir)                        // fails if somebody has begun to write
	}
}

// createPart begins a part. A failing part of the same job may take the directory
// away again just then.
func createPart(dir string, a author) (p *part, err error) {
	for range 10 {
		if p, err = tryPart(dir, a); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return p, err
}

func tryPart(dir string, a author) (*part, error) {
	if err := makeDirectory(dir); err != nil {
		return nil, fmt.Errorf("write text: %w", err)
	}
	p := &part{
		dir: dir, author: a,
		hidden: filepath.Join(dir, hiddenPart(a.subtask, a.attempt)),
		final:  filepath.Join(dir, fmt.Sprintf("part-%d", a.subtask)),
	}
	if err := p.takePlace(); err != nil {
		return nil, fmt.Errorf("write text: %w", err)
	}
	f, err := os.Create(p.hidden)
	if err != nil {
		return nil, fmt.Errorf("write text: %w", err)
	}
	p.file, p.text = f, bufio.NewWriterSize(f, writeBuffer)
	return p, nil
}

// takePlace removes what earlier attempts have left: killed, or taken for dead and still
// alive, which then find their part gone when they finish it. What subtasks had finished
// that there are no more since a rescale is written again by others. A later attempt's
// stays: then this one was taken for dead before it began, and is refused.
func (p *part) takePlace() error {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		var subtask, attempt int
		if _, err := fmt.Sscanf(e.Name(), ".part-%d-%d.inprogress", &subtask, &attempt); err == nil && e.Name() == hiddenPart(subtask, attempt) {
			if p.author.succeeds(subtask) && attempt > p.author.attempt {
				return fmt.Errorf("attempt %d of subtask %d writes into %s: attempt %d of subtask %d was given up", attempt, subtask, p.dir, p.author.attempt, p.author.subtask)
			}
		} else if _, err := fmt.Sscanf(e.Name(), "part-%d", &subtask); err != nil || e.Name() != fmt.Sprintf("part-%d", subtask) || subtask == p.author.subtask || p.author.attempt == 0 {
			continue
		}
		if !p.author.succeeds(subtask) || e.Name() == filepath.Base(p.hidden) {
			continue
		}
		if err := remove(filepath.Join(p.dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// close ends the part: under its name, or not at all.
func (p *part) close(failed bool) error {
	if failed {
		p.file.Close()
		err := os.Remove(p.hidden)
		removeIfVain(p.dir)
		return err
	}
	err := errors.Join(p.text.Flush(), p.file.Close())
	if err == nil {
		err = p.finish()
	}
	if err != nil {
		os.Remove(p.hidden)
		removeIfVain(p.dir)
		return fmt.Errorf("write text: %w", err)
	}
	if err := os.Remove(filepath.Join(p.dir, marker)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write text: %w", err)
	}
	return nil
}

// finish gives the part its name. An attempt that was taken for dead may have begun after
// this one: it goes first, so that it does not put its part in the place of this one's.
func (p *part) finish() error {
	if err := p.takePlace(); err != nil {
		return err
	}
	err := os.Rename(p.hidden, p.final)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("another attempt has taken the place of this one: %w", err)
	}
	return err
}

// errWriteText is why WriteLines is not part of a checkpoint that somebody asks for
// in a job without.
var errWriteText = errors.New("WriteText writes one file a subtask in a job without checkpoints, and would lose what it wrote before this one: set execution.checkpointing.interval, or write with files.Sink")
