package taskexecutor

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// outputs gives what the answer to a JobMaster's heartbeat says is kept.
func (w *world) outputs(held ...byte) (kept []string) {
	w.t.Helper()
	req := &pb.HeartbeatFromJobMasterRequest{JobId: w.job.String(), JobMasterId: w.jmTerm.String()}
	for _, a := range held {
		req.Allocations = append(req.Allocations, allocation(a))
	}
	gateway.HeartbeatFromJobMaster.Call(w.jm, w.loop, executor, ident.LeaderID{}, req, 0, func(r *pb.JobHeartbeat, err error) {
		if err != nil {
			w.t.Error(err)
		}
		kept = numbers(r.GetOutputs())
	})
	synctest.Wait()
	return kept
}

// kept runs two tasks with output to their end in a slot that is freed then.
func (w *world) kept() *fakeWorker {
	w.t.Helper()
	w.partitions = []*pb.PartitionDeployment{{Blocking: true}}
	fw := w.run(1)
	w.must(w.submit(2, 1))
	fw.state(attempt(1), "FINISHED", nil)
	fw.state(attempt(2), "FINISHED", nil)
	w.freeSlot(1)
	w.want("worker: run t2", "jm: t1 FINISHED", "jm: t2 FINISHED", "rm: slot 0 free")
	return fw
}

// What tasks have produced for others keeps their worker, without a slot, until
// the JobMaster needs it no longer.
func TestOutputsKeepTheWorker(t *testing.T) {
	inWorld(t, func(w *world) {
		w.kept()
		if kept := w.outputs(); !slices.Equal(kept, []string{"t1", "t2"}) {
			t.Errorf("kept is %q", kept)
		}
		release := func(n int) {
			w.must(call(w, gateway.ReleaseOutputs, &pb.ReleaseOutputsRequest{JobId: w.job.String(), JobMasterId: w.jmTerm.String(), Attempts: []string{attempt(n)}}))
		}
		release(1)
		w.want("worker: release [t1]")
		if kept := w.outputs(); !slices.Equal(kept, []string{"t2"}) {
			t.Errorf("kept is %q", kept)
		}
		release(1) // again: it has been given up before
		w.want()
		release(2)
		w.want("worker: release [t2]", "worker: shut down")
		w.empty()
	})
}

// With its worker what tasks had produced is gone: the JobMaster is told at once,
// and no heartbeat names it any more.
func TestOutputsAreLostWithTheirWorker(t *testing.T) {
	inWorld(t, func(w *world) {
		fw := w.kept()
		w.must(w.requestSlot(1, 2)) // so that the job stays
		w.want("jm: offered 1")
		w.on(func() { fw.exit(&status.Failure{Kind: status.FailureSignal, Message: "killed"}) })
		w.want("jm: te-1 has lost the output of [t1 t2]")
		if kept := w.outputs(2); len(kept) != 0 {
			t.Errorf("kept is %q", kept)
		}
	})
}

// A JobMaster that was away when the worker died learns from the next heartbeat
// what is kept: the message that told it is not repeated.
func TestLossThatNobodyHeardOf(t *testing.T) {
	inWorld(t, func(w *world) {
		fw := w.kept()
		w.must(w.requestSlot(1, 2))
		w.want("jm: offered 1")
		w.on(func() {
			w.jm.Withdraw(gateway.JobMaster(w.job))
			fw.exit(nil)
		})
		w.want()
		w.on(func() { w.jm.Serve(gateway.JobMaster(w.job), w.loop, w.jmMux) })
		if kept := w.outputs(2); len(kept) != 0 {
			t.Errorf("kept is %q", kept)
		}
	})
}

// A task may finish although it was to end because its job is over here. Nobody
// will read what it leaves, so nothing of the job stays for it.
func TestOutputThatComesAfterTheEndOfTheJob(t *testing.T) {
	inWorld(t, func(w *world) {
		w.partitions = []*pb.PartitionDeployment{{Blocking: true}}
		fw := w.run(1)
		w.on(func() { fw.stuck = true })
		w.must(call(w, gateway.DisconnectJobManager, &pb.DisconnectJobManagerRequest{JobId: w.job.String(), JobMasterId: w.jmTerm.String(), Cause: "the job is over"}))
		w.want("worker: stop t1")
		w.on(func() { fw.stuck = false })
		fw.state(attempt(1), "FINISHED", nil)
		w.want("worker: release [t1]", "rm: slot 0 free", "worker: shut down")
		w.empty()
	})
}

// The same after the JobMaster was lost, of which nothing is heard ever again.
func TestOutputThatComesAfterTheLossOfTheJobMaster(t *testing.T) {
	inWorld(t, func(w *world) {
		w.partitions = []*pb.PartitionDeployment{{Blocking: true}}
		fw := w.run(1)
		w.on(func() { fw.stuck = true })
		w.jm.Close()
		w.jm = w.net.System("nobody")
		time.Sleep(2*w.e.options.HeartbeatInterval + time.Second)
		w.want("worker: stop t1")
		w.on(func() { fw.stuck = false })
		fw.state(attempt(1), "FINISHED", nil)
		w.want("worker: release [t1]")
		time.Sleep(w.e.options.SlotTimeout)
		w.want("rm: slot 0 free", "worker: shut down")
		w.empty()
	})
}

// empty checks that nothing is left of any job.
func (w *world) empty() {
	w.t.Helper()
	w.on(func() {
		if len(w.e.jobs) != 0 || len(w.e.workers) != 0 {
			w.t.Errorf("left: %d jobs, %d workers", len(w.e.jobs), len(w.e.workers))
		}
	})
}
