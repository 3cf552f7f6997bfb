package streamtest

import (
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/streamgraph"
	"github.com/weirstream/weir/stream"
)

// A Harness runs a pipeline whose records a test sends. It belongs to the test's
// goroutine, and ends with the test.
type Harness struct {
	t       testing.TB
	build   func(h *Harness)
	options options

	env     *stream.Env
	hands   map[hand]any // what takes the place of an operator, for those of the ends
	clock   *clock
	run     *run
	failing bool // Failure expects one
}

// hand is an end of the program.
type hand struct {
	kind streamgraph.Kind
	name string
}

// options say how a pipeline runs.
type options struct {
	parallelism int
	start       time.Time
	env         []stream.Option
}

// An Option says how a pipeline runs.
type Option func(*options)

// Parallelism is the number of subtasks of operations that have none of their own. The
// default is 1.
func Parallelism(n int) Option { return func(o *options) { o.parallelism = n } }

// Start is the processing time at the beginning. The default is the year 2000.
func Start(at time.Time) Option { return func(o *options) { o.start = at } }

// With sets options of the pipeline's environment.
func With(all ...stream.Option) Option {
	return func(o *options) { o.env = append(o.env, all...) }
}

// New runs the pipeline that build makes with Env, of Inputs and Outputs. build is
// called again when a snapshot is restored, and must make the same each time.
//
// It runs in streaming mode, with a maximum parallelism of 128 and a watermark with
// every record that advances event time, unless With says otherwise.
func New(t testing.TB, build func(h *Harness), all ...Option) *Harness {
	t.Helper()
	h := &Harness{t: t, build: build, options: options{parallelism: 1, start: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}}
	for _, o := range all {
		o(&h.options)
	}
	h.clock = &clock{now: h.options.start.UnixMilli(), alarms: map[*alarm]struct{}{}}
	t.Cleanup(h.stop)
	h.begin(nil)
	return h
}

// Env is the environment that the pipeline is made with.
func (h *Harness) Env() *stream.Env { return h.env }

// replace makes operator take the place of that of an end of the program.
func (h *Harness) replace(kind streamgraph.Kind, name string, operator any) {
	if _, taken := h.hands[hand{kind, name}]; taken {
		h.t.Helper()
		h.t.Fatalf("streamtest: two ends of the pipeline are %q", name)
	}
	h.hands[hand{kind, name}] = operator
}

// begin builds the program and runs it from a snapshot, or from nothing.
func (h *Harness) begin(from *Snapshot) {
	h.t.Helper()
	h.hands = map[hand]any{}
	h.env = stream.NewEnv(append([]stream.Option{
		stream.Mode(stream.Streaming), stream.DefaultParallelism(h.options.parallelism), stream.DefaultMaxParallelism(128),
		stream.WatermarkInterval(0), stream.CheckKeys(), stream.Logger(slog.New(slog.DiscardHandler)),
	}, h.options.env...)...)
	h.build(h)
	compiled, err := h.env.Compile(h.t.Name())
	if err != nil {
		h.t.Fatalf("streamtest: %v", err)
	}
	for _, chain := range compiled.Chains {
		for _, n := range chain.Nodes {
			if operator, ok := h.hands[hand{n.Kind, n.Name}]; ok {
				n.Operator = operator
			}
		}
	}
	if h.run, err = start(compiled, h.clock, from); err != nil {
		h.t.Fatalf("streamtest: %v", err)
	}
	h.settle()
}

// stop ends the pipeline, as a failure of its process would.
func (h *Harness) stop() {
	if h.run != nil {
		h.run.cancel()
		h.run = nil
	}
}

// settle waits until all that has been done has had its effect.
func (h *Harness) settle() {
	h.t.Helper()
	h.check(h.run.settle(nil))
}

func (h *Harness) check(err error) {
	h.t.Helper()
	if err != nil && !h.failing {
		h.t.Fatalf("streamtest: %v", err)
	}
}

// Failure calls f and gives the failure of the pipeline that came of it. The test fails
// if there is none. Afterwards the pipeline can only be restored.
func (h *Harness) Failure(f func()) error {
	h.t.Helper()
	h.failing = true
	f()
	h.failing = false
	err := h.run.failure()
	if err == nil {
		h.t.Fatal("streamtest: the pipeline has not failed")
	}
	return err
}

// Now is the processing time.
func (h *Harness) Now() time.Time { return time.UnixMilli(h.clock.Now()).UTC() }

// AdvanceTime lets d of processing time pass. What is due on the way happens in order.
func (h *Harness) AdvanceTime(d time.Duration) {
	h.t.Helper()
	for end := h.clock.Now() + d.Milliseconds(); ; {
		more := h.clock.step(end)
		if h.settle(); !more || h.run.failure() != nil {
			return
		}
	}
}

// Snapshot is what the operators of a pipeline keep.
type Snapshot struct{ taken *taken }

// Snapshot takes a snapshot, as a checkpoint does, which is complete then.
func (h *Harness) Snapshot() *Snapshot {
	h.t.Helper()
	s := &Snapshot{newTaken(h.run.compiled)}
	h.check(h.run.settle(s.taken))
	h.run.complete()
	h.settle()
	return s
}

// Restore ends the pipeline where it stands, and begins it anew from a snapshot; nil
// begins it from nothing. Options that are given hold from now on. Processing time goes
// on, and outputs keep what has not been taken.
func (h *Harness) Restore(s *Snapshot, all ...Option) {
	h.t.Helper()
	h.stop()
	for _, o := range all {
		o(&h.options)
	}
	clear(h.clock.alarms)
	h.begin(s)
}

// Timers are the numbers of timers that are registered in all keys and subtasks.
func (h *Harness) Timers() (event, processing int) {
	h.t.Helper()
	s := h.Snapshot()
	return s.taken.rows("EVENT_TIMERS"), s.taken.rows("PROCESSING_TIMERS")
}

// Rows is how many entries the keyed state of a name has in a snapshot, in all keys and
// subtasks.
func (s *Snapshot) Rows(state string) int { return s.taken.rowsOf(state) }

// once is a failure that is told once.
type once struct {
	mu    sync.Mutex
	first error
}

func (o *once) set(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.first == nil {
		o.first = err
	}
}

func (o *once) get() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.first
}

var errNoCoordinator = errors.New("a source asks its coordinator, which streamtest does not have: give the pipeline an Input in its place")
