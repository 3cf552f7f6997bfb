package taskexecutor

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// answering is a worker of its own process that has task 1 in slot 0.
func (w *world) answering() *fakeWorker {
	w.t.Helper()
	w.start()
	w.must(w.requestSlot(0, 1))
	w.must(w.submit(1, 1))
	fw := w.workers[0]
	fw.pid = 4711
	w.must2(fw.register(submitted))
	fw.state(attempt(1), "RUNNING", nil)
	synctest.Wait()
	return fw
}

// A worker that is there and does not answer is killed after the heartbeat
// time-out, and its tasks say what the operating system knows of it.
func TestWorkerThatDoesNotAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		fw := w.answering()
		// As long as it answers, nothing happens, whatever its tasks do.
		w.alive(1000*time.Second, 1)
		w.on(func() { w.heard, fw.mute = nil, true })
		w.alive(40*time.Second, 1)
		w.want()
		w.alive(20*time.Second, 1)
		w.want("worker: killed", "jm: t1 FAILED: ProcessHung, the process of job job did not answer for 50s and was killed; it was stopped (state T)")
	})
}

// A worker is not told that somebody counts on it while its JobMaster, which is not heard of,
// has given it up or may have; it is told at once when the JobMaster is back.
func TestWorkerWhoseJobMasterIsSilent(t *testing.T) {
	inWorld(t, func(w *world) {
		fw := w.answering()
		w.alive(20*time.Second, 1)
		asked := func() (n int) {
			w.on(func() { n = fw.asked })
			return n
		}
		w.on(func() { fw.stuck, w.silentTo = true, map[string]bool{"register": true} })
		before := asked()
		pass := func(n int) { // with the ResourceManager alone
			for range n {
				time.Sleep(10 * time.Second)
				w.must(call(w, gateway.HeartbeatFromResourceManager, &pb.HeartbeatFromResourceManagerRequest{ResourceManagerId: w.term.String()}))
			}
		}
		if pass(4); asked() != before+4 {
			t.Errorf("within the time-out it was asked %d times, want 4", asked()-before)
		}
		if pass(6); asked() != before+4 {
			t.Errorf("in all it was asked %d times, want no more than 4", asked()-before)
		}
		w.on(func() { w.silentTo = nil })
		for range 60 {
			time.Sleep(time.Second)
			if asked() > before+4 {
				return
			}
		}
		t.Error("it is not asked any more")
	})
}
