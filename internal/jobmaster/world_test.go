package jobmaster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// world is one loop for all endpoints, a clock that moves only when nothing is
// left to do now, and a network in which processes can die.
type world struct {
	now    time.Time
	rand   *rand.Rand
	timers []*timer // in the order they were made
	served map[rpc.Address]rpc.Handler
	down   map[string]bool
	// lose says which calls are lost on their way, silent which answers; nil:
	// none.
	lose   func(to rpc.Address, method string) bool
	silent func(to rpc.Address, method string) bool
	watch  []*watcher
}

type timer struct {
	w  *world
	at time.Time
	f  func()
}

type watcher struct {
	process string
	lost    func(error)
}

func newWorld() *world {
	return &world{now: time.Unix(1_000_000, 0), rand: rand.New(rand.NewPCG(1, 2)),
		served: map[rpc.Address]rpc.Handler{}, down: map[string]bool{}}
}

func (w *world) Post(f func()) { w.After(0, f) }

func (w *world) After(d time.Duration, f func()) actor.Timer {
	t := &timer{w: w, at: w.now.Add(d), f: f}
	w.timers = append(w.timers, t)
	return t
}

func (t *timer) Stop() {
	t.w.timers = slices.DeleteFunc(t.w.timers, func(o *timer) bool { return o == t })
}

func (w *world) Go(work func(), then func()) { work(); w.Post(then) }
func (w *world) Now() time.Time              { return w.now }
func (w *world) Rand() *rand.Rand            { return w.rand }

// pass lets d go by, with all that falls due in it.
func (w *world) pass(d time.Duration) {
	end := w.now.Add(d)
	for {
		due := slices.MinFunc(append(slices.Clone(w.timers), &timer{at: end.Add(1)}), func(a, b *timer) int { return a.at.Compare(b.at) })
		if due.at.After(end) {
			w.now = end
			return
		}
		due.Stop()
		w.now = due.at
		due.f()
	}
}

// die ends a process.
func (w *world) die(process string) {
	w.down[process] = true
	for _, one := range slices.Clone(w.watch) {
		if one.process == process {
			w.unwatch(one)
			w.Post(func() { one.lost(errors.New("connection reset by peer")) })
		}
	}
}

func (w *world) unwatch(one *watcher) {
	w.watch = slices.DeleteFunc(w.watch, func(o *watcher) bool { return o == one })
}

// system is one process's share of the network.
type system struct {
	w    *world
	self string
}

func (s system) Self() string { return s.self }
func (s system) Serve(endpoint string, _ actor.Loop, h rpc.Handler) {
	s.w.served[rpc.Address{Process: s.self, Endpoint: endpoint}] = h
}
func (s system) Withdraw(endpoint string) {
	delete(s.w.served, rpc.Address{Process: s.self, Endpoint: endpoint})
}

func (s system) Watch(_ actor.Loop, process string, lost func(error)) func() {
	one := &watcher{process: process, lost: lost}
	s.w.watch = append(s.w.watch, one)
	return func() { s.w.unwatch(one) }
}

const latency = time.Millisecond

func (s system) Call(_ actor.Loop, to rpc.Address, c rpc.Call, resp proto.Message, then func(error)) {
	w := s.w
	if c.Timeout == 0 {
		c.Timeout = rpc.DefaultTimeout
	}
	called := false
	once := func(err error) {
		if !called {
			called = true
			then(err)
		}
	}
	expiry := w.After(c.Timeout, func() { once(fmt.Errorf("%s: %w", c.Method, rpc.ErrTimeout)) })
	back := func(err error) { w.After(latency, func() { expiry.Stop(); once(err) }) }
	w.After(latency, func() {
		if w.lose != nil && w.lose(to, c.Method) {
			return
		}
		h := w.served[to]
		if w.down[to.Process] {
			back(fmt.Errorf("%s: %w", to, rpc.ErrUnreachable))
		} else if h == nil {
			back(fmt.Errorf("%s: %w", to, rpc.ErrUnknownEndpoint))
		} else {
			h.Handle(rpc.Call{Method: c.Method, Fence: c.Fence, Request: proto.Clone(c.Request)}, func(m proto.Message, err error) {
				if w.silent != nil && w.silent(to, c.Method) {
					return
				}
				if err == nil {
					proto.Merge(resp, m)
				}
				back(err)
			})
		}
	})
}

// fakeManager is a ResourceManager that gives a job slots of its TaskManagers.
type fakeManager struct {
	w        *world
	term     ident.LeaderID
	job      *pb.RegisterJobMasterRequest
	declared []int32
	executor []*fakeExecutor
	gone     string // the state of the job that said goodbye
}

func (w *world) resourceManager() *fakeManager {
	m := &fakeManager{w: w}
	m.start()
	return m
}

// start begins a new term, in which nobody is registered.
func (m *fakeManager) start() {
	m.term = ident.LeaderID{ID: ident.New(m.w.rand)}
	m.job = nil
	mux := &rpc.Mux{Term: func() ident.LeaderID { return m.term }}
	rpc.Handle(mux, gateway.RegisterJobMaster, func(q *pb.RegisterJobMasterRequest, reply func(*pb.RegisterJobMasterResponse, error)) {
		m.job = q
		reply(&pb.RegisterJobMasterResponse{ResourceManagerId: m.term.String()}, nil)
	})
	rpc.Handle(mux, gateway.DeclareRequiredResources, func(q *pb.DeclareRequiredResourcesRequest, reply func(*pb.Empty, error)) {
		var need int32
		for _, r := range q.Requirements {
			need += r.Slots
		}
		m.declared = append(m.declared, need)
		reply(&pb.Empty{}, nil)
		m.match(int(need))
	})
	rpc.Handle(mux, gateway.DisconnectJobMaster, func(q *pb.DisconnectJobMasterRequest, reply func(*pb.Empty, error)) {
		m.gone = q.JobStatus
		reply(&pb.Empty{}, nil)
	})
	system{m.w, "rm"}.Serve(gateway.ResourceManager, m.w, mux)
}

func (m *fakeManager) match(need int) {
	for _, t := range m.executor {
		need -= len(t.held)
	}
	for _, t := range m.executor {
		for need > 0 && len(t.held) < t.slots && !m.w.down[t.self] {
			t.held = append(t.held, ident.AllocationID{ID: ident.New(m.w.rand)}.String())
			need--
		}
		if len(t.held) > 0 {
			t.serveJob(m.job)
		}
	}
}

func (m *fakeManager) beat() {
	gateway.HeartbeatToJobMaster.Send(system{m.w, "rm"}, m.w, m.master(), ident.LeaderID{}, &pb.HeartbeatFromResourceManagerRequest{ResourceManagerId: m.term.String()})
}

func (m *fakeManager) master() rpc.Address {
	return rpc.Address{Process: m.job.JobMasterAddress, Endpoint: "jobmanager_" + m.job.JobId}
}

// fakeExecutor is a TaskExecutor whose tasks do what the test says.
type fakeExecutor struct {
	w        *world
	system   system
	self     string
	slots    int
	held     []string // allocations
	active   []string // those of them the master took
	master   rpc.Address
	job      *pb.RegisterJobMasterRequest
	running  []string
	outputs  []string // attempts of which what they produced is kept
	produced []int64  // what each task produces that finishes, by subpartition
	deployed []*pb.TaskDeployment
	freed    []string
	canceled []string
	released []string
	// triggered are the checkpoints it was asked for.
	triggered []*pb.TriggerCheckpointRequest
	gone      string
	refuse    string // why tasks are refused; empty: they are not
	stubborn  bool   // canceled tasks go on
}

func (m *fakeManager) taskExecutor(name string, slots int) *fakeExecutor {
	t := &fakeExecutor{w: m.w, self: name, slots: slots, system: system{m.w, name}}
	m.executor = append(m.executor, t)
	mux := &rpc.Mux{}
	rpc.Handle(mux, gateway.SubmitTask, t.submit)
	rpc.Handle(mux, gateway.CancelTask, func(q *pb.CancelTaskRequest, reply func(*pb.Empty, error)) {
		t.canceled = append(t.canceled, q.Attempt)
		reply(&pb.Empty{}, nil)
		if !t.stubborn {
			t.report(q.Attempt, "CANCELED", nil)
		}
	})
	rpc.Handle(mux, gateway.FreeSlot, func(q *pb.FreeSlotRequest, reply func(*pb.Empty, error)) {
		t.freed = append(t.freed, q.AllocationId)
		t.held = slices.DeleteFunc(t.held, func(a string) bool { return a == q.AllocationId })
		reply(&pb.Empty{}, nil)
	})
	rpc.Handle(mux, gateway.DisconnectJobManager, func(q *pb.DisconnectJobManagerRequest, reply func(*pb.Empty, error)) {
		t.gone = q.Cause
		reply(&pb.Empty{}, nil)
	})
	rpc.Handle(mux, gateway.HeartbeatFromJobMaster, func(q *pb.HeartbeatFromJobMasterRequest, reply func(*pb.JobHeartbeat, error)) {
		t.held = slices.DeleteFunc(t.held, func(a string) bool {
			return slices.Contains(t.active, a) && !slices.Contains(q.Allocations, a)
		})
		reply(&pb.JobHeartbeat{Attempts: t.running, Outputs: t.outputs}, nil)
	})
	rpc.Handle(mux, gateway.TriggerCheckpoint, func(q *pb.TriggerCheckpointRequest, reply func(*pb.Empty, error)) {
		t.triggered = append(t.triggered, q)
		reply(&pb.Empty{}, nil)
	})
	rpc.Handle(mux, gateway.NotifyCheckpoint, func(_ *pb.NotifyCheckpointRequest, reply func(*pb.Empty, error)) { reply(&pb.Empty{}, nil) })
	rpc.Handle(mux, gateway.ReleaseOutputs, func(q *pb.ReleaseOutputsRequest, reply func(*pb.Empty, error)) {
		t.released = append(t.released, q.Attempts...)
		t.outputs = slices.DeleteFunc(t.outputs, func(a string) bool { return slices.Contains(q.Attempts, a) })
		reply(&pb.Empty{}, nil)
	})
	t.system.Serve(gateway.TaskExecutorOf(ident.ResourceID("id-"+name)), m.w, mux)
	return t
}

// serveJob registers at the job's master and offers it the slots held for it.
func (t *fakeExecutor) serveJob(job *pb.RegisterJobMasterRequest) {
	t.job, t.master = job, rpc.Address{Process: job.JobMasterAddress, Endpoint: "jobmanager_" + job.JobId}
	register := &pb.RegisterTaskManagerRequest{JobId: job.JobId, ResourceId: "id-" + t.self, RpcAddress: t.self, Host: t.self + ":1", DataAddresses: []string{"unix:" + t.self}}
	gateway.RegisterTaskManager.Call(t.system, t.w, t.master, t.fence(), register, 0, func(r *pb.RegisterTaskManagerResponse, err error) {
		if err != nil {
			t.again(err, func() { t.serveJob(job) })
			return
		}
		if r.Rejected != "" {
			return
		}
		offer := &pb.OfferSlotsRequest{ResourceId: "id-" + t.self}
		for i, a := range t.held {
			offer.Offers = append(offer.Offers, &pb.SlotOffer{AllocationId: a, SlotIndex: int32(i)})
		}
		gateway.OfferSlots.Call(t.system, t.w, t.master, t.fence(), offer, 0, func(r *pb.OfferSlotsResponse, err error) {
			if err != nil {
				t.again(err, func() { t.serveJob(job) })
				return
			}
			t.held, t.active = r.Accepted, r.Accepted
		})
	})
}

func (t *fakeExecutor) fence() ident.LeaderID {
	var id ident.LeaderID
	id.UnmarshalText([]byte(t.job.JobMasterId))
	return id
}

func (t *fakeExecutor) submit(q *pb.SubmitTaskRequest, reply func(*pb.Empty, error)) {
	if t.refuse != "" {
		reply(nil, rpc.Refuse("%s", t.refuse))
		return
	}
	for _, one := range t.deployed {
		if one.Attempt == q.Task.Attempt {
			reply(nil, rpc.Refuse("attempt %s is there already", one.Attempt))
			return
		}
	}
	t.deployed = append(t.deployed, q.Task)
	t.running = append(t.running, q.Task.Attempt)
	reply(&pb.Empty{}, nil)
	t.report(q.Task.Attempt, "INITIALIZING", nil)
	t.report(q.Task.Attempt, "RUNNING", nil)
}

func (t *fakeExecutor) report(attempt, state string, failure *pb.Failure) {
	if state == "FINISHED" && t.keeps(attempt) {
		t.outputs = append(t.outputs, attempt)
	}
	if state == "FINISHED" || state == "CANCELED" || state == "FAILED" {
		t.running = slices.DeleteFunc(t.running, func(a string) bool { return a == attempt })
	}
	update := &pb.UpdateTaskExecutionStateRequest{Attempt: attempt, State: state, Failure: failure}
	if state == "FINISHED" && t.produced != nil {
		update.Outputs = []*pb.PartitionSizes{{Bytes: t.produced}}
	}
	gateway.UpdateTaskExecutionState.Call(t.system, t.w, t.master, t.fence(),
		update, 0,
		func(r *pb.UpdateTaskExecutionStateResponse, err error) {
			if err != nil {
				t.again(err, func() { t.report(attempt, state, failure) })
			} else if !r.Known {
				t.running = slices.DeleteFunc(t.running, func(a string) bool { return a == attempt })
			}
		})
}

// keeps reports whether an attempt leaves something for others to read.
func (t *fakeExecutor) keeps(attempt string) bool {
	return !slices.Contains(t.outputs, attempt) && slices.ContainsFunc(t.deployed, func(d *pb.TaskDeployment) bool {
		return d.Attempt == attempt && slices.ContainsFunc(d.Partitions, func(p *pb.PartitionDeployment) bool { return p.Blocking })
	})
}

// loseOutputs drops all outputs, and tells the JobMaster if it should.
func (t *fakeExecutor) loseOutputs(tell bool) {
	lost := t.outputs
	t.outputs = nil
	if tell {
		gateway.OutputsLost.Send(t.system, t.w, t.master, t.fence(), &pb.OutputsLostRequest{ResourceId: "id-" + t.self, Attempts: lost})
	}
}

// again repeats a call that was lost, while somebody may be there to answer it.
func (t *fakeExecutor) again(err error, call func()) {
	if t.w.down[t.self] || t.gone != "" || errors.Is(err, rpc.ErrUnknownEndpoint) {
		return
	}
	t.w.After(time.Second, call)
}

// finish ends all tasks that run.
func (t *fakeExecutor) finish() {
	for _, a := range slices.Clone(t.running) {
		t.report(a, "FINISHED", nil)
	}
}

// twoVertices is a source and a keyed sink with parallelism p.
func twoVertices(p int) *jobgraph.Graph {
	source, sink := ident.VertexID{ID: ident.ID{1}}, ident.VertexID{ID: ident.ID{2}}
	set := ident.DataSetID{ID: ident.ID{3}}
	return &jobgraph.Graph{
		Job: ident.JobID{ID: ident.ID{9}}, Name: "test",
		Vertices: []*jobgraph.Vertex{
			{ID: source, Name: "Source", Parallelism: p, MaxParallelism: 128, SlotSharingGroup: "default",
				Operators: []*jobgraph.Operator{{ID: ident.OperatorID{ID: ident.ID{1}}, Name: "Source", Digest: "a"}},
				Produces:  []*jobgraph.DataSet{{ID: set, Type: jobgraph.Pipelined, Distribution: jobgraph.AllToAll, Consumer: sink}}},
			{ID: sink, Name: "Sink", Parallelism: p, MaxParallelism: 128, SlotSharingGroup: "default",
				Operators: []*jobgraph.Operator{{ID: ident.OperatorID{ID: ident.ID{2}}, Name: "Sink", Digest: "b"}},
				Inputs:    []*jobgraph.Edge{{DataSet: set, Source: source, Distribution: jobgraph.AllToAll, Ship: "HASH"}}},
		},
	}
}

// start makes a master of the graph and starts it.
func (w *world) start(t *testing.T, graph *jobgraph.Graph, change func(*Options)) (*Master, *[]execgraph.View) {
	t.Helper()
	var done []execgraph.View
	o := Options{
		Loop: w, System: system{w, "jm"}, Graph: graph, JobMasterID: ident.LeaderID{ID: ident.New(w.rand)},
		ResourceManager: rpc.Address{Process: "rm", Endpoint: gateway.ResourceManager},
		OnDone:          func(v execgraph.View) { done = append(done, v) },
	}
	if change != nil {
		change(&o)
	}
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	w.Post(m.Start)
	return m, &done
}

// states lists the job's state and those of its tasks, in order.
func states(v execgraph.View) string {
	words := []string{v.State.String()}
	for _, vertex := range v.Vertices {
		for i := range vertex.Subtasks {
			words = append(words, vertex.Subtasks[i].State.String())
		}
	}
	return strings.Join(words, " ")
}

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}
