package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/streamgraph"
)

// Options say what is run and how.
type Options struct {
	Compiled *streamgraph.Compiled
	// Slots the cluster has; 0: as many as the job needs.
	Slots int
	// BufferTimeout is how long a record waits for others before it is handed on.
	BufferTimeout time.Duration
	// Config gives the timeouts of the cluster; nil: the defaults.
	Config *config.Config
	// Begun, if not nil, is told of the job once it is submitted, and must not wait
	// for it.
	Begun  func(*Job)
	Logger *slog.Logger // nil: nothing is logged
}

// A Job is one that runs embedded. Its methods may be called from any goroutine,
// until Run has returned.
type Job struct {
	dispatcher *dispatcher.Dispatcher
	id         ident.JobID
}

// Checkpoint takes a checkpoint and gives its id.
func (j *Job) Checkpoint(ctx context.Context, full bool) (int64, error) {
	return j.dispatcher.Checkpoint(ctx, j.id, full)
}

// Savepoint takes a savepoint and gives where it is, once the job has ended if it
// is to.
func (j *Job) Savepoint(ctx context.Context, s jobmaster.Savepoint) (fs.Location, error) {
	return j.dispatcher.Savepoint(ctx, j.id, s)
}

// Require sets how parallel the vertices of the job are to be, all of them.
func (j *Job) Require(ctx context.Context, wish map[ident.VertexID]execgraph.Bounds) error {
	return j.dispatcher.Require(ctx, j.id, wish)
}

// Request asks an operator's coordinator.
func (j *Job) Request(ctx context.Context, operator ident.OperatorID, payload []byte) ([]byte, error) {
	return j.dispatcher.Request(ctx, j.id, operator, payload)
}

// View is the job as it is.
func (j *Job) View(ctx context.Context) (execgraph.View, error) { return j.dispatcher.Job(ctx, j.id) }

// Run runs the job to its end. It returns nil when the job has FINISHED. When
// ctx ends first, the job is canceled and Run returns the cause of ctx once all
// has ended. A job that has FAILED gives an error that names the task and wraps
// the *status.Failure and the error that the task failed with.
func Run(ctx context.Context, o Options) error {
	view, cause, err := execute(ctx, o)
	if err != nil {
		return err
	}
	return outcome(ctx, &view, cause)
}

// Execute is Run for who wants the job's last view, which is terminal if the
// error is nil; how the job ended is then told by the view alone.
func Execute(ctx context.Context, o Options) (execgraph.View, error) {
	view, _, err := execute(ctx, o)
	return view, err
}

// execute runs the job to its end. Cause is the very error that it failed with;
// nil: it is not known.
func execute(ctx context.Context, o Options) (view execgraph.View, cause error, err error) {
	if ctx.Err() != nil {
		return view, nil, context.Cause(ctx)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	needed := slotsNeeded(o.Compiled.Graph)
	if o.Slots == 0 {
		o.Slots = needed
	}
	if o.Slots < needed {
		return view, nil, fmt.Errorf("run job %q: it needs %d slots, the embedded cluster has %d", o.Compiled.Graph.Name, needed, o.Slots)
	}
	if o.Compiled.Graph.Job.IsZero() {
		o.Compiled = named(o.Compiled)
	}
	c := start(o)
	defer c.close()
	if view, err = c.run(ctx, o.Compiled.Graph, o.Begun); err == nil && view.State == status.JobFailed {
		if root, found := firstCause(&view); found {
			cause = c.errorOf(root.Attempt)
		}
	}
	return view, cause, err
}

// run submits the job and waits for its end.
func (c *cluster) run(ctx context.Context, graph *jobgraph.Graph, begun func(*Job)) (execgraph.View, error) {
	// The job outlives ctx: it has to be canceled, and waited for.
	beyond := context.WithoutCancel(ctx)
	if err := c.dispatcher.Submit(beyond, graph); err != nil {
		return execgraph.View{}, fmt.Errorf("run job %q: %w", graph.Name, err)
	}
	if begun != nil {
		begun(&Job{c.dispatcher, graph.Job})
	}
	view, err := c.dispatcher.Wait(ctx, graph.Job)
	if err == nil {
		return view, nil
	}
	// A job that has just ended cannot be canceled; then its end is the answer.
	_ = c.dispatcher.Cancel(beyond, graph.Job)
	return c.dispatcher.Wait(beyond, graph.Job)
}

// named gives the job an identifier of its own; c stays as it is.
func named(c *streamgraph.Compiled) *streamgraph.Compiled {
	copied, graph := *c, *c.Graph
	graph.Job.ID = ident.New(rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))
	copied.Graph = &graph
	return &copied
}

// slotsNeeded is the sum over the slot sharing groups of the greatest
// parallelism in each.
func slotsNeeded(g *jobgraph.Graph) int {
	widest := map[string]int{}
	sum := 0
	for _, v := range g.Vertices {
		if more := atOnce(v) - widest[v.SlotSharingGroup]; more > 0 {
			widest[v.SlotSharingGroup] += more
			sum += more
		}
	}
	return sum
}

// atOnce is how many subtasks of a vertex run at the same time at most. Where
// their number is decided later, they are no more than the processors: what has
// to wait for its turn does.
func atOnce(v *jobgraph.Vertex) int {
	if v.Undecided() {
		return min(v.MaxParallelism, runtime.GOMAXPROCS(0))
	}
	return v.Parallelism
}

// outcome is the error of a job that has ended, cause what a task returned.
func outcome(ctx context.Context, v *execgraph.View, cause error) error {
	switch v.State {
	case status.JobFinished:
		return nil
	case status.JobFailed:
		return failed(v, cause)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("job %q ended as %s", called(v.Name), v.State)
}

// called is a job's name within a sentence: its first line, cut to what is read at a
// glance, since the name of a query's job is the query.
func called(name string) string {
	line, _, more := strings.Cut(name, "\n")
	if runes := []rune(line); len(runes) > 60 {
		line, more = string(runes[:60]), true
	}
	if more {
		line += " …"
	}
	return line
}

// failed names the task and the failure that ended the job.
func failed(v *execgraph.View, cause error) error {
	root, found := firstCause(v)
	if !found {
		return fmt.Errorf("job %q failed for an unknown reason", called(v.Name))
	}
	failure := withoutDecision(root.Failure)
	if cause != nil {
		failure.Err = cause // so that errors.Is and errors.As find it
	}
	if root.Task == "" {
		return fmt.Errorf("job %q failed: %w", called(v.Name), failure)
	}
	return fmt.Errorf("job %q failed: %s: %w", called(v.Name), root.Task, failure)
}

// withoutDecision leaves out that the job was not restarted, which Flink puts
// around the cause of a failed job, where nobody has asked for restarts.
func withoutDecision(f *status.Failure) *status.Failure {
	inner := *f
	if len(f.Chain) > 0 && f.Chain[0] == "Recovery is suppressed by NoRestartBackoffTimeStrategy" {
		inner.Chain = f.Chain[1:]
	}
	return &inner
}

// firstCause finds the failure that the others follow from: the root of the
// newest entry, unless that one says only that a peer was lost.
func firstCause(v *execgraph.View) (execgraph.FailureEntry, bool) {
	if len(v.Failures) == 0 {
		return execgraph.FailureEntry{}, false
	}
	root := v.Failures[0]
	if root.Failure.Kind == status.FailureConsumer {
		for _, other := range root.Concurrent {
			if other.Failure.Kind != status.FailureConsumer {
				return other, true
			}
		}
	}
	return root, true
}
