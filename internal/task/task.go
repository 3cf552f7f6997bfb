package task

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirstream/weir/internal/fs/scratch"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/streamgraph"
)

// Spec is what a task needs to run.
type Spec struct {
	Job            string // its name
	JobID          string
	Attempt        ident.AttemptID
	Parallelism    int
	MaxParallelism int
	// KeyGroups are those of the subtask; none: the even share of its number.
	KeyGroups operator.KeyGroups
	Batch     bool
	Chain     *streamgraph.Chain
	// Gates makes the input gates in the order of the chain's inputs; wake is to
	// be called when one of them has something again, done closes when the task
	// is canceled.
	Gates func(wake func(), done <-chan struct{}) ([]Gate, error)
	// Readers are the maximum parallelisms of who reads the chain's outputs, in their
	// order; none: those that the program has for them.
	Readers []int
	// Partitions makes the result partitions in the order of the chain's outputs.
	Partitions func(done <-chan struct{}) ([]Partition, error)
	// BufferTimeout bounds how long a record waits in an open batch.
	BufferTimeout time.Duration
	// Clock is processing time; nil: the wall clock.
	Clock Clock
	// ManagedBytes is the managed memory of each operator that uses some.
	ManagedBytes int64
	// Scratch is where operators put what they cannot hold in it; nil: nowhere.
	Scratch scratch.Space
	// State says where keyed state is kept.
	State operator.StateBackend
	// Ask carries a request to an operator's coordinator; it answers later, from
	// any goroutine.
	Ask func(op ident.OperatorID, payload []byte, then func([]byte, error))
	// Checkpoints takes the task's parts of checkpoints; nil: there are none.
	Checkpoints Checkpointer
	// Checkpointed says that checkpoints are taken now and then without being asked
	// for.
	Checkpointed bool
	// LastCheckpoint says that checkpoints are taken now and then, also when all input
	// has been read: what is committed with a checkpoint waits for one more.
	LastCheckpoint bool
	// Overtaken says that barriers of checkpoints may overtake records: then the task
	// waits for room in its outputs before it takes input.
	Overtaken bool
	// InFlight gives what was in flight to the task in what it begins with, in the order
	// in which it is to be processed; nil: nothing. It may read files.
	InFlight func() ([]Channel, error)
	// Report is told INITIALIZING, RUNNING and one terminal state, in order, on
	// the task's goroutine. failure is set with FAILED.
	Report func(s status.Execution, failure *status.Failure)
	Logger *slog.Logger
}

// Gate is an input gate the task closes.
type Gate interface {
	shuffle.Gate
	Close()
}

// Partition is a result partition the task finishes or fails.
type Partition interface {
	shuffle.Writer
	// Finish appends EndOfPartition; the partition lives on until it is consumed.
	Finish() error
	// Fail tells the consumers that nothing more comes.
	Fail(cause error)
	// Metrics is what was written so far.
	Metrics() shuffle.Metrics
}

// Task is one attempt to run one subtask.
type Task struct {
	spec Spec

	wake     chan struct{} // capacity 1: something to do
	wakeUp   func()        // is Wake
	canceled chan struct{}
	cancel   sync.Once
	signal   *operator.Signal
	ticked   atomic.Bool // the clock has run down
	mail     mailbox
	metrics  counters
	live     atomic.Pointer[ends] // nil until they are open

	// The rest is the task goroutine's.
	gates      []Gate
	partitions []Partition
	operators  []operatorCounts // in the order of the chain
	heads      []operator.Head  // by gate
	source     operator.Source
	finish     func()
	holds      []func() bool // who may want no records of the source
	flushers   []func()
	closers    []func(failed bool)
	timers     map[*entry]struct{}
	kept       []kept
	align      *alignment // nil: there are no inputs, or no checkpoints
	ended      bool       // all input has been processed
	ending     ending
	skipped    bool // the operators had finished before the task began, and are not there
	lastFlush  time.Time
	clock      *time.Timer // nil until it is first needed
	ticking    bool        // clock runs or has run down
}

// Sizes are the bytes in each subpartition of what the task has produced, by
// result partition, once it has finished; none of those that are read while they
// are written. From any goroutine.
func (t *Task) Sizes() [][]int64 {
	live := t.live.Load()
	if live == nil {
		return nil
	}
	all := make([][]int64, len(live.partitions))
	for i, p := range live.partitions {
		if sized, ok := p.(interface{ Sizes() shuffle.Sizes }); ok {
			all[i] = sized.Sizes().Bytes
		}
	}
	return all
}

// New makes a task that Run will execute.
func New(spec Spec) *Task {
	if spec.Clock == nil {
		spec.Clock = wall{}
	}
	t := &Task{spec: spec, wake: make(chan struct{}, 1), canceled: make(chan struct{}), timers: map[*entry]struct{}{}}
	t.signal = operator.NewSignal(t.attend)
	t.wakeUp = t.Wake
	t.metrics.watermark.Store(status.NoWatermark)
	return t
}

// Cancel makes the task end as CANCELED within a few records. It may be called
// from any goroutine and more than once.
func (t *Task) Cancel() {
	t.cancel.Do(func() {
		close(t.canceled)
		t.signal.Raise()
	})
}

// Done is closed when the task is canceled.
func (t *Task) Done() <-chan struct{} { return t.canceled }

// Wake makes the task look for work again. From any goroutine.
func (t *Task) Wake() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Mail runs f on the task's goroutine between two batches. From any goroutine.
func (t *Task) Mail(f func()) {
	t.mail.put(f)
	t.Wake()
}

// mailbox holds what others want done on the task's goroutine. It needs no
// bound: a letter answers a request of the task or is a rare control event.
type mailbox struct {
	mu      sync.Mutex
	letters []func()
	some    atomic.Bool
	taken   atomic.Int64
}

func (m *mailbox) put(f func()) {
	m.mu.Lock()
	m.letters = append(m.letters, f)
	m.some.Store(true)
	m.mu.Unlock()
}

func (m *mailbox) take() []func() {
	if !m.some.Load() {
		return nil
	}
	m.mu.Lock()
	letters := m.letters
	m.letters = nil
	m.some.Store(false)
	m.mu.Unlock()
	m.taken.Add(int64(len(letters)))
	return letters
}

// waiting is how many letters have not been taken.
func (m *mailbox) waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.letters)
}
