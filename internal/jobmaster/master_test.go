package jobmaster

import (
	"testing"
	"time"

	"github.com/weirstream/weir/internal/rpc"
)

func TestRunsToTheEnd(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	te1, te2 := rm.taskExecutor("te1", 1), rm.taskExecutor("te2", 1)
	m, done := w.start(t, twoVertices(2), nil)
	w.pass(time.Second)
	expect(t, "running", states(m.View()), "RUNNING RUNNING RUNNING RUNNING RUNNING")
	expect(t, "requirement", rm.declared, []int{2})
	expect(t, "tasks on te1", len(te1.deployed), 2)
	sink := te2.deployed[1]
	expect(t, "channels", len(sink.Gates[0].Channels), 2)
	expect(t, "addresses", sink.Gates[0].Channels[0].DataAddresses, []string{"unix:te1"})
	expect(t, "own subpartition", sink.Gates[0].Channels[0].Subpartition, 1)

	te1.finish()
	w.pass(time.Second)
	expect(t, "half", states(m.View()), "RUNNING FINISHED RUNNING FINISHED RUNNING")
	te2.finish()
	w.pass(time.Second)
	expect(t, "end", states(m.View()), "FINISHED FINISHED FINISHED FINISHED FINISHED")
	expect(t, "OnDone", len(*done), 1)
	expect(t, "the ResourceManager knows", rm.gone, "FINISHED")
	expect(t, "slots freed", []int{len(te1.held), len(te2.held)}, []int{0, 0})
	expect(t, "TaskManager told", te2.gone, "the job is FINISHED")
	closed := false
	m.Close(func() { closed = true })
	w.pass(time.Second)
	expect(t, "closed", closed, true)
	expect(t, "endpoint withdrawn", w.served[rpc.Address{Process: "jm", Endpoint: "jobmanager_" + m.job.String()}], nil)
	w.pass(time.Hour)
	expect(t, "timers left", len(w.timers), 0)
}
