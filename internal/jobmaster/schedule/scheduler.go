package schedule

import (
	"fmt"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/status"
)

// A Scheduler runs one job. Only its owner's loop touches it.
type Scheduler struct {
	graph    *execgraph.Graph
	backoff  Backoff
	failover Failover
	sharing  *sharing
	balanced bool // tasks are spread over TaskManagers by their number
	sizing   Sizing
	// sized are the sources that have said how much they have to read, or that
	// they cannot say.
	sized map[*execgraph.JobVertex]bool
	// scheduled are the regions that were given to a plan, by index.
	scheduled []bool
	// readers are the regions that wait for what a subtask produces.
	readers map[*execgraph.Vertex][]*execgraph.Region
	// someLost says that outputs were lost at some time.
	someLost bool
	// plans wait for slots: each for that of its first subtask that has none.
	plans map[shareKey][]*plan
	// recoveries are the plans to run subtasks again, oldest first.
	recoveries []*recovery
	// waiting are the subtasks that wait to be restarted, with the newest plan
	// for them. Invariant: the job is RESTARTING, or CREATED again and waiting for
	// slots, exactly while there are any.
	waiting  map[*execgraph.Vertex]*recovery
	restarts RestartID // last one given out
	asks     bool      // RestartAfter comes even if there is no pause

	// newest is the entry of the newest failure that was decided about.
	newest execgraph.EntryID
	// final is the entry of the failure the job is FAILING of, first that failure
	// as it was reported, and around the text put around it. Of a job that is
	// CANCELLING, final is the entry of what failed since; 0: nothing did.
	final  execgraph.EntryID
	first  *status.Failure
	around string

	now     time.Time // of the event being applied
	effects []Effect  // made by the event being applied
}

// A plan is the wish to deploy one region, waiting for its slots.
type plan struct {
	region   *execgraph.Region
	attempts []*execgraph.Execution
	versions []int64 // of the attempts' vertices when the plan was made
	ready    int     // so many of the attempts, from the first, have their slot
}

// valid reports whether nothing was decided about any of the plan's subtasks
// since it was made.
func (p *plan) valid() bool {
	for i, e := range p.attempts {
		if e.Vertex.Version != p.versions[i] || e.Vertex.Current != e {
			return false
		}
	}
	return true
}

// New makes the scheduler of a job that is CREATED.
func New(graph *execgraph.Graph, backoff Backoff, failover Failover, sizing Sizing) *Scheduler {
	s := &Scheduler{graph: graph, backoff: backoff, failover: failover, sharing: newSharing(), sizing: sizing.complete(),
		sized: map[*execgraph.JobVertex]bool{}, readers: map[*execgraph.Vertex][]*execgraph.Region{},
		plans: map[shareKey][]*plan{}, waiting: map[*execgraph.Vertex]*recovery{}}
	for _, r := range graph.Regions {
		s.addRegion(r)
	}
	return s
}

// AskBeforeRestart makes RestartAfter come before every restart, with or without a
// pause: its owner finds out then what tasks begin with.
func (s *Scheduler) AskBeforeRestart() { s.asks = true }

// Apply advances the job by one event and returns what must now be done. It
// reads no clock and starts nothing.
func (s *Scheduler) Apply(ev Event, now time.Time) []Effect {
	s.now, s.effects = now, nil
	if s.graph.State().Terminal() {
		s.afterEnd(ev)
		return s.effects
	}
	switch ev := ev.(type) {
	case Start:
		s.start(ev.Layouts)
	case SlotGranted:
		s.slotGranted(ev)
	case SlotsRefused:
		s.slotsRefused(ev)
	case SlotsLost:
		var ran []*execgraph.Execution
		for _, allocation := range ev.Allocations {
			ran = append(ran, s.sharing.lose(allocation)...)
		}
		s.attemptsFailed(ran, ev.Cause, false)
	case TaskReport:
		s.taskReport(ev)
	case Measured:
		if e := s.graph.Attempt(ev.Attempt); e != nil && !e.State().Terminal() {
			s.graph.Measure(e, ev.Metrics)
		}
	case DeployFailed:
		if e := s.graph.Attempt(ev.Attempt); e != nil {
			s.attemptsFailed(one(e), ev.Cause, true)
		}
	case TaskLost:
		if e := s.graph.Attempt(ev.Attempt); e != nil {
			s.attemptsFailed(one(e), ev.Cause, false)
		}
	case SourceSized:
		s.sourceSized(ev)
	case CancelJob:
		s.cancelJob()
	case RestartDue:
		s.restartDue(ev.Restart)
	case Rescale:
		s.rescale(ev.Reason)
	case AwaitSlots:
		s.awaitSlots()
	case LayOut:
		s.layOutAgain(ev)
	case OutputsLost:
		s.outputsLost(ev)
	case FailJob:
		s.jobFailed(ev.Cause)
	case Suspend:
		s.suspend()
	default:
		invariant.Broken("unknown event %T", ev)
	}
	s.restartReady()
	s.settle()
	return s.effects
}

// afterEnd handles what comes in after the job's end: only a slot still has to
// go back.
func (s *Scheduler) afterEnd(ev Event) {
	if granted, ok := ev.(SlotGranted); ok {
		s.emit(ReturnSlot{Allocation: granted.Slot.Allocation})
	}
}

func (s *Scheduler) emit(e Effect) { s.effects = append(s.effects, e) }

func (s *Scheduler) start(layouts []execgraph.Layout) {
	if s.graph.Late() {
		s.resize(layouts)
	}
	s.setJob(status.JobRunning, "")
	s.scheduleRegions()
}

// scheduleRegions makes plans for all regions whose inputs are there, in
// topological order. Inputs that were there and are lost are produced again.
func (s *Scheduler) scheduleRegions() {
	s.layOut()
	var missing *execgraph.Vertex // a producer that has not finished, and its place: mostly that of all
	at := 0
	for _, r := range s.graph.Regions {
		if s.scheduled[r.Index] || !s.active() || !allCreated(r) {
			continue
		}
		if !s.someLost {
			if missing != nil && at < len(r.Awaits) && r.Awaits[at] == missing {
				continue
			}
			if at = slices.IndexFunc(r.Awaits, func(v *execgraph.Vertex) bool { return v.Current.State() != status.Finished }); at >= 0 {
				missing = r.Awaits[at]
				continue
			}
			missing = nil
		}
		lost, ready := s.inputs(r)
		switch {
		case len(lost) > 0:
			s.produceAgain(r.Vertices[0].Name(), lost)
		case ready:
			s.scheduled[r.Index] = true
			s.plan(r)
		}
	}
}

// inputs reports whether all that a region needs from others has been produced,
// and by whom what is lost of it and not about to be produced again.
func (s *Scheduler) inputs(r *execgraph.Region) (lost []*execgraph.Execution, ready bool) {
	ready = true
	for _, v := range r.Awaits {
		if v.Current.State() != status.Finished || s.waiting[v] != nil {
			ready = false
		} else if v.Current.OutputLost {
			lost = append(lost, v.Current)
		}
	}
	return lost, ready
}

func allCreated(r *execgraph.Region) bool {
	for _, v := range r.Vertices {
		if v.Current.State() != status.Created {
			return false
		}
	}
	return true
}

// plan asks for the slots of a region.
func (s *Scheduler) plan(r *execgraph.Region) {
	p := &plan{region: r}
	var requests []SlotRequest
	for _, v := range r.Vertices {
		s.setTask(v.Current, status.Scheduled, "")
		p.attempts = append(p.attempts, v.Current)
		p.versions = append(p.versions, v.Version)
		if _, request := s.sharing.enter(v.Current); request != nil {
			requests = append(requests, *request)
		}
	}
	if len(requests) > 0 {
		s.emit(RequestSlots{Region: r, Requests: requests})
	}
	s.deployReady(p)
}

func (s *Scheduler) slotGranted(ev SlotGranted) {
	if !s.sharing.grant(ev.Request, ev.Slot) {
		s.emit(ReturnSlot{Allocation: ev.Slot.Allocation})
		return
	}
	key := s.sharing.byRequest[ev.Request].key
	plans := s.plans[key]
	delete(s.plans, key)
	for _, p := range plans {
		s.deployReady(p)
	}
}

// deployReady deploys a plan that has all its slots, and drops one that is void:
// its attempts gave up their slots when the versions moved. Otherwise the plan
// waits for the next slot it lacks.
func (s *Scheduler) deployReady(p *plan) {
	for ; p.ready < len(p.attempts); p.ready++ {
		key := keyOf(p.attempts[p.ready].Vertex)
		if shared := s.sharing.byKey[key]; shared == nil || shared.slot == nil {
			s.plans[key] = append(s.plans[key], p)
			return
		}
	}
	if p.valid() {
		s.deploy(p)
	}
}

// deploy binds all attempts of a plan to their slots before the first is
// deployed: every attempt must be told where its producers run.
func (s *Scheduler) deploy(p *plan) {
	if s.balanced {
		s.balance(p)
	}
	for _, e := range p.attempts {
		s.graph.Bind(e, s.sharing.byKey[keyOf(e.Vertex)].slot)
	}
	for _, e := range p.attempts {
		s.setTask(e, status.Deploying, "")
		s.emit(Deploy{Execution: e})
	}
}

// slotsRefused fails the attempts that waited for slots that cannot be had.
func (s *Scheduler) slotsRefused(ev SlotsRefused) {
	var waited []*execgraph.Execution
	for _, r := range ev.Requests {
		waited = append(waited, s.sharing.refuse(r)...)
	}
	s.attemptsFailed(waited, ev.Cause, false)
}

// settle ends the job when nothing of it can change any more.
func (s *Scheduler) settle() {
	if !s.graph.AllTerminal() {
		return
	}
	switch s.graph.State() {
	case status.JobCancelling:
		s.setJob(status.JobCanceled, "")
	case status.JobFailing:
		s.setJob(status.JobFailed, s.graph.FirstCause().Error())
	case status.JobRunning:
		if s.graph.AllFinished() {
			s.setJob(status.JobFinished, "")
		}
	}
}

func (s *Scheduler) setJob(to status.Job, reason string) {
	from := s.graph.State()
	s.graph.SetState(to, s.now)
	s.emit(JobChanged{From: from, To: to, Reason: reason})
}

// setTask makes a step of an attempt's state machine. A terminal step ends the
// attempt's tenancy of its slot.
func (s *Scheduler) setTask(e *execgraph.Execution, to status.Execution, reason string) {
	from := e.State()
	s.graph.SetExecution(e, to, s.now)
	s.changed(e, from, reason)
}

func (s *Scheduler) changed(e *execgraph.Execution, from status.Execution, reason string) {
	s.emit(TaskChanged{Execution: e, From: from, To: e.State(), Reason: reason})
	if !e.State().Terminal() {
		return
	}
	if r := s.waiting[e.Vertex]; r != nil {
		r.open--
	}
	returned, withdrawn := s.sharing.leave(e)
	if returned != nil {
		s.emit(ReturnSlot{Allocation: returned.Allocation})
	}
	if withdrawn != 0 {
		s.emit(WithdrawRequests{Requests: []RequestID{withdrawn}})
	}
}

// Knows reports whether a report of an attempt in this state is news or a
// repetition: if not, the attempt does not count here and must be stopped.
func (s *Scheduler) Knows(id ident.AttemptID, reported status.Execution) bool {
	e := s.graph.Attempt(id)
	return e != nil && e.Deployed() && (!e.State().Terminal() || e.State() == reported)
}

// Restarting is how many subtasks wait to be restarted.
func (s *Scheduler) Restarting() int { return len(s.waiting) }

// Planned is how many attempts stand in plans that wait for slots: all that are
// SCHEDULED.
func (s *Scheduler) Planned() int {
	n := 0
	for _, some := range s.plans { // order: a sum
		for _, p := range some {
			if p.valid() {
				n += len(p.attempts)
			}
		}
	}
	return n
}

// Ending is how many attempts have to end before they can be replaced.
func (s *Scheduler) Ending() int {
	n := 0
	for _, r := range s.recoveries {
		n += r.open
	}
	return n
}

// Waiting lists what the job waits for, for people: one line a plan.
func (s *Scheduler) Waiting() []string {
	var plans []*plan
	for _, some := range s.plans { // order: sorted below
		plans = append(plans, slices.DeleteFunc(slices.Clone(some), func(p *plan) bool { return !p.valid() })...)
	}
	slices.SortFunc(plans, func(a, b *plan) int { return a.region.Index - b.region.Index })
	var lines []string
	for _, p := range plans {
		missing := 0
		for _, e := range p.attempts {
			if shared := s.sharing.byKey[keyOf(e.Vertex)]; shared != nil && shared.slot == nil {
				missing++
			}
		}
		lines = append(lines, fmt.Sprintf("region %d: %d of %d subtasks wait for a slot", p.region.Index, missing, len(p.attempts)))
	}
	for _, r := range s.recoveries {
		lines = append(lines, r.String())
	}
	return lines
}
