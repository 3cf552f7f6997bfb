package worker

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/metrics/process"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/shuffle/handshake"
	"github.com/weirstream/weir/internal/shuffle/network"
	"github.com/weirstream/weir/internal/streamgraph"
	"github.com/weirstream/weir/internal/task"
	"github.com/weirstream/weir/internal/worker/assignment"
)

// Describe leaves the job's graph at path, for the cluster to read, and what its
// operators keep, if that is asked for, and ends the process: what the program does after Execute belongs to a run.
func Describe(path string, c *streamgraph.Compiled) error {
	if err := os.WriteFile(path, c.Graph.Encode(), 0o600); err != nil {
		return fmt.Errorf("write the job graph: %w", err)
	}
	if states := os.Getenv(assignment.StatesVariable); states != "" {
		text, err := json.Marshal(task.Declare(c))
		if err == nil {
			err = os.WriteFile(states, text, 0o600)
		}
		if err != nil {
			return fmt.Errorf("write what the operators keep: %w", err)
		}
	}
	os.Exit(0)
	return nil
}

// Serve makes the process a job's worker, as text, the value of
// assignment.WorkerVariable, says. It ends the process when the TaskExecutor has
// told it to, or has died, which closes standard input. It returns only the
// error that kept it from starting.
func Serve(ctx context.Context, text string, c *streamgraph.Compiled, bufferTimeout time.Duration) error {
	a, err := assignment.Decode(text)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil)).With("job", a.Job.String())
	system, err := rpc.Listen(rpc.Options{Listen: a.Listen, Logger: log})
	if err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	handoff, err := net.ListenUnix("unix", &net.UnixAddr{Name: a.Handoff, Net: "unix"})
	if err != nil {
		system.Close()
		return fmt.Errorf("start worker: %w", err)
	}
	size := int64(a.BufferSize)
	if size == 0 {
		size = network.DefaultBufferSize
	}
	loop := actor.Start("worker")
	sampler := process.Start()
	w := New(Options{
		Loop: loop, System: system, TaskExecutor: rpc.Address{Process: a.TaskExecutor, Endpoint: gateway.TaskExecutor},
		Token: a.Token, PID: os.Getpid(), Job: a.Job, Resource: a.Resource, Cluster: a.Cluster, Compiled: c,
		Buffers: int(a.NetworkBytes / size), BufferSize: int(size), Share: shareOf(a.AllNetworkBytes/size, a.Slots, a.AllSlots), WriteBuffers: a.WriteBuffers,
		LimitMemory: limitMemory, Silence: time.Duration(a.SilenceMillis) * time.Millisecond, BufferTimeout: bufferTimeout, ManagedBytes: a.ManagedBytes, TempDirs: a.TempDirs, Process: sampler.Latest, Logger: log,
	})
	orphaned := make(chan struct{})
	go watchParent(orphaned) // these two end with the process
	go acceptPeers(handoff, w.shuffle, log)
	w.Start()
	select {
	case <-w.Done():
	case <-orphaned:
		select {
		case <-w.Done(): // it was told before, and ends in order
		default:
			os.Exit(1) // nobody is left to report to, and tasks may hang
		}
	case <-ctx.Done():
	}
	handoff.Close()
	sampler.Close()
	w.Close()
	loop.Close()
	system.Close()
	os.Exit(0)
	return nil
}

// watchParent reads standard input, which the TaskManager holds open as long as
// it lives.
func watchParent(orphaned chan<- struct{}) {
	buffer := make([]byte, 64)
	for {
		if _, err := os.Stdin.Read(buffer); err != nil {
			close(orphaned)
			return
		}
	}
}

// acceptPeers takes the connections that the TaskManager's data port hands on,
// until the listener is closed.
func acceptPeers(l *net.UnixListener, env *network.Environment, log *slog.Logger) {
	for {
		u, err := l.AcceptUnix()
		if err != nil {
			return
		}
		go receivePeers(u, env, log) // ends with u
	}
}

// receivePeers takes what comes over one connection of the data port.
func receivePeers(u *net.UnixConn, env *network.Environment, log *slog.Logger) {
	defer u.Close()
	for {
		peer, hello, err := handshake.ReceiveConn(u)
		switch {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			log.Warn("a peer's connection could not be taken over", "error", err)
			return
		}
		env.Serve(peer, hello)
	}
}
