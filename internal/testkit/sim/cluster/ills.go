package cluster

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/coordinator/files"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/testkit/sim"
)

// ills are the bad luck that comes creeping: links that are slow or out of order,
// answers that are lost, clocks that go wrong, disks that are slow or fail. They
// have a source of chance of their own.
type ills struct {
	rand  *rand.Rand
	count int
	drift bool // clocks go too fast or too slow
	// written counts how often each job was given to the archive, by the life of
	// its master.
	written map[written]int
	// read are the splits that each attempt of a source got.
	read map[ident.AttemptID][]int
}

type written struct {
	graph *jobgraph.Graph
	life  int
}

func drawIlls(seed uint64, calm bool) ills {
	r := rand.New(rand.NewPCG(seed, 3))
	s := ills{rand: r, written: map[written]int{}, read: map[ident.AttemptID][]int{}}
	if !calm {
		s.count, s.drift = 2+r.IntN(10), r.IntN(3) == 0
	}
	return s
}

// span draws a duration, each order of magnitude about as often as the next.
func (s *ills) span(low, high time.Duration) time.Duration {
	d := low
	for d < high && s.rand.IntN(3) > 0 {
		d *= 2
	}
	return min(high, d+time.Duration(s.rand.Int64N(int64(d))))
}

// ail schedules the ills of the first act.
func (c *Cluster) ail() {
	s := &c.ills
	for range s.count {
		c.world.At(2*time.Second+time.Duration(s.rand.Int64N(int64(c.settings.faultTime))), "ill", c.fallIll)
	}
}

// muted are the calls whose answers may be lost for a while: what they ask for is
// done, and asked for again.
var muted = []string{
	gateway.SubmitTask.Name, gateway.RequestSlot.Name, gateway.OfferSlots.Name, gateway.RegisterTaskManager.Name, gateway.RegisterTaskExecutor.Name,
	gateway.SendSlotReport.Name, gateway.RegisterJobMaster.Name, gateway.DeclareRequiredResources.Name, gateway.UpdateTaskExecutionState.Name,
	gateway.HeartbeatFromJobMaster.Name, gateway.HeartbeatFromResourceManager.Name,
}

func (c *Cluster) fallIll() {
	r := c.ills.rand
	if c.over {
		return
	}
	length := time.Second << r.IntN(7)
	length += time.Duration(r.Int64N(int64(length)))
	later := func(name string, f func()) { c.world.At(length, name, f) }
	switch r.IntN(8) {
	case 0, 1:
		all := c.hosts()
		i := r.IntN(len(all))
		from, to := all[i], all[(i+1+r.IntN(len(all)-1))%len(all)]
		least := 50 * time.Millisecond << r.IntN(8)
		c.fault("clogged link")
		c.world.Clog(from, to, least, 2*least)
		later("unclog", func() { c.world.Unclog(from, to) })
	case 2:
		c.fault("jitter")
		c.world.Jitter(100 * time.Millisecond << r.IntN(6))
		later("jitter over", func() { c.world.Jitter(0) })
	case 3:
		c.fault("answers of one call lost")
		c.world.LoseAnswers(muted[r.IntN(len(muted))], 0.3+0.7*r.Float64())
		later("answers again", func() { c.world.LoseAnswers("", 0) })
	case 4, 5:
		if p := c.anyAgent(); p != nil {
			c.fault("clock jumps forward")
			p.Jump(length)
		}
	default:
		c.spoilDisk(length)
	}
}

// anyAgent is one of the processes with endpoints of the control plane.
func (c *Cluster) anyAgent() *sim.Process {
	all := c.hosts()
	return c.world.Process(all[c.ills.rand.IntN(len(all))])
}

// spoilDisk lets a disk be slow, or fail, for a while.
func (c *Cluster) spoilDisk(length time.Duration) {
	r := c.ills.rand
	p := c.anyAgent()
	if p == nil {
		return
	}
	of := "TaskManager"
	if p.Name() == masterName || p.Name() == managerName {
		of = "JobManager"
	}
	if r.IntN(2) == 0 {
		least := 100 * time.Millisecond << r.IntN(10)
		c.fault("slow disk of a " + of)
		p.SlowDisk(least, 2*least, length)
		return
	}
	c.fault("failing disk of a " + of)
	p.FailDisk(length)
	for _, on := range c.machines {
		for _, w := range on.workers {
			if on.name != p.Name() || w.proc == nil {
				continue
			}
			for _, t := range w.tasks { // what is spilled cannot be written
				if r.IntN(3) == 0 {
					w.loop.After(time.Duration(r.Int64N(int64(time.Second))), func() {
						t.end(status.Failed, &status.Failure{Kind: status.FailureError, Message: "write to the spill file: no space left on device"})
					})
				}
			}
		}
	}
}

// healIlls ends them all. It gives how long work takes that has begun.
func (c *Cluster) healIlls() (busy time.Duration) {
	c.world.HealNetwork()
	for _, p := range c.world.Processes() {
		busy = max(busy, p.HealDisk())
	}
	return busy
}

// wind gives a new process a clock that goes a little wrong, if the world has
// such clocks: up to 2 percent too fast or too slow.
func (c *Cluster) wind(p *sim.Process) {
	if c.ills.drift {
		c.faults["clock that goes wrong"]++
		p.Drift(float64(c.ills.rand.IntN(41)-20) / 1000)
	}
}

// hit counts what happened to a message.
func (c *Cluster) hit(kind, _ string) { c.fault(kind) }

// fairWeather ends a storm.
func (c *Cluster) fairWeather() { c.world.SetWeather(sim.Weather{Hit: c.hit}) }

// roleOf names what a process is.
func (c *Cluster) roleOf(p *sim.Process) string {
	switch name := p.Name(); {
	case name == masterName:
		return "JobManager"
	case name == managerName:
		return "ResourceManager"
	case c.isMachine(name):
		return "TaskManager"
	}
	return "worker"
}

func (c *Cluster) isMachine(name string) bool {
	for _, m := range c.machines {
		if m.name == name {
			return true
		}
	}
	return false
}

// archiver writes down the jobs of a master that have ended: its Dispatcher
// must give it each exactly once (1).
func (c *Cluster) archiver(p *sim.Process, loop *sim.Loop) func(execgraph.View, func()) {
	return func(v execgraph.View, then func()) {
		key := written{v.Plan, p.Life()}
		c.ills.written[key]++
		if n := c.ills.written[key]; n > 1 || !v.State.GloballyTerminal() {
			c.checks.broken("1", "job %s, which is %s, is archived for the %d. time", v.Job, v.State, n)
		}
		loop.Go(func() {
			if p.DiskFails() {
				c.fault("archive not written")
			}
		}, then)
	}
}

// archived checks that all jobs that have ended were archived.
func (k *checks) archived() {
	m := k.c.master
	for _, w := range m.jobs {
		if state := w.master.View().State; state.GloballyTerminal() && k.c.ills.written[written{w.graph, m.proc.Life()}] != 1 {
			k.broken("1", "job %s is %s and was not archived", w.graph.Job, state)
		}
	}
}

// coordinators are those of the jobs' sources, which list files.
func (c *Cluster) coordinators(p *sim.Process) coordinator.Kinds {
	return coordinator.Kinds{files.Kind: files.Factory(func(pattern string) ([]files.Found, error) {
		if p.DiskFails() {
			c.fault("listing fails")
			return nil, errors.New("stale file handle")
		}
		return listed(pattern), nil
	})}
}

// source gives some sources of a job a coordinator.
func (s *ills) source(g *jobgraph.Graph) {
	for _, v := range g.Vertices {
		if len(v.Inputs) == 0 && s.rand.IntN(2) == 0 {
			v.Operators[0].Coordinator = &jobgraph.Coordinator{Kind: files.Kind, Spec: sourceSpec(boundedFiles)}
		}
	}
}
