package operator

import (
	"fmt"
	"testing"
)

// Timers of processing time fire until input has ended: then the task may go on for a
// last checkpoint, and nothing is emitted any more.
func TestClockTimersEndWithTheInput(t *testing.T) {
	var j journal
	h := &host{}
	in := KeyedProcess(func(v string) string { return v[:1] }, func(m *KeyedMoment[string]) (p KeyedProcessor[string, string, string], err error) {
		m.OpenTimers()
		p.Process = func(v string, _ func(string)) error {
			m.Timers.RegisterProcessingTime(h.now + int64(len(v)))
			return nil
		}
		p.Timer = func(_ Domain, at int64, emit func(string)) error {
			emit(fmt.Sprint(m.State.Key(), " at ", at))
			return nil
		}
		return p, nil
	}).Build(h.context(), journalOf[string](&j)).(*Receiver[string])
	for _, v := range []string{"aaaaaaa", "bbb", "ccccc"} {
		in.Push(v, 0)
	}
	h.advance(3)
	h.advance(6)
	in.Finish()
	h.advance(100)
	expect(t, &j, "b at 3@3 c at 5@5 end")
}
