package files

import (
	"encoding/json"
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/coordinator/files/split"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/status"
)

// CoordinatorKind names the coordinator that hands out splits of files.
const CoordinatorKind = "files"

// MaxLine is the longest line ReadLines takes, in bytes. A longer one fails the
// job, naming the file and where in it the line begins.
const MaxLine = 16 << 20

// Spec is the configuration of the coordinator for the given patterns.
func Spec(patterns []string) string {
	text, err := json.Marshal(split.Spec{Patterns: patterns})
	invariant.Check(err == nil, "a list of patterns can be written as JSON: %v", err)
	return string(text)
}

// ReadLines makes the source of the lines of the splits that the coordinator
// hands out.
func ReadLines() operator.SourceFactory {
	return operator.SourceFunc(func(c *operator.Context, out any) operator.Source {
		r := &reader{c: c, begins: noLine, push: operator.Output[string](out).Push}
		c.OnClose(func(bool) { r.lines.close() })
		c.Keep(c.OperatorID, operator.Kept{Lists: []operator.KeptList{{Name: "splits", Schema: "split", Save: r.save, Load: r.load}}})
		r.ask()
		return r
	})
}

// reader is the source's instance in one subtask. While it reads one split it
// has already asked for the next.
type reader struct {
	c        *operator.Context
	push     func(string, int64)
	sequence int64
	next     *split.Split  // received and not begun
	restored []split.Split // of a checkpoint, not begun
	asked    bool          // an answer is owed
	done     bool          // no split is left
	files    []split.File  // of the split that is being read, not begun
	lines    lines         // of the file that is being read
	line     string        // that is being pushed, and where in the file it begins
	begins   int64
}

// ask sends for the next split.
func (r *reader) ask() {
	r.asked = true
	r.sequence++
	request, err := json.Marshal(split.Request{Sequence: r.sequence})
	operator.Check(err)
	r.c.Ask(r.c.OperatorID, request, r.receive)
}

// receive takes the coordinator's answer, on the task's goroutine.
func (r *reader) receive(answer []byte, err error) {
	r.asked = false
	var response split.Response
	if err == nil {
		err = json.Unmarshal(answer, &response)
	}
	if err != nil {
		operator.Abort(fmt.Errorf("ask for the next split: %w", err))
	}
	r.next, r.done = response.Split, response.Split == nil
}

// Poll pushes about batch.MaxRows lines.
func (r *reader) Poll() operator.Progress {
	for !r.lines.open() {
		switch {
		case len(r.files) > 0:
			operator.Check(r.lines.start(r.files[0]))
			r.files = r.files[1:]
		case len(r.restored) > 0:
			r.files, r.restored = r.restored[0].Files, r.restored[1:]
		case r.next != nil:
			r.files, r.next = r.next.Files, nil
			r.ask()
		case r.done:
			return operator.Done
		default:
			return operator.Wait
		}
	}
	for n := 0; n < batch.MaxRows; {
		block := r.c.Signal.Block()
		pushed := r.pushLines(block)
		r.c.CountIn(pushed)
		if n += block; pushed < block {
			break // the file has ended
		}
	}
	return operator.More
}

// pushLines pushes at most n lines of the file and says how many there were.
func (r *reader) pushLines(n int) int {
	for i := range n {
		begins := r.lines.at
		line, ok, err := r.lines.next()
		if err != nil {
			r.begins = noLine
			operator.Abort(err)
		}
		if !ok {
			return i
		}
		r.line, r.begins = line, begins
		r.push(line, batch.NoTimestamp)
	}
	r.begins = noLine
	return n
}

// noLine says that no line is being pushed.
const noLine = -1

// Record tells which line was being pushed when the task failed.
func (r *reader) Record() *status.Record {
	if r.begins == noLine || !r.lines.open() {
		return nil
	}
	return status.RecordOf(fmt.Sprintf("%s, byte %d", r.lines.file.Name(), r.begins), r.line)
}

// save gives the splits that the subtask owns, as far as they are not read.
func (r *reader) save() [][]byte {
	rest := split.Split{Files: r.files}
	if r.lines.open() && r.lines.at < r.lines.end {
		part := split.File{Path: r.lines.file.Name(), Offset: r.lines.at, Length: r.lines.end - r.lines.at, Exact: true}
		rest.Files = append([]split.File{part}, r.files...)
	}
	owned := append([]split.Split{rest}, r.restored...)
	if r.next != nil {
		owned = append(owned, *r.next)
	}
	var all [][]byte
	for _, s := range owned {
		if len(s.Files) == 0 {
			continue
		}
		text, err := json.Marshal(s)
		operator.Check(err)
		all = append(all, text)
	}
	return all
}

// load takes over the splits of a checkpoint.
func (r *reader) load(elements [][]byte) error {
	for _, text := range elements {
		var s split.Split
		if err := json.Unmarshal(text, &s); err != nil {
			return fmt.Errorf("read a split of a checkpoint: %w", err)
		}
		r.restored = append(r.restored, s)
	}
	return nil
}
