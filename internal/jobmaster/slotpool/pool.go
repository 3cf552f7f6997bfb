package slotpool

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/status"
)

// A Pool is the slots of one job. Only its owner's loop touches it.
//
// Invariant: when a request is pending, no slot is free. The requirement is the
// number of pending plus that of granted requests.
type Pool struct {
	opts  Options
	slots []*held // in the order they were accepted
	bulks []*bulk // that still have pending requests, oldest first
	// gone are the slots given back or failed. An offer of one was overtaken by
	// the news of its end.
	gone map[ident.AllocationID]bool

	declared int // the requirement last declared
	closed   bool

	now     time.Time
	effects []Effect
}

// held is a slot of the pool: granted to a request, or free since a moment.
type held struct {
	slot  *execgraph.Slot
	user  RequestID // 0: free
	since time.Time // when it became free
}

// A bulk is a set of requests of which all are needed or none.
type bulk struct {
	requests []Request // all of it, in order
	pending  []Request // not granted
	// unmet is since when the known slots cannot meet the bulk; zero: they can.
	unmet time.Time
}

// New makes an empty pool.
func New(opts Options) *Pool {
	return &Pool{opts: opts, gone: map[ident.AllocationID]bool{}}
}

// Apply advances the pool by one event and returns what must now be done. It
// reads no clock and starts nothing.
func (p *Pool) Apply(ev Event, now time.Time) []Effect {
	p.now, p.effects = now, nil
	switch ev := ev.(type) {
	case Want:
		p.want(ev)
	case Withdraw:
		p.withdraw(ev.Requests)
	case Offer:
		p.offer(ev)
	case Release:
		p.release(ev.Allocation)
	case SlotFailed:
		p.lose(func(s *execgraph.Slot) bool {
			return s.Allocation == ev.Allocation && s.TaskManager == ev.TaskManager
		}, ev.Cause, true)
	case TaskManagerGone:
		p.lose(func(s *execgraph.Slot) bool { return s.TaskManager == ev.TaskManager }, ev.Cause, false)
	case NotEnough:
		p.notEnough(ev)
	case Tick:
	case Close:
		p.close()
	default:
		invariant.Broken("unknown event %T", ev)
	}
	p.match()
	p.checkBulks()
	p.sweepIdle()
	p.declare()
	return p.effects
}

func (p *Pool) emit(e Effect) { p.effects = append(p.effects, e) }

func (p *Pool) want(ev Want) {
	invariant.Check(!p.closed, "slots are asked of a closed pool")
	p.bulks = append(p.bulks, &bulk{requests: ev.Requests, pending: slices.Clone(ev.Requests)})
}

func (p *Pool) withdraw(requests []RequestID) {
	for _, b := range p.bulks {
		taken := func(r Request) bool { return slices.Contains(requests, r.ID) }
		b.pending = slices.DeleteFunc(b.pending, taken)
		b.requests = slices.DeleteFunc(slices.Clone(b.requests), taken)
	}
	p.dropMetBulks()
}

func (p *Pool) dropMetBulks() {
	p.bulks = slices.DeleteFunc(p.bulks, func(b *bulk) bool { return len(b.pending) == 0 })
}

// offer takes the slots that the pool has already, or has a pending request for.
func (p *Pool) offer(ev Offer) {
	var accepted []ident.AllocationID
	room := p.pending()
	for _, s := range ev.Slots {
		known := p.find(s.Allocation)
		switch {
		case known != nil && known.slot.TaskManager == ev.TaskManager:
		case known == nil && !p.closed && !p.gone[s.Allocation] && room > 0:
			p.slots = append(p.slots, &held{slot: s, since: p.now})
			room--
		default:
			continue
		}
		accepted = append(accepted, s.Allocation)
	}
	p.emit(Answer{Accepted: accepted})
}

func (p *Pool) find(allocation ident.AllocationID) *held {
	i := slices.IndexFunc(p.slots, func(h *held) bool { return h.slot.Allocation == allocation })
	if i < 0 {
		return nil
	}
	return p.slots[i]
}

func (p *Pool) pending() int {
	n := 0
	for _, b := range p.bulks {
		n += len(b.pending)
	}
	return n
}

// match gives free slots to pending requests: first to those that prefer one,
// then to the others, oldest first. First all matches are made, then they are
// told, because who is told may at once ask for more.
func (p *Pool) match() {
	if len(p.bulks) == 0 {
		return
	}
	free := map[ident.AllocationID]*held{} // looked up, never ranged
	for _, h := range p.slots {
		if h.user == 0 {
			free[h.slot.Allocation] = h
		}
	}
	if len(free) == 0 {
		return
	}
	var grants []Effect
	grant := func(r Request, h *held) {
		h.user = r.ID
		delete(free, h.slot.Allocation)
		grants = append(grants, Grant{Request: r.ID, Slot: h.slot})
	}
	for _, b := range p.bulks {
		b.pending = slices.DeleteFunc(b.pending, func(r Request) bool {
			h := free[r.Prefer]
			if h != nil {
				grant(r, h)
			}
			return h != nil
		})
	}
	next := 0
	for _, b := range p.bulks {
		for len(b.pending) > 0 && len(free) > 0 {
			for p.slots[next].user != 0 {
				next++
			}
			grant(b.pending[0], p.slots[next])
			b.pending = b.pending[1:]
		}
	}
	p.dropMetBulks()
	p.effects = append(p.effects, grants...)
}

func (p *Pool) release(allocation ident.AllocationID) {
	h := p.find(allocation)
	if h == nil {
		return // lost in the meantime
	}
	h.user, h.since = 0, p.now
}

// lose drops slots. forGood says that the allocations have ended and will not
// be taken again; a TaskManager that was out of sight may offer its own again.
func (p *Pool) lose(which func(*execgraph.Slot) bool, cause *status.Failure, forGood bool) {
	var lost []ident.AllocationID
	p.slots = slices.DeleteFunc(p.slots, func(h *held) bool {
		if !which(h.slot) {
			return false
		}
		if h.user != 0 {
			lost = append(lost, h.slot.Allocation)
		}
		if forGood {
			p.gone[h.slot.Allocation] = true
		}
		return true
	})
	if len(lost) > 0 {
		p.emit(Lost{Allocations: lost, Cause: cause})
	}
}

// notEnough refuses what is pending, if the word is about what is needed now.
func (p *Pool) notEnough(ev NotEnough) {
	if ev.Needed != p.Requirement() || p.pending() == 0 {
		return
	}
	for _, b := range slices.Clone(p.bulks) {
		p.refuse(b, fmt.Sprintf("Could not acquire the minimum required resources. (need %d slots, have %d, free %d, slot sharing group %q)",
			ev.Needed, ev.Registered, ev.Free, b.pending[0].Group))
	}
}

// checkBulks refuses the bulks that could not be met for too long.
func (p *Pool) checkBulks() {
	for _, b := range slices.Clone(p.bulks) {
		switch {
		case p.reachable(b):
			b.unmet = time.Time{}
		case b.unmet.IsZero():
			b.unmet = p.now
		case p.now.Sub(b.unmet) >= p.opts.RequestTimeout:
			p.refuse(b, fmt.Sprintf("Slot request bulk is not fulfillable! Could not allocate the required slot within slot request timeout (%v: need %d slots, have %d, free %d, slot sharing group %q)",
				p.opts.RequestTimeout, len(b.requests), len(p.slots), p.free(), b.pending[0].Group))
		}
	}
}

// reachable reports whether the known slots can meet a bulk in the end: those
// that other requests use will be free again only when the tasks in them are
// bounded.
func (p *Pool) reachable(b *bulk) bool {
	usable := 0
	for _, h := range p.slots {
		own := slices.ContainsFunc(b.requests, func(r Request) bool { return r.ID == h.user })
		if own || h.user == 0 || p.opts.Bounded {
			usable++
		}
	}
	return usable >= len(b.requests)
}

// refuse gives a bulk up. Its pending requests end here; the granted ones are
// given back by whoever asked.
func (p *Pool) refuse(b *bulk, text string) {
	ids := make([]RequestID, len(b.pending))
	for i, r := range b.pending {
		ids[i] = r.ID
	}
	b.pending = nil
	p.dropMetBulks()
	p.emit(Refuse{Requests: ids, Cause: &status.Failure{
		Kind: status.FailureSlots, Message: text, Chain: []string{"NoResourceAvailableException"}}})
}

// sweepIdle gives back the slots that nobody has used for a while. Free slots
// are always above the requirement.
func (p *Pool) sweepIdle() {
	p.slots = slices.DeleteFunc(p.slots, func(h *held) bool {
		if h.user != 0 || p.now.Sub(h.since) < p.opts.IdleTimeout {
			return false
		}
		p.gone[h.slot.Allocation] = true
		p.emit(Free{Slot: h.slot, Cause: "slot idle timeout"})
		return true
	})
}

func (p *Pool) close() {
	p.closed = true
	p.bulks = nil
	for _, h := range p.slots {
		p.gone[h.slot.Allocation] = true
		p.emit(Free{Slot: h.slot, Cause: "the job has ended"})
	}
	p.slots = nil
}

// Requirement is how many slots the job needs now.
func (p *Pool) Requirement() int {
	return p.pending() + len(p.slots) - p.free()
}

func (p *Pool) free() int {
	n := 0
	for _, h := range p.slots {
		if h.user == 0 {
			n++
		}
	}
	return n
}

func (p *Pool) declare() {
	if need := p.Requirement(); need != p.declared {
		p.declared = need
		p.emit(Declare{Slots: need})
	}
}

// Allocations lists the slots the pool holds on a TaskManager.
func (p *Pool) Allocations(tm ident.ResourceID) []ident.AllocationID {
	var all []ident.AllocationID
	for _, h := range p.slots {
		if h.slot.TaskManager == tm {
			all = append(all, h.slot.Allocation)
		}
	}
	return all
}

// Deadline is the next moment at which a Tick changes something; zero: none.
func (p *Pool) Deadline() time.Time {
	var due []time.Time
	for _, b := range p.bulks {
		if !b.unmet.IsZero() {
			due = append(due, b.unmet.Add(p.opts.RequestTimeout))
		}
	}
	for _, h := range p.slots {
		if h.user == 0 {
			due = append(due, h.since.Add(p.opts.IdleTimeout))
		}
	}
	if len(due) == 0 {
		return time.Time{}
	}
	return slices.MinFunc(due, func(a, b time.Time) int { return cmp.Compare(a.UnixNano(), b.UnixNano()) })
}
