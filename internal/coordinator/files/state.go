package files

import (
	"encoding/json/v2"
	"fmt"

	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/coordinator/files/split"
)

var _ coordinator.Stateful = (*enumerator)(nil)

// saved is the enumerator's part of a checkpoint: what nobody has been given.
type saved struct {
	Listed bool           `json:"listed"`
	Free   []*split.Split `json:"free"`
	// Next and Seen are those of directories that grow.
	Next int              `json:"next,omitzero"`
	Seen map[string]known `json:"seen,omitempty"`
}

// Snapshot gives what nobody has been given, and notes what each reader has.
func (e *enumerator) Snapshot(checkpoint int64) ([]byte, error) {
	for i := range e.readers {
		e.readers[i].given.Mark(checkpoint)
	}
	s := saved{Listed: e.listed, Free: e.free, Next: e.next}
	if e.grows() {
		s.Seen = e.seen
	}
	return json.Marshal(s, json.Deterministic(true))
}

// Completed forgets what readers had been given before a checkpoint, which is in
// their own parts of it.
func (e *enumerator) Completed(checkpoint int64) {
	for i := range e.readers {
		e.readers[i].given.Forget(checkpoint)
	}
}

// Restore goes back to what nobody had been given at a checkpoint.
func (e *enumerator) Restore(state []byte) error {
	var s saved
	if err := json.Unmarshal(state, &s); err != nil {
		return fmt.Errorf("read the splits of a checkpoint: %w", err)
	}
	for i := range e.readers {
		e.readers[i] = reader{}
	}
	e.failed, e.listed, e.free, e.next = false, s.Listed, s.Free, s.Next
	if e.seen = s.Seen; e.seen == nil {
		e.seen = map[string]known{}
	}
	if !s.Listed || e.grows() && e.timer == nil {
		e.Start()
	}
	if s.Listed {
		e.answerWaiting()
	}
	return nil
}

// ResetTo takes back what the subtask was given since a checkpoint.
func (e *enumerator) ResetTo(subtask int, checkpoint int64) { e.takeBack(subtask, checkpoint) }
