package stream

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/weirstream/weir/internal/cluster/embedded"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/streamgraph"
)

// Env collects the streams of one program. It is not safe for concurrent use.
type Env struct {
	graph    *streamgraph.Graph
	problems []error
	mode     RuntimeMode
	buffer   time.Duration
	logger   *slog.Logger
	executed bool
	// collectors take over the parallelism of the operation before them.
	collectors []*streamgraph.Node
	settings   map[string]string
	// unbounded says that nobody has said a parallelism: that of the graph is no
	// bound for what is decided while the job runs.
	unbounded bool
	// watermarkInterval is the processing time from one watermark to the next.
	watermarkInterval time.Duration
	// splitsApart says that aligned splits which cannot be paused may be ahead of others.
	splitsApart bool
	// checkKeys says that key functions are called twice.
	checkKeys bool
	// open are the settings by which parallelism is left open.
	open openParallelism
	// begun is told of the embedded job; nil: nobody is.
	begun func(*embedded.Job)
}

// openParallelism says whether operations without a parallelism get it while a
// batch job runs, and how much at most; 0: the default parallelism, if there is
// one.
type openParallelism struct {
	enabled bool
	most    int
}

// RuntimeMode says whether a program runs as a stream or as a batch. It is
// Flink's execution.runtime-mode.
type RuntimeMode string

// The runtime modes.
const (
	// Automatic, the default, is Batch when every source is bounded.
	Automatic RuntimeMode = "AUTOMATIC"
	// Streaming: keyed aggregates emit with every record.
	Streaming RuntimeMode = "STREAMING"
	// Batch: keyed aggregates emit once a key, at the end. Execute refuses it
	// when a source is unbounded.
	Batch RuntimeMode = "BATCH"
)

// Option sets something of an Env. What the program sets wins over the
// configuration the program is started with. A value that is not allowed is an
// error that Execute returns, with the line that called NewEnv.
type Option func(*Env)

// Mode sets the runtime mode; it is execution.runtime-mode.
func Mode(m RuntimeMode) Option {
	return func(e *Env) {
		if m != Automatic && m != Streaming && m != Batch {
			e.problem(callSite(), "runtime mode: got %q, want %s, %s or %s", m, Automatic, Streaming, Batch)
			return
		}
		e.mode = m
	}
}

// DefaultParallelism sets the number of subtasks of operations that have none of
// their own: 1 to 32768. The default is the number of processors in an embedded
// run and 1 on a cluster. It is parallelism.default.
//
// In a batch job whose exchanges are blocking it is only the most that they get:
// each is sized, when what it reads is complete, by its volume. That is
// execution.batch.adaptive.auto-parallelism.enabled, and the most is 128 on a
// cluster where nobody has set a parallelism.
func DefaultParallelism(n int) Option {
	return func(e *Env) {
		if n < 1 || n > maxKeyGroups {
			e.problem(callSite(), "default parallelism: got %d, want 1 to %d", n, maxKeyGroups)
			return
		}
		e.graph.Parallelism, e.unbounded = n, false
	}
}

// DefaultMaxParallelism sets the number of key groups of operations that have
// none of their own: 1 to 32768, and at least their parallelism. The default is
// one and a half times the parallelism, rounded up to a power of two, from 128
// up. It is pipeline.max-parallelism.
func DefaultMaxParallelism(n int) Option {
	return func(e *Env) {
		if n < 1 || n > maxKeyGroups {
			e.problem(callSite(), "default max parallelism: got %d, want 1 to %d", n, maxKeyGroups)
			return
		}
		e.graph.MaxParallelism = n
	}
}

// BufferTimeout sets how long a record may wait for others before it is handed
// on to another task. The default is 100ms; 0 hands on after every batch of input,
// below 0 there is no limit while input comes without a pause. When it pauses for
// a millisecond, everything is handed on, whatever the time-out. It is
// execution.buffer-timeout.interval, and below 0 execution.buffer-timeout.enabled
// = false.
func BufferTimeout(d time.Duration) Option { return func(e *Env) { e.buffer = d } }

// DisableOperatorChaining makes every operation a task of its own. It is
// pipeline.operator-chaining.enabled = false.
func DisableOperatorChaining() Option {
	return func(e *Env) { e.graph.ChainingDisabled = true }
}

// Logger sets where an embedded run logs, and the functions it runs by their
// OpenContext. The default logs warnings to standard error. On a cluster the
// worker's own log is used.
func Logger(l *slog.Logger) Option {
	return func(e *Env) {
		if l == nil {
			e.problem(callSite(), "Logger: nil: to log nothing, give one with slog.DiscardHandler")
			return
		}
		e.logger = l
	}
}

const (
	maxKeyGroups         = 1 << 15
	defaultBufferTimeout = 100 * time.Millisecond
)

// NewEnv makes an empty program. Settings that the program was started with,
// such as `weir run -p`, apply before opts.
func NewEnv(opts ...Option) *Env {
	e := &Env{
		graph:  &streamgraph.Graph{},
		mode:   Automatic,
		buffer: defaultBufferTimeout,
	}
	e.logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	e.applySettings()
	for _, o := range opts {
		o(e)
	}
	return e
}

// set notes a setting of the job.
func (e *Env) set(key, value string) {
	if e.settings == nil {
		e.settings = map[string]string{}
	}
	e.settings[key] = value
}

// required records that the program gave no function where op needs one.
func (e *Env) required(op string, missing bool) {
	if missing {
		e.problem(callSite(), "%s: the function is nil", op)
	}
}

// problem records an error of the program at the line that made it, for Execute
// to return.
func (e *Env) problem(site, format string, args ...any) {
	e.problems = append(e.problems, fmt.Errorf("%s: %w", site, fmt.Errorf(format, args...)))
}

// add puts a node into the program and connects its inputs.
func (e *Env) add(n *streamgraph.Node, inputs ...input) *streamgraph.Node {
	n.ID = len(e.graph.Nodes) + 1
	if n.Site == "" {
		n.Site = callSite()
	}
	for _, in := range inputs {
		edge := &streamgraph.Edge{From: in.node, To: n, Partitioner: in.partitioner, Route: in.route, Implicit: in.implicit, Input: in.to, Side: in.side, First: in.first}
		in.node.Out = append(in.node.Out, edge)
		n.In = append(n.In, edge)
	}
	e.graph.Nodes = append(e.graph.Nodes, n)
	return n
}

// input is a stream as the next operation will read it.
type input struct {
	node        *streamgraph.Node
	partitioner streamgraph.Partitioner
	route       any
	implicit    bool
	side        *streamgraph.Side // nil: the node's main output
	to          int               // the input of the next operation
	first       bool              // see streamgraph.Edge
}

func forward(n *streamgraph.Node) []input { return []input{{node: n, implicit: true}} }

// callSite is the file:line outside this package, and its test kit, that called into
// it.
func callSite() string {
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		inside := strings.HasPrefix(f.Function, packagePath+".") || strings.HasPrefix(f.Function, packagePath+"/streamtest.")
		if !inside || strings.HasSuffix(f.File, "_test.go") {
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		if !more {
			return "unknown position"
		}
	}
}

const packagePath = "github.com/weirstream/weir/stream"

// check gives all problems of the program as one error.
func (e *Env) check() error { return errors.Join(e.problems...) }

// checkKey reports a key type that has no canonical form.
func checkKey[K comparable](e *Env, site string) {
	if err := checkKeyType[K](); err != nil {
		e.problem(site, "KeyBy: %w", err)
	}
}

// typesOf names the record types of an operation.
func typesOf(streams ...operator.Stream) string {
	names := make([]string, len(streams))
	for i, s := range streams {
		names[i] = s.Type()
	}
	return strings.Join(names, " -> ")
}
