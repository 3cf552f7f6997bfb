package worker

import (
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// asked is a worker with one task, whose TaskExecutor answers each request by the
// next of some functions, and what came of the task's request.
func asked(t *testing.T, answers ...func(w *Worker, reply func(*pb.OperatorResponse, error))) (got string, requests int) {
	synctest.Test(t, func(t *testing.T) {
		loop := actor.StartSeeded("worker", 1)
		net := rpc.NewMemory()
		system, executor := net.System("worker"), net.System("taskmanager")
		attempt := ident.AttemptID{Vertex: ident.VertexID{ID: ident.ID{1}}}
		w := &Worker{Options: Options{Loop: loop, System: system, TaskExecutor: rpc.Address{Process: executor.Self(), Endpoint: gateway.TaskExecutor},
			Logger: slog.New(slog.DiscardHandler)}, tasks: map[ident.AttemptID]*running{attempt: {}}}
		mux := &rpc.Mux{}
		rpc.Handle(mux, gateway.WorkerRequest, func(q *pb.OperatorRequest, reply func(*pb.OperatorResponse, error)) {
			requests++
			if string(q.Payload) != "split?" {
				t.Errorf("asked %q", q.Payload)
			}
			answers[min(requests, len(answers))-1](w, reply)
		})
		executor.Serve(gateway.TaskExecutor, loop, mux)
		w.asker(attempt)(ident.OperatorID{}, []byte("split?"), func(answer []byte, err error) { got = fmt.Sprintf("%s %v", answer, err) })
		time.Sleep(time.Hour)
		synctest.Wait()
		executor.Close()
		system.Close()
		loop.Close()
	})
	return got, requests
}

func TestARequestIsMadeAgainWhileItsTaskRuns(t *testing.T) {
	silent := func(*Worker, func(*pb.OperatorResponse, error)) {}
	away := func(_ *Worker, reply func(*pb.OperatorResponse, error)) {
		reply(nil, fmt.Errorf("no connection to the JobMaster: %w", rpc.ErrUnreachable))
	}
	answer := func(_ *Worker, reply func(*pb.OperatorResponse, error)) {
		reply(&pb.OperatorResponse{Payload: []byte("split 7")}, nil)
	}
	refuse := func(_ *Worker, reply func(*pb.OperatorResponse, error)) { reply(nil, rpc.Refuse("no such task")) }
	ended := func(w *Worker, reply func(*pb.OperatorResponse, error)) {
		clear(w.tasks)
		away(w, reply)
	}
	for _, test := range []struct {
		name     string
		answers  []func(*Worker, func(*pb.OperatorResponse, error))
		want     string
		requests int
	}{
		{"answered", []func(*Worker, func(*pb.OperatorResponse, error)){answer}, "split 7 <nil>", 1},
		{"its answer is lost", []func(*Worker, func(*pb.OperatorResponse, error)){silent, answer}, "split 7 <nil>", 2},
		{"the JobMaster is away for a while", []func(*Worker, func(*pb.OperatorResponse, error)){away, away, silent, away, answer}, "split 7 <nil>", 5},
		{"refused", []func(*Worker, func(*pb.OperatorResponse, error)){refuse}, " no such task", 1},
		{"the task has ended", []func(*Worker, func(*pb.OperatorResponse, error)){away, ended},
			" call TaskExecutor/WorkerRequest of mem:taskmanager/taskexecutor: no connection to the JobMaster: unreachable", 2},
	} {
		if got, requests := asked(t, test.answers...); got != test.want || requests != test.requests {
			t.Errorf("%s: after %d requests %q, want %d and %q", test.name, requests, got, test.requests, test.want)
		}
	}
}

// A checkpoint is begun when the answers have been received that were given before
// it, and those before it have been begun; one that was given up, never.
func TestACheckpointWaitsForAnswers(t *testing.T) {
	op := ident.OperatorID{ID: ident.ID{1}}
	var r requests
	var begun []int64
	answer := map[int64]func(){}
	ask := func() *pb.OperatorRequest {
		request := &pb.OperatorRequest{}
		received := r.number(op, request, func([]byte, error) {})
		answer[request.Number] = func() { received(nil, nil) }
		return request
	}
	begin := func(checkpoint int64, numbers ...int64) {
		r.await(checkpoint, []*pb.GivenAnswers{{Operator: op.String(), Numbers: numbers}}, func() { begun = append(begun, checkpoint) })
	}
	want := func(want string) {
		t.Helper()
		if got := fmt.Sprint(begun); got != want {
			t.Errorf("begun %s, want %s", got, want)
		}
	}
	begin(1, 1)
	want("[1]") // of an earlier attempt's
	ask()
	ask()
	begin(2)
	want("[1 2]")
	begin(3, 1, 2)
	begin(4)
	answer[2]()
	want("[1 2]")
	if q := ask(); q.Number != 3 || q.Settled != 1 {
		t.Errorf("request %v", q)
	}
	answer[1]()
	want("[1 2 3 4]")
	if q := ask(); q.Number != 4 || q.Settled != 3 {
		t.Errorf("request %v", q)
	}
	begin(5, 3)
	begin(6, 4)
	r.giveUp(5)
	answer[4]()
	want("[1 2 3 4 6]")
}
