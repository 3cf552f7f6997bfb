package jobmaster

import (
	"maps"
	"slices"

	"github.com/weirstream/weir/internal/ident"
)

// A fence keeps apart what a coordinator has answered before and after its part of a
// checkpoint: what an attempt is given before must be in the attempt's own part, and
// what it is given after must not be. So an answer waits until the attempt has
// acknowledged the checkpoints that it comes after; and an attempt begins its part
// when it has received the answers that it comes before.
//
// An attempt numbers its requests. One that is made again has the same number, and
// its answer belongs where the first one did.
type fence struct {
	posts []*post // one for each checkpoint that is under way, oldest first
	// given are the numbers that were answered and may not have been received.
	given map[ident.AttemptID]map[int64]bool
	held  []*heldAnswer // in order
}

// A post is what the fence stands on for one checkpoint.
type post struct {
	checkpoint int64
	awaits     map[ident.AttemptID]bool // that have not acknowledged it
}

type heldAnswer struct {
	attempt ident.AttemptID
	number  int64
	behind  map[int64]bool // the checkpoints that it comes after
	send    func()
}

func newFence() fence { return fence{given: map[ident.AttemptID]map[int64]bool{}} }

// raise begins a checkpoint: the coordinator's state was taken just now.
func (f *fence) raise(checkpoint int64, attempts []ident.AttemptID) {
	p := &post{checkpoint: checkpoint, awaits: map[ident.AttemptID]bool{}}
	for _, a := range attempts {
		p.awaits[a] = true
	}
	f.posts = append(f.posts, p)
}

// before are the numbers that an attempt must have received before it begins its part.
func (f *fence) before(checkpoint int64, attempt ident.AttemptID) []int64 {
	numbers := slices.Sorted(maps.Keys(f.given[attempt]))
	return slices.DeleteFunc(numbers, func(n int64) bool {
		return slices.ContainsFunc(f.held, func(h *heldAnswer) bool {
			return h.attempt == attempt && h.number == n && h.behind[checkpoint]
		})
	})
}

// settled says that an attempt has received the answers to all requests below a
// number.
func (f *fence) settled(attempt ident.AttemptID, below int64) {
	maps.DeleteFunc(f.given[attempt], func(n int64, _ bool) bool { return n < below })
}

// answer sends the answer to a request, or holds it back. number is 0 if the answer
// gives nothing, and is not waited for.
func (f *fence) answer(attempt ident.AttemptID, number int64, send func()) {
	if number != 0 && f.given[attempt][number] { // the same was answered before
		for _, h := range f.held {
			if h.attempt == attempt && h.number == number {
				h.send = send
				return
			}
		}
		send()
		return
	}
	h := &heldAnswer{attempt: attempt, number: number, behind: map[int64]bool{}, send: send}
	for _, p := range f.posts {
		if p.awaits[attempt] {
			h.behind[p.checkpoint] = true
		}
	}
	if number != 0 {
		if f.given[attempt] == nil {
			f.given[attempt] = map[int64]bool{}
		}
		f.given[attempt][number] = true
	}
	f.held = append(f.held, h)
	f.release()
}

// pass notes that an attempt has acknowledged a checkpoint.
func (f *fence) pass(checkpoint int64, attempt ident.AttemptID) {
	for _, p := range f.posts {
		if p.checkpoint == checkpoint {
			delete(p.awaits, attempt)
		}
	}
	for _, h := range f.held {
		if h.attempt == attempt {
			delete(h.behind, checkpoint)
		}
	}
	f.release()
}

// lower ends a checkpoint. Older ones that all have acknowledged need no end.
func (f *fence) lower(checkpoint int64) {
	f.posts = slices.DeleteFunc(f.posts, func(p *post) bool {
		return p.checkpoint == checkpoint || p.checkpoint < checkpoint && len(p.awaits) == 0
	})
	for _, h := range f.held {
		delete(h.behind, checkpoint)
	}
	f.release()
}

// forget drops what is known of an attempt that has ended.
func (f *fence) forget(attempt ident.AttemptID) { delete(f.given, attempt) }

// release sends what nothing holds back any more.
func (f *fence) release() {
	held := f.held
	f.held = slices.DeleteFunc(slices.Clone(held), func(h *heldAnswer) bool { return len(h.behind) == 0 })
	for _, h := range held {
		if len(h.behind) == 0 {
			h.send()
		}
	}
}
