package rpc_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/rpctest"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// realHarness runs the conformance tests in real time.
func realHarness(process func(t testing.TB) (rpc.System, func())) rpctest.Harness {
	return rpctest.Harness{
		Process: process,
		Loop: func(t testing.TB, name string) actor.Loop {
			loop := actor.Start(name)
			t.Cleanup(loop.Close)
			return loop
		},
		Wait: func(t testing.TB, done <-chan struct{}) {
			t.Helper()
			select {
			case <-done:
			case <-time.After(30 * time.Second):
				t.Fatal("nothing came within 30s")
			}
		},
	}
}

func TestMemory(t *testing.T) {
	var processes atomic.Int64
	nets := map[testing.TB]*rpc.Memory{}
	rpctest.Run(t, realHarness(func(t testing.TB) (rpc.System, func()) {
		if nets[t] == nil {
			nets[t] = rpc.NewMemory()
		}
		sys := nets[t].System(fmt.Sprint("process", processes.Add(1)))
		t.Cleanup(sys.Close)
		return sys, sys.Close
	}))
}

func TestTCP(t *testing.T) {
	rpctest.Run(t, realHarness(func(t testing.TB) (rpc.System, func()) {
		sys := listen(t, "127.0.0.1:0")
		return sys, sys.Close
	}))
}

func TestUnix(t *testing.T) {
	dir := t.TempDir()
	var processes atomic.Int64
	rpctest.Run(t, realHarness(func(t testing.TB) (rpc.System, func()) {
		sys := listen(t, "unix:"+filepath.Join(dir, fmt.Sprint(processes.Add(1), ".sock")))
		return sys, sys.Close
	}))
}

func listen(t testing.TB, at string) *rpc.Server {
	t.Helper()
	sys, err := rpc.Listen(rpc.Options{Listen: at})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sys.Close)
	return sys
}
