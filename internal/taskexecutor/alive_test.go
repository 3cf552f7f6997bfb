package taskexecutor

import (
	"testing"
	"testing/synctest"
	"time"
)

// A worker that is there and does not answer is killed after the heartbeat
// time-out, and its tasks say what the operating system knows of it.
func TestWorkerThatDoesNotAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start()
		w.must(w.requestSlot(0, 1))
		w.must(w.submit(1, 1))
		fw := w.workers[0]
		fw.pid = 4711
		w.must2(fw.register(submitted))
		fw.state(attempt(1), "RUNNING", nil)
		synctest.Wait()
		// As long as it answers, nothing happens, whatever its tasks do.
		w.alive(1000*time.Second, 1)
		w.on(func() { w.heard, fw.mute = nil, true })
		w.alive(40*time.Second, 1)
		w.want()
		w.alive(20*time.Second, 1)
		w.want("worker: killed", "jm: t1 FAILED: ProcessHung, the process of job job did not answer for 50s and was killed; it was stopped (state T)")
	})
}
