package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/testkit/sim"
)

// plague schedules the faults of the first act.
func (c *Cluster) plague() {
	s := &c.settings
	moment := func() time.Duration { return 2*time.Second + time.Duration(c.rand.Int64N(int64(s.faultTime))) }
	for range s.faults {
		c.world.At(moment(), "fault", c.misfortune)
	}
	if s.restarts.persistence != givesUp && !s.calm {
		for range s.restarts.rand.IntN(6) {
			at := 2*time.Second + time.Duration(s.restarts.rand.Int64N(int64(s.faultTime)))
			c.world.At(at, "fault", c.failCoordinator)
		}
	}
	for range s.storms {
		c.world.At(moment(), "storm", c.storm)
	}
}

// aims are the calls of which a storm may lose most: those whose loss something
// else has to make good.
var aims = []string{
	gateway.SubmitTask.Name, gateway.CancelTask.Name, gateway.FreeSlot.Name, gateway.OfferSlots.Name, gateway.FailSlot.Name,
	gateway.UpdateTaskExecutionState.Name, gateway.RequestSlot.Name, gateway.NotifySlotAvailable.Name, gateway.SendSlotReport.Name,
	gateway.DeclareRequiredResources.Name, gateway.NotifyNotEnoughResources.Name, gateway.RegisterTaskManager.Name,
	gateway.RegisterTaskExecutor.Name, gateway.RegisterJobMaster.Name, gateway.DisconnectJobManager.Name, gateway.DisconnectJobMaster.Name,
	gateway.HeartbeatFromJobMaster.Name, gateway.HeartbeatFromResourceManager.Name, gateway.HeartbeatToJobMaster.Name,
}

// storm makes the network bad for a while.
func (c *Cluster) storm() {
	if c.over {
		return
	}
	rate := func() float64 { return float64(c.rand.IntN(12)) / 100 }
	weather := sim.Weather{LoseCall: rate(), LoseAnswer: rate(), Slow: rate(), SlowBy: c.span(time.Second, 30*time.Second),
		Hit: c.hit}
	if c.rand.IntN(2) == 0 {
		weather.Aimed, weather.LoseAimed = pick(c.rand, aims...), 0.3+0.5*c.rand.Float64()
	}
	c.world.SetWeather(weather)
	c.world.At(c.span(time.Second, 20*time.Second), "storm over", c.fairWeather)
}

// misfortune does one bad thing.
func (c *Cluster) misfortune() {
	if c.over {
		return
	}
	r := c.rand
	switch n := r.IntN(100); {
	case n < 30:
		c.cut()
	case n < 45:
		from, to := c.pair()
		if c.world.Reset(from, to) {
			c.fault("connection reset")
		}
	case n < 62:
		c.killWorker()
	case n < 82:
		c.freeze()
	case n < 92:
		c.killTaskManager()
	default:
		c.killMaster()
	}
}

// failCoordinator lets what runs beside a JobMaster for an operator fail, which is
// a failure of the whole job; sometimes twice, or just after another failure.
func (c *Cluster) failCoordinator() {
	m, r := c.master, c.settings.restarts.rand
	if m == nil || c.over {
		return
	}
	for _, w := range m.jobs {
		if w.master.View().State.Terminal() || r.IntN(2) == 0 {
			continue
		}
		c.fault("coordinator fails")
		m.loop.Post(func() { w.master.Fail(errCoordinator) })
		if r.IntN(2) == 0 {
			m.loop.After(time.Duration(r.IntN(8000))*time.Millisecond, func() { w.master.Fail(errCoordinator) })
		}
	}
}

var errCoordinator = errors.New("the coordinator of an operator failed")

// hosts are the names of the processes between which the network lies.
func (c *Cluster) hosts() []string {
	names := []string{masterName}
	if c.settings.split {
		names = append(names, managerName)
	}
	for _, m := range c.machines {
		names = append(names, m.name)
	}
	return names
}

func (c *Cluster) pair() (from, to string) {
	all := c.hosts()
	i := c.rand.IntN(len(all))
	j := (i + 1 + c.rand.IntN(len(all)-1)) % len(all)
	if c.rand.IntN(2) == 0 { // most goes to and from the master
		i, j = 0, 1+c.rand.IntN(len(all)-1)
		if c.rand.IntN(2) == 0 {
			i, j = j, i
		}
	}
	return all[i], all[j]
}

// cut parts two processes in one direction or both, until it is healed.
func (c *Cluster) cut() {
	from, to := c.pair()
	keep := c.rand.IntN(2) == 0
	both := c.rand.IntN(3) > 0
	c.fault(map[bool]string{true: "cut both ways", false: "cut one way"}[both])
	c.world.Cut(from, to, keep)
	if both {
		c.world.Cut(to, from, keep)
	}
	c.world.At(c.span(50*time.Millisecond, 80*time.Second), "heal", func() {
		c.world.Heal(from, to)
		if both {
			c.world.Heal(to, from)
		}
	})
}

func (c *Cluster) freeze() {
	all := c.world.Processes()
	if len(all) == 0 {
		return
	}
	p := all[c.rand.IntN(len(all))]
	c.fault("frozen " + c.roleOf(p))
	p.Freeze(c.span(20*time.Millisecond, 2*time.Minute))
}

func (c *Cluster) killWorker() {
	var all []*worker
	for _, m := range c.machines {
		for _, w := range m.workers {
			if w.proc != nil {
				all = append(all, w)
			}
		}
	}
	if len(all) > 0 {
		c.fault("worker killed")
		all[c.rand.IntN(len(all))].signal(pick(c.rand, "SIGKILL", "SIGSEGV", "SIGTERM"))
	}
}

func (c *Cluster) killTaskManager() {
	t := c.machines[c.rand.IntN(len(c.machines))].current
	if t == nil {
		return
	}
	switch c.rand.IntN(3) {
	case 0:
		c.fault("machine of a TaskManager down")
		c.endTaskManager(t, true)
	case 1:
		c.fault("TaskManager killed")
		c.endTaskManager(t, false)
	default:
		c.fault("TaskManager stopped")
		t.loop.Post(func() {
			t.executor.Stop("asked to", func() { c.world.At(0, "exit", func() { c.endTaskManager(t, false) }) })
		})
	}
}

// errClosing is the cause of a Close whose answer nobody waits for.
var errClosing = errors.New("not waited for")

func (c *Cluster) killMaster() {
	if !c.settings.masterFaults {
		c.freeze()
		return
	}
	silent := c.rand.IntN(3) == 0
	switch {
	case c.settings.split && c.rand.IntN(2) == 0:
		c.fault("ResourceManager killed")
		c.endManager(silent)
	case c.master == nil:
	case c.rand.IntN(3) == 0:
		c.lastWords()
		c.stopMaster(c.span(10*time.Millisecond, 5*time.Second))
	default:
		c.fault("master killed")
		c.lastWords()
		c.endMaster(silent)
	}
}

// stopMaster lets the master end in order: it suspends the jobs, and the process
// ends a little later.
func (c *Cluster) stopMaster(exit time.Duration) {
	c.fault("master stopped")
	m := c.master
	m.closing = true
	m.loop.Post(func() {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errClosing)
		m.loop.Directly(func() { _ = m.dispatcher.Close(ctx) })
		m.closed = true
	})
	c.world.At(exit, "exit", func() {
		if c.master == m {
			c.endMaster(false)
		}
	})
}

// calmDown ends all faults: what is cut heals, what is down comes up, nothing
// new goes wrong. It returns when the last frozen process will go on.
func (c *Cluster) calmDown() (frozen time.Duration) {
	c.over, c.calmSince = true, c.world.Now()
	c.checkpoints.shelf.heal()
	c.checkpoints.shelf.tear = 0
	for _, r := range c.checkpoints.runs {
		r.before = r.newest
	}
	c.world.Note("luck", "no more faults")
	c.fairWeather()
	c.world.EndTroubles()
	busy := c.healIlls()
	all := c.hosts()
	for _, a := range all {
		for _, b := range all {
			if a != b {
				c.world.Heal(a, b)
			}
		}
	}
	for _, m := range c.machines {
		c.world.At(time.Second, "start", func() { c.startTaskManager(m) })
	}
	c.world.At(time.Second, "start", c.startMaster)
	if c.settings.split {
		c.world.At(time.Second, "start", c.startManager)
	}
	for _, p := range c.world.Processes() {
		frozen = max(frozen, p.FrozenFor())
	}
	return frozen + busy
}
