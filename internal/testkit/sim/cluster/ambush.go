package cluster

import (
	"time"

	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/testkit/sim"
)

// An ambush waits for a moment at which a master must not end, and ends it then:
// what it says, or hears, at that moment comes through later than what is said
// after it. The next master has the job again before that.
//
//	SubmitTask, DeclareRequiredResources, FreeSlot: it has just sent this, which is slow
//	OfferSlots: it has just taken slots that it had before, and its answer is slow
type ambush struct {
	method string // empty: none is laid
}

// layAmbushes schedules those of the first act.
func (c *Cluster) layAmbushes() {
	r := c.spells.rand
	if !c.settings.masterFaults {
		return
	}
	for range r.IntN(3) {
		c.world.At(2*time.Second+time.Duration(r.Int64N(int64(c.settings.faultTime))), "ambush", func() {
			c.spells.ambush.method = pick(r, gateway.SubmitTask.Name, gateway.DeclareRequiredResources.Name, gateway.FreeSlot.Name, gateway.OfferSlots.Name)
		})
	}
}

// sent springs the ambush when a master sends what it waits for.
func (c *Cluster) sent(m *master, method string) {
	if a := &c.spells.ambush; c.over || a.method == "" || a.method != method || method == gateway.OfferSlots.Name || c.master != m {
		return
	}
	c.spring(method, sim.Trouble{Slow: 1, SlowBy: 2 * time.Second << c.spells.rand.IntN(4)})
	c.world.At(time.Duration(c.spells.rand.IntN(20))*time.Millisecond, "ambush", func() {
		if c.master == m {
			c.fault("master killed in the act")
			c.endMaster(false)
		}
	})
}

// spring slows the method for the moment.
func (c *Cluster) spring(method string, t sim.Trouble) {
	c.spells.ambush.method = ""
	c.spells.hurry = true
	c.trouble(t, 2*time.Millisecond, method)
}

// offeredAgain springs the ambush when a TaskManager offers slots that the
// JobMaster has. It is stopped, and so gives them back.
func (c *Cluster) offeredAgain(w *watched, offer *pb.OfferSlotsRequest) {
	if c.over || c.spells.ambush.method != gateway.OfferSlots.Name || c.master == nil || c.master.closing || len(offer.Offers) == 0 {
		return
	}
	for _, o := range offer.Offers {
		if !w.offered.knows(o.AllocationId) {
			return
		}
	}
	c.spring(gateway.OfferSlots.Name, sim.Trouble{Slow: 1, SlowBy: time.Second})
	c.trouble(sim.Trouble{Lose: 1}, time.Second, gateway.DisconnectJobManager.Name)
	c.stopMaster(time.Second + time.Duration(c.spells.rand.IntN(2000))*time.Millisecond)
}

func (o *offered) knows(allocation string) bool {
	for a := range o.known { // order: any
		if a.String() == allocation {
			return true
		}
	}
	return false
}
