package cluster

import (
	"fmt"
	"strings"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/jobmaster/slotpool"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// A watched job is one life of a job at one JobMaster, with what was last seen
// of it.
type watched struct {
	graph    *jobgraph.Graph
	master   *jobmaster.Master // nil until it is made
	regions  [][]place
	state    status.Job
	vertices []*execgraph.VertexView
	tasks    [][]lastSeen // by vertex and subtask
	ends     int          // how often it said that it has ended
	restarts int          // that it has counted
	// reads are what was read so far of what was produced for vertices whose
	// parallelism was open.
	reads   map[reading]execgraph.Share
	offered *offered // when an offer has just come; nil: none has
	idle    idle
	// taken are the slots that it has ever had.
	taken map[ident.AllocationID]bool
	// reported is the attempt of whose end a report has just come; zero: none has.
	reported ident.AttemptID
	// unreadable are the attempts of which it was told that their output is lost.
	unreadable map[ident.AttemptID]bool
}

// place is one subtask: vertex and number.
type place struct{ vertex, subtask int }

// lastSeen is what was last seen of a subtask's current attempt.
type lastSeen struct {
	attempt ident.AttemptID
	state   status.Execution
}

// watch makes the record of a job that is about to get a JobMaster.
func (k *checks) watch(g *jobgraph.Graph) *watched {
	w := &watched{graph: g, taken: map[ident.AllocationID]bool{}, unreadable: map[ident.AttemptID]bool{}, vertices: make([]*execgraph.VertexView, len(g.Vertices)), tasks: make([][]lastSeen, len(g.Vertices))}
	for i, v := range g.Vertices {
		w.tasks[i] = make([]lastSeen, v.Parallelism)
	}
	now := k.c.master.loop.Now()
	laid, err := execgraph.New(g, ident.GraphID{}, now, now)
	if err != nil {
		k.broken("testkit", "the user made a graph that contradicts itself: %v", err)
		return w
	}
	for _, r := range laid.Regions {
		var places []place
		for _, v := range r.Vertices {
			places = append(places, place{v.Parent.Index, v.Subtask})
		}
		w.regions = append(w.regions, places)
	}
	return w
}

// ended takes a JobMaster's word that its job has ended.
func (k *checks) ended(w *watched, v execgraph.View) {
	w.ends++
	k.watchSplits(w.graph, &v)
	k.c.checkpoints.ended(w.graph.Job, v.State)
	if w.ends > 1 || !v.State.Terminal() {
		k.broken("1", "job %s says for the %d. time that it has ended, as %s", v.Job, w.ends, v.State)
	}
}

// rarely is how often a job that has ended is looked at: once in so many events.
const rarely = 64

func (k *checks) watchMaster(m *master) {
	for _, w := range m.jobs {
		if w.state.Terminal() && k.looked%rarely != 0 {
			continue
		}
		v := w.master.View()
		k.watchJob(w, &v)
		k.watchRestarts(w, &v)
		k.watchPool(m, w, &v)
	}
}

// watchJob checks that the job moved as the tables allow (1), with one live
// attempt a subtask (2) and regions deployed as a whole (20).
func (k *checks) watchJob(w *watched, v *execgraph.View) {
	if v.State != w.state {
		if !reachableJob(w.state, v.State) {
			k.broken("1", "job %s went from %s to %s", v.Job, w.state, v.State)
		}
		k.c.world.Note("job "+v.Job.String()[:4], w.state.String()+" -> "+v.State.String())
		w.state = v.State
	}
	if m := k.c.master; m.closed && !v.State.Terminal() {
		k.broken("18", "job %s is %s though its master is closed", v.Job, v.State)
	}
	if (w.ends > 0) != v.State.Terminal() {
		k.broken("1", "job %s is %s and has said %d times that it has ended", v.Job, v.State, w.ends)
	}
	changed := false
	for i, vertex := range v.Vertices {
		if vertex == w.vertices[i] {
			continue
		}
		k.watchLayout(w.vertices[i], vertex)
		w.vertices[i], changed = vertex, true
		if more := len(vertex.Subtasks) - len(w.tasks[i]); more > 0 { // it was laid out just now
			w.tasks[i] = append(w.tasks[i], make([]lastSeen, more)...)
		}
		for s := range vertex.Subtasks {
			if begins(w.tasks[i][s], &vertex.Subtasks[s]) {
				k.watchInputs(w, v, vertex.Subtasks[s].ID)
			}
			k.watchSubtask(v, &vertex.Subtasks[s], &w.tasks[i][s])
		}
	}
	if changed {
		k.watchRegions(w, v)
		k.watchCovered(w, v)
	}
	if vertex := v.Vertex(w.reported.Vertex); vertex != nil && w.reported.Subtask < len(vertex.Subtasks) {
		if sub := &vertex.Subtasks[w.reported.Subtask]; sub.ID == w.reported && !sub.State.Terminal() {
			k.broken("1", "attempt %s is %s after its end was reported", sub.ID, sub.State)
		}
	}
	w.reported = ident.AttemptID{}
}

// notTaken is why a TaskManager frees a slot after an offer. A JobMaster that has
// deployed a task to the slot has taken it.
const notTaken = "the JobMaster did not take the slot"

// vanished is why a JobMaster gives a task up of which its TaskManager knows
// nothing any more.
const vanished = "unexpectedly no longer running"

func (k *checks) watchSubtask(v *execgraph.View, now *execgraph.SubtaskView, before *lastSeen) {
	for i := range now.Earlier {
		if !now.Earlier[i].State.Terminal() {
			k.broken("2", "attempt %s is %s and its successor %s is %s", now.Earlier[i].ID, now.Earlier[i].State, now.ID, now.State)
		}
	}
	if now.ID != before.attempt {
		if !before.attempt.IsZero() && !before.state.Terminal() {
			k.replaced(now, before)
		}
		k.watchPause(v, before.attempt)
		*before = lastSeen{attempt: now.ID}
	}
	if now.State == before.state {
		return
	}
	if !reachable(before.state, now.State) {
		k.broken("1", "attempt %s went from %s to %s", now.ID, before.state, now.State)
	}
	k.c.world.Note(fmt.Sprintf("task %.4s %.4s/%d", v.Job, now.ID.Vertex, now.ID.Subtask), before.state.String()+" -> "+now.State.String())
	before.state = now.State
	if now.State == status.Failed && now.Failure != nil && strings.Contains(now.Failure.Message, notTaken) {
		k.broken("16", "attempt %s failed, as its TaskManager freed a slot that its JobMaster had taken: %s", now.ID, now.Failure.Message)
	}
	if now.State == status.Failed && now.Failure != nil && strings.Contains(now.Failure.Message, vanished) && !k.reborn() {
		k.broken("8", "attempt %s failed, because the end of a task was not reported: %s", now.ID, now.Failure.Message)
	}
	if now.State == status.Running && now.ID.Attempt > 0 {
		k.met["restarted tasks that ran"]++
	}
}

// replaced checks that an attempt had ended when it was replaced: both may happen
// in one step.
func (k *checks) replaced(now *execgraph.SubtaskView, before *lastSeen) {
	for i := range now.Earlier {
		if e := &now.Earlier[i]; e.ID == before.attempt && e.State.Terminal() && reachable(before.state, e.State) {
			return
		}
	}
	k.broken("2", "attempt %s, last seen %s, was replaced by %s", before.attempt, before.state, now.ID)
}

func (k *checks) watchRegions(w *watched, v *execgraph.View) {
	for i, region := range w.regions {
		deployed := 0
		for _, p := range region {
			if !v.Vertices[p.vertex].Subtasks[p.subtask].Start().IsZero() {
				deployed++
			}
		}
		if len(region) > 1 && deployed > 0 {
			k.met["regions of several subtasks"]++
		}
		if deployed != 0 && deployed != len(region) {
			k.broken("20", "job %s: %d of the %d subtasks of region %d were deployed", v.Job, deployed, len(region), i)
		}
	}
}

// reachable reports whether the table leads from one state to another in any
// number of steps.
func reachable(from, to status.Execution) bool { return executions[from][to] }

func reachableJob(from, to status.Job) bool { return jobStates[from][to] }

var (
	executions = closure(status.Executions(), status.Execution.CanBecome)
	jobStates  = closure(status.Jobs(), status.Job.CanBecome)
)

func closure[S ~uint8](all []S, step func(S, S) bool) [][]bool {
	reach := make([][]bool, len(all))
	for i, from := range all {
		reach[i] = make([]bool, len(all))
		for j, to := range all {
			reach[i][j] = step(from, to)
		}
	}
	for via := range all {
		for i := range all {
			for j := range all {
				reach[i][j] = reach[i][j] || reach[i][via] && reach[via][j]
			}
		}
	}
	return reach
}

// watchPool checks that what the job has declared is what it needs (6), and that
// no slot comes back that it has given back (4).
func (k *checks) watchPool(m *master, w *watched, v *execgraph.View) {
	pool := w.master.Pool()
	n := pool.Counts()
	need := n.Granted
	if !n.Resting {
		need += n.Pending
	}
	switch {
	case n.Declared != need:
		k.broken("6", "job %s declares %d slots, with %d pending and %d fulfilled", v.Job, n.Declared, n.Pending, n.Granted)
	case n.Pending > 0 && n.Free >= n.Lacking:
		k.broken("6", "job %s waits for %d slots and uses %d of its slots for nothing, where %d would do", v.Job, n.Pending, n.Free, n.Lacking)
	case v.State.Terminal() && n != slotpool.Counts{}:
		k.broken("6", "job %s is %s and still has %+v", v.Job, v.State, n)
	}
	if waiting := v.Tasks()[status.Scheduled]; n.Pending > waiting {
		k.broken("6", "job %s waits for %d slots, and %d of its tasks wait for one", v.Job, n.Pending, waiting)
	} else if busy := alive(v); n.Granted > busy {
		k.broken("6", "job %s uses %d slots for %d tasks", v.Job, n.Granted, busy)
	}
	added := 0
	for _, s := range pool.Slots() {
		if w.offered != nil && !w.offered.known[s.Allocation] {
			added++
		}
		if m.given[s.Allocation.String()] {
			k.broken("4", "job %s has slot %s, which it has given back", v.Job, s.Allocation)
		}
		w.taken[s.Allocation] = true
		k.owned(s.Allocation, owner{v.Job, s.TaskManager, s.Index}, "its JobMaster")
	}
	if w.offered != nil && added > w.offered.pending {
		k.broken("6", "job %s waited for %d slots and took %d", v.Job, w.offered.pending, added)
	}
	w.offered = nil
	k.watchIdle(m, w, v)
}

// alive counts the tasks that have or wait for a slot.
func alive(v *execgraph.View) int {
	n := 0
	for s, k := range v.Tasks() {
		if state := status.Execution(s); state != status.Created && !state.Terminal() {
			n += k
		}
	}
	return n
}

// offered is a job's pool when an offer of slots came.
type offered struct {
	pending int
	known   map[ident.AllocationID]bool
}

// heardOffer notes what the pool has and lacks when slots are offered.
func (w *watched) heardOffer() {
	n := w.master.Pool().Counts()
	w.offered = &offered{pending: max(0, n.Pending-n.Free), known: map[ident.AllocationID]bool{}}
	for _, s := range w.master.Pool().Slots() {
		w.offered.known[s.Allocation] = true
	}
}

// masterCalls looks at what a master process sends: a deployment must be the
// outcome of a plan that holds now (16).
func (k *checks) masterCalls(m *master, to rpc.Address, call rpc.Call) {
	if request, ok := call.Request.(*pb.RequestSlotRequest); ok {
		k.watchRequest(request)
	}
	if request, ok := call.Request.(*pb.FreeSlotRequest); ok {
		m.given[request.AllocationId] = true
	}
	if call.Method != gateway.SubmitTask.Name {
		return
	}
	request := call.Request.(*pb.SubmitTaskRequest)
	attempt, err := ident.ParseAttempt(request.Task.Attempt)
	if err != nil {
		k.broken("16", "attempt %q is deployed: %v", request.Task.Attempt, err)
		return
	}
	for _, w := range m.jobs {
		if w.master.Term().String() == request.JobMasterId {
			k.watchDeployment(w, attempt, request, to)
			k.watchReads(w, attempt, request.Task)
			k.code.terms[attempt.Graph] = w.master.Term()
			k.deployedWith(attempt, request.Task)
			return
		}
	}
	k.broken("16", "attempt %s is deployed by JobMaster %s, which does not exist", attempt, request.JobMasterId)
}

func (k *checks) watchDeployment(w *watched, attempt ident.AttemptID, request *pb.SubmitTaskRequest, to rpc.Address) {
	v := w.master.View()
	vertex := v.Vertex(attempt.Vertex)
	if vertex == nil || attempt.Subtask >= len(vertex.Subtasks) {
		k.broken("16", "attempt %s is deployed, its job has no such subtask", attempt)
		return
	}
	held := false
	for _, s := range w.master.Pool().Slots() {
		held = held || s.Allocation.String() == request.Task.AllocationId && "sim:"+s.DataAddresses[0] == to.Process+":1"
	}
	k.met["deployments"]++
	switch sub := &vertex.Subtasks[attempt.Subtask]; {
	case sub.ID != attempt || sub.State != status.Deploying || v.State != status.JobRunning && v.State != status.JobRestarting:
		k.broken("16", "attempt %s is deployed while the job is %s and the subtask's attempt %s is %s", attempt, v.State, sub.ID, sub.State)
	case !held:
		k.broken("16", "attempt %s is deployed to %s into slot %s, which the job does not hold there", attempt, to, request.Task.AllocationId)
	}
}

// begins reports whether it was just decided that an attempt is to run.
func begins(before lastSeen, now *execgraph.SubtaskView) bool {
	return (now.ID != before.attempt || before.state == status.Created) && (now.State == status.Scheduled || now.State == status.Deploying)
}

// watchInputs checks that a task that reads complete output is not scheduled when
// its JobMaster knows that some of it is lost: that is produced again first.
func (k *checks) watchInputs(w *watched, v *execgraph.View, attempt ident.AttemptID) {
	for _, reader := range w.graph.Vertices {
		if reader.ID != attempt.Vertex {
			continue
		}
		for _, edge := range reader.Inputs {
			producer := v.Vertex(edge.Source)
			if edge.Distribution != jobgraph.AllToAll || !blocking(w.graph, edge) {
				continue
			}
			for i := range producer.Subtasks {
				if id := producer.Subtasks[i].ID; w.unreadable[id] {
					k.broken("batch", "attempt %s is scheduled and reads what %s has produced, which is lost", attempt, id)
				}
			}
		}
	}
}

func blocking(g *jobgraph.Graph, edge *jobgraph.Edge) bool {
	for _, v := range g.Vertices {
		for _, set := range v.Produces {
			if set.ID == edge.DataSet {
				return set.Type == jobgraph.Blocking
			}
		}
	}
	return false
}
