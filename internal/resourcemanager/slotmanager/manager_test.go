package slotmanager

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weirstream/weir/internal/ident"
)

// script drives a Manager with the words of testdata; names stand for ids.
type script struct {
	m     *Manager
	now   time.Time
	made  int
	names map[ident.ID]string
}

func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{now: time.Unix(0, 0), names: map[ident.ID]string{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
	})
}

// id gives the identifier a name stands for.
func (s *script) id(name string) ident.ID {
	var id ident.ID
	copy(id[:], name)
	s.names[id] = name
	return id
}

func (s *script) start(balance Balance) {
	s.m = New(Options{Balance: balance, NewAllocation: func() ident.AllocationID {
		s.made++
		return ident.AllocationID{ID: s.id(fmt.Sprintf("a%d", s.made))}
	}})
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	if s.m == nil {
		s.start(map[string]Balance{"spread": SpreadOut, "fill": FillUp}[d.Cmd])
	}
	arg := func(i int) string { return d.CmdArgs[i].Key }
	number := func(key string) int {
		var n int
		d.MaybeScanArgs(t, key, &n)
		return n
	}
	instance := func() ident.InstanceID {
		name := arg(0)
		d.MaybeScanArgs(t, "instance", &name)
		return ident.InstanceID{ID: s.id("i-" + name)}
	}
	job := func() ident.JobID { return ident.JobID{ID: s.id(arg(0))} }
	slot := func() (ident.InstanceID, int, ident.AllocationID) {
		return instance(), number("slot"), ident.AllocationID{ID: s.id(arg(1))}
	}
	switch d.Cmd {
	case "spread", "fill":
		return ""
	case "tick":
		wait, err := time.ParseDuration(arg(0))
		if err != nil {
			t.Fatal(err)
		}
		s.now = s.now.Add(wait)
		return ""
	case "register":
		return s.apply(Registered{TaskExecutor: ident.ResourceID(arg(0)), Instance: instance(), Slots: number("slots"),
			Total: Profile{Managed: int64(number("managed"))}})
	case "report":
		return s.apply(Reported{Instance: instance(), Slots: s.statuses(t, d.Input)})
	case "lost":
		return s.apply(Lost{Instance: instance()})
	case "freed":
		i, n, a := slot()
		return s.apply(Freed{Instance: i, Slot: n, Allocation: a})
	case "granted":
		i, n, a := slot()
		return s.apply(Granted{Instance: i, Slot: n, Allocation: a})
	case "refused":
		i, n, a := slot()
		return s.apply(Refused{Instance: i, Slot: n, Allocation: a})
	case "declare":
		master := "m"
		d.MaybeScanArgs(t, "master", &master)
		e := Declared{Job: job(), Master: ident.LeaderID{ID: s.id(master)}, Version: int64(number("version"))}
		if n := number("slots"); n > 0 {
			e.Requirements = []Requirement{{Slots: n, Profile: Profile{Managed: int64(number("managed"))}}}
		}
		return s.apply(e)
	case "gone":
		return s.apply(JobGone{Job: job()})
	case "startup-over":
		return s.apply(StartUpOver{})
	case "match":
		return s.apply(Match{})
	case "slots":
		return s.slots()
	}
	t.Fatalf("unknown command %s", d.Cmd)
	return ""
}

// statuses reads lines "index allocation job"; "index" alone is a free slot.
func (s *script) statuses(t *testing.T, text string) (all []SlotStatus) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		index, err := strconv.Atoi(words[0])
		if err != nil {
			t.Fatal(err)
		}
		status := SlotStatus{Index: index}
		if len(words) > 1 {
			status.Allocation = ident.AllocationID{ID: s.id(words[1])}
			status.Job = ident.JobID{ID: s.id(words[2])}
		}
		all = append(all, status)
	}
	return all
}

func (s *script) apply(e Event) string {
	var b strings.Builder
	for _, effect := range s.m.Apply(e, s.now) {
		switch f := effect.(type) {
		case MatchAfter:
			fmt.Fprintf(&b, "match after %s\n", f.Wait)
		case RequestSlot:
			fmt.Fprintf(&b, "request %s/%d for %s of %s", f.TaskExecutor, f.Slot, s.names[f.Allocation.ID], s.names[f.Job.ID])
			if f.Profile.Managed > 0 {
				fmt.Fprintf(&b, " with %d", f.Profile.Managed)
			}
			fmt.Fprintln(&b)
		case NotEnough:
			fmt.Fprintf(&b, "tell %s: needed %d, registered %d, free %d\n", s.names[f.Job.ID], f.Needed, f.Registered, f.Free)
		}
	}
	s.check()
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

// check holds what must be true after every event.
func (s *script) check() {
	seen := map[ident.AllocationID]bool{}
	for _, t := range s.m.executors {
		for _, slot := range t.Slots {
			if (slot.State == Free) != slot.Allocation.IsZero() || seen[slot.Allocation] {
				panic(fmt.Sprintf("slot %s/%d: state %d, allocation %s", t.ID, slot.Index, slot.State, slot.Allocation))
			}
			if slot.State != Free {
				seen[slot.Allocation] = true
			}
		}
	}
}

func (s *script) slots() string {
	var b strings.Builder
	for _, t := range s.m.TaskExecutors() {
		for _, slot := range t.Slots {
			state := [...]string{"free", "pending", "allocated"}[slot.State]
			if !t.Reported {
				state = "not reported"
			}
			fmt.Fprintf(&b, "%s/%d %s", t.ID, slot.Index, state)
			if slot.State != Free {
				fmt.Fprintf(&b, " %s of %s", s.names[slot.Allocation.ID], s.names[slot.Job.ID])
			}
			fmt.Fprintln(&b)
		}
	}
	registered, free := s.m.Slots()
	fmt.Fprintf(&b, "%d registered, %d free\n", registered, free)
	return b.String()
}
