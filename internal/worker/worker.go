// Package worker is a job's process on one TaskManager: it runs the job's tasks
// there and holds its share of the data plane.
//
// It promises that a task's state reports reach the TaskExecutor in order and a
// terminal one last, that a task is run at most once, and that Close leaves no
// goroutine. It never decides what runs: its TaskExecutor tells it. In an
// embedded cluster it lives inside the program's process; otherwise Serve makes
// the program's process a worker and nothing else.
package worker

import (
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/fs/local"
	"github.com/weirstream/weir/internal/fs/scratch"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/shuffle/network"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/streamgraph"
)

// Options say what a worker serves and for whom.
type Options struct {
	Loop         actor.Loop
	System       rpc.System
	TaskExecutor rpc.Address
	Token        string
	PID          int // 0: in the TaskExecutor's own process
	// Silence is for how long the TaskExecutor may not be heard of until nobody counts on
	// the worker any more; 0: for ever.
	Silence  time.Duration
	Job      ident.JobID
	Resource ident.ResourceID
	Cluster  ident.ClusterID
	Compiled *streamgraph.Compiled
	// Buffers is the number of network buffers, and WriteBuffers how many of them a
	// blocking partition gathers records in, if they are not short; 0: the default.
	Buffers, WriteBuffers int
	// BufferSize is the size of a network buffer; 0: the default.
	BufferSize int
	// Share says what Buffers is a part of, for messages; empty: it is all.
	Share string
	// BufferTimeout bounds how long a record waits in an open batch.
	BufferTimeout time.Duration
	// ManagedBytes is the managed memory of one slot.
	ManagedBytes int64
	// TempDirs are where blocking partitions go, and what operators cannot hold
	// in memory; none: the directory for temporary files of the process.
	TempDirs []string
	// Files is where checkpoints are written to and read from; nil: local files.
	Files fs.FileSystem
	// Process gives the newest figures of the worker's process; nil: the worker is
	// not alone in it. From any goroutine.
	Process func() *status.ProcessFigures
	// Failed is told the errors that tasks fail with, before they are reported, for
	// who is in the same process; nil: nobody is. On the loop.
	Failed func(attempt ident.AttemptID, err error)
	// LimitMemory changes what the garbage collector aims at; nil: the worker does
	// not limit it. It may take long, and is called beside the loop.
	LimitMemory func(bytes int64)
	Logger      *slog.Logger
}

// Worker runs the tasks of one job. Its fields are touched only on its loop.
type Worker struct {
	Options
	hash    string
	scratch *scratch.Directories
	state   *stateOf
	shuffle *network.Environment
	tasks   map[ident.AttemptID]*running
	active  sync.WaitGroup // tasks
	heard   atomic.Int64   // when the TaskExecutor was heard of, in Unix nanoseconds
	closing bool
	done    chan struct{}
}

// New makes a worker; Start begins its life.
func New(o Options) *Worker {
	if len(o.TempDirs) == 0 {
		o.TempDirs = []string{os.TempDir()}
	}
	if o.BufferSize == 0 {
		o.BufferSize = network.DefaultBufferSize
	}
	if o.Files == nil {
		o.Files = fs.ByScheme{"file": local.FileSystem{}}
	}
	space := scratch.In(o.TempDirs...)
	w := &Worker{
		Options: o,
		hash:    o.Compiled.Graph.Hash(),
		scratch: space,
		shuffle: network.NewEnvironment(network.Options{
			Job: o.Job, Self: o.Resource, Cluster: o.Cluster, Buffers: o.Buffers, BufferSize: o.BufferSize, Share: o.Share,
			WriteBuffers: o.WriteBuffers, Scratch: space, Logger: o.Logger,
		}),
		tasks: map[ident.AttemptID]*running{},
		state: newStateOf(o.ManagedBytes),
		done:  make(chan struct{}),
	}
	w.hear()
	if o.LimitMemory != nil {
		w.state.limit(debug.SetMemoryLimit(-1)) // that of GOMEMLIMIT, until there is another
	}
	return w
}

// Shuffle is the worker's share of the data plane, for whoever hands it the
// connections of its peers.
func (w *Worker) Shuffle() *network.Environment { return w.shuffle }

// Done is closed when the TaskExecutor has told the worker to end, or refused it.
func (w *Worker) Done() <-chan struct{} { return w.done }

// Start serves the worker's endpoint and registers at the TaskExecutor.
func (w *Worker) Start() {
	mux := &rpc.Mux{}
	rpc.Handle(mux, gateway.RunTask, w.runTask)
	rpc.Handle(mux, gateway.StopTask, w.stopTask)
	rpc.Handle(mux, gateway.ReleaseWorkerOutputs, w.releaseOutputs)
	rpc.Handle(mux, gateway.SetBudget, w.setBudget)
	rpc.Handle(mux, gateway.HeartbeatToWorker, func(_ *pb.Empty, reply func(*pb.Empty, error)) {
		w.hear()
		reply(&pb.Empty{}, nil)
	})
	rpc.Handle(mux, gateway.TriggerTasks, w.triggerCheckpoint)
	rpc.Handle(mux, gateway.NotifyTasks, w.notifyCheckpoint)
	rpc.Handle(mux, gateway.ShutDown, func(_ *pb.Empty, reply func(*pb.Empty, error)) {
		w.end() // first: at the answer the TaskExecutor lets go of the process
		reply(&pb.Empty{}, nil)
	})
	w.System.Serve(gateway.Worker, w.Loop, mux)
	w.Loop.Post(w.register)
}

// hear notes that the TaskExecutor lives, and has a JobMaster that does.
func (w *Worker) hear() { w.heard.Store(time.Now().UnixNano()) }

// forgotten reports whether nobody counts on this worker any more, as far as it can know:
// it has not heard of its TaskExecutor for so long that this one, or the JobMaster of that
// one, has taken it for dead. So it is with a process that was frozen, which may do one more
// step before it is told. From any goroutine.
func (w *Worker) forgotten() bool {
	return w.Silence > 0 && time.Since(time.Unix(0, w.heard.Load())) > w.Silence
}

// register tells the TaskExecutor that the worker is there and which program it
// has. A refusal ends the worker: the TaskExecutor has recorded why. One that does not
// answer is asked again: it ends a worker of which it does not hear in time, and is
// heard of when it dies.
func (w *Worker) register() {
	request := &pb.RegisterWorkerRequest{
		JobId: w.Job.String(), Token: w.Token, RpcAddress: w.System.Self(), GraphHash: w.hash, Pid: int32(w.PID),
	}
	for _, op := range w.Compiled.Graph.Operators() {
		request.Operators = append(request.Operators, &pb.OperatorDigest{Name: op.Name, Digest: op.Digest})
	}
	gateway.RegisterWorker.Call(w.System, w.Loop, w.TaskExecutor, ident.LeaderID{}, request, 0, func(r *pb.RegisterWorkerResponse, err error) {
		switch {
		case w.closing:
		case err != nil && unanswered(err):
			w.Logger.Warn("the TaskExecutor has not answered", "job", w.Job, "error", err, "again", firstPause)
			w.Loop.After(firstPause, w.register)
		case err != nil:
			w.Logger.Error("the worker cannot register at its TaskExecutor", "job", w.Job, "error", err)
			w.end()
		case r.Rejected != "":
			w.Logger.Error("the TaskExecutor refused the worker", "job", w.Job, "reason", r.Rejected)
			w.end()
		default:
			w.Loop.After(metricsInterval, w.reportMetrics)
		}
	})
}

// end cancels what runs and lets Done know.
func (w *Worker) end() {
	if w.closing {
		return
	}
	w.closing = true
	for _, t := range w.tasks { // order: canceling has no effect on this loop
		t.parts.over.Store(true)
		t.Cancel()
	}
	close(w.done)
}

// Close ends the worker and waits for its tasks. It must not be called on the
// loop; the loop must still run.
func (w *Worker) Close() {
	ended := make(chan struct{})
	w.Loop.Post(func() {
		w.end()
		close(ended)
	})
	<-ended
	w.active.Wait()
	w.System.Withdraw(gateway.Worker)
	if err := w.shuffle.Close(); err != nil {
		w.Logger.Warn("the data plane did not close cleanly", "job", w.Job, "error", err)
	}
	w.state.disk.Close()
	if err := w.scratch.Close(); err != nil {
		w.Logger.Warn("temporary files are left behind", "job", w.Job, "error", err)
	}
}
