package slotpool

import (
	"slices"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/status"
)

// A Pool is the slots of one job. Only its owner's loop touches it.
//
// Invariant: when a request is pending, no slot is free, or in a bounded pool fewer
// than the oldest bulk lacks. The requirement is the number of pending plus that of
// granted requests, and at least what is to be kept; a pool that gives way does not
// count the pending ones. waiting and idle count what stands in bulks and slots, so
// that a large job is not counted at each event.
type Pool struct {
	opts    Options
	slots   []*held // in the order they were accepted
	byID    map[ident.AllocationID]*held
	users   map[RequestID]*held // the slots that are not free
	bulks   []*bulk             // that still have pending requests, oldest first
	waiting int                 // requests that are pending
	idle    int                 // slots that are free
	keep    int                 // slots to have at least
	// oldest is when the first of the free slots became so, or earlier.
	oldest time.Time
	// moved says that bulks may have come into or out of reach at this event.
	moved bool
	// gone are the slots given back or failed. An offer of one was overtaken by
	// the news of its end.
	gone map[ident.AllocationID]bool

	shortage NotEnough // that is waited out
	look     time.Time // when it is looked at again; zero: there is none
	unused   time.Time // since when no slot is used because a bulk lacks some; zero: that is not so
	resting  time.Time // until when what is pending is not declared; zero: it is

	declared int // the requirement last declared
	closed   bool

	now     time.Time
	effects []Effect
}

// held is a slot of the pool: granted to a request, or free since a moment.
type held struct {
	slot  *execgraph.Slot
	user  RequestID // 0: free
	bulk  *bulk     // of the user; nil: it is free, or the request was withdrawn
	since time.Time // when it became free
}

// A bulk is a set of requests of which all are needed or none.
type bulk struct {
	requests []Request // all of it, in order
	pending  []Request // not granted
	held     int       // requests of it that have a slot
	prefers  bool      // some request of it prefers a slot
	seen     bool      // was looked at for the first time
	// unmet is since when the known slots cannot meet the bulk; zero: they can.
	unmet time.Time
}

// New makes an empty pool.
func New(opts Options) *Pool {
	return &Pool{opts: opts, gone: map[ident.AllocationID]bool{}, byID: map[ident.AllocationID]*held{}, users: map[RequestID]*held{}}
}

// Apply advances the pool by one event and returns what must now be done. It
// reads no clock and starts nothing.
func (p *Pool) Apply(ev Event, now time.Time) []Effect {
	p.now, p.effects, p.moved = now, nil, false
	switch ev := ev.(type) {
	case Want:
		p.want(ev)
	case Keep:
		p.keep, p.moved = ev.Slots, true
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
		p.moved = true
		p.lookAgain(ev)
	case Close:
		p.close()
	default:
		invariant.Broken("unknown event %T", ev)
	}
	p.match()
	p.checkBulks()
	p.match() // what a bulk that is refused was waiting with may serve the next
	p.giveWay()
	p.sweepIdle()
	p.declare()
	return p.effects
}

func (p *Pool) emit(e Effect) { p.effects = append(p.effects, e) }

func (p *Pool) want(ev Want) {
	invariant.Check(!p.closed, "slots are asked of a closed pool")
	p.bulks = append(p.bulks, &bulk{requests: ev.Requests, pending: slices.Clone(ev.Requests),
		prefers: slices.ContainsFunc(ev.Requests, func(r Request) bool { return !r.Prefer.IsZero() })})
	p.waiting += len(ev.Requests)
}

func (p *Pool) withdraw(requests []RequestID) {
	withdrawn := make(map[RequestID]bool, len(requests))
	for _, id := range requests {
		withdrawn[id] = true
		if h := p.users[id]; h != nil { // granted: it stays, and is none of its bulk's any more
			h.leaveBulk()
		}
	}
	p.waiting = 0
	for _, b := range p.bulks {
		taken := func(r Request) bool { return withdrawn[r.ID] }
		if !slices.ContainsFunc(b.requests, taken) {
			p.waiting += len(b.pending)
			continue
		}
		b.pending = slices.DeleteFunc(b.pending, taken)
		b.requests = slices.DeleteFunc(slices.Clone(b.requests), taken)
		p.waiting += len(b.pending)
	}
	p.moved = true
	p.dropMetBulks()
}

func (h *held) leaveBulk() {
	if h.bulk != nil {
		h.bulk.held--
		h.bulk = nil
	}
}

func (p *Pool) dropMetBulks() {
	p.bulks = slices.DeleteFunc(p.bulks, func(b *bulk) bool { return len(b.pending) == 0 })
}

// offer takes the slots that the pool has already, or has a pending request for,
// or is to keep.
func (p *Pool) offer(ev Offer) {
	var accepted []ident.AllocationID
	room := max(p.pending()-p.idle, p.keep-len(p.slots))
	for _, s := range ev.Slots {
		known := p.find(s.Allocation)
		switch {
		case known != nil && known.slot.TaskManager == ev.TaskManager:
		case known == nil && !p.closed && !p.gone[s.Allocation] && room > 0:
			p.add(s)
			room--
		default:
			continue
		}
		accepted = append(accepted, s.Allocation)
	}
	p.emit(Answer{Accepted: accepted})
}

func (p *Pool) add(s *execgraph.Slot) {
	h := &held{slot: s}
	p.slots = append(p.slots, h)
	p.byID[s.Allocation] = h
	p.isFree(h)
	p.moved = true
}

// isFree notes that a slot is free from now on.
func (p *Pool) isFree(h *held) {
	h.user, h.since = 0, p.now
	if p.idle == 0 || p.now.Before(p.oldest) {
		p.oldest = p.now
	}
	p.idle++
}

// remove takes out the slots that are named; drop is asked once for each.
func (p *Pool) remove(drop func(*held) bool) {
	p.slots = slices.DeleteFunc(p.slots, func(h *held) bool {
		if !drop(h) {
			return false
		}
		delete(p.byID, h.slot.Allocation)
		if h.user == 0 {
			p.idle--
		}
		delete(p.users, h.user)
		h.leaveBulk()
		p.moved = true
		return true
	})
}

func (p *Pool) find(allocation ident.AllocationID) *held { return p.byID[allocation] }

func (p *Pool) pending() int { return p.waiting }

// match gives free slots to pending requests: first to those that prefer one,
// then to the others, oldest first. First all matches are made, then they are
// told, because who is told may at once ask for more.
func (p *Pool) match() {
	if p.waiting == 0 || p.idle == 0 {
		return
	}
	turn := p.turn()
	if len(turn) == 0 {
		return
	}
	free := make(map[ident.AllocationID]*held, p.idle) // looked up, never ranged
	next := len(p.slots)                               // the first free slot: new ones stand at the end
	for len(free) < p.idle {
		next--
		if h := p.slots[next]; h.user == 0 {
			free[h.slot.Allocation] = h
		}
	}
	var grants []Effect
	grant := func(b *bulk, r Request, h *held) {
		h.user, h.bulk = r.ID, b
		b.held++
		p.users[r.ID] = h
		p.waiting--
		p.idle--
		delete(free, h.slot.Allocation)
		grants = append(grants, Grant{Request: r.ID, Slot: h.slot})
	}
	for _, b := range turn {
		if !b.prefers {
			continue
		}
		b.pending = slices.DeleteFunc(b.pending, func(r Request) bool {
			h := free[r.Prefer]
			if h != nil {
				grant(b, r, h)
			}
			return h != nil
		})
	}
	for _, b := range turn {
		for len(b.pending) > 0 && len(free) > 0 {
			for p.slots[next].user != 0 {
				next++
			}
			grant(b, b.pending[0], p.slots[next])
			b.pending = b.pending[1:]
		}
	}
	p.moved = true
	p.dropMetBulks()
	p.effects = append(p.effects, grants...)
}

func (p *Pool) release(allocation ident.AllocationID) {
	h := p.find(allocation)
	if h == nil {
		return // lost in the meantime
	}
	if h.user == 0 {
		return
	}
	delete(p.users, h.user)
	h.leaveBulk()
	p.isFree(h)
	p.moved = true
}

// lose drops slots. forGood says that the allocations have ended and will not
// be taken again; a TaskManager that was out of sight may offer its own again.
func (p *Pool) lose(which func(*execgraph.Slot) bool, cause *status.Failure, forGood bool) {
	var lost []ident.AllocationID
	p.remove(func(h *held) bool {
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

// refuse gives a bulk up. Its pending requests end here; the granted ones are
// given back by whoever asked.
func (p *Pool) refuse(b *bulk, text string) {
	ids := make([]RequestID, len(b.pending))
	for i, r := range b.pending {
		ids[i] = r.ID
	}
	p.waiting -= len(b.pending)
	b.pending = nil
	p.dropMetBulks()
	p.emit(Refuse{Requests: ids, Cause: &status.Failure{
		Kind: status.FailureSlots, Message: text, Chain: []string{"NoResourceAvailableException"}}})
}

// surplus is how many free slots are above the requirement.
func (p *Pool) surplus() int { return min(p.idle, max(0, len(p.slots)-p.keep)) }

// sweepIdle gives back the slots above the requirement that nobody has used for a
// while, unless something is unread where they are.
func (p *Pool) sweepIdle() {
	surplus := p.surplus()
	if surplus == 0 || p.now.Sub(p.oldest) < p.opts.IdleTimeout {
		return
	}
	p.oldest = p.now
	var unread []ident.ResourceID
	if p.opts.Unread != nil {
		unread = p.opts.Unread()
	}
	p.remove(func(h *held) bool {
		if h.user != 0 {
			return false
		}
		if slices.Contains(unread, h.slot.TaskManager) {
			h.since = p.now
		}
		if surplus == 0 || p.now.Sub(h.since) < p.opts.IdleTimeout {
			if h.since.Before(p.oldest) {
				p.oldest = h.since
			}
			return false
		}
		surplus--
		p.gone[h.slot.Allocation] = true
		p.emit(Free{Slot: h.slot, Cause: "slot idle timeout"})
		return true
	})
}

func (p *Pool) close() {
	p.closed, p.keep = true, 0
	p.bulks, p.waiting = nil, 0
	p.remove(func(h *held) bool {
		p.gone[h.slot.Allocation] = true
		p.emit(Free{Slot: h.slot, Cause: "the job has ended"})
		return true
	})
}

// Requirement is how many slots the job needs now. One that gives way needs none for what
// is pending.
func (p *Pool) Requirement() int {
	need := len(p.slots) - p.free()
	if p.resting.IsZero() {
		need += p.pending()
	}
	return max(p.keep, need)
}

func (p *Pool) free() int {
	return p.idle
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

// Deadline is the next moment at which a Tick may change something; zero: none.
func (p *Pool) Deadline() time.Time {
	var first time.Time
	due := func(at time.Time) {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	for _, b := range p.bulks {
		if !b.unmet.IsZero() {
			due(b.unmet.Add(p.opts.RequestTimeout))
		}
	}
	if !p.look.IsZero() {
		due(p.look)
	}
	if !p.unused.IsZero() {
		due(p.unused.Add(unusedTimeout))
	}
	if !p.resting.IsZero() {
		due(p.resting)
	}
	if p.surplus() > 0 {
		due(p.oldest.Add(p.opts.IdleTimeout))
	}
	return first
}
