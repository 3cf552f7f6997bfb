package rescale

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/status"
)

// script is one job under a script. Each command but pass, bounds and show is an
// event at the same moment as the one before it:
//
//	job [OPTION …]      makes the job of its lines: "name parallelism [<- producer …] [in group] [max N]"; a producer
//	                    "=name" is read forward. OPTION: reactive, wait:D, stable:D, cooldown:D, settled:D, delay:D,
//	                    handover:D, failures:N, checkpoints, passive, history:N
//	start, restarting, prepared [SERIAL], running, checkpoint, checkpoint-failed, stopping, going-on
//	slots N             so many are there
//	lost N [returns]    so many are gone
//	require L..U …      bounds of the vertices
//	ended RESTART
//	over STATE          the job is over
//	pass D              time passes, with what falls due in it
//	bounds NAME:L..U …  what a person's wish would be refused for
//	show                the state and what is remembered
type script struct {
	r    *Rescaler
	g    *jobgraph.Graph
	now  time.Time
	ids  byte
	line strings.Builder
}

var epoch = time.Unix(1000, 0)

func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{now: epoch}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
	})
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	var args []string
	for _, a := range d.CmdArgs {
		args = append(args, a.String())
	}
	s.line.Reset()
	switch d.Cmd {
	case "job":
		s.make(t, args, d.Input)
	case "show":
		s.show()
	case "bounds":
		s.check(t, args)
	case "pass":
		s.pass(span(t, args[0]))
	default:
		s.apply(s.event(t, d.Cmd, args))
	}
	return s.line.String()
}

func (s *script) make(t *testing.T, args []string, text string) {
	s.g, s.now = parseJob(t, text), epoch
	o := Options{Handover: 500 * time.Millisecond, ActiveCheckpoint: true, NewID: func() ident.ID { s.ids++; return ident.ID{s.ids} }}
	o.WaitTimeout, o.Stabilization, o.Cooldown, o.RescaleStabilization = 5*time.Minute, 10*time.Second, 30*time.Second, time.Minute
	o.CheckpointFailures, o.History = 2, 10
	for _, a := range args {
		key, value, _ := strings.Cut(a, ":")
		switch key {
		case "reactive":
			o.Reactive, o.WaitTimeout, o.Stabilization = true, -1, 0
		case "wait":
			o.WaitTimeout = span(t, value)
		case "stable":
			o.Stabilization = span(t, value)
		case "cooldown":
			o.Cooldown = span(t, value)
		case "settled":
			o.RescaleStabilization = span(t, value)
		case "delay":
			o.MaxDelay = span(t, value)
		case "handover":
			o.Handover = span(t, value)
		case "failures":
			o.CheckpointFailures = number(t, value)
		case "checkpoints":
			o.Checkpoints = true
		case "passive":
			o.ActiveCheckpoint = false
		case "history":
			o.History = number(t, value)
		default:
			t.Fatalf("unknown option %q", a)
		}
	}
	s.r = New(s.g, o, s.now)
}

func (s *script) event(t *testing.T, cmd string, args []string) Event {
	switch cmd {
	case "start":
		return Start{}
	case "restarting":
		return Restarting{}
	case "prepared":
		if len(args) > 0 {
			return Prepared{Serial: number(t, args[0])}
		}
		return Prepared{Serial: s.r.serial}
	case "running":
		return AllRun{}
	case "checkpoint":
		return Checkpoint{Complete: true}
	case "checkpoint-failed":
		return Checkpoint{}
	case "stopping":
		return Stopping{On: true}
	case "going-on":
		return Stopping{}
	case "slots":
		return Slots{Present: number(t, args[0])}
	case "lost":
		return SlotsLost{Slots: number(t, args[0]), MayReturn: len(args) > 1}
	case "ended":
		return Ended{Restart: int64(number(t, args[0]))}
	case "over":
		state, _ := status.ParseJob(args[0])
		return JobEnded{State: state}
	case "require":
		ev := Require{}
		for _, a := range args {
			ev.Bounds = append(ev.Bounds, bounds(t, a))
		}
		return ev
	}
	t.Fatalf("unknown command %q", cmd)
	return nil
}

func (s *script) apply(ev Event) {
	for _, effect := range s.r.Apply(ev, s.now) {
		fmt.Fprintln(&s.line, show(effect))
	}
	if due := s.r.Deadline(); !due.IsZero() && !due.After(s.now) {
		fmt.Fprintf(&s.line, "the deadline %s has passed\n", due)
	}
}

// pass lets time go by, from deadline to deadline.
func (s *script) pass(d time.Duration) {
	end := s.now.Add(d)
	for {
		due := s.r.Deadline()
		if due.IsZero() || due.After(end) {
			s.now = end
			return
		}
		s.now = due
		before := s.line.Len()
		s.apply(Tick{})
		if text := s.line.String()[before:]; text != "" {
			all := s.line.String()[:before]
			s.line.Reset()
			fmt.Fprintf(&s.line, "%sat %s: %s", all, s.now.Sub(epoch), text)
		}
	}
}

func show(effect Effect) string {
	switch f := effect.(type) {
	case Declare:
		return fmt.Sprintf("declare %d", f.Slots)
	case Await:
		return "await"
	case Prepare:
		return fmt.Sprintf("prepare %d: %s", f.Serial, layouts(f.Layouts))
	case Run:
		return fmt.Sprintf("run, restart %d: %s", f.Restart, layouts(f.Layouts))
	case Rescale:
		return "rescale: " + f.Reason
	case TakeCheckpoint:
		return "take a checkpoint"
	case Fail:
		return fmt.Sprintf("fail: %d needed, %d present after %s", f.Needed, f.Present, f.Waited)
	case Recorded:
		return "over: " + record(&f.Rescale)
	}
	return fmt.Sprintf("%T", effect)
}

func layouts(all []execgraph.Layout) string {
	var words []string
	for _, l := range all {
		words = append(words, strconv.Itoa(l.Parallelism))
	}
	return strings.Join(words, " ") + " (" + all[0].Why + ")"
}

func record(r *execgraph.Rescale) string {
	text := fmt.Sprintf("%s.%d %s %s %s: %s", r.Requirements.String()[:2], r.Attempt, r.Cause, r.State, r.Reason, r.Changes())
	for _, span := range r.Spans {
		text += fmt.Sprintf(" [%s %s", span.State, span.Enter.Sub(epoch))
		if !span.Leave.IsZero() {
			text += fmt.Sprintf("-%s", span.Leave.Sub(epoch))
		}
		text += "]"
	}
	if outage, stopped := r.Outage(); stopped {
		text += fmt.Sprintf(" down for %s", outage)
	}
	return text
}

func (s *script) show() {
	fmt.Fprintln(&s.line, s.r.State())
	v := s.r.Rescales()
	fmt.Fprintf(&s.line, "%d in progress, %d completed, %d failed, %d ignored, %d rescaled\n", v.InProgress, v.Completed, v.Failed, v.Ignored, v.Rescaled)
	for i := range v.Rescales {
		fmt.Fprintln(&s.line, record(&v.Rescales[i]))
	}
	if v.Last != nil {
		fmt.Fprintf(&s.line, "last: %s\n", v.Last.Changes())
	}
}

func (s *script) check(t *testing.T, args []string) {
	wish := map[ident.VertexID]execgraph.Bounds{}
	for _, a := range args {
		name, text, _ := strings.Cut(a, ":")
		id := ident.VertexID{ID: ident.ID{0xff}}
		for _, v := range s.g.Vertices {
			if v.Name == name {
				id = v.ID
			}
		}
		wish[id] = bounds(t, text)
	}
	got, wrong := Check(s.g, wish)
	for _, line := range wrong {
		fmt.Fprintln(&s.line, line)
	}
	if wrong == nil {
		fmt.Fprintln(&s.line, got)
	}
}

func bounds(t *testing.T, text string) execgraph.Bounds {
	var b execgraph.Bounds
	low, high, _ := strings.Cut(text, "..")
	b.Lower, b.Upper = number(t, low), number(t, high)
	return b
}

func number(t testing.TB, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func span(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func parseJob(t testing.TB, text string) *jobgraph.Graph {
	g := &jobgraph.Graph{Job: ident.JobID{ID: ident.ID{1}}, Name: "test"}
	byName := map[string]*jobgraph.Vertex{}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		words := strings.Fields(line)
		v := &jobgraph.Vertex{ID: ident.VertexID{ID: ident.ID{1, byte(i)}}, Name: words[0], Parallelism: number(t, words[1]), MaxParallelism: 128, SlotSharingGroup: "default"}
		for rest := words[2:]; len(rest) > 0; rest = rest[1:] {
			switch rest[0] {
			case "<-":
			case "in":
				v.SlotSharingGroup, rest = rest[1], rest[1:]
			case "max":
				v.MaxParallelism, rest = number(t, rest[1]), rest[1:]
			case "with":
				v.CoLocation, rest = rest[1], rest[1:]
			default:
				from, forward := strings.CutPrefix(rest[0], "=")
				e := &jobgraph.Edge{Source: byName[from].ID, Ship: "HASH", Distribution: jobgraph.AllToAll}
				if forward {
					e.Ship, e.Distribution = execgraph.Forward, jobgraph.Pointwise
				}
				v.Inputs = append(v.Inputs, e)
			}
		}
		byName[v.Name] = v
		g.Vertices = append(g.Vertices, v)
	}
	return g
}
