package taskexecutor

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
)

func TestSilentJobMasterIsLost(t *testing.T) {
	inWorld(t, func(w *world) {
		w.run(1)
		time.Sleep(49 * time.Second)
		w.must(call(w, gateway.HeartbeatFromResourceManager, &pb.HeartbeatFromResourceManagerRequest{ResourceManagerId: w.term.String()}))
		w.want()
		time.Sleep(2 * time.Second)
		// It is there after all: it hears what happened and gets its slot offered.
		w.want("worker: stop t1", "jm: register te-1", "jm: offered 1", "jm: t1 FAILED: Lost, the JobMaster was lost: no heartbeat for 50s")
	})
}

// A TaskManager that has stood still for longer than the time-out finds what came before it
// was given up. None of that is in time, although no timer has had its turn.
func TestWhatHasWaitedTooLongIsTooLate(t *testing.T) {
	// The calls wait for their answers for longer, so that they are not given up.
	submission := func(w *world) *pb.SubmitTaskRequest {
		return &pb.SubmitTaskRequest{JobMasterId: w.jmTerm.String(), Task: &pb.TaskDeployment{JobId: w.job.String(), Attempt: attempt(2), AllocationId: allocation(1), Job: &pb.Job{Name: "job"}}}
	}
	for what, wait := range map[string]func(w *world, refused func(error)){
		"a heartbeat of the JobMaster": func(w *world, refused func(error)) {
			request := &pb.HeartbeatFromJobMasterRequest{JobId: w.job.String(), JobMasterId: w.jmTerm.String(), Allocations: []string{allocation(1)}}
			gateway.HeartbeatFromJobMaster.Call(w.jm, w.loop, executor, ident.LeaderID{}, request, time.Hour, func(_ *pb.JobHeartbeat, err error) { refused(err) })
		},
		"a task": func(w *world, refused func(error)) {
			gateway.SubmitTask.Call(w.jm, w.loop, executor, ident.LeaderID{}, submission(w), time.Hour, func(_ *pb.Empty, err error) { refused(err) })
		},
		"a checkpoint": func(w *world, refused func(error)) {
			request := &pb.TriggerCheckpointRequest{JobId: w.job.String(), JobMasterId: w.jmTerm.String(), Attempts: []string{attempt(1)}, Checkpoint: 1}
			gateway.TriggerCheckpoint.Call(w.jm, w.loop, executor, ident.LeaderID{}, request, time.Hour, func(_ *pb.Empty, err error) { refused(err) })
		},
		"a heartbeat of the ResourceManager": func(w *world, refused func(error)) {
			request := &pb.HeartbeatFromResourceManagerRequest{ResourceManagerId: w.term.String()}
			gateway.HeartbeatFromResourceManager.Call(w.master, w.loop, executor, ident.LeaderID{}, request, time.Hour, func(_ *pb.TaskExecutorHeartbeat, err error) { refused(err) })
		},
	} {
		inWorld(t, func(w *world) {
			w.run(1)
			late, goOn := false, make(chan struct{})
			w.loop.Post(func() { <-goOn })
			w.loop.Post(func() { time.Sleep(time.Minute) })
			wait(w, func(err error) { late = err != nil }) // it comes before the timers do
			close(goOn)
			time.Sleep(61 * time.Second)
			synctest.Wait()
			if !late {
				t.Errorf("%s was taken", what)
			}
		})
	}
}

func TestDeadJobMasterIsLostSooner(t *testing.T) {
	inWorld(t, func(w *world) {
		w.run(1)
		w.jm.Close()
		w.jm = w.net.System("nobody")
		time.Sleep(19 * time.Second)
		w.want()
		time.Sleep(2 * time.Second)
		w.want("worker: stop t1")
		time.Sleep(10 * time.Second)
		w.want("rm: slot 0 free", "worker: shut down")
		w.on(func() {
			if len(w.e.jobs) != 0 {
				t.Error("the job is still here")
			}
		})
	})
}

// A process that was started anew answers, and does not have the JobMaster.
func TestJobMasterWhoseProcessWasStartedAnew(t *testing.T) {
	inWorld(t, func(w *world) {
		w.run(1)
		w.jm.Close()
		time.Sleep(time.Second)
		w.want()
		w.jm = w.net.System("jm")
		time.Sleep(time.Second)
		w.want("worker: stop t1", "rm: slot 0 free", "worker: shut down")
	})
}

// A master that is back is asked at once for its JobMasters.
func TestMasterIsBack(t *testing.T) {
	inWorld(t, func(w *world) {
		w.run(1)
		w.jm.Close()
		time.Sleep(10 * time.Second)
		w.want()
		w.jm = w.net.System("jm")
		w.on(func() { w.e.retryAt("mem:jm") })
		w.want("worker: stop t1", "rm: slot 0 free", "worker: shut down")
	})
}

func TestNewJobMasterTakesOver(t *testing.T) {
	inWorld(t, func(w *world) {
		w.run(1)
		w.on(func() { w.jmTerm = ident.LeaderID{ID: ident.ID{0xb, 2}} })
		w.must(w.requestSlot(1, 2))
		w.want("worker: stop t1", "jm: register te-1", "jm: offered 2", "jm: t1 FAILED: Lost, the job has another JobMaster")
	})
}

func TestJobMasterDisconnects(t *testing.T) {
	inWorld(t, func(w *world) {
		w.run(1)
		w.must(call(w, gateway.DisconnectJobManager, &pb.DisconnectJobManagerRequest{JobId: w.job.String(), JobMasterId: w.jmTerm.String(), Cause: "the job is over"}))
		w.want("worker: stop t1", "rm: slot 0 free", "worker: shut down")
		// Of a job that is not here.
		w.must(call(w, gateway.DisconnectJobManager, &pb.DisconnectJobManagerRequest{JobId: w.job.String(), JobMasterId: w.jmTerm.String()}))
	})
}

func TestResourceManagerRestartsAndTasksGoOn(t *testing.T) {
	inWorld(t, func(w *world) {
		w.run(1)
		w.master.Close()
		time.Sleep(time.Second)
		w.on(func() { w.startMaster(2) })
		for range 4 {
			time.Sleep(time.Second)
			w.heartbeat(nil, 1)
		}
		w.want("rm: register te-1 with 2 slots", "rm: report, 1 of 2 held")
	})
}

func TestNoResourceManager(t *testing.T) {
	inWorld(t, func(w *world) {
		w.master.Close()
		w.master = w.net.System("nobody")
		w.on(w.e.Start)
		time.Sleep(5*time.Minute + time.Second)
		w.on(func() { w.refused(w.fatal, "within 5m0s") })
	})
}

func TestRefusedByTheResourceManager(t *testing.T) {
	inWorld(t, func(w *world) {
		w.rejected = "another version"
		w.on(w.e.Start)
		w.on(func() { w.refused(w.fatal, "refused this TaskManager: another version") })
	})
}
