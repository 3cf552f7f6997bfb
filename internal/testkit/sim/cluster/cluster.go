package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/memory"
	"github.com/weirstream/weir/internal/resourcemanager"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/snapshot/storage"
	"github.com/weirstream/weir/internal/taskexecutor"
	"github.com/weirstream/weir/internal/taskexecutor/slottable"
	"github.com/weirstream/weir/internal/testkit/sim"
)

const (
	masterName  = "master"
	managerName = "manager" // the ResourceManager's process, when it has its own
	version     = "sim"
)

// budget is the memory that the slots of every TaskManager share.
var budget = memory.TaskManagerMemory{Process: 1600 * memory.MB, FrameworkHeap: 128 * memory.MB, FrameworkOffHeap: 128 * memory.MB, Network: 128 * memory.MB}

// A Cluster is the processes of one world and those who play around them.
type Cluster struct {
	world    *sim.World
	rand     *rand.Rand // what user, workers and bad luck decide
	settings settings
	faults   map[string]int // injected, by kind
	over     bool           // no more faults
	leaving  bool           // the user ends everything, and submits nothing any more
	most     uint64         // events; 0: any number

	master   *master  // nil while there is none
	manager  *manager // nil while there is none
	machines []*machine
	jobs     []*job
	workers  int // launched so far
	checks   *checks
	spells   spells
	ills     ills
	// calmSince is when faults have stopped.
	calmSince   time.Duration
	checkpoints checkpoints
}

// A master is one life of the JobManager process.
type master struct {
	proc       *sim.Process
	loop       *sim.Loop
	dispatcher *dispatcher.Dispatcher
	closing    bool
	closed     bool       // its Dispatcher was told
	jobs       []*watched // JobMasters in the order they were made
	// given are the allocations that its JobMasters have given back. The next
	// master may get one again, when the call that gave it back was lost.
	given map[string]bool
}

// A manager is one life of the ResourceManager.
type manager struct {
	proc *sim.Process
	loop *sim.Loop
	*resourcemanager.Manager
	looked   time.Duration // when the checkers saw it last
	unserved time.Duration // since when it has a free slot that a job needs; 0: it has none
	// terms are the JobMasters that have registered last, by job; outdated is what
	// was known of a job when an older one of it spoke just now.
	terms    map[string]string
	outdated *outdated
}

// A machine is where lives of one TaskManager and its workers run.
type machine struct {
	name    string
	slots   int
	id      ident.ResourceID
	current *taskManager // nil while there is none
	again   bool         // an id had more than one life
	workers []*worker    // that have not ended, of whatever TaskManager
}

// A taskManager is one life of a TaskManager.
type taskManager struct {
	machine  *machine
	proc     *sim.Process
	loop     *sim.Loop
	executor *taskexecutor.Executor
	total    slottable.Profile
	seen     seen
}

func newCluster(seed uint64) *Cluster {
	c := &Cluster{world: sim.New(seed), rand: rand.New(rand.NewPCG(seed, 1)), faults: map[string]int{}}
	c.settings = draw(c.rand)
	c.settings.restarts = drawRestarts(seed)
	c.settings.patient = seed%8 == 0
	if !c.settings.calm && c.settings.restarts.persistence == endless {
		c.settings.faults += moreFaults
	}
	c.checks = newChecks(c)
	c.spells = drawSpells(seed, c.settings.calm)
	c.ills = drawIlls(seed, c.settings.calm)
	c.checkpoints = drawCheckpoints(c, seed)
	c.settings.faultTime += c.checkpoints.longer
	c.fairWeather()
	for i, n := range c.settings.slots {
		m := &machine{name: fmt.Sprintf("tm%d", i+1), slots: n}
		m.id = ident.ResourceID(m.name)
		c.machines = append(c.machines, m)
	}
	return c
}

// start brings all processes up, in any order.
func (c *Cluster) start() {
	soon := func() time.Duration { return time.Duration(c.rand.IntN(2000)) * time.Millisecond }
	c.world.At(soon(), "start", c.startMaster)
	for _, m := range c.machines {
		c.world.At(soon(), "start", func() { c.startTaskManager(m) })
	}
	if c.settings.split {
		c.world.At(soon(), "start", c.startManager)
	}
}

func (c *Cluster) startMaster() {
	if c.master != nil {
		return
	}
	s := &c.settings
	p := c.world.Start(masterName)
	c.wind(p)
	m := &master{proc: p, loop: p.Loop("jobmanager"), given: map[string]bool{}}
	if !s.split {
		loop := m.loop
		if !s.shared {
			loop = p.Loop("resourcemanager")
		}
		c.serveManager(p, loop)
	}
	p.System().Heard = c.heard
	p.System().Tap = func(_ actor.Loop, to rpc.Address, call rpc.Call) {
		c.checks.masterCalls(m, to, call)
		c.checks.checkpointCalls(call)
		c.sent(m, call.Method)
	}
	options := jobmaster.Options{
		Loop: m.loop, System: p.System(), ResourceManager: c.managerAddress(),
		HeartbeatInterval: s.interval, HeartbeatTimeout: s.timeout, HeartbeatThreshold: s.threshold,
		SlotRequestTimeout: s.slotRequest, SlotIdleTimeout: s.slotIdle,
		Disk: ckptDisk{storage.Disk{Files: c.checkpoints.shelf.of(p)}, c, p.Life()}, CheckpointStore: c.store(p, m.loop),
		Config: s.restarts.cluster(c.checkpoints.directory(p.Life())), Coordinators: c.coordinators(p), DeployAtOnce: pick(c.ills.rand, 1, 1, 1, 2, 0),
	}
	make := dispatcher.JobMasters(options)
	m.dispatcher = dispatcher.New(dispatcher.Options{Loop: m.loop, Finished: dispatcher.StoreOptions{MaxCapacity: 100}, Archive: c.archiver(p, m.loop),
		NewJobMaster: func(graph *jobgraph.Graph, ended func(execgraph.View)) (dispatcher.JobMaster, error) {
			w := c.checks.watch(graph)
			jm, err := make(graph, func(v execgraph.View) {
				c.checks.ended(w, v)
				ended(v)
			})
			if err == nil {
				w.master = jm.(*jobmaster.Master)
				m.jobs = append(m.jobs, w)
			}
			return jm, err
		}})
	c.master = m
	c.submitLost()
}

func (c *Cluster) managerAddress() rpc.Address {
	process := masterName
	if c.settings.split {
		process = managerName
	}
	return rpc.Address{Process: "sim:" + process, Endpoint: gateway.ResourceManager}
}

func (c *Cluster) startManager() {
	if c.manager == nil {
		p := c.world.Start(managerName)
		c.wind(p)
		p.System().Heard = c.heard
		p.System().Tap = func(_ actor.Loop, _ rpc.Address, call rpc.Call) {
			if request, ok := call.Request.(*pb.RequestSlotRequest); ok {
				c.checks.watchRequest(request)
			}
		}
		c.serveManager(p, p.Loop("resourcemanager"))
	}
}

func (c *Cluster) serveManager(p *sim.Process, loop *sim.Loop) {
	s := &c.settings
	m := &manager{proc: p, loop: loop, terms: map[string]string{}, Manager: resourcemanager.New(resourcemanager.Options{
		Loop: loop, System: p.System(), Version: version, HeartbeatInterval: s.interval, HeartbeatTimeout: s.timeout,
		HeartbeatThreshold: s.threshold, JobTimeout: s.jobTimeout, StartUpPeriod: s.startUp, Balance: c.balance(),
	})}
	c.manager = m
	loop.Post(m.Start)
}

func (c *Cluster) startTaskManager(on *machine) {
	if on.current != nil {
		return
	}
	s := &c.settings
	p := c.world.Start(on.name)
	c.wind(p)
	t := &taskManager{machine: on, proc: p, loop: p.Loop("taskexecutor")}
	t.total = slottable.Profile{CPU: float64(on.slots), Managed: int64(on.slots) << 30, Network: int64(on.slots) << 20}
	t.executor = taskexecutor.New(taskexecutor.Options{
		Loop: t.loop, System: p.System(), ResourceManager: c.managerAddress(), ResourceID: on.id, Version: version,
		Slots: on.slots, Total: t.total, DataAddresses: []string{on.name + ":1"}, Host: on.name + ":1",
		HeartbeatInterval: s.interval, HeartbeatTimeout: s.timeout, RegistrationTimeout: s.registration,
		CancellationTimeout: s.cancellation, Launcher: &launcher{c, t}, Share: func(held int) memory.Share { return budget.Share(held, on.slots) },
		OnFatal: func(error) {
			c.world.Note(p.String(), "gives up")
			c.world.At(0, "exit", func() { c.endTaskManager(t, false) })
		},
	})
	p.System().Heard = c.heard
	p.System().Tap = func(_ actor.Loop, _ rpc.Address, call rpc.Call) { c.checks.taskManagerCalls(t, call) }
	on.current = t
	t.loop.Post(t.executor.Start)
}

// endTaskManager ends the agent; its workers notice and follow. After a while
// it is started again, as the same TaskManager or as a new one.
func (c *Cluster) endTaskManager(t *taskManager, silent bool) {
	if t.machine.current != t {
		return
	}
	on := t.machine
	on.current = nil
	t.proc.Crash(silent)
	for _, w := range slices.Clone(on.workers) {
		if silent {
			w.die()
			continue
		}
		c.world.At(time.Duration(c.rand.IntN(500))*time.Millisecond, "orphan", w.die)
	}
	if c.rand.IntN(2) > 0 {
		on.again = true
		c.checks.met["TaskManagers that came back under their name"]++
	} else {
		c.checks.met["TaskManagers that came back under another name"]++
		on.id = ident.ResourceID(fmt.Sprintf("%s-%d", on.name, t.proc.Life()+1))
	}
	if c.over {
		c.world.At(time.Second, "start", func() { c.startTaskManager(on) })
		return
	}
	c.world.At(c.span(100*time.Millisecond, time.Minute), "start", func() { c.startTaskManager(on) })
}

// endMaster ends the JobManager process, with all jobs.
func (c *Cluster) endMaster(silent bool) {
	m := c.master
	if m == nil {
		return
	}
	c.master = nil
	if !c.settings.split {
		c.manager = nil
	}
	m.proc.Crash(silent)
	back := c.span(100*time.Millisecond, 30*time.Second)
	if c.rand.IntN(2) == 0 {
		back = c.span(time.Millisecond, 100*time.Millisecond) // before anybody has noticed
	}
	if c.spells.hurry {
		back = min(back, time.Second)
	}
	c.world.At(back, "start", c.startMaster)
}

func (c *Cluster) endManager(silent bool) {
	if c.manager == nil {
		return
	}
	p := c.manager.proc
	c.manager = nil
	p.Crash(silent)
	c.world.At(c.span(100*time.Millisecond, 30*time.Second), "start", c.startManager)
}

// span draws a duration whose logarithm is uniform between those of the two.
func (c *Cluster) span(low, high time.Duration) time.Duration {
	d := low
	for d < high && c.rand.IntN(3) > 0 {
		d *= 2
	}
	return min(high, d+time.Duration(c.rand.Int64N(int64(d))))
}

func (c *Cluster) chance(p float64) bool { return p > 0 && !c.over && c.rand.Float64() < p }

func (c *Cluster) fault(kind string) { c.faults[kind]++ }
