package embedded

import (
	"log/slog"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/memory"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/taskexecutor"
	"github.com/weirstream/weir/internal/worker"
)

// patience is how long a worker that was killed may take to end: its tasks are
// canceled then, and cannot be ended by force.
const patience = 5 * time.Second

// launcher starts the job's worker in this process.
type launcher struct {
	cluster *cluster
	options Options
}

// Launch starts a worker. It is called on the loop.
func (l *launcher) Launch(job *pb.Job, token string, _ memory.Share, events taskexecutor.WorkerEvents) taskexecutor.Worker {
	c := l.cluster
	w := &inProcess{
		cluster: c, exited: events.Exited, stop: make(chan struct{}), abandon: make(chan struct{}), log: l.options.Logger,
		worker: worker.New(worker.Options{
			Loop: c.loop, System: c.system, TaskExecutor: rpc.Address{Process: c.system.Self(), Endpoint: gateway.TaskExecutor},
			Token: token, Job: l.options.Compiled.Graph.Job, Resource: resourceID, Cluster: ident.ClusterID{}, Compiled: l.options.Compiled,
			Buffers: networkBuffers(l.options.Compiled.Graph), BufferSize: bufferSize(&l.options), BufferTimeout: l.options.BufferTimeout, ManagedBytes: managedPerSlot, Failed: c.failed, Logger: l.options.Logger,
		}),
	}
	w.worker.Start()
	go w.watch() // until exited is called, for which Executor.Stop waits
	return w
}

// inProcess is a worker in this process. Its methods are called on the loop.
type inProcess struct {
	cluster *cluster
	worker  *worker.Worker
	exited  func(*status.Failure)
	log     *slog.Logger
	ending  bool          // stop is closed
	killed  bool          // the time for abandon runs
	stop    chan struct{} // closed: the worker must end
	abandon chan struct{} // closed: it is waited for no longer
}

// Stop ends the worker; its tasks have ended.
func (w *inProcess) Stop() {
	if !w.ending {
		w.ending = true
		close(w.stop)
	}
}

// Kill cancels the worker's tasks and gives them a last while to end.
func (w *inProcess) Kill() {
	w.Stop()
	if !w.killed {
		w.killed = true
		w.cluster.loop.After(patience, func() { close(w.abandon) })
	}
}

// Limit does nothing: the worker shares the memory of this process.
func (w *inProcess) Limit(memory.Share) {}

// Condition is not told: the worker is in this process.
func (w *inProcess) Condition() string { return "" }

// watch waits for the worker's end and tells it.
func (w *inProcess) watch() {
	select {
	case <-w.worker.Done():
	case <-w.stop:
	}
	closed := make(chan struct{})
	go func() { // stays behind with the tasks that do not end
		w.worker.Close()
		close(closed)
	}()
	var failure *status.Failure
	select {
	case <-closed:
	case <-w.abandon:
		failure = &status.Failure{Kind: status.FailureError,
			Message: "a task did not end when it was canceled; its goroutine stays behind in this process"}
		w.log.Error("a task does not end: its function must return when its task is canceled")
	}
	w.cluster.loop.Post(func() { w.exited(failure) })
}

// bufferSize is the size of a network buffer. The program says it, which is the
// cluster's whole process here.
func bufferSize(o *Options) int {
	c := o.Config
	if text, set := o.Compiled.Graph.Configuration[config.TaskManagerSegmentSize.Key]; set {
		if said, err := config.New(map[string]string{config.TaskManagerSegmentSize.Key: text}); err == nil {
			c = said
		}
	}
	return int(config.TaskManagerSegmentSize.In(c))
}

// networkBuffers is how many network buffers the worker may use.
func networkBuffers(g *jobgraph.Graph) int {
	n := fewBuffers
	for _, v := range g.Vertices {
		for _, set := range v.Produces {
			if set.Type == jobgraph.Blocking {
				n += atOnce(v) * writeBuffers
			}
		}
	}
	return n
}
