//go:build unix

package hang

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/blob"
	"github.com/weirstream/weir/internal/cluster/master"
	"github.com/weirstream/weir/internal/cluster/taskmanager"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/logging"
	"github.com/weirstream/weir/internal/resourcemanager"
	"github.com/weirstream/weir/internal/status"
)

// enough heartbeats show that a loop goes on.
const enough = 25

// poll looks again and again until what it looks at is there.
func poll(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal(what)
		}
	}
}

// fifo makes a file whose opening hangs until the test ends.
func fifo(t *testing.T, path string) {
	t.Helper()
	// It has a second name, for when the first is removed.
	other := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(other, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(other, path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f, err := os.OpenFile(other, os.O_RDWR|syscall.O_NONBLOCK, 0)
		if err != nil {
			t.Error(err)
			return
		}
		_ = f.Close()
	})
}

// stuck is a log that nobody reads: after what a pipe holds, writing hangs.
func stuck(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	_ = w.SetWriteDeadline(time.Now())
	filler := make([]byte, 64<<10)
	for {
		if _, err := w.Write(filler); err != nil {
			break
		}
	}
	_ = w.SetWriteDeadline(time.Time{})
	return w
}

// A JobManager and a TaskManager, as a process each runs them, go on while the
// disks of both hang, their log is not read and the archive is never written.
func TestDisksThatHangStopNobody(t *testing.T) {
	t.Setenv(config.HomeVariable, t.TempDir())
	temp := t.TempDir()
	log, _, err := logging.Open(logging.Options{Stderr: stuck(t)})
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load("", []string{"jobmanager.rpc.port=0", "jobmanager.memory.process.size=1600m", "taskmanager.memory.process.size=1728m",
		"taskmanager.numberOfTaskSlots=4", "heartbeat.interval=20 ms", "heartbeat.timeout=1 min", "io.tmp.dirs=" + temp})
	if err != nil {
		t.Fatal(err)
	}
	archive := make(chan struct{})
	var archiving atomic.Int32
	m, err := master.Start(cfg, master.Options{Version: "test", Logger: log, Archive: func(execgraph.View) error {
		archiving.Add(1)
		<-archive
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	cfg, err = cfg.With("jobmanager.rpc.port", m.RPCAddress()[strings.LastIndex(m.RPCAddress(), ":")+1:])
	if err != nil {
		t.Fatal(err)
	}
	tm, err := taskmanager.Start(cfg, taskmanager.Options{Version: "test", Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	only := func() resourcemanager.View {
		all, err := m.TaskManagers(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 1 {
			return resourcemanager.View{}
		}
		return all[0]
	}
	poll(t, "the TaskManager never comes", func() bool { return only().Slots == 4 })

	// The program of one job hangs at the master, that of another at the
	// TaskManager, and a third has ended and is being archived for ever.
	store := filepath.Join(config.BlobDir(cfg), "jm-*")
	programs := filepath.Join(temp, "tm-*", "programs")
	for i, place := range []string{store, programs} {
		g := job(byte(10+i), false)
		h := blob.Hash(sha256.Sum256(fmt.Append(nil, "program ", i)))
		g.Artifact.SHA256 = h.String()
		dirs, err := filepath.Glob(place)
		if err != nil || len(dirs) != 1 {
			t.Fatalf("%s is %v, %v", place, dirs, err)
		}
		fifo(t, filepath.Join(dirs[0], h.String()))
		if err := m.Dispatcher().Submit(ctx, g); err != nil {
			t.Fatal(err)
		}
	}
	ended := job(20, false)
	ended.Artifact.SHA256 = ""
	if err := m.Dispatcher().Submit(ctx, ended); err != nil {
		t.Fatal(err)
	}
	if err := m.Dispatcher().Cancel(ctx, ended.Job); err != nil {
		t.Fatal(err)
	}
	poll(t, "nothing is archived", func() bool { return archiving.Load() == 1 })
	jobs := func() []execgraph.View {
		all, err := m.Dispatcher().Jobs(ctx)
		if err != nil || len(all) != 3 {
			t.Fatalf("%d jobs, error %v", len(all), err)
		}
		return slices.DeleteFunc(all, func(v execgraph.View) bool { return v.Job == ended.Job })
	}
	poll(t, "the tasks are not deployed", func() bool {
		return !slices.ContainsFunc(jobs(), func(v execgraph.View) bool { return v.Tasks()[status.Deploying] != 1 })
	})

	seen := only().LastHeartbeat
	for range enough {
		poll(t, "no heartbeat comes", func() bool { return only().LastHeartbeat.After(seen) })
		seen = only().LastHeartbeat
	}
	for _, v := range jobs() {
		if v.State != status.JobRunning || v.Tasks()[status.Deploying] != 1 {
			t.Errorf("job %s is %s with tasks %v, failures %v", v.Job, v.State, v.Tasks(), v.Failures)
		}
	}
	impatient, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	// Neither end waits for ever; both say what they did not wait for.
	if err := tm.Close(impatient, "the test is over"); err == nil {
		t.Error("the TaskManager ended, though its disk hangs")
	}
	if err := m.Close(impatient); err == nil {
		t.Error("the JobManager ended, though its archive hangs")
	}
	close(archive)
}
