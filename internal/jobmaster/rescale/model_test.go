package rescale

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/status"
)

// world is what the owner of a Rescaler sees to, with the job that it runs.
type world struct {
	t       *rapid.T
	r       *Rescaler
	now     time.Time
	present int
	runs    []int // nil: the job does not run
	ending  bool  // its tasks end
	restart int64
	waits   []Event // answers that are due
	failed  bool
}

// TestModel runs jobs in which anything happens at any time.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := parseJob(nil, "a 3\nb 3 <- =a\nc 2 <- b in two\nd 4 <- b max 6")
		o := Options{Handover: 500 * time.Millisecond, Checkpoints: rapid.Bool().Draw(t, "checkpoints"), ActiveCheckpoint: true,
			NewID: func() ident.ID { return ident.ID{1} }}
		o.Reactive, o.History, o.CheckpointFailures = rapid.Bool().Draw(t, "reactive"), 3, 2
		o.WaitTimeout, o.Stabilization, o.Cooldown, o.RescaleStabilization = time.Hour, 10*time.Second, 30*time.Second, time.Minute
		if o.Checkpoints {
			o.MaxDelay = 20 * time.Second
		}
		w := &world{t: t, now: epoch, r: New(g, o, epoch)}
		w.apply(Start{})
		t.Repeat(map[string]func(*rapid.T){
			"":           func(*rapid.T) { w.check() },
			"slots":      w.slots,
			"require":    w.require,
			"fail":       func(*rapid.T) { w.fail() },
			"end":        func(*rapid.T) { w.end() },
			"answer":     func(*rapid.T) { w.answer() },
			"run":        func(*rapid.T) { w.allRun() },
			"pass":       func(t *rapid.T) { w.pass(time.Duration(rapid.IntRange(1, 100).Draw(t, "seconds")) * time.Second) },
			"checkpoint": func(t *rapid.T) { w.apply(Checkpoint{Complete: rapid.Bool().Draw(t, "complete")}) },
			"stop":       func(t *rapid.T) { w.apply(Stopping{On: rapid.Bool().Draw(t, "on")}) },
		})
		w.settle()
	})
}

func (w *world) check() {
	if due := w.r.Deadline(); !due.IsZero() && !due.After(w.now) {
		w.t.Fatalf("the deadline %s has passed at %s in %s", due, w.now, w.r.State())
	}
}

func (w *world) apply(ev Event) {
	for _, effect := range w.r.Apply(ev, w.now) {
		switch f := effect.(type) {
		case Prepare:
			if w.runs != nil && !w.ending {
				w.t.Fatalf("%+v is prepared while %v runs", f.Layouts, w.runs)
			}
			w.waits = append(w.waits, Prepared{Serial: f.Serial})
		case Run:
			w.begin(f)
		case Rescale:
			if w.runs == nil || w.ending {
				w.t.Fatal("a job is rescaled that does not run")
			}
			if slices.Equal(w.r.target(), w.runs) {
				w.t.Fatalf("a job is rescaled to what it is, %v", w.runs)
			}
			w.ending = true
			w.waits = append(w.waits, Restarting{})
		case Fail:
			w.failed = true
		case Recorded:
			if r := f.Rescale; r.Begin.After(r.End) || r.Stopped.After(r.End) {
				w.t.Fatalf("a rescale that ends before it begins: %+v", r)
			}
		}
	}
}

func (w *world) begin(f Run) {
	if f.Restart != w.restart || w.runs != nil && !w.ending {
		return // the owner knows that it is void
	}
	var p []int
	for _, l := range f.Layouts {
		p = append(p, l.Parallelism)
	}
	for i, b := range w.r.shape.together(w.r.Bounds()) {
		if p[i] < 1 || p[i] > b.Upper {
			w.t.Fatalf("vertex %d has parallelism %d, %+v is wanted", i, p[i], b)
		}
	}
	if p[0] != p[1] {
		w.t.Fatalf("parallelisms %v: a forward edge connects the first two", p)
	}
	if used := sum(w.r.shape.used(p)); used > w.present {
		w.t.Fatalf("%v needs %d slots, there are %d", p, used, w.present)
	}
	w.runs, w.ending = p, false
}

func (w *world) slots(t *rapid.T) {
	n := rapid.IntRange(0, 9).Draw(t, "slots")
	if lost := w.present - n; lost > 0 {
		w.apply(SlotsLost{Slots: lost, MayReturn: rapid.Bool().Draw(t, "may return")})
	}
	w.present = n
	w.apply(Slots{Present: n})
	if w.runs != nil && !w.ending && sum(w.r.shape.used(w.runs)) > n {
		w.fail()
	}
}

func (w *world) require(t *rapid.T) {
	if w.runs == nil { // a layout under way keeps to the bounds it was made for
		return
	}
	var all []execgraph.Bounds
	upper := rapid.IntRange(1, 6).Draw(t, "upper")
	for range w.r.shape.vertices {
		all = append(all, execgraph.Bounds{Lower: rapid.IntRange(1, upper).Draw(t, "lower"), Upper: upper})
	}
	w.apply(Require{Bounds: all})
}

func (w *world) fail() {
	if w.runs == nil && w.restart == 0 || w.failed {
		return
	}
	w.ending = true
	w.restart = 0
	w.apply(Restarting{})
}

// end lets the tasks have ended.
func (w *world) end() {
	if w.runs == nil && !w.ending || !w.ending || len(w.waits) > 0 {
		return
	}
	w.restart = max(w.restart, w.r.resume) + 1
	w.runs, w.ending = nil, false
	w.apply(Ended{Restart: w.restart})
}

func (w *world) answer() {
	if len(w.waits) > 0 {
		ev := w.waits[0]
		w.waits = w.waits[1:]
		w.apply(ev)
	}
}

func (w *world) allRun() {
	if w.runs != nil && !w.ending {
		w.apply(AllRun{})
	}
}

func (w *world) pass(d time.Duration) {
	for end := w.now.Add(d); ; {
		due := w.r.Deadline()
		if due.IsZero() || due.After(end) {
			w.now = end
			return
		}
		w.now = due
		w.apply(Tick{})
		w.check()
	}
}

// settle gives the job what it wants: it must run with it in the end.
func (w *world) settle() {
	if w.failed {
		return
	}
	wanted, _ := w.r.shape.wanted(w.r.Bounds())
	w.apply(Stopping{})
	w.present = max(w.present, wanted)
	w.apply(Slots{Present: w.present})
	for range 10 {
		w.answer()
		w.end()
		w.allRun()
		w.pass(5 * time.Minute)
		w.apply(Checkpoint{Complete: true})
	}
	if want := w.r.target(); !slices.Equal(w.runs, want) {
		w.t.Fatalf("there are all %d slots, and it runs with %v, not %v, in %s", w.present, w.runs, want, w.r.State())
	}
	w.apply(JobEnded{State: status.JobCanceled})
	if v := w.r.Rescales(); v.InProgress != 0 || len(v.Rescales) > 3 {
		w.t.Fatalf("after the end: %+v", v)
	}
}
