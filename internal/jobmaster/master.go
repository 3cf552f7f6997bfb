package jobmaster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/heartbeat"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/jobmaster/rescale"
	"github.com/weirstream/weir/internal/jobmaster/schedule"
	"github.com/weirstream/weir/internal/jobmaster/slotpool"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/status"
)

// Master owns one job. All its methods are called on its loop.
type Master struct {
	options   Options
	job       ident.JobID
	term      ident.LeaderID
	loop      actor.Loop
	system    rpc.System
	log       *slog.Logger
	graph     *execgraph.Graph
	scheduler *schedule.Scheduler
	pool      *slotpool.Pool
	describer *describer
	deploying deploying

	resourceManager *resourceManager
	managers        *taskManagers
	coordinators    []*hosted
	checkpoints     *checkpoints // nil: a batch job has none
	adaptive        *adaptive    // nil: the parallelism of the job is fixed

	// letters are the events to be applied, oldest first. An effect may make
	// another event: it waits here until the effects before it are done.
	letters  []func()
	applying bool
	poolTick actor.Timer // the pool's next deadline; nil: none
	poolDone bool        // the pool has not changed since poolTick was set
	// pauses are the timers of restarts to come.
	pauses map[schedule.RestartID]actor.Timer

	started bool
	// scheduled says that the job has been started; early waits for it.
	scheduled bool
	early     []func()
	done      bool     // OnDone was called
	partner   int      // peers that have not taken the goodbye yet
	closed    []func() // called when all have
	quiet     bool     // the endpoint is withdrawn; nothing happens any more
}

// An EndedError says that a job cannot be canceled because it has ended.
type EndedError struct {
	Job   ident.JobID
	State status.Job
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("job %s has already reached the terminal state %s without being canceled", e.Job, e.State)
}

// New lays the job out and makes its coordinators. It refuses a job graph that
// contradicts itself and an operator whose coordinator cannot be made; the job
// has then failed to initialize.
func New(o Options) (*Master, error) {
	o.complete()
	now := o.Loop.Now()
	if o.Begun.IsZero() {
		o.Begun = now
	}
	settings, err := jobSettings(o.Config, o.Graph.Configuration)
	if err != nil {
		return nil, fmt.Errorf("settings of the job: %w", err)
	}
	lay := execgraph.New
	if follows(o.Graph, settings) {
		lay = execgraph.NewLate
	}
	graph, err := lay(o.Graph, ident.GraphID{ID: ident.New(o.Loop.Rand())}, o.Begun, now)
	if err != nil {
		return nil, err
	}
	graph.LimitHistory(o.ExceptionHistory)
	graph.LimitAttempts(o.AttemptsHistory)
	m := &Master{
		options: o, job: o.Graph.Job, term: o.JobMasterID, loop: o.Loop, system: o.System,
		log:   o.Logger.With("job", o.Graph.Job),
		graph: graph, pauses: map[schedule.RestartID]actor.Timer{},
		pool: slotpool.New(slotpool.Options{
			RequestTimeout: o.SlotRequestTimeout, IdleTimeout: o.SlotIdleTimeout, Bounded: o.Graph.Batch, Unread: graph.Unread}),
		describer: newDescriber(o.Graph), deploying: deploying{waits: map[*execgraph.Execution]bool{}},
	}
	if err := m.makeCheckpoints(settings); err != nil {
		return nil, err
	}
	m.makeAdaptive(settings)
	if err := m.makeScheduler(settings); err != nil {
		return nil, err
	}
	m.managers = newTaskManagers(m)
	m.resourceManager = newResourceManager(m)
	if err := m.makeCoordinators(); err != nil {
		return nil, err
	}
	return m, nil
}

// Start serves the endpoint, starts the coordinators and lets the job run.
func (m *Master) Start() {
	if m.started || m.quiet {
		return
	}
	m.started = true
	m.serve()
	m.log.Info("JobMaster started", "term", m.term, "name", m.options.Graph.Name)
	m.resourceManager.connect()
	if m.adaptive != nil {
		m.adaptive.apply(rescale.Start{})
		return
	}
	m.checkpoints.begin(func() {
		m.startCoordinators()
		m.schedule(schedule.Start{})
		m.sizeSources()
		m.hasStarted()
	})
}

// hasStarted does what waited until the job was started.
func (m *Master) hasStarted() {
	early := m.early
	m.early, m.scheduled = nil, true
	for _, f := range early {
		f()
	}
}

// onceStarted calls f when the job has been started, or now if it has: what fails
// while it is still found out what tasks begin with is restarted as what fails later.
func (m *Master) onceStarted(f func()) {
	if m.scheduled || m.graph.State().Terminal() {
		f()
		return
	}
	m.early = append(m.early, f)
}

// View gives the job as it is. Once it has ended it has no coordinators.
func (m *Master) View() execgraph.View {
	v := m.graph.View()
	v.Adaptive = m.adaptive.view()
	if m.checkpoints != nil {
		v.Checkpoints = m.checkpoints.owner.View()
	}
	if !v.State.Terminal() {
		v.Coordinators = m.describe()
	}
	return v
}

// Cancel asks for the job's end and calls then once with nil if it will be, or
// is, CANCELED, and otherwise with an EndedError. It does not wait for the end.
func (m *Master) Cancel(then func(error)) {
	m.post(func() {
		switch state := m.graph.State(); {
		case state == status.JobCanceled:
			then(nil)
		case state.Terminal():
			then(&EndedError{Job: m.job, State: state})
		default:
			m.applySchedule(schedule.CancelJob{})
			then(nil)
		}
	})
}

// Fail is a failure of the job as a whole, by a cause that is no task's.
func (m *Master) Fail(cause error) {
	m.onceStarted(func() { m.schedule(schedule.FailJob{Cause: failureOf(cause)}) })
}

// Close ends the Master: a job that has not ended is SUSPENDED, because another
// master may go on with it. then is called once all peers have been told, or
// could not be; afterwards nothing happens any more.
func (m *Master) Close(then func()) {
	m.post(func() {
		if m.quiet {
			then()
			return
		}
		m.closed = append(m.closed, then)
		if !m.graph.State().Terminal() {
			m.applySchedule(schedule.Suspend{})
		}
	})
}

// post runs a letter after those that wait; called on the loop.
func (m *Master) post(letter func()) {
	m.letters = append(m.letters, letter)
	if m.applying {
		return
	}
	m.applying = true
	for len(m.letters) > 0 {
		next := m.letters[0]
		m.letters = m.letters[1:]
		next()
	}
	m.applying = false
	m.armPool()
}

func (m *Master) schedule(ev schedule.Event) { m.post(func() { m.applySchedule(ev) }) }

func (m *Master) applySchedule(ev schedule.Event) {
	for _, effect := range m.scheduler.Apply(ev, m.loop.Now()) {
		m.performSchedule(effect)
	}
}

func (m *Master) performSchedule(effect schedule.Effect) {
	switch f := effect.(type) {
	case schedule.RequestSlots:
		want := slotpool.Want{}
		for _, r := range f.Requests {
			want.Requests = append(want.Requests, slotpool.Request{ID: slotpool.RequestID(r.ID), Group: r.Group, Prefer: r.Before})
		}
		m.applyPoolLater(want)
	case schedule.WithdrawRequests:
		withdraw := slotpool.Withdraw{}
		for _, id := range f.Requests {
			withdraw.Requests = append(withdraw.Requests, slotpool.RequestID(id))
		}
		m.applyPoolLater(withdraw)
	case schedule.ReturnSlot:
		m.applyPoolLater(slotpool.Release{Allocation: f.Allocation})
	case schedule.Deploy:
		m.deployLater(f.Execution)
	case schedule.CancelTask:
		m.cancelTask(f.Execution)
	case schedule.RestartAfter:
		m.restartAfter(f)
	case schedule.AskLayout:
		m.adaptive.apply(rescale.Ended{Restart: int64(f.Restart)})
	case schedule.ReleaseOutputs:
		m.managers.release(f.Executions)
	case schedule.TasksReset:
		m.tasksReset(f)
	case schedule.LaidOut:
		l := f.Vertex.Layout()
		m.log.Info("parallelism decided", "vertex", f.Vertex.Job.Name, "parallelism", l.Parallelism, "reason", l.Why)
	case schedule.TaskChanged:
		m.taskChanged(f)
	case schedule.JobChanged:
		m.jobChanged(f)
	}
}

func (m *Master) taskChanged(f schedule.TaskChanged) {
	if m.log.Enabled(context.Background(), slog.LevelInfo) {
		attrs := []any{"attempt", f.Execution.ID, "vertex", f.Execution.Vertex.Name(), "from", f.From, "to", f.To}
		if f.Reason != "" {
			attrs = append(attrs, "reason", f.Reason)
		}
		m.log.Info("task changed", attrs...)
	}
	m.checkpoints.taskChanged(f.Execution, f.To)
	m.adaptive.taskChanged(f.To)
	if !f.To.Terminal() {
		return
	}
	m.managers.ended(f.Execution)
	for _, h := range m.coordinators {
		h.fence.forget(f.Execution.ID)
	}
	for _, h := range m.coordinators {
		if h.vertex != f.Execution.Vertex.Parent {
			continue
		}
		if f.To != status.Finished {
			h.coordinator.SubtaskFailed(f.Execution.ID.Subtask, f.Execution.ID.Attempt)
		} else if follower, ok := h.coordinator.(coordinator.Following); ok {
			follower.SubtaskFinished(f.Execution.ID.Subtask)
		}
	}
}

func (m *Master) jobChanged(f schedule.JobChanged) {
	attrs := []any{"from", f.From, "to", f.To}
	if f.Reason != "" {
		attrs = append(attrs, "reason", f.Reason)
	}
	m.log.Info("job changed", attrs...)
	m.checkpoints.apply(checkpoint.JobStatus{State: f.To})
	m.adaptive.jobChanged(f.To)
	if f.To.Terminal() {
		m.post(func() { m.end(f.To) })
	}
}

// end gives all slots back, says goodbye and tells that the job is over. What
// the job's last events asked of the pool has been done by then.
func (m *Master) end(state status.Job) {
	m.stopPauses()
	for _, h := range m.coordinators {
		h.coordinator.Close()
	}
	m.applyPool(slotpool.Close{}, nil)
	m.partner++ // the one that waits until all goodbyes are on their way
	m.managers.goodbye(state)
	m.resourceManager.goodbye(state)
	m.checkpoints.goodbye()
	m.done = true
	m.checkpoints.ended()
	m.options.OnDone(m.View())
	m.parted()
}

// parted notes that a peer has taken the goodbye, or will never. After the last
// one the endpoint is withdrawn.
func (m *Master) parted() {
	m.partner--
	if m.partner > 0 {
		return
	}
	m.quiet = true
	if m.started {
		m.system.Withdraw(gateway.JobMaster(m.job))
	}
	for _, then := range m.closed {
		then()
	}
	m.closed = nil
}

func (m *Master) applyPoolLater(ev slotpool.Event) { m.post(func() { m.applyPool(ev, nil) }) }

// applyPool advances the pool. answer takes the answer of an offer.
func (m *Master) applyPool(ev slotpool.Event, answer func([]ident.AllocationID)) {
	m.poolDone = false
	for _, effect := range m.pool.Apply(ev, m.loop.Now()) {
		switch f := effect.(type) {
		case slotpool.Answer:
			answer(f.Accepted)
		case slotpool.Declare:
			m.log.Info("slots declared", "slots", f.Slots)
			m.resourceManager.declare(f.Slots)
		case slotpool.Grant:
			m.schedule(schedule.SlotGranted{Request: schedule.RequestID(f.Request), Slot: f.Slot})
		case slotpool.Refuse:
			refused := schedule.SlotsRefused{Cause: f.Cause}
			for _, id := range f.Requests {
				refused.Requests = append(refused.Requests, schedule.RequestID(id))
			}
			m.schedule(refused)
		case slotpool.Lost:
			m.schedule(schedule.SlotsLost{Allocations: f.Allocations, Cause: f.Cause})
		case slotpool.Free:
			m.managers.free(f.Slot, f.Cause)
		}
	}
	m.adaptive.counted()
}

// armPool sets the timer to the pool's next deadline.
func (m *Master) armPool() {
	if m.poolDone {
		return
	}
	m.poolDone = true
	if m.poolTick != nil {
		m.poolTick.Stop()
		m.poolTick = nil
	}
	due := m.pool.Deadline()
	if due.IsZero() || m.graph.State().Terminal() {
		return
	}
	m.poolTick = m.loop.After(max(0, due.Sub(m.loop.Now())), func() {
		m.poolTick = nil
		m.applyPoolLater(slotpool.Tick{Working: m.working()})
	})
}

// heartbeats are the settings of the pinging side.
func (m *Master) heartbeats() heartbeat.Options {
	return heartbeat.Options{
		Interval: m.options.HeartbeatInterval, Timeout: m.options.HeartbeatTimeout, FailureThreshold: m.options.HeartbeatThreshold,
		Unreachable: nobody,
	}
}

// nobody reports whether a call was answered by nobody who could know of us.
func nobody(err error) bool {
	return errors.Is(err, rpc.ErrUnreachable) || errors.Is(err, rpc.ErrUnknownEndpoint)
}

// failureOf makes the failure of an error; one that carries a failure keeps it,
// with the texts around it in its chain.
func failureOf(err error) *status.Failure {
	var inner *status.Failure
	if !errors.As(err, &inner) {
		return status.FailureOf(err)
	}
	f := *inner
	outer := status.FailureOf(err)
	if n := len(outer.Chain) - len(inner.Chain); n > 0 {
		f.Chain = append(append([]string{}, outer.Chain[:n]...), inner.Chain...)
	}
	return &f
}
