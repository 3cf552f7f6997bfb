package files

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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
		p, err := createPart(dir, c.Subtask, c.Attempt)
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
// Invariant: it is at hidden until close has renamed it to final or removed it.
// The final name is the subtask's alone: when a restart makes a subtask that had
// finished run again, its new part takes the place of the old one.
type part struct {
	file          *os.File
	text          *bufio.Writer
	dir           string
	hidden, final string
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
func createPart(dir string, subtask, attempt int) (p *part, err error) {
	for range 10 {
		if p, err = tryPart(dir, subtask, attempt); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return p, err
}

func tryPart(dir string, subtask, attempt int) (*part, error) {
	if err := makeDirectory(dir); err != nil {
		return nil, fmt.Errorf("write text: %w", err)
	}
	p := &part{
		dir:    dir,
		hidden: filepath.Join(dir, fmt.Sprintf(".part-%d-%d.inprogress", subtask, attempt)),
		final:  filepath.Join(dir, fmt.Sprintf("part-%d", subtask)),
	}
	if err := removeAbandoned(dir, subtask, attempt); err != nil {
		return nil, fmt.Errorf("write text: %w", err)
	}
	f, err := os.Create(p.hidden)
	if err != nil {
		return nil, fmt.Errorf("write text: %w", err)
	}
	p.file, p.text = f, bufio.NewWriterSize(f, writeBuffer)
	return p, nil
}

// removeAbandoned removes what earlier attempts of a subtask left when their process was
// killed. What a later one writes stays: then this one was taken for dead before it began.
func removeAbandoned(dir string, subtask, attempt int) error {
	left, err := filepath.Glob(filepath.Join(dir, fmt.Sprintf(".part-%d-*.inprogress", subtask)))
	for _, path := range left {
		var of int
		if _, other := fmt.Sscanf(filepath.Base(path), fmt.Sprintf(".part-%d-%%d.inprogress", subtask), &of); other != nil || of > attempt {
			continue
		}
		if gone := os.Remove(path); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
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
		err = os.Rename(p.hidden, p.final)
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

// errWriteText is why WriteLines is not part of a checkpoint that somebody asks for
// in a job without.
var errWriteText = errors.New("WriteText writes one file a subtask in a job without checkpoints, and would lose what it wrote before this one: set execution.checkpointing.interval, or write with files.Sink")
