package slotpool

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/status"
)

// script is one pool under a script. Its commands are the events:
//
//	pool [bounded]     makes the pool: request timeout 5m, idle timeout 50s
//	want R …           a bulk of requests; R:SLOT prefers that one
//	keep N             so many slots at least
//	withdraw R …, release SLOT, fail SLOT TM, gone TM, close
//	offer TM SLOT …
//	not-enough NEEDED HAVE FREE [working]
//	tick DURATION [working]   time passes
//	unread TM …        where tasks that have finished have left what others read
//	show               what the pool holds
type script struct {
	pool   *Pool
	unread []ident.ResourceID
	names  []string // of slots; a slot's allocation is its place, counted from 1
	now    time.Time
}

func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{now: time.Unix(1000, 0)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
	})
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	var args []string
	for _, a := range d.CmdArgs {
		args = append(args, a.String())
	}
	cause := &status.Failure{Kind: status.FailureLost, Message: "lost"}
	var ev Event
	switch d.Cmd {
	case "pool":
		s.pool, s.unread = New(Options{RequestTimeout: 5 * time.Minute, IdleTimeout: 50 * time.Second, Bounded: len(args) > 0,
			Unread: func() []ident.ResourceID { return s.unread }}), nil
		return ""
	case "unread":
		s.unread = nil
		for _, a := range args {
			s.unread = append(s.unread, ident.ResourceID(a))
		}
		return ""
	case "show":
		return s.show()
	case "keep":
		ev = Keep{Slots: number(t, args[0])}
	case "want":
		want := Want{}
		for _, a := range args {
			id, prefer, _ := strings.Cut(a, ":")
			r := Request{ID: RequestID(number(t, id)), Group: "default"}
			if prefer != "" {
				r.Prefer = s.allocation(prefer)
			}
			want.Requests = append(want.Requests, r)
		}
		ev = want
	case "withdraw":
		withdraw := Withdraw{}
		for _, a := range args {
			withdraw.Requests = append(withdraw.Requests, RequestID(number(t, a)))
		}
		ev = withdraw
	case "offer":
		offer := Offer{TaskManager: ident.ResourceID(args[0])}
		for _, a := range args[1:] {
			offer.Slots = append(offer.Slots, &execgraph.Slot{Allocation: s.allocation(a), TaskManager: offer.TaskManager})
		}
		ev = offer
	case "release":
		ev = Release{Allocation: s.allocation(args[0])}
	case "fail":
		ev = SlotFailed{Allocation: s.allocation(args[0]), TaskManager: ident.ResourceID(args[1]), Cause: cause}
	case "gone":
		ev = TaskManagerGone{TaskManager: ident.ResourceID(args[0]), Cause: cause}
	case "not-enough":
		ev = NotEnough{Needed: number(t, args[0]), Registered: number(t, args[1]), Free: number(t, args[2]), Working: len(args) > 3}
	case "tick":
		by, err := time.ParseDuration(args[0])
		if err != nil {
			t.Fatal(err)
		}
		s.now = s.now.Add(by)
		ev = Tick{Working: len(args) > 1}
	case "close":
		ev = Close{}
	default:
		t.Fatalf("unknown command %q", d.Cmd)
	}
	var out strings.Builder
	for _, effect := range s.pool.Apply(ev, s.now) {
		fmt.Fprintln(&out, s.effect(effect))
	}
	s.check()
	return out.String()
}

// check holds the pool to its invariant.
func (s *script) check() {
	p := s.pool
	n := p.Counts()
	invariant.Check(n.Pending == 0 || n.Free < n.Lacking, "%d requests are pending, and %d slots are free where %d would do", n.Pending, n.Free, n.Lacking)
	invariant.Check(p.declared == p.Requirement(), "declared %d, need %d", p.declared, p.Requirement())
	if due := p.Deadline(); !due.IsZero() {
		invariant.Check(due.After(s.now), "the deadline %s has passed at %s", due, s.now)
	}
}

func number(t *testing.T, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (s *script) allocation(name string) ident.AllocationID {
	for i, n := range s.names {
		if n == name {
			return ident.AllocationID{ID: ident.ID{byte(i + 1)}}
		}
	}
	s.names = append(s.names, name)
	return ident.AllocationID{ID: ident.ID{byte(len(s.names))}}
}

func (s *script) name(a ident.AllocationID) string { return s.names[a.ID[0]-1] }

func (s *script) named(allocations []ident.AllocationID) string {
	var words []string
	for _, a := range allocations {
		words = append(words, s.name(a))
	}
	return strings.Join(words, " ")
}

func (s *script) effect(effect Effect) string {
	switch f := effect.(type) {
	case Declare:
		return fmt.Sprintf("declare %d", f.Slots)
	case Grant:
		return fmt.Sprintf("grant %d: %s on %s", f.Request, s.name(f.Slot.Allocation), f.Slot.TaskManager)
	case Refuse:
		return fmt.Sprintf("refuse %v: %s", f.Requests, f.Cause.Error())
	case Lost:
		return fmt.Sprintf("lost %s: %s", s.named(f.Allocations), f.Cause.Error())
	case Answer:
		return fmt.Sprintf("accepted [%s]", s.named(f.Accepted))
	case Free:
		return fmt.Sprintf("free %s on %s: %s", s.name(f.Slot.Allocation), f.Slot.TaskManager, f.Cause)
	}
	return fmt.Sprintf("%T", effect)
}

func (s *script) show() string {
	var out strings.Builder
	for _, h := range s.pool.slots {
		user := "free"
		if h.user != 0 {
			user = fmt.Sprintf("used by %d", h.user)
		}
		fmt.Fprintf(&out, "%s on %s: %s\n", s.name(h.slot.Allocation), h.slot.TaskManager, user)
	}
	fmt.Fprintf(&out, "pending %d, requirement %d\n", s.pool.pending(), s.pool.Requirement())
	return out.String()
}
