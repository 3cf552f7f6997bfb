package taskexecutor

import (
	"testing"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// A TaskManager and its workers are counted as one, and the newest figures of
// each task are kept.
func TestFiguresOfProcessesAndTasks(t *testing.T) {
	inWorld(t, func(w *world) {
		own := status.ProcessFigures{HeapUsed: 1, HeapMax: 100, Goroutines: 5, BuffersTotal: 7}
		w.on(func() { w.e.options.Process = func() *status.ProcessFigures { return &own } })
		fw := w.run(1)
		report := func(token string, heap int64) {
			gateway.WorkerTaskMetrics.Send(fw.system, w.loop, executor, ident.LeaderID{}, &pb.ReportTaskMetricsRequest{
				Token: token, Process: &pb.ProcessFigures{HeapUsed: heap, HeapMax: 50, BuffersTaken: 3},
				Metrics: []*pb.TaskMetrics{{Attempt: attempt(1), Figures: &pb.TaskFigures{RecordsIn: &pb.Count{Total: heap}}}}})
			w.want("jm: metrics of 1")
		}
		var token string
		w.on(func() { token = w.e.workers[0].token })
		report(token, 10)
		report(token, 20)
		report("of nobody", 40)
		w.on(func() {
			f := w.e.Figures()
			if p := f.Process; p.HeapUsed != 21 || p.HeapMax != 100 || p.Goroutines != 5 || p.BuffersTaken != 3 || p.BuffersTotal != 7 || p.ManagedTotal != 100 {
				t.Errorf("process: %+v", f.Process)
			}
			if len(f.Tasks) != 1 || f.Tasks[0].TaskFigures.RecordsIn.Total != 40 || f.Tasks[0].Job != w.job || f.Tasks[0].Attempt.String() != attempt(1) {
				t.Errorf("tasks: %+v", f.Tasks)
			}
		})
		w.on(func() {
			w.e.heartbeatFromResourceManager(&pb.HeartbeatFromResourceManagerRequest{ResourceManagerId: w.e.master.term.String()}, func(beat *pb.TaskExecutorHeartbeat, err error) {
				if err != nil || beat.Process.GetHeapUsed() != 21 {
					t.Errorf("heartbeat %+v, error %v", beat, err)
				}
			})
		})
	})
}
