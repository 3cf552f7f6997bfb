package slottable

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weirstream/weir/internal/ident"
)

// script drives a Table with the words of testdata; names stand for ids.
type script struct {
	table *Table
	now   time.Time
	names map[ident.ID]string
	freed map[ident.ID]int
	taken map[ident.ID]bool
}

func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{now: time.Unix(0, 0), names: map[ident.ID]string{}, freed: map[ident.ID]int{}, taken: map[ident.ID]bool{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out := s.run(t, d)
			s.check(t, d)
			return out
		})
	})
}

func (s *script) id(name string) ident.ID {
	var id ident.ID
	copy(id[:], name)
	s.names[id] = name
	return id
}

func (s *script) attempt(name string) ident.AttemptID {
	return ident.AttemptID{Vertex: ident.VertexID{ID: s.id(name)}}
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	arg := func(i int) string { return d.CmdArgs[i].Key }
	job := func(i int) ident.JobID { return ident.JobID{ID: s.id(arg(i))} }
	allocation := func(i int) ident.AllocationID { return ident.AllocationID{ID: s.id(arg(i))} }
	number := func(key string, otherwise int) int {
		d.MaybeScanArgs(t, key, &otherwise)
		return otherwise
	}
	switch d.Cmd {
	case "table":
		s.table = New(number("slots", 0), Profile{Managed: int64(number("managed", 0))}, 10*time.Second)
		return ""
	case "tick":
		wait, err := time.ParseDuration(arg(0))
		if err != nil {
			t.Fatal(err)
		}
		s.now = s.now.Add(wait)
		return s.say(s.table.Expire(s.now))
	case "reserve":
		err := s.table.Reserve(number("slot", -1), job(1), allocation(0), Profile{Managed: int64(number("managed", 0))}, s.now)
		if occupied, ok := errors.AsType[*OccupiedError](err); ok {
			return fmt.Sprintf("slot %d occupied by %s of %s\n", occupied.Index, s.names[occupied.Allocation.ID], s.names[occupied.Job.ID])
		}
		if err != nil {
			return err.Error() + "\n"
		}
		s.taken[allocation(0).ID] = true
		return fmt.Sprintf("slot %d\n", s.table.Find(allocation(0)).Index)
	case "activate":
		return fmt.Sprintln(s.table.Activate(job(1), allocation(0)))
	case "deactivate":
		s.table.Deactivate(job(0), s.now)
		return ""
	case "free":
		return s.say(s.table.Free(allocation(0), "asked to"))
	case "add":
		return fmt.Sprintln(s.table.AddTask(job(2), allocation(1), s.attempt(arg(0))))
	case "remove":
		return s.say(s.table.RemoveTask(s.attempt(arg(0))))
	case "slots":
		return s.slots()
	}
	t.Fatalf("unknown command %s", d.Cmd)
	return ""
}

// check holds what must be true after every event: within the budget, and
// every allocation that was taken is held or was reported free exactly once.
func (s *script) check(t *testing.T, d *datadriven.TestData) {
	if !s.table.Reserved().fits(s.table.budget) {
		t.Errorf("%s: reserved %+v, budget %+v", d.Pos, s.table.Reserved(), s.table.budget)
	}
	for a := range s.taken {
		want := 1
		if s.table.Find(ident.AllocationID{ID: a}) != nil {
			want = 0
		}
		if s.freed[a] != want {
			t.Errorf("%s: %s was reported free %d times, want %d", d.Pos, s.names[a], s.freed[a], want)
		}
	}
}

func (s *script) say(effects []Effect) string {
	var b strings.Builder
	for _, effect := range effects {
		switch f := effect.(type) {
		case Freed:
			s.freed[f.Allocation.ID]++
			fmt.Fprintf(&b, "freed slot %d, %s of %s: %s\n", f.Index, s.names[f.Allocation.ID], s.names[f.Job.ID], f.Cause)
		case FailTasks:
			fmt.Fprintf(&b, "fail%s: %s\n", s.tasks(f.Tasks), f.Cause)
		}
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

func (s *script) tasks(all []ident.AttemptID) (text string) {
	for _, a := range all {
		text += " " + s.names[a.Vertex.ID]
	}
	return text
}

func (s *script) slots() string {
	var b strings.Builder
	for _, slot := range s.table.Slots() {
		fmt.Fprintf(&b, "%d %s %s of %s:%s\n", slot.Index, slot.State, s.names[slot.Allocation.ID], s.names[slot.Job.ID], s.tasks(slot.Tasks()))
	}
	fmt.Fprintf(&b, "%d of %d free\n", s.table.Size()-len(s.table.Slots()), s.table.Size())
	return b.String()
}
