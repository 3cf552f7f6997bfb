package jobmaster_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/resourcemanager"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/testkit/sim"
)

const slotsOfATaskManager = 50

// BenchmarkDeploy measures the processor time in which a JobManager process
// takes a job, gets the slots for it and deploys it, until it has heard that all
// its subtasks run; and then, as cancel-cpu-s/op, until it is canceled and all its
// slots are free. JobMaster and ResourceManager are the real ones; what they
// send is encoded and what they get is decoded, as on a connection. TaskManagers
// answer at once and do nothing.
//
//	shared    vertices of 1,000 subtasks in one slot sharing group; every second
//	          edge is all-to-all: many channels
//	spread    one slot for each subtask, every edge pointwise: many slots and regions
func BenchmarkDeploy(b *testing.B) {
	for _, subtasks := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("shared/subtasks=%d", subtasks), func(b *testing.B) {
			deployAgain(b, func() *jobgraph.Graph { return chainOf(subtasks/1000, 1000, true) })
		})
		b.Run(fmt.Sprintf("spread/subtasks=%d", subtasks), func(b *testing.B) {
			deployAgain(b, func() *jobgraph.Graph { return chainOf(4, subtasks/4, false) })
		})
	}
}

func deployAgain(b *testing.B, graph func() *jobgraph.Graph) {
	var deploying, ending time.Duration
	var sent int
	for b.Loop() {
		l := newLarge(graph())
		before := processorTime(b)
		l.deploy(b)
		between := processorTime(b)
		deploying += between - before
		sent = l.net.sent
		l.cancel(b)
		ending += processorTime(b) - between
	}
	b.ReportMetric(deploying.Seconds()/float64(b.N), "cpu-s/op")
	b.ReportMetric(ending.Seconds()/float64(b.N), "cancel-cpu-s/op")
	b.ReportMetric(float64(sent)/1e6, "MB-sent/op")
}

func processorTime(b *testing.B) time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// chainOf is a chain of vertices.
func chainOf(vertices, parallelism int, shared bool) *jobgraph.Graph {
	r := rand.New(rand.NewPCG(1, 2))
	g := &jobgraph.Graph{Job: ident.JobID{ID: ident.New(r)}, Name: "large"}
	for i := range vertices {
		v := &jobgraph.Vertex{ID: ident.VertexID{ID: ident.New(r)}, Name: "Vertex " + strconv.Itoa(i+1), Parallelism: parallelism, MaxParallelism: 32768,
			SlotSharingGroup: "default", Operators: []*jobgraph.Operator{{ID: ident.OperatorID{ID: ident.New(r)}, Name: "op", Digest: "d"}}}
		if !shared {
			v.SlotSharingGroup = strconv.Itoa(i)
		}
		if i > 0 {
			from := g.Vertices[i-1]
			set := &jobgraph.DataSet{ID: ident.DataSetID{ID: ident.New(r)}, Type: jobgraph.Pipelined, Distribution: jobgraph.Pointwise, Consumer: v.ID}
			if shared && i%2 == 0 {
				set.Distribution = jobgraph.AllToAll
			}
			from.Produces = append(from.Produces, set)
			v.Inputs = append(v.Inputs, &jobgraph.Edge{DataSet: set.ID, Source: from.ID, Distribution: set.Distribution, Ship: "FORWARD"})
		}
		g.Vertices = append(g.Vertices, v)
	}
	return g
}

// A large job and the JobManager that runs it.
type large struct {
	graph   *jobgraph.Graph
	world   *sim.World
	loop    *sim.Loop
	net     *wire
	manager *resourcemanager.Manager
	master  *jobmaster.Master
	slots   int
	tasks   int
}

// newLarge starts as many TaskManagers as the job needs.
func newLarge(g *jobgraph.Graph) *large {
	l := &large{graph: g, world: sim.New(1), net: &wire{systems: map[string]*wireSystem{}}}
	l.loop = l.world.Start("jm").Loop("jobmanager")
	jm := l.net.system("jm", true)
	rm := rpc.Address{Process: "jm", Endpoint: gateway.ResourceManager}
	l.manager = resourcemanager.New(resourcemanager.Options{Loop: l.loop, System: jm})
	l.loop.Post(l.manager.Start)
	l.world.RunUntil(time.Second)
	groups := map[string]bool{}
	for _, v := range g.Vertices {
		l.tasks += v.Parallelism
		if !groups[v.SlotSharingGroup] {
			groups[v.SlotSharingGroup] = true
			l.slots += v.Parallelism
		}
	}
	tasks := l.world.Start("tm").Loop("taskexecutors")
	for i := range (l.slots + slotsOfATaskManager - 1) / slotsOfATaskManager {
		name := "tm" + strconv.Itoa(i)
		t := &stub{loop: tasks, system: l.net.system(name, false), id: ident.ResourceID(name), rm: rm}
		tasks.Post(t.start)
	}
	for registered := 0; registered < l.slots && l.world.Step(); registered = l.manager.Overview().Slots {
	}
	return l
}

// until lets the world go on until what it asks for now and then is there.
func (l *large) until(b *testing.B, what string, done func() bool) {
	for n := 1; l.world.Step() && !b.Failed(); n++ {
		if n%(l.tasks/2) == 0 && done() {
			return
		}
	}
	b.Fatal(what)
}

// deploy runs the job until all its subtasks run.
func (l *large) deploy(b *testing.B) {
	var err error
	l.master, err = jobmaster.New(jobmaster.Options{Loop: l.loop, System: l.net.systems["jm"], Graph: l.graph, JobMasterID: ident.LeaderID{ID: ident.New(l.world.Rand())},
		ResourceManager: rpc.Address{Process: "jm", Endpoint: gateway.ResourceManager}, OnDone: func(execgraph.View) {}})
	if err != nil {
		b.Fatal(err)
	}
	l.loop.Post(l.master.Start)
	l.until(b, "the job does not run", func() bool {
		v := l.master.View()
		return v.Tasks()[status.Running] == l.tasks
	})
}

// cancel cancels the job and waits until its slots are free.
func (l *large) cancel(b *testing.B) {
	l.loop.Post(func() { l.master.Cancel(func(error) {}) })
	l.until(b, "the job is not canceled", func() bool {
		v := l.master.View()
		return v.State == status.JobCanceled && l.manager.Overview().Free >= l.slots
	})
}

// A stub is a TaskExecutor that takes slots and tasks and says so.
type stub struct {
	loop     actor.Loop
	system   *wireSystem
	id       ident.ResourceID
	rm       rpc.Address
	instance string
	master   rpc.Address
	term     ident.LeaderID
	known    bool // registered at the JobMaster
	offers   []*pb.SlotOffer
	held     map[string]int32 // slots by their allocations
	due      bool
}

func (t *stub) start() {
	mux := &rpc.Mux{}
	rpc.Handle(mux, gateway.RequestSlot, t.requestSlot)
	rpc.Handle(mux, gateway.SubmitTask, func(q *pb.SubmitTaskRequest, reply func(*pb.Empty, error)) {
		reply(&pb.Empty{}, nil)
		for _, state := range []status.Execution{status.Initializing, status.Running} {
			gateway.UpdateTaskExecutionState.Send(t.system, t.loop, t.master, t.term, &pb.UpdateTaskExecutionStateRequest{Attempt: q.Task.Attempt, State: state.String()})
		}
	})
	rpc.Handle(mux, gateway.CancelTask, func(q *pb.CancelTaskRequest, reply func(*pb.Empty, error)) {
		reply(&pb.Empty{}, nil)
		gateway.UpdateTaskExecutionState.Send(t.system, t.loop, t.master, t.term, &pb.UpdateTaskExecutionStateRequest{Attempt: q.Attempt, State: status.Canceled.String()})
	})
	rpc.Handle(mux, gateway.FreeSlot, func(q *pb.FreeSlotRequest, reply func(*pb.Empty, error)) {
		reply(&pb.Empty{}, nil)
		gateway.NotifySlotAvailable.Send(t.system, t.loop, t.rm, ident.LeaderID{}, &pb.NotifySlotAvailableRequest{ResourceId: string(t.id), InstanceId: t.instance,
			SlotIndex: t.held[q.AllocationId], AllocationId: q.AllocationId})
	})
	rpc.Handle(mux, gateway.DisconnectJobManager, func(_ *pb.DisconnectJobManagerRequest, reply func(*pb.Empty, error)) { reply(&pb.Empty{}, nil) })
	rpc.Handle(mux, gateway.HeartbeatFromResourceManager, func(_ *pb.HeartbeatFromResourceManagerRequest, reply func(*pb.TaskExecutorHeartbeat, error)) {
		reply(&pb.TaskExecutorHeartbeat{}, nil)
	})
	t.system.Serve(gateway.TaskExecutorOf(t.id), t.loop, mux)
	t.system.Serve(gateway.TaskExecutor, t.loop, mux)
	request := &pb.RegisterTaskExecutorRequest{ResourceId: string(t.id), RpcAddress: t.system.self, DataAddresses: []string{t.system.self + ":1"}, Slots: slotsOfATaskManager,
		Total: &pb.ResourceProfile{Cpu: slotsOfATaskManager}}
	gateway.RegisterTaskExecutor.Call(t.system, t.loop, t.rm, ident.LeaderID{}, request, 0, func(r *pb.RegisterTaskExecutorResponse, err error) {
		t.instance = r.InstanceId
		report := &pb.SlotReport{}
		for i := range slotsOfATaskManager {
			report.Slots = append(report.Slots, &pb.SlotStatus{Index: int32(i)})
		}
		gateway.SendSlotReport.Send(t.system, t.loop, t.rm, ident.LeaderID{}, &pb.SendSlotReportRequest{ResourceId: string(t.id), InstanceId: t.instance, Report: report})
	})
}

func (t *stub) requestSlot(q *pb.RequestSlotRequest, reply func(*pb.Empty, error)) {
	reply(&pb.Empty{}, nil)
	if t.held == nil {
		t.held = map[string]int32{}
	}
	t.held[q.AllocationId] = q.SlotIndex
	t.offers = append(t.offers, &pb.SlotOffer{AllocationId: q.AllocationId, SlotIndex: q.SlotIndex, Profile: q.Profile})
	if t.known {
		t.offerSoon()
		return
	}
	if t.master.Process != "" {
		return
	}
	t.master = rpc.Address{Process: q.JobMasterAddress, Endpoint: "jobmanager_" + q.JobId}
	_ = t.term.UnmarshalText([]byte(q.JobMasterId))
	gateway.RegisterTaskManager.Call(t.system, t.loop, t.master, t.term, &pb.RegisterTaskManagerRequest{JobId: q.JobId, ResourceId: string(t.id), RpcAddress: t.system.self,
		Host: t.system.self + ":1", DataAddresses: []string{t.system.self + ":1"}}, 0, func(*pb.RegisterTaskManagerResponse, error) {
		t.known = true
		t.offerSoon()
	})
}

// offerSoon offers together what came together.
func (t *stub) offerSoon() {
	if t.due {
		return
	}
	t.due = true
	t.loop.Post(func() {
		t.due = false
		offer := &pb.OfferSlotsRequest{ResourceId: string(t.id), Offers: t.offers}
		t.offers = nil
		gateway.OfferSlots.Send(t.system, t.loop, t.master, t.term, offer)
	})
}

// wire is a network in which nothing is late or lost.
type wire struct {
	systems map[string]*wireSystem
	sent    int // bytes that coding systems sent
	late    time.Duration
}

// latency is how long the next message takes: each a little longer than the one
// before, so that they come in order and time passes.
func (n *wire) latency() time.Duration {
	n.late += time.Nanosecond
	return 100*time.Microsecond + n.late
}

// A wireSystem is one process. If it is coding, its calls and answers are
// encoded and what it gets is decoded, which is the work of package rpc.
type wireSystem struct {
	net       *wire
	self      string
	coding    bool
	endpoints map[string]wireEndpoint
}

type wireEndpoint struct {
	loop    actor.Loop
	handler rpc.Handler
}

func (n *wire) system(self string, coding bool) *wireSystem {
	s := &wireSystem{net: n, self: self, coding: coding, endpoints: map[string]wireEndpoint{}}
	n.systems[self] = s
	return s
}

func (s *wireSystem) Self() string { return s.self }
func (s *wireSystem) Serve(endpoint string, loop actor.Loop, h rpc.Handler) {
	s.endpoints[endpoint] = wireEndpoint{loop, h}
}
func (s *wireSystem) Withdraw(endpoint string)                         { delete(s.endpoints, endpoint) }
func (s *wireSystem) Watch(actor.Loop, string, func(error)) (_ func()) { return func() {} }

func (s *wireSystem) Call(loop actor.Loop, to rpc.Address, c rpc.Call, resp proto.Message, then func(error)) {
	target := s.net.systems[to.Process]
	e, ok := target.endpoints[to.Endpoint]
	if !ok {
		loop.After(s.net.latency(), func() { then(fmt.Errorf("%s: %w", to, rpc.ErrUnknownEndpoint)) })
		return
	}
	request := s.pass(target, c.Request, func() proto.Message { m, _ := e.handler.Request(c.Method); return m })
	e.loop.After(s.net.latency(), func() {
		e.handler.Handle(rpc.Call{Method: c.Method, Fence: c.Fence, Request: request, Timeout: c.Timeout}, func(m proto.Message, err error) {
			if err != nil {
				loop.After(s.net.latency(), func() { then(err) })
				return
			}
			if m = target.pass(s, m, func() proto.Message { return resp }); m != resp {
				proto.Merge(resp, m)
			}
			loop.After(s.net.latency(), func() { then(nil) })
		})
	})
}

// pass encodes or decodes a message as the two processes do it.
func (s *wireSystem) pass(to *wireSystem, m proto.Message, fresh func() proto.Message) proto.Message {
	if !s.coding && !to.coding || s == to {
		return m
	}
	data, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	if s.coding {
		s.net.sent += len(data)
		return m
	}
	into := fresh()
	if err := proto.Unmarshal(data, into); err != nil {
		panic(err)
	}
	return into
}
