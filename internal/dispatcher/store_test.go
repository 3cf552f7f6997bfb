package dispatcher

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
)

// drawer is Files that do what they are told when the test says.
type drawer struct {
	written map[ident.JobID]execgraph.View
	due     []func()
	broken  error
	notes   []string
}

func (f *drawer) Write(v execgraph.View, then func(error)) {
	f.notes = append(f.notes, "write "+number(v.Job))
	f.due = append(f.due, func() {
		if f.broken == nil {
			f.written[v.Job] = v
		}
		then(f.broken)
	})
}

func (f *drawer) Read(id ident.JobID, then func(execgraph.View, error)) {
	v, ok := f.written[id]
	if !ok {
		then(execgraph.View{}, errors.New("no such file"))
		return
	}
	then(v, nil)
}

func (f *drawer) Remove(id ident.JobID) {
	f.notes = append(f.notes, "remove "+number(id))
	delete(f.written, id)
}

func (f *drawer) pass() {
	due := f.due
	f.due = nil
	for _, then := range due {
		then()
	}
}

func number(id ident.JobID) string { return strconv.Itoa(int(id.ID[15])) }

func small(n int) execgraph.View {
	return execgraph.View{Job: jobID(strconv.Itoa(n)), Name: fmt.Sprint("job ", n), Vertices: []*execgraph.VertexView{{Subtasks: make([]execgraph.SubtaskView, 1)}}}
}

const smallWeight = 2048 + 1024 + 640

// told is what the store says of its jobs, the last to end first: f filed, w
// being written.
func told(s *store) string {
	var words []string
	for _, v := range s.appendTo(nil) {
		k := s.byID[v.Job]
		word := number(v.Job)
		if k.filed {
			word += "f"
		}
		if k.filing {
			word += "w"
		}
		if k.filed != (len(v.Vertices[0].Subtasks) == 0) {
			word += "?"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestWhatHasNoRoomIsFiled(t *testing.T) {
	f := &drawer{written: map[ident.JobID]execgraph.View{}}
	s := newStore(StoreOptions{MaxCapacity: 5, MaxBytes: 2 * smallWeight, Files: f})
	expect := func(what, jobs string, bytes int64, notes ...string) {
		t.Helper()
		if got := told(s); got != jobs || s.bytes != bytes*smallWeight || strings.Join(f.notes, ", ") != strings.Join(notes, ", ") {
			t.Errorf("%s: %s of %d bytes, leaving %d, %v; want %s of %d, %v", what, got, s.bytes, s.leaving, f.notes, jobs, bytes*smallWeight, notes)
		}
		f.notes = nil
	}
	for n := 1; n <= 4; n++ {
		s.put(small(n))
	}
	expect("four", "4 3 2w 1w", 4, "write 1", "write 2")
	f.pass()
	expect("written", "4 3 2f 1f", 2)
	for n := 1; n <= 4; n++ {
		s.whole(jobID(fmt.Sprint(n)), func(v execgraph.View, err error) {
			if err != nil || v.Name != fmt.Sprint("job ", n) || len(v.Vertices[0].Subtasks) != 1 {
				t.Errorf("job %d: %+v, %v", n, v, err)
			}
		})
	}
	s.put(small(5))
	s.put(small(6))
	expect("one too many", "6 5 4w 3w 2f", 4, "write 3", "remove 1", "write 4")
	s.drop(jobID("3"))
	expect("dropped while it is written", "6 5 4w 2f", 3)
	f.pass()
	expect("its file is removed", "6 5 4f 2f", 2, "remove 3")
	s.drop(jobID("2"))
	expect("expired", "6 5 4f", 2, "remove 2")
	f.broken = errors.New("disk full")
	s.put(small(7))
	f.pass()
	expect("what cannot be written is forgotten", "7 6 4f", 2, "write 5")
	for _, n := range []string{"4", "6", "7"} {
		s.drop(jobID(n))
	}
	if s.bytes != 0 || s.leaving != 0 || len(s.byID) != 0 || len(f.written) != 0 {
		t.Errorf("left: %d bytes, %d leaving, %d jobs, %d files", s.bytes, s.leaving, len(s.byID), len(f.written))
	}
}
