package cluster

import (
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/testkit/sim"
)

// A point is a moment in the life of a checkpoint at which somebody may be killed.
type point string

const (
	triggered      point = "while a checkpoint is triggered"
	parting        point = "while a task takes its part of a checkpoint"
	beforeMetadata point = "before the metadata of a checkpoint is written"
	afterMetadata  point = "between the metadata of a checkpoint and the store"
	beforeStored   point = "before a checkpoint is stored"
	afterStored    point = "when a checkpoint is stored and nobody knows it"
	notified       point = "between the commit of a checkpoint and the news of it"
	committed      point = "between two commits of a sink"
	restoring      point = "while a task is restored"
)

var points = []point{triggered, parting, beforeMetadata, afterMetadata, beforeStored, afterStored, notified, committed, restoring}

// layStrikes schedules the kills and the troubles of checkpoints of the first act.
func (c *Cluster) layStrikes() {
	s := &c.checkpoints
	if !s.on || c.settings.calm {
		return
	}
	if s.hasty {
		c.world.At(0, "haste", func() {
			c.trouble(sim.Trouble{Slow: 0.7, SlowBy: 4 * time.Second}, c.settings.faultTime, gateway.TriggerCheckpoint.Name)
		})
	}
	moment := func() time.Duration {
		return 2*time.Second + time.Duration(s.rand.Int64N(int64(c.settings.faultTime)))
	}
	if s.rand.IntN(6) == 0 {
		c.world.At(moment(), "tear", func() {
			if !c.over {
				s.shelf.tear = 1 + s.rand.IntN(4)
			}
		})
	}
	for range s.rand.IntN(6) {
		c.world.At(moment(), "strike", func() { s.strike = pick(s.rand, points...) })
	}
	for range s.rand.IntN(5) {
		c.world.At(moment(), "spell", c.spoilMessages)
	}
	for range s.rand.IntN(4) {
		c.world.At(moment(), "spoil", c.spoilShelf)
	}
}

// springs kills somebody if this is the point that was waited for: the worker of a
// task that is concerned, or its TaskManager, or the master.
func (c *Cluster) springs(at point, r *run, t *task) {
	s := &c.checkpoints
	if s.strike != at || c.over || r == nil {
		return
	}
	s.strike = ""
	if t == nil {
		t = c.anyTask(r)
	}
	victim := s.rand.IntN(4)
	c.world.At(0, "strike", func() {
		switch {
		case victim > 1 && c.settings.masterFaults && c.master != nil:
			c.spells.hurry = s.rand.IntN(2) == 0
			c.endMaster(s.rand.IntN(4) == 0)
		case victim == 0 && t != nil && t.worker.tm.machine.current == t.worker.tm:
			c.endTaskManager(t.worker.tm, s.rand.IntN(2) == 0)
		case t != nil && !t.worker.ended:
			t.worker.signal("SIGKILL")
		default:
			return
		}
		c.fault("killed " + string(at))
		c.checks.met["killed "+string(at)]++
	})
}

// readTorn kills a worker of the job whose file was torn, so that it is read.
func (c *Cluster) readTorn(at fs.Location) {
	for _, r := range c.checkpoints.runs {
		if _, mine := at.Under(r.dir); !mine || c.over {
			continue
		}
		if t := c.anyTask(r); t != nil {
			c.fault("worker killed")
			t.worker.signal("SIGKILL")
		}
	}
}

// anyTask is one of the tasks of a run; nil: none runs.
func (c *Cluster) anyTask(r *run) *task {
	var all []*task
	for _, on := range c.machines {
		for _, w := range on.workers {
			for _, t := range w.tasks {
				if t.stream != nil && t.stream.run == r {
					all = append(all, t)
				}
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return pick(c.checkpoints.rand, all...)
}

// spoilMessages lets those about checkpoints be lost or late for a while.
func (c *Cluster) spoilMessages() {
	r := c.checkpoints.rand
	if c.over {
		return
	}
	method := pick(r, gateway.TriggerCheckpoint.Name, gateway.NotifyCheckpoint.Name, gateway.AcknowledgeCheckpoint.Name, gateway.DeclineCheckpoint.Name, gateway.RequestOperator.Name)
	t := sim.Trouble{Lose: pick(r, 1, 0.5, 0.2)}
	if r.IntN(2) == 0 {
		t = sim.Trouble{Slow: pick(r, 1, 0.5), SlowBy: 100 * time.Millisecond << r.IntN(8)}
	}
	c.trouble(t, time.Second<<r.IntN(5), method)
}

// spoilShelf lets what is written fail for a while, or be cut short.
func (c *Cluster) spoilShelf() {
	s := &c.checkpoints
	if c.over {
		return
	}
	switch n := s.rand.IntN(8); {
	case n < 3:
		c.fault("checkpoints cannot be written")
		s.shelf.bad = pick(s.rand, "/_metadata", "/ha/", "/ckpt", "/ids/", "/completed/")
	case n < 5:
		c.fault("full disk")
		s.shelf.front.Limit(int64(s.rand.IntN(400)))
	default:
		s.shelf.doubtful = true
		c.world.At(20*time.Second, "spoil over", s.shelf.heal)
		return
	}
	c.world.At(time.Second<<s.rand.IntN(5), "spoil over", s.shelf.heal)
}
