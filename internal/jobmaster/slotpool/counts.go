package slotpool

import "github.com/weirstream/weir/internal/execgraph"

// Counts say how many requests and slots a pool has.
type Counts struct {
	Pending  int  // requests that wait for a slot
	Granted  int  // requests that have one
	Free     int  // slots nobody uses
	Lacking  int  // so many free slots would serve a request that waits; 0: none waits
	Declared int  // the requirement that was last to be sent
	Resting  bool // what is pending is not part of the requirement
}

// Counts counts what the pool holds.
func (p *Pool) Counts() Counts {
	free, lacking := p.free(), min(1, p.pending())
	if p.opts.Bounded && lacking > 0 {
		lacking = len(p.bulks[0].pending)
	}
	return Counts{Pending: p.pending(), Granted: len(p.slots) - free, Free: free, Lacking: lacking, Declared: p.declared, Resting: !p.resting.IsZero()}
}

// Present is how many slots the pool holds, used or not.
func (p *Pool) Present() int { return len(p.slots) }

// Unused lists the slots that nobody uses, in the order they were accepted.
func (p *Pool) Unused() []*execgraph.Slot {
	var all []*execgraph.Slot
	for _, h := range p.slots {
		if h.user == 0 {
			all = append(all, h.slot)
		}
	}
	return all
}

// Slots lists the slots the pool holds, in the order they were accepted.
func (p *Pool) Slots() []*execgraph.Slot {
	all := make([]*execgraph.Slot, len(p.slots))
	for i, h := range p.slots {
		all[i] = h.slot
	}
	return all
}
