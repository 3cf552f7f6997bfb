package cluster

import (
	"math/rand/v2"
	"time"

	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/testkit/sim"
)

// spells are times in which one method has trouble: all its messages are lost,
// or many, or they come late, while all others come through. What something else
// has to make good is tried so. They have a source of chance of their own.
type spells struct {
	rand  *rand.Rand
	count int
	// ambush is the one that is laid.
	ambush ambush
	// refusals: that slots are refused is often told late.
	refusals bool
	// hurry: the next master is there soon, and has the jobs of this one again.
	hurry bool
}

func drawSpells(seed uint64, calm bool) spells {
	r := rand.New(rand.NewPCG(seed, 4))
	s := spells{rand: r}
	if !calm {
		s.count, s.refusals = r.IntN(10), r.IntN(3) == 0
	}
	return s
}

// bewitch schedules the spells of the first act.
func (c *Cluster) bewitch() {
	r := c.spells.rand
	for range c.spells.count {
		c.world.At(2*time.Second+time.Duration(r.Int64N(int64(c.settings.faultTime))), "spell", func() {
			if c.over {
				return
			}
			method, length := pick(r, aims...), 2*time.Second<<r.IntN(6)
			t := sim.Trouble{Lose: pick(r, 1, 1, 0.6)}
			if r.IntN(3) == 0 {
				method, t = pick(r, late...), sim.Trouble{Slow: pick(r, 1, 0.5), SlowBy: time.Second << r.IntN(5)}
			}
			c.trouble(t, length, method)
			for range r.IntN(3) { // who lost something begins anew
				c.world.At(time.Duration(r.Int64N(int64(length))), "reset", c.resetOne)
			}
		})
	}
}

// late are the calls that mean something else when they come late.
var late = []string{
	gateway.OfferSlots.Name, gateway.SubmitTask.Name, gateway.FreeSlot.Name, gateway.RequestSlot.Name, gateway.DeclareRequiredResources.Name,
	gateway.UpdateTaskExecutionState.Name, gateway.RegisterTaskManager.Name, gateway.HeartbeatFromJobMaster.Name,
}

// offeredTooMuch lets the answer come late to an offer of more slots than the job
// waits for. It may want them soon.
func (c *Cluster) offeredTooMuch(w *watched, offer *pb.OfferSlotsRequest) {
	if !c.spells.refusals || c.over || c.spells.rand.IntN(2) == 0 {
		return
	}
	unknown := 0
	for _, o := range offer.Offers {
		if !w.offered.knows(o.AllocationId) {
			unknown++
		}
	}
	if unknown > w.offered.pending {
		c.trouble(sim.Trouble{Slow: 1, SlowBy: 8 * time.Second}, time.Microsecond, gateway.OfferSlots.Name)
	}
}

// resetOne breaks the connection between a TaskManager and the master.
func (c *Cluster) resetOne() {
	if on := c.machines[c.spells.rand.IntN(len(c.machines))]; !c.over && c.world.Reset(on.name, masterName) {
		c.fault("connection reset")
	}
}

// trouble lets methods have it for a while.
func (c *Cluster) trouble(t sim.Trouble, length time.Duration, methods ...string) {
	for _, m := range methods {
		c.world.Note("spell", m)
		c.world.Trouble(m, t)
	}
	c.fault("trouble of one method")
	c.world.At(length, "spell over", func() {
		for _, m := range methods {
			c.world.Trouble(m, sim.Trouble{})
		}
	})
}

// lastWords lets what a master says at its end come late: after the next one has
// begun to speak.
func (c *Cluster) lastWords() {
	if r := c.spells.rand; r.IntN(2) == 0 {
		c.trouble(sim.Trouble{Slow: 0.8, SlowBy: time.Second << r.IntN(5)}, 5*time.Millisecond<<r.IntN(8),
			gateway.DisconnectJobMaster.Name, gateway.DeclareRequiredResources.Name, gateway.DisconnectJobManager.Name, gateway.FreeSlot.Name,
			gateway.SubmitTask.Name, gateway.OfferSlots.Name, gateway.UpdateTaskExecutionState.Name)
	}
}
