package files

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/format"
	"github.com/weirstream/weir/internal/coordinator/files/split"
)

// MaxLine is the longest line that is read, in bytes. A longer one fails the job,
// naming the file and where in it the line begins.
const MaxLine = 16 << 20

// reader reads the files of one subtask. While it reads one split it has already
// asked for the next.
type reader[T any] struct {
	c      connector.SourceContext
	out    connector.Output[T]
	format format.Decoding[T]
	to     connector.SplitOutput[T] // of the split that is being read
	plain  bool                     // records are the lines themselves
	text   func(string, int64)      // to.Emit, if they are

	splits  []split.Split // received and not begun
	asked   bool          // an answer is owed
	done    bool          // no split is left
	open    bool          // a split is being read
	id      int           // of it
	files   []split.File  // of it, not begun
	lines   lines         // of the file that is being read
	decoder format.Decoder[T]
	line    string // that is being emitted, and where in the file it begins
	begins  int64
}

// noLine says that no line is being emitted.
const noLine = -1

// Add takes a split.
func (r *reader[T]) Add(text []byte) error {
	var s split.Split
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("read files: read a split: %w", err)
	}
	r.splits = append(r.splits, s)
	r.asked = false
	return nil
}

// NoMore says that no split is left.
func (r *reader[T]) NoMore() error {
	r.asked, r.done = false, true
	return nil
}

// Poll emits about batch.MaxRows records.
func (r *reader[T]) Poll() (connector.Progress, error) {
	for !r.lines.open() {
		switch {
		case len(r.files) > 0:
			if err := r.start(r.files[0]); err != nil {
				return connector.Done, err
			}
			r.files = r.files[1:]
		case r.open:
			r.open = false
			r.to.End()
		case len(r.splits) > 0:
			r.begin(r.splits[0])
			r.splits = r.splits[1:]
			r.ask()
		case r.done:
			return connector.Done, nil
		default:
			r.ask()
			return connector.Wait, nil
		}
	}
	for n := 0; n < batch.MaxRows; {
		block := r.out.Room()
		emitted, err := r.emit(block)
		r.out.Count(emitted)
		if err != nil {
			return connector.Done, err
		}
		if n += block; emitted < block {
			break // the file has ended
		}
	}
	return connector.More, nil
}

// begin begins with a split.
func (r *reader[T]) begin(s split.Split) {
	r.open, r.id, r.files = true, s.ID, s.Files
	r.to = r.out.Begin(strconv.Itoa(s.ID))
	if r.plain {
		r.text = any(r.to.Emit).(func(string, int64))
	}
}

// ask sends for the next split, unless some are there.
func (r *reader[T]) ask() {
	if !r.asked && !r.done && len(r.splits) == 0 {
		r.asked = true
		r.c.Request()
	}
}

// start begins to read a part of a file.
func (r *reader[T]) start(part split.File) error {
	header := ""
	if r.format.Header() {
		var err error
		if header, err = firstLine(part.Path); err != nil {
			return err
		}
	}
	decoder, err := r.format.NewDecoder(header)
	if err != nil {
		return fmt.Errorf("read %s, line 1: %w", part.Path, err)
	}
	r.decoder = decoder
	if err := r.lines.start(part); err != nil {
		return err
	}
	if r.format.Header() && part.Offset == 0 {
		_, _, err = r.lines.next()
	}
	return err
}

// firstLine gives the first line of a file.
func firstLine(path string) (string, error) {
	var l lines
	if err := l.start(split.File{Path: path, Length: 1}); err != nil {
		return "", err
	}
	defer l.close()
	line, _, err := l.next()
	return line, err
}

// emit emits at most n records of the file and says how many there were.
func (r *reader[T]) emit(n int) (emitted int, err error) {
	if !r.plain {
		return r.decode(n)
	}
	for i := range n {
		begins := r.lines.at
		line, ok, err := r.lines.next()
		if err != nil || !ok {
			r.begins = noLine
			return i, err
		}
		r.line, r.begins = line, begins
		r.text(line, batch.NoTimestamp)
	}
	r.begins = noLine
	return n, nil
}

// decode emits at most n records that are made of lines.
func (r *reader[T]) decode(n int) (emitted int, err error) {
	for i := range n {
		begins := r.lines.at
		line, ok, err := r.lines.next()
		if err != nil || !ok {
			r.begins = noLine
			return i, err
		}
		r.line, r.begins = line, begins
		var v T
		if err := r.decoder.Decode(line, &v); err != nil {
			return i, r.unreadable(begins, err)
		}
		r.to.Emit(v, batch.NoTimestamp)
	}
	r.begins = noLine
	return n, nil
}

// unreadable says where the line is that holds no record.
func (r *reader[T]) unreadable(begins int64, err error) error {
	path := r.lines.name
	number, counting := LineNumber(path, begins)
	if counting != nil {
		return fmt.Errorf("read %s, byte %d: %w", path, begins, err)
	}
	return fmt.Errorf("read %s, line %d, byte %d: %w", path, number, begins, err)
}

// LineNumber counts from 1 the line that begins at a byte of a file. Splits begin
// anywhere, so nobody knows it before it is needed.
func LineNumber(path string, begins int64) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	number := 1
	chunk := make([]byte, minChunkBytes)
	for text := io.LimitReader(f, begins); ; {
		n, err := text.Read(chunk)
		for _, b := range chunk[:n] {
			if b == '\n' {
				number++
			}
		}
		if errors.Is(err, io.EOF) {
			return number, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// Locate tells which line was being emitted when the task failed.
func (r *reader[T]) Locate() (origin, value string, ok bool) {
	if r.begins == noLine || r.lines.name == "" {
		return "", "", false
	}
	return fmt.Sprintf("%s, byte %d", r.lines.name, r.begins), r.line, true
}

// Splits gives the splits that the subtask owns, as far as they are not read.
func (r *reader[T]) Splits() (all [][]byte, err error) {
	rest := split.Split{ID: r.id, Files: r.files}
	if r.lines.open() && r.lines.at < r.lines.end {
		part := split.File{Path: r.lines.name, Offset: r.lines.at, Length: r.lines.end - r.lines.at, Exact: true}
		rest.Files = append([]split.File{part}, r.files...)
	}
	for _, s := range append([]split.Split{rest}, r.splits...) {
		if len(s.Files) == 0 {
			continue
		}
		text, err := json.Marshal(s)
		if err != nil {
			return nil, fmt.Errorf("read files: write down a split: %w", err)
		}
		all = append(all, text)
	}
	return all, nil
}

// Close closes the file.
func (r *reader[T]) Close() error {
	r.lines.close()
	return nil
}
