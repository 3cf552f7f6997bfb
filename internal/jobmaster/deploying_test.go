package jobmaster

import (
	"slices"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/status"
)

// deployed runs a job of 2·p tasks that is deployed two tasks at a time; at some
// moment, if it is not zero, then happens between two pieces.
func deployed(t *testing.T, p int, at time.Time, then func(m *Master)) (*Master, *fakeExecutor) {
	t.Helper()
	w := newWorld()
	te := w.resourceManager().taskExecutor("te1", p)
	m, _ := w.start(t, twoVertices(p), func(o *Options) { o.DeployAtOnce = 2 })
	if !at.IsZero() {
		// What is posted at that moment comes after what was on its way to it, which
		// makes the first piece, and before what that posts.
		w.After(at.Sub(w.now), func() { w.Post(func() { then(m) }) })
	}
	w.pass(time.Second)
	return m, te
}

func TestALargeJobIsDeployedInPieces(t *testing.T) {
	m, te := deployed(t, 4, time.Time{}, nil)
	v := m.View()
	expect(t, "running", v.Tasks()[status.Running], 8)
	expect(t, "deployed", len(te.deployed), 8)
	began := v.Vertices[0].Subtasks[0].Stamps[status.Deploying]

	m, te = deployed(t, 4, began, func(m *Master) { m.Cancel(func(error) {}) })
	v = m.View()
	expect(t, "after a cancellation between two pieces", v.State, status.JobCanceled)
	expect(t, "deployed", len(te.deployed), 2)
	slices.Sort(te.canceled) // each is told again when it reports that it runs
	expect(t, "canceled", len(slices.Compact(te.canceled)), 2)
	expect(t, "left to be deployed", len(m.deploying.queue)+len(m.deploying.waits), 0)

	m, te = deployed(t, 4, began, func(m *Master) { m.Close(func() {}) })
	v = m.View()
	expect(t, "after the end of the master between two pieces", v.State, status.JobSuspended)
	expect(t, "deployed", len(te.deployed), 2)

	m, te = deployed(t, 4, began, func(m *Master) { m.managers.lose("id-te1", "it is gone", false) })
	v = m.View()
	expect(t, "after the loss of the TaskManager between two pieces", v.State, status.JobFailed)
	expect(t, "deployed", len(te.deployed), 2)
}
