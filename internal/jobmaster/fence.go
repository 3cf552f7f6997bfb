package jobmaster

import "github.com/weirstream/weir/internal/ident"

// A fence holds back what a coordinator answers to the attempts that have not
// acknowledged the checkpoint it is in: what they are given after its snapshot must
// not be in theirs.
type fence struct {
	checkpoint int64 // 0: there is none
	before     map[ident.AttemptID]bool
	held       []heldAnswer // in order
}

type heldAnswer struct {
	attempt ident.AttemptID
	send    func()
}

// answer sends an answer to an attempt, or holds it back.
func (f *fence) answer(attempt ident.AttemptID, send func()) {
	if f.checkpoint != 0 && f.before[attempt] {
		f.held = append(f.held, heldAnswer{attempt, send})
		return
	}
	send()
}

// pass lets answers to an attempt through.
func (f *fence) pass(attempt ident.AttemptID) {
	delete(f.before, attempt)
	var rest []heldAnswer
	for _, h := range f.held {
		if h.attempt == attempt {
			h.send()
		} else {
			rest = append(rest, h)
		}
	}
	f.held = rest
}

// open lets everything through.
func (f *fence) open() {
	held := f.held
	*f = fence{}
	for _, h := range held {
		h.send()
	}
}
