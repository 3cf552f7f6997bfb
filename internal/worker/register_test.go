package worker

import (
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/streamgraph"
)

// A TaskExecutor that does not answer for a while, as when its machine is busy, loses no
// worker; one that refuses a worker ends it.
func TestRegistrationIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := rpc.NewMemory()
		loop := actor.StartSeeded("worker", 1)
		executor, system := net.System("te"), net.System("worker")
		tries := 0
		mux := &rpc.Mux{}
		rpc.Handle(mux, gateway.RegisterWorker, func(_ *pb.RegisterWorkerRequest, reply func(*pb.RegisterWorkerResponse, error)) {
			switch tries++; tries {
			case 1: // no answer
			case 2:
				reply(nil, fmt.Errorf("the connection broke: %w", rpc.ErrUnreachable))
			default:
				reply(&pb.RegisterWorkerResponse{Rejected: "it is another program"}, nil)
			}
		})
		executor.Serve(gateway.TaskExecutor, loop, mux)
		w := &Worker{Options: Options{Loop: loop, System: system, Logger: slog.New(slog.DiscardHandler), Compiled: &streamgraph.Compiled{Graph: &jobgraph.Graph{}},
			TaskExecutor: rpc.Address{Process: executor.Self(), Endpoint: gateway.TaskExecutor}}, done: make(chan struct{})}
		began := time.Now()
		loop.Post(w.register)
		<-w.Done()
		if took := time.Since(began); tries != 3 || took != rpc.DefaultTimeout+2*firstPause {
			t.Errorf("refused at try %d, after %v", tries, took)
		}
		executor.Close()
		system.Close()
		loop.Close()
	})
}
