package worker

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// TestReportsSurviveBrokenConnections loses the first tries of two reports, and
// the answer of one that was taken.
func TestReportsSurviveBrokenConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := rpc.NewMemory()
		loop := actor.StartSeeded("worker", 1)
		executor, system := net.System("te"), net.System("worker")
		var heard []string
		tries := map[string]int{}
		mux := &rpc.Mux{}
		rpc.Handle(mux, gateway.WorkerTaskState, func(req *pb.UpdateTaskExecutionStateRequest, reply func(*pb.Empty, error)) {
			tries[req.State]++
			switch n := tries[req.State]; {
			case req.State == "INITIALIZING" && n < 4, req.State == "FAILED" && n < 3:
				reply(nil, fmt.Errorf("the connection broke: %w", rpc.ErrUnreachable))
			case req.State == "RUNNING" && n < 2:
				heard = append(heard, req.State)
				reply(nil, fmt.Errorf("the answer was lost: %w", rpc.ErrTimeout))
			default:
				heard = append(heard, req.State)
				reply(&pb.Empty{}, nil)
			}
		})
		executor.Serve(gateway.TaskExecutor, loop, mux)
		w := &Worker{Options: Options{Loop: loop, System: system, Logger: slog.New(slog.DiscardHandler),
			TaskExecutor: rpc.Address{Process: executor.Self(), Endpoint: gateway.TaskExecutor}}}
		loop.Post(func() {
			r := &reports{}
			for _, state := range []string{"INITIALIZING", "RUNNING", "FAILED"} {
				w.send(r, &pb.UpdateTaskExecutionStateRequest{State: state})
			}
		})
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []string{"INITIALIZING", "RUNNING", "RUNNING", "FAILED"}; !slices.Equal(heard, want) {
			t.Errorf("heard %q, want %q", heard, want)
		}
		// A TaskExecutor that is gone is given up when the worker ends.
		executor.Close()
		loop.Post(func() { w.send(&reports{}, &pb.UpdateTaskExecutionStateRequest{State: "CANCELED"}) })
		time.Sleep(time.Minute)
		loop.Post(func() { w.closing = true })
		time.Sleep(2 * longestPause)
		system.Close()
		loop.Close()
	})
}
