package taskexecutor

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// times tells when each of the first n calls came, since the beginning.
type times struct {
	begun time.Time
	at    []string
}

func (t *times) note(n int) {
	if len(t.at) < n {
		t.at = append(t.at, time.Since(t.begun).Truncate(time.Millisecond).String())
	}
}

func (t *times) String() string { return strings.Join(t.at, " ") }

// pass lets virtual time go by, with all that falls due in it.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// The ResourceManager is sought anew at once where it does not answer, each time
// with twice the patience, and after a long pause where it refuses.
func TestHowTheResourceManagerIsSought(t *testing.T) {
	for what, c := range map[string]struct {
		answer func(func(*pb.RegisterTaskExecutorResponse, error))
		want   string
	}{
		"silent":  {func(func(*pb.RegisterTaskExecutorResponse, error)) {}, "0s 100ms 300ms 700ms 1.5s 3.1s 6.3s 12.7s 25.5s 51.1s 1m21.1s 1m51.1s"},
		"refuses": {func(reply func(*pb.RegisterTaskExecutorResponse, error)) { reply(nil, rpc.Refuse("not now")) }, "0s 30s 1m0s 1m30s 2m0s 2m30s 3m0s 3m30s 4m0s 4m30s"},
	} {
		inWorld(t, func(w *world) {
			seen := times{begun: time.Now()}
			mux := &rpc.Mux{}
			rpc.Handle(mux, gateway.RegisterTaskExecutor, func(_ *pb.RegisterTaskExecutorRequest, reply func(*pb.RegisterTaskExecutorResponse, error)) {
				seen.note(12)
				c.answer(reply)
			})
			w.master.Withdraw(gateway.ResourceManager)
			w.master.Serve(gateway.ResourceManager, w.loop, mux)
			w.on(w.e.Start)
			pass(4*time.Minute + 59*time.Second)
			w.on(func() {
				if seen.String() != c.want || w.fatal != nil {
					t.Errorf("%s: asked at %s, want %s; %v", what, &seen, c.want, w.fatal)
				}
			})
			pass(2 * time.Second)
			w.on(func() { w.refused(w.fatal, "within 5m0s") })
		})
	}
}

// A slot report that is refused makes the registration void: it is made again
// at once.
func TestReportIsRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		seen := times{begun: time.Now()}
		mux := &rpc.Mux{}
		rpc.Handle(mux, gateway.RegisterTaskExecutor, func(_ *pb.RegisterTaskExecutorRequest, reply func(*pb.RegisterTaskExecutorResponse, error)) {
			seen.note(9)
			reply(&pb.RegisterTaskExecutorResponse{InstanceId: fmt.Sprint(len(seen.at)), ResourceManagerId: w.term.String()}, nil)
		})
		rpc.Handle(mux, gateway.SendSlotReport, func(req *pb.SendSlotReportRequest, reply func(*pb.Empty, error)) {
			if req.InstanceId != "4" {
				reply(nil, rpc.Refuse("no instance %s", req.InstanceId))
				return
			}
			reply(&pb.Empty{}, nil)
		})
		rpc.Handle(mux, gateway.DisconnectTaskExecutor, func(*pb.DisconnectTaskExecutorRequest, func(*pb.Empty, error)) {})
		w.master.Withdraw(gateway.ResourceManager)
		w.master.Serve(gateway.ResourceManager, w.loop, mux)
		w.on(w.e.Start)
		pass(10 * time.Second)
		w.on(func() {
			if want := "0s 10ms 30ms 80ms"; seen.String() != want || !w.e.master.registered() {
				t.Errorf("registered at %s, want %s", &seen, want)
			}
		})
	})
}
