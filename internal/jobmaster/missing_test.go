package jobmaster

import (
	"testing"
	"time"

	"github.com/weirstream/weir/internal/status"
)

// Heartbeats that were held up come together, and the report of a task's end may
// still be behind them: two answers that lack the task count as two only when
// some time lies between them.
func TestAnswersThatComeTogetherCountOnce(t *testing.T) {
	w := newWorld()
	te := w.resourceManager().taskExecutor("te1", 2)
	m, _ := w.start(t, twoVertices(2), nil)
	w.pass(time.Second)
	gone := te.running[0]
	te.running = te.running[1:]
	for range 5 {
		m.managers.heartbeats.PingNow("id-te1")
		w.pass(10 * time.Millisecond)
	}
	v := m.View()
	expect(t, "after five answers in a moment", v.State, status.JobRunning)
	te.report(gone, "FINISHED", nil) // it was on its way
	w.pass(time.Minute)
	v = m.View()
	expect(t, "when the report has come", v.State, status.JobRunning)

	te.running = te.running[1:]
	w.pass(25 * time.Second)
	v = m.View()
	expect(t, "after two answers an interval apart", v.State, status.JobFailed)
}
