//go:build unix

package hang

import (
	"context"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/blob"
	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/coordinator/files"
	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/resourcemanager"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/taskexecutor"
	"github.com/weirstream/weir/internal/taskexecutor/process"
	"github.com/weirstream/weir/internal/taskexecutor/slottable"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// outside is where all work beside loops waits until it may go on.
type outside struct {
	goOn chan struct{}
	mu   sync.Mutex // guards asked
	from map[string]int
}

// loop is a real one whose work beside it hangs.
type loop struct {
	*actor.Real
	outside *outside
}

func (l *loop) Go(work func(), then func()) {
	l.outside.mu.Lock()
	l.outside.from[l.Name()]++
	l.outside.mu.Unlock()
	l.Real.Go(func() {
		<-l.outside.goOn
		work()
	}, then)
}

// A bench is a cluster with a loop for each endpoint.
type bench struct {
	outside                                   *outside
	dispatching, managing, executing, serving *loop
	master, worker                            *rpc.MemorySystem
	manager                                   *resourcemanager.Manager
	dispatcher                                *dispatcher.Dispatcher
	executor                                  *taskexecutor.Executor
}

func start(t *testing.T) *bench {
	b := &bench{outside: &outside{goOn: make(chan struct{}), from: map[string]int{}}}
	for name, l := range map[string]**loop{"dispatcher and JobMasters": &b.dispatching, "ResourceManager": &b.managing, "TaskExecutor": &b.executing, "blobs": &b.serving} {
		*l = &loop{actor.StartSeeded(name, 1), b.outside}
	}
	net := rpc.NewMemory()
	b.master, b.worker = net.System("jobmanager"), net.System("taskmanager")
	b.manager = resourcemanager.New(resourcemanager.Options{Loop: b.managing, System: b.master})
	rm := rpc.Address{Process: b.master.Self(), Endpoint: gateway.ResourceManager}
	b.dispatcher = dispatcher.New(dispatcher.Options{
		Loop: b.dispatching, Finished: dispatcher.StoreOptions{MaxCapacity: 10},
		Archive: func(_ execgraph.View, then func()) { b.dispatching.Go(func() {}, then) },
		NewJobMaster: dispatcher.JobMasters(jobmaster.Options{Loop: b.dispatching, System: b.master, ResourceManager: rm,
			Coordinators: coordinator.Kinds{files.Kind: files.Factory(func(string) ([]files.Found, error) { return nil, errors.New("no such file") })}}),
	})
	store, err := blob.NewStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	fetcher := blob.NewFetcher(b.worker, b.executing, store)
	b.executor = taskexecutor.New(taskexecutor.Options{
		Loop: b.executing, System: b.worker, ResourceManager: rm, ResourceID: "tm", Slots: 3, Total: slottable.Profile{CPU: 3}, DataAddresses: []string{"unix:tm"},
		Launcher: process.New(process.Options{Loop: b.executing, Directory: t.TempDir(), TaskExecutor: b.worker.Self(), Resource: "tm",
			Fetch: func(program blob.Hash, then func(string, error)) { fetcher.Fetch(b.master.Self(), program, then) }}),
	})
	b.managing.Post(b.manager.Start)
	b.serving.Post(func() { blob.Serve(b.master, b.serving, store) })
	synctest.Wait()
	b.executing.Post(b.executor.Start)
	synctest.Wait() // its slots are known: this ResourceManager refuses what it cannot give at once
	return b
}

// job has one task and, if asked, a coordinator that lists files.
func job(id byte, lists bool) *jobgraph.Graph {
	r := rand.New(rand.NewPCG(uint64(id), 1))
	o := &jobgraph.Operator{ID: ident.OperatorID{ID: ident.New(r)}, Name: "op", Digest: "d"}
	if lists {
		o.Coordinator = &jobgraph.Coordinator{Kind: files.Kind, Spec: `{"patterns":["/data/*"]}`}
	}
	return &jobgraph.Graph{Job: ident.JobID{ID: ident.ID{id}}, Name: "job", Artifact: jobgraph.Artifact{Name: "job", SHA256: blob.Hash(sha256.Sum256([]byte("program"))).String()},
		Vertices: []*jobgraph.Vertex{{ID: ident.VertexID{ID: ident.New(r)}, Name: "Vertex", Parallelism: 1, MaxParallelism: 1, SlotSharingGroup: "default",
			Operators: []*jobgraph.Operator{o}}}}
}

// All work beside the loops hangs for an hour, which is 72 times the heartbeats'
// time-out, and nobody is taken for dead.
func TestWorkThatHangsStopsNoLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		ctx := t.Context()
		deploys, lists, ends := job(1, false), job(2, true), job(3, false)
		for _, g := range []*jobgraph.Graph{deploys, lists, ends} {
			if err := b.dispatcher.Submit(ctx, g); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		if err := b.dispatcher.Cancel(ctx, ends.Job); err != nil {
			t.Fatal(err)
		}
		b.executing.Post(func() { // a program that is asked for again and again, as its chunks are
			for range 20 {
				gateway.ReadBlob.Call(b.worker, b.executing, rpc.Address{Process: b.master.Self(), Endpoint: gateway.Blob}, ident.LeaderID{},
					&pb.ReadBlobRequest{Sha256: deploys.Artifact.SHA256}, 2*time.Hour, func(*pb.ReadBlobResponse, error) {})
			}
		})
		var term ident.LeaderID
		for range 60 {
			time.Sleep(time.Minute)
			began := time.Now()
			jobs, err := b.dispatcher.Jobs(ctx)
			if err != nil || len(jobs) != 3 {
				t.Fatalf("%d jobs, error %v", len(jobs), err)
			}
			for _, v := range jobs {
				want := status.JobRunning
				if v.Job == ends.Job {
					want = status.JobCanceled
				}
				if v.State != want || len(v.Failures) > 0 {
					t.Fatalf("job %s is %s, want %s; failures: %v", v.Job, v.State, want, v.Failures)
				}
			}
			managers, err := actor.Query(ctx, b.managing, b.manager.TaskManagers)
			if err != nil || len(managers) != 1 || time.Since(managers[0].LastHeartbeat) > 10*time.Second {
				t.Fatalf("TaskManagers %+v, error %v", managers, err)
			}
			at, err := actor.Query(ctx, b.executing, b.executor.View)
			if err != nil || term != (ident.LeaderID{}) && at.ResourceManager != term {
				t.Fatalf("the TaskManager is registered at %s and was at %s, error %v", at.ResourceManager, term, err)
			}
			term = at.ResourceManager
			if connected := slices.IndexFunc(at.Jobs, func(j taskexecutor.JobView) bool { return !j.Connected }) < 0; !connected || len(at.Jobs) != 2 || at.Workers == 0 {
				t.Fatalf("the TaskManager has jobs %+v and %d workers", at.Jobs, at.Workers)
			}
			if _, err := actor.Query(ctx, b.serving, func() bool { return true }); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took != 0 {
				t.Fatalf("the answers took %s", took)
			}
		}
		b.outside.mu.Lock()
		for _, name := range []string{"dispatcher and JobMasters", "TaskExecutor", "blobs"} {
			if b.outside.from[name] == 0 {
				t.Errorf("nothing hung at the %s", name)
			}
		}
		b.outside.mu.Unlock()
		b.close(t)
	})
}

// close lets what hangs go on and ends everything.
func (b *bench) close(t *testing.T) {
	close(b.outside.goOn)
	synctest.Wait()
	ctx := context.Background()
	if err := b.dispatcher.Close(ctx); err != nil {
		t.Error(err)
	}
	_, err := actor.Ask(ctx, b.executing, func(reply func(bool)) { b.executor.Stop("the test is over", func() { reply(true) }) })
	if err != nil {
		t.Error(err)
	}
	b.managing.Post(b.manager.Stop)
	synctest.Wait()
	b.master.Close()
	b.worker.Close()
	for _, l := range []*loop{b.dispatching, b.managing, b.executing, b.serving} {
		l.Close()
	}
}
