package jobmaster

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/jobmaster/checkpointing"
	"github.com/weirstream/weir/internal/jobmaster/rescale"
	"github.com/weirstream/weir/internal/jobmaster/schedule"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/record"
	"github.com/weirstream/weir/internal/status"
)

// checkpoints are a job's, as its Master sees them: what tasks and coordinators have
// to do with them. It is touched on the Master's loop only.
type checkpoints struct {
	m       *Master
	owner   *checkpointing.Owner
	restore restored
	origin  *checkpoint.Origin // what the first attempts begin with; nil: with nothing
	// incremental says that checkpoints may be based on earlier ones, overtaken that
	// their barriers may overtake records.
	incremental, overtaken bool
	// inline is up to how many bytes state of a task lies in the metadata.
	inline int64
	// pending wait for the owner to say what tasks begin with.
	pending []func()
	// began is the checkpoint that each attempt was deployed with, until it ends; one
	// that began with nothing is not there.
	began map[ident.AttemptID]int64
	// stopping is the savepoint after which the job is ending; nil: there is none.
	stopping *stopping
	// periodic says that checkpoints are taken without being asked for.
	periodic bool
}

// restored is what new attempts begin with.
type restored struct {
	checkpoint int64 // 0: nothing
	assignment *snapshot.Assignment
	global     bool // the coordinators were restored too
}

// apply tells the owner of an event.
func (c *checkpoints) apply(ev checkpoint.Event) {
	if c != nil {
		c.owner.Apply(ev)
	}
}

// taskChanged tells the owner of an attempt's new state, and before that of a
// checkpoint that the attempt could not read.
func (c *checkpoints) taskChanged(e *execgraph.Execution, to status.Execution) {
	if c == nil {
		return
	}
	if id := c.began[e.ID]; id != 0 && to == status.Failed && e.Failure.Kind == status.FailureSnapshot {
		c.apply(checkpoint.Unreadable{Checkpoint: id, Err: e.Failure})
	}
	if to.Terminal() {
		delete(c.began, e.ID)
	}
	c.apply(checkpoint.TaskStatus{Attempt: e.ID, State: to, Cause: e.Failure})
}

// later tells the owner of an event when those of the Master before it are done.
func (c *checkpoints) later(ev checkpoint.Event) { c.m.post(func() { c.apply(ev) }) }

// begin asks what the first attempts begin with, and calls then when that is known.
func (c *checkpoints) begin(then func()) {
	if c == nil {
		then()
		return
	}
	c.pending = append(c.pending, then)
	c.owner.Recover(c.origin)
}

// restart asks what new attempts of these tasks begin with, and calls then when
// that is known.
func (c *checkpoints) restart(tasks []*execgraph.Vertex, then func()) {
	if c == nil {
		then()
		return
	}
	all := 0
	for _, v := range c.m.graph.Vertices {
		all += len(v.Subtasks)
	}
	ev := checkpoint.Restart{Global: len(tasks) == all}
	c.notStopped(ev.Global)
	for _, t := range tasks {
		if id := t.Parent.Job.ID; !slices.Contains(ev.Vertices, id) {
			ev.Vertices = append(ev.Vertices, id)
		}
	}
	c.pending = append(c.pending, then)
	c.later(ev)
}

// restartAll asks what new attempts of all tasks begin with, and calls then when
// that is known.
func (c *checkpoints) restartAll(then func()) {
	if c == nil {
		then()
		return
	}
	c.notStopped(true)
	ev := checkpoint.Restart{Global: true}
	for _, v := range c.m.graph.Vertices {
		ev.Vertices = append(ev.Vertices, v.Job.ID)
	}
	c.pending = append(c.pending, then)
	c.apply(ev)
}

// taken reports whether checkpoints are taken without being asked for.
func (c *checkpoints) taken() bool { return c != nil && c.periodic }

// ending reports whether the job is to end after a savepoint.
func (c *checkpoints) ending() bool { return c != nil && c.owner.Stopping() }

// FailJob fails the job for a reason of its checkpoints.
func (c *checkpoints) FailJob(cause *status.Failure) { c.m.schedule(schedule.FailJob{Cause: cause}) }

// FailTask fails an attempt for a reason of its checkpoints.
func (c *checkpoints) FailTask(attempt ident.AttemptID, cause *status.Failure) {
	c.m.schedule(schedule.TaskReport{Attempt: attempt, State: status.Failed, Failure: cause})
}

// Complete tells tasks and coordinators of a complete checkpoint.
func (c *checkpoints) Complete(f checkpoint.NotifyComplete) {
	c.notify(f.Attempts, f.Checkpoint, true)
	c.release(f.Operators, f.Checkpoint, true)
	c.m.adaptive.apply(rescale.Checkpoint{Complete: true})
}

// Abort tells tasks and coordinators that a checkpoint will not be.
func (c *checkpoints) Abort(f checkpoint.NotifyAborted) {
	c.notify(f.Attempts, f.Checkpoint, false)
	c.release(f.Operators, f.Checkpoint, false)
	c.m.adaptive.apply(rescale.Checkpoint{})
}

// Trigger tells the TaskManagers of tasks to begin a checkpoint.
func (c *checkpoints) Trigger(f checkpoint.TriggerTasks) {
	how := &pb.CheckpointOptions{
		TriggeredMillis: f.Millis, Kind: int32(f.Kind), Format: int32(f.Format), Directory: string(f.Dir), Shared: string(f.Shared), Base: f.Base, Drain: f.Drain, InlineBytes: c.inline,
	}
	switch {
	case !f.ExactlyOnce:
		how.Align = int32(element.Counted)
	case f.Unaligned && f.AlignedTimeoutMillis > 0:
		how.Align, how.OvertakeMillis = int32(element.Timed), f.Millis+f.AlignedTimeoutMillis
	case f.Unaligned:
		how.Align = int32(element.Unaligned)
	}
	options, err := proto.Marshal(how)
	invariant.Check(err == nil, "the options of a checkpoint cannot be encoded: %v", err)
	for _, one := range c.byTaskManager(f.Attempts) {
		failed := func(err error) {
			for _, attempt := range one.attempts {
				c.later(checkpoint.TriggerFailed{Checkpoint: f.Checkpoint, Attempt: attempt, Err: err})
			}
		}
		if one.tm == nil {
			failed(errors.New("its TaskManager is gone"))
			continue
		}
		request := &pb.TriggerCheckpointRequest{JobId: c.m.job.String(), JobMasterId: c.m.term.String(), Attempts: texts(one.attempts), Checkpoint: f.Checkpoint, Options: options,
			Given: c.given(f.Checkpoint, one.attempts)}
		gateway.TriggerCheckpoint.Call(c.m.system, c.m.loop, one.tm.address, ident.LeaderID{}, request, 0, func(_ *pb.Empty, err error) {
			if err != nil {
				failed(err)
			}
		})
	}
}

// notify tells tasks what became of a checkpoint. Who does not hear it hears of a
// later one.
func (c *checkpoints) notify(attempts []ident.AttemptID, id int64, complete bool) {
	for _, one := range c.byTaskManager(attempts) {
		if one.tm == nil {
			continue
		}
		gateway.NotifyCheckpoint.Send(c.m.system, c.m.loop, one.tm.address, ident.LeaderID{}, &pb.NotifyCheckpointRequest{
			JobId: c.m.job.String(), JobMasterId: c.m.term.String(), Attempts: texts(one.attempts), Checkpoint: id, Complete: complete})
	}
}

// group is attempts that run on one TaskManager; nil: it is gone.
type group struct {
	tm       *taskManager
	attempts []ident.AttemptID
}

// byTaskManager groups attempts by where they run, in the order in which they are
// named.
func (c *checkpoints) byTaskManager(attempts []ident.AttemptID) (groups []*group) {
	for _, attempt := range attempts {
		var tm *taskManager
		if e := c.m.graph.Attempt(attempt); e != nil && e.Slot != nil {
			tm = c.m.managers.byID[e.Slot.TaskManager]
		}
		i := slices.IndexFunc(groups, func(g *group) bool { return g.tm == tm })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{tm: tm})
		}
		groups[i].attempts = append(groups[i].attempts, attempt)
	}
	return groups
}

func texts(attempts []ident.AttemptID) []string {
	all := make([]string, len(attempts))
	for i, a := range attempts {
		all[i] = a.String()
	}
	return all
}

// Restore notes what new attempts begin with, and lets who waited for it go on.
func (c *checkpoints) Restore(f checkpoint.Restore) {
	c.restore = restored{checkpoint: f.Checkpoint, assignment: f.Assignment, global: f.Global}
	if f.Checkpoint != 0 {
		c.m.log.Info("tasks begin with a checkpoint", "checkpoint", f.Checkpoint)
	}
	if f.Global && f.Assignment != nil {
		c.takeOver(f.Assignment)
		c.restoreCoordinators(f.Assignment)
	}
	waited := c.pending
	c.pending = nil
	for _, then := range waited {
		then()
	}
}

// takeOver gives tasks the maximum parallelism of the state that they begin with,
// where the program leaves it open. A job whose parallelism follows the slots is
// sized by the program's, and must not outgrow a lower one.
func (c *checkpoints) takeOver(a *snapshot.Assignment) {
	all := map[ident.VertexID]int{}
	for i := range a.Operators {
		o := &a.Operators[i]
		if o.FixedMax {
			continue
		}
		all[o.Task] = o.MaxParallelism
		if v := c.m.graph.JobVertex(o.Task); c.m.adaptive != nil && v != nil && o.MaxParallelism < v.Job.MaxParallelism {
			c.m.Fail(status.Fatal(fmt.Errorf("the state of vertex %q has the max parallelism %d, and the program leaves it open: with %s, which may run more subtasks, set it to %d in the program, or as %s",
				o.Vertex, o.MaxParallelism, config.JobManagerScheduler.Key, o.MaxParallelism, config.PipelineMaxParallelism.Key)))
			return
		}
	}
	if !c.m.graph.TakeOver(all) {
		return
	}
	graph := c.m.graph.Job
	if c.m.adaptive != nil {
		graph = graph.WithParallelism(c.m.adaptive.layout)
	}
	c.later(checkpoint.Rescaled{Graph: graph})
}

// ways says whether checkpoints may be based on earlier ones, and whether their
// barriers may overtake records.
func (c *checkpoints) ways() (incremental, overtaken bool) {
	return c != nil && c.incremental, c != nil && c.overtaken
}

// deployment gives what an attempt begins with, encoded; nil: nothing.
func (c *checkpoints) deployment(e *execgraph.Execution) []byte {
	if c == nil || c.restore.assignment == nil {
		return nil
	}
	c.began[e.ID] = c.restore.checkpoint
	m := &snapshot.Metadata{Checkpoint: c.restore.checkpoint, Job: c.m.job}
	for i := range c.restore.assignment.Operators {
		o := &c.restore.assignment.Operators[i]
		if o.Task != e.Vertex.Parent.Job.ID || !o.Restored {
			continue
		}
		m.Operators = append(m.Operators, snapshot.OperatorState{ID: o.ID, Parallelism: 1, MaxParallelism: o.MaxParallelism,
			Subtasks: []snapshot.SubtaskState{o.Subtasks[e.ID.Subtask]}})
	}
	return snapshot.Encode(m, "")
}

// acknowledge takes a task's part of a checkpoint.
func (c *checkpoints) acknowledge(req *pb.AcknowledgeCheckpointRequest, reply func(*pb.Empty, error)) {
	if c == nil {
		reply(nil, rpc.Refuse("acknowledge checkpoint %d: the job has no checkpoints", req.Checkpoint))
		return
	}
	attempt, err := ident.ParseAttempt(req.Attempt)
	var m *snapshot.Metadata
	if err == nil {
		m, err = snapshot.Decode(req.State, "")
	}
	if err != nil {
		reply(nil, rpc.Refuse("acknowledge checkpoint %d: %v", req.Checkpoint, err))
		return
	}
	reply(&pb.Empty{}, nil)
	ack := checkpoint.Ack{Checkpoint: req.Checkpoint, Attempt: attempt, Figures: record.Figures{
		Sync: time.Duration(req.StoppedNanos), Async: time.Duration(req.WrittenNanos), Alignment: time.Duration(req.AlignedNanos),
		StartDelay: time.Duration(req.DelayNanos), Processed: req.ProcessedBytes, Persisted: req.PersistedBytes,
		Checkpointed: req.Bytes, State: req.StateBytes, Unaligned: req.Unaligned}}
	for i := range m.Operators {
		o := &m.Operators[i]
		if len(o.Subtasks) == 1 {
			ack.States = append(ack.States, checkpoint.TaskState{Operator: o.ID, State: o.Subtasks[0]})
		}
	}
	c.acknowledged(req.Checkpoint, attempt)
	c.later(ack)
}

// decline takes the news that a task has no part to give.
func (c *checkpoints) decline(req *pb.DeclineCheckpointRequest, reply func(*pb.Empty, error)) {
	if c == nil {
		reply(nil, rpc.Refuse("decline checkpoint %d: the job has no checkpoints", req.Checkpoint))
		return
	}
	attempt, err := ident.ParseAttempt(req.Attempt)
	reason, unknown := checkpoint.ParseReason(req.Reason)
	if err := errors.Join(err, unknown); err != nil {
		reply(nil, rpc.Refuse("decline checkpoint %d: %v", req.Checkpoint, err))
		return
	}
	reply(&pb.Empty{}, nil)
	declined := checkpoint.Decline{Checkpoint: req.Checkpoint, Attempt: attempt, Reason: reason}
	if f := gateway.FailureFromProto(req.Failure); f != nil {
		declined.Err = f
	}
	c.later(declined)
}
