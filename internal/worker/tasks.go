package worker

import (
	"fmt"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/task"
)

// running is a task with its meter.
type running struct {
	*task.Task
	meter   *task.Meter
	parts   *checkpoints
	reports reports
	requests
}

// runTask starts a task. The answer says that it was accepted; how it goes is
// reported.
func (w *Worker) runTask(d *pb.TaskDeployment, reply func(*pb.Empty, error)) {
	spec, checkpoints, err := w.spec(d)
	if err != nil {
		reply(nil, rpc.Refuse("run %s: %v", d.VertexName, err))
		return
	}
	if _, twice := w.tasks[spec.Attempt]; twice || w.closing {
		reply(nil, rpc.Refuse("run %s: the attempt %s was started before, or the worker is ending", d.VertexName, spec.Attempt))
		return
	}
	r := &running{parts: checkpoints}
	spec.Report = func(s status.Execution, f *status.Failure) {
		if s.Terminal() {
			checkpoints.over.Store(true)
		}
		w.Loop.Post(func() { w.report(spec.Attempt, r, s, f) })
	}
	r.Task = task.New(*spec)
	r.meter = task.NewMeter(r.Task)
	w.tasks[spec.Attempt] = r
	w.active.Go(r.Run)
	reply(&pb.Empty{}, nil)
}

// spec makes what a task needs of its deployment and of the program, and what takes its
// parts of checkpoints.
func (w *Worker) spec(d *pb.TaskDeployment) (*task.Spec, *checkpoints, error) {
	attempt, err := ident.ParseAttempt(d.Attempt)
	if err != nil {
		return nil, nil, err
	}
	chain := w.Compiled.Chains[attempt.Vertex]
	if chain == nil {
		return nil, nil, fmt.Errorf("the program has no vertex %s", attempt.Vertex)
	}
	if len(d.Gates) != len(chain.Inputs) || len(d.Partitions) != len(chain.Outputs) {
		return nil, nil, fmt.Errorf("deployed with %d inputs and %d outputs, the program's vertex has %d and %d",
			len(d.Gates), len(d.Partitions), len(chain.Inputs), len(chain.Outputs))
	}
	managed := w.managed(chain.Vertex.SlotSharingGroup)
	if err := w.affords(chain, managed); err != nil {
		return nil, nil, err
	}
	gates, err := w.gates(d, chain)
	if err != nil {
		return nil, nil, err
	}
	partitions, err := w.partitions(d, attempt, chain)
	if err != nil {
		return nil, nil, err
	}
	checkpoints, err := w.newCheckpoints(attempt, d)
	if err != nil {
		return nil, nil, err
	}
	taken, atEnd := w.checkpointed(d.Job)
	var readers []int
	for _, p := range d.Partitions {
		readers = append(readers, int(p.MaxParallelism))
	}
	return &task.Spec{
		Job: w.Compiled.Graph.Name, JobID: w.Job.String(), Attempt: attempt, Checkpointed: taken, LastCheckpoint: atEnd,
		Parallelism: int(d.Parallelism), MaxParallelism: int(d.MaxParallelism), Batch: w.Compiled.Graph.Batch,
		KeyGroups: operator.KeyGroups{First: int(d.FirstKeyGroup), Count: int(d.KeyGroups)},
		Chain:     chain, Gates: gates, Partitions: partitions, Readers: readers, Checkpoints: checkpoints, Overtaken: d.Overtaken, InFlight: checkpoints.inFlight(),
		BufferTimeout: w.BufferTimeout, ManagedBytes: managed, Scratch: w.scratch, State: w.stateBackend(d.Job), Ask: w.asker(attempt), Logger: w.Logger,
	}, checkpoints, nil
}

// checkpointed reports whether checkpoints are taken of a job now and then, and
// whether also when all input has been read. Its configuration says so; the job's
// master has seen to that.
func (w *Worker) checkpointed(job *pb.Job) (taken, atEnd bool) {
	if w.Compiled.Graph.Batch {
		return false, false
	}
	settings := map[string]string{}
	for _, key := range []string{config.CheckpointInterval.Key, config.CheckpointsAfterTasksFinish.Key} {
		if text, set := job.GetConfiguration()[key]; set {
			settings[key] = text
		}
	}
	c, err := config.New(settings)
	taken = err == nil && config.CheckpointInterval.In(c) > 0
	return taken, taken && config.CheckpointsAfterTasksFinish.In(c)
}

// report passes a task's state on. A task that has ended is forgotten only then,
// so its last figures go with its last state.
func (w *Worker) report(attempt ident.AttemptID, r *running, s status.Execution, f *status.Failure) {
	if s.Terminal() {
		delete(w.tasks, attempt)
	}
	if s == status.Failed || s == status.Canceled {
		w.release(attempt) // nobody will be told to read it
	}
	if s == status.Failed && f != nil && f.Err != nil && w.Failed != nil {
		w.Failed(attempt, f.Err)
	}
	metrics := metricsOf(attempt, r.Task)
	if s == status.Running { // so that nobody has to wait for the first figures
		metrics.Figures = gateway.TaskFiguresToProto(r.meter.Read(w.Loop.Now()))
	}
	update := &pb.UpdateTaskExecutionStateRequest{Attempt: attempt.String(), State: s.String(), Failure: gateway.FailureToProto(f), Metrics: metrics}
	if s == status.Finished {
		for _, bytes := range r.Sizes() {
			update.Outputs = append(update.Outputs, &pb.PartitionSizes{Bytes: bytes})
		}
	}
	w.send(&r.reports, update)
}

// stopTask cancels a task. One that is unknown has ended: its last state is on
// its way.
func (w *Worker) stopTask(r *pb.CancelTaskRequest, reply func(*pb.Empty, error)) {
	attempt, err := ident.ParseAttempt(r.Attempt)
	if err != nil {
		reply(nil, rpc.Refuse("stop a task: %v", err))
		return
	}
	if t := w.tasks[attempt]; t != nil {
		t.parts.over.Store(true)
		t.Cancel()
	}
	reply(&pb.Empty{}, nil)
}
