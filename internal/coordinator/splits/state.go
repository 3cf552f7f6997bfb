package splits

import (
	"cmp"
	"encoding/json/v2"
	"fmt"
	"slices"

	"github.com/weirstream/weir/internal/coordinator"
)

var _ coordinator.Stateful = (*pool)(nil)

// saved is the pool's part of a checkpoint: what nobody has been given, and the
// enumerator's state.
type saved struct {
	Free  []found `json:"free"`
	Next  int64   `json:"next"`
	State []byte  `json:"state,omitempty"`
	Done  bool    `json:"done,omitzero"`
}

// Snapshot gives what nobody has been given, and notes what each reader has.
func (p *pool) Snapshot(checkpoint int64) ([]byte, error) {
	for i := range p.readers {
		p.readers[i].given.Mark(checkpoint)
	}
	return json.Marshal(saved{Free: p.free, Next: p.next, State: p.state, Done: p.done})
}

// Completed forgets what readers had been given before a checkpoint, which is in
// their own parts of it.
func (p *pool) Completed(checkpoint int64) {
	for i := range p.readers {
		p.readers[i].given.Forget(checkpoint)
	}
}

// Restore goes back to a checkpoint. The enumerator begins anew with its state of
// then, and one of before is not heard any more.
func (p *pool) Restore(state []byte) error {
	var s saved
	if err := json.Unmarshal(state, &s); err != nil {
		return fmt.Errorf("read the splits of a checkpoint: %w", err)
	}
	clear(p.readers)
	p.finder.sequence, p.finder.answer = endOfTalk, nil
	p.free, p.next, p.state, p.done = s.Free, s.Next, s.State, s.Done
	p.answerWaiting()
	return nil
}

// endOfTalk is greater than the number of any request: an attempt that has it is not
// heard any more.
const endOfTalk = 1<<63 - 1

// Reset takes back all splits the subtask was given.
func (p *pool) Reset(subtask int) { p.takeBack(subtask, 0) }

// ResetTo takes back what the subtask was given since a checkpoint.
func (p *pool) ResetTo(subtask int, checkpoint int64) { p.takeBack(subtask, checkpoint) }

// takeBack takes back what a subtask was given since a checkpoint; 0: everything.
func (p *pool) takeBack(subtask int, checkpoint int64) {
	r := p.reader(subtask)
	p.free = append(slices.Clone(p.free), r.given.TakeBack(checkpoint)...)
	slices.SortFunc(p.free, func(a, b found) int { return cmp.Compare(a.Number, b.Number) })
	*r = reader{given: r.given}
	p.answerWaiting()
}
