package rest

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/fs/mem"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/jobmaster/rescale"
	"github.com/weirstream/weir/internal/program"
	"github.com/weirstream/weir/internal/resourcemanager"
	"github.com/weirstream/weir/internal/resourcemanager/slotmanager"
	"github.com/weirstream/weir/internal/status"
)

// epoch is the moment at which the jobs of the tests begin.
var epoch = time.UnixMilli(1_795_970_551_945)

// jobs is a Dispatcher of given jobs; submitted ones stay CREATED.
type jobs struct {
	views     []execgraph.View // the newest first
	submitted []*jobgraph.Graph
	required  []execgraph.Bounds // last
	err       error              // of every call, when set

	// savepoints are those that were asked for; each waits for hold, if that is set,
	// and fails with refusal.
	savepoints []jobmaster.Savepoint
	hold       chan struct{}
	refusal    error
	silent     bool // a coordinator has no answer
}

func (j *jobs) Submit(_ context.Context, g *jobgraph.Graph) error {
	for _, v := range j.views {
		if v.Job == g.Job {
			return &dispatcher.DuplicateError{Job: g.Job}
		}
	}
	if j.err != nil {
		return j.err
	}
	j.submitted = append(j.submitted, g)
	v := execgraph.View{Job: g.Job, Name: g.Name, State: status.JobCreated, Plan: g, Start: epoch}
	j.views = append([]execgraph.View{v}, j.views...)
	return nil
}

func (j *jobs) Request(ctx context.Context, id ident.JobID, operator ident.OperatorID, payload []byte) ([]byte, error) {
	if _, err := j.Job(ctx, id); err != nil {
		return nil, err
	}
	switch {
	case j.refusal != nil:
		return nil, j.refusal
	case j.silent:
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return append([]byte(operator.String()+" "), payload...), nil
}

func (j *jobs) Job(_ context.Context, id ident.JobID) (execgraph.View, error) {
	for _, v := range j.views {
		if v.Job == id {
			return v, j.err
		}
	}
	return execgraph.View{}, &dispatcher.NotFoundError{Job: id}
}

func (j *jobs) Jobs(context.Context) ([]execgraph.View, error) { return j.views, j.err }

func (j *jobs) Cancel(ctx context.Context, id ident.JobID) error {
	v, err := j.Job(ctx, id)
	if err == nil && v.State.GloballyTerminal() && v.State != status.JobCanceled {
		return &dispatcher.TerminatedError{Job: id, State: v.State}
	}
	return err
}

func (j *jobs) Checkpoint(ctx context.Context, id ident.JobID, full bool) (int64, error) {
	v, err := j.Job(ctx, id)
	if err != nil || v.State.GloballyTerminal() {
		return 0, &dispatcher.NotFoundError{Job: id}
	}
	return 45, nil
}

func (j *jobs) Require(ctx context.Context, id ident.JobID, wish map[ident.VertexID]execgraph.Bounds) error {
	v, err := j.Job(ctx, id)
	switch {
	case err != nil || v.State.GloballyTerminal():
		return &dispatcher.NotFoundError{Job: id}
	case v.Plan.Batch:
		return rescale.ErrBatch
	case v.Adaptive == nil:
		return rescale.ErrFixed
	case v.Adaptive.Settings.Reactive:
		return rescale.ErrReactive
	}
	bounds, wrong := rescale.Check(v.Plan, wish)
	if len(wrong) > 0 {
		return &rescale.RefusedError{Reasons: wrong}
	}
	j.required = bounds
	return nil
}

func (j *jobs) Savepoint(ctx context.Context, id ident.JobID, s jobmaster.Savepoint) (fs.Location, error) {
	v, err := j.Job(ctx, id)
	if err != nil || v.State.GloballyTerminal() {
		return "", &dispatcher.NotFoundError{Job: id}
	}
	if s.Target.Scheme() != "file" || s.Target.Parent() == "file:/proc" {
		return "", &checkpoint.Error{Reason: checkpoint.IOProblem, Cause: errors.New("failed to create savepoint directory at " + s.Target.String())}
	}
	j.savepoints = append(j.savepoints, s)
	if j.hold != nil {
		select {
		case <-j.hold:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
	return s.Target.Join("savepoint-1"), j.refusal
}

// managers is a ResourceManager of given TaskManagers.
type managers []resourcemanager.View

func (m managers) TaskManagers(context.Context) ([]resourcemanager.View, error) { return m, nil }

const manager = "localhost:35001-95a287"

func oneManager() managers {
	const mib = 1 << 20
	total := slotmanager.Profile{CPU: 2, TaskHeap: 383 * mib, Managed: 512 * mib, Network: 128 * mib}
	half := slotmanager.Profile{CPU: 1, TaskHeap: 191 * mib, Managed: 256 * mib, Network: 64 * mib}
	return managers{{
		ID: manager, RPCAddress: "127.0.0.1:35001", DataPort: 36119, LastHeartbeat: epoch, Slots: 2, Free: 1,
		Total: total, FreeResource: half, Allocated: []resourcemanager.AllocatedSlot{{Job: running, Profile: half}},
		Hardware:            resourcemanager.Hardware{CPUCores: 2, PhysicalMemory: 1 << 34, FreeMemory: 1 << 29, ManagedMemory: 1 << 29},
		MemoryConfiguration: []byte(`{"process":1811939328,"flink":1342177280,"frameworkHeap":134217728,"taskHeap":402653174,"network":134217730}`),
		LogFile:             "/log/weir-taskmanager-0-host.log",
		Process:             machine(),
	}}
}

// machine are the figures of a process, as a genuine Flink once gave them.
func machine() *status.ProcessFigures {
	return &status.ProcessFigures{
		HeapUsed: 46724312, HeapCommitted: 536870912, HeapMax: 536870912, NonHeapUsed: 57552912, NonHeapCommitted: 60424192, NonHeapMax: 738197504,
		Program: 42382160, ProgramMax: 268435456, BuffersTotal: 4096, BufferSize: 32 << 10, ManagedTotal: 536870920, CPU: 4350 * time.Millisecond,
		Goroutines: 45, Threads: 9, Collections: 6, CollectionTime: 63 * time.Millisecond, CollectionMillisPerSecond: 1.05,
		DescriptorsOpen: 88, DescriptorsMax: 20000,
	}
}

// id makes a job id out of a number.
func id(n byte) ident.JobID { return ident.JobID{ID: ident.ID{15: n}} }

func vertexID(n byte) ident.VertexID { return ident.VertexID{ID: ident.ID{0: 0xcb, 15: n}} }

// wordCount is a job of two vertices, with parallelism 2.
func wordCount(job ident.JobID) *jobgraph.Graph {
	data := ident.DataSetID{ID: ident.ID{1: 1}}
	source := &jobgraph.Vertex{
		ID: vertexID(1), Name: "Source: text -> words", Description: "Source: text<br/>+- words<br/>", Parallelism: 2, MaxParallelism: 128,
		Produces: []*jobgraph.DataSet{{ID: data, Type: jobgraph.Pipelined, Distribution: jobgraph.AllToAll, Consumer: vertexID(2)}},
	}
	count := &jobgraph.Vertex{
		ID: vertexID(2), Name: "count", Description: "count<br/>", Parallelism: 2, MaxParallelism: 128,
		Inputs: []*jobgraph.Edge{{DataSet: data, Source: vertexID(1), Distribution: jobgraph.AllToAll, Ship: "HASH"}},
	}
	return &jobgraph.Graph{
		Job: job, Name: "word count", Vertices: []*jobgraph.Vertex{source, count},
		Configuration: map[string]string{"parallelism.default": "2"},
	}
}

// world is a cluster with one TaskManager and a job of each sort.
type world struct {
	jobs   *jobs
	config map[string]string
	store  *program.Store
	files  fs.FileSystem
}

// The jobs of a world.
var (
	running   = id(0x11)
	finished  = id(0x12)
	failed    = id(0x13)
	cancelled = id(0x14)
	adaptive  = id(0x17)
	scheduled = id(0x15)
	batch     = id(0x16)
)

func newWorld() *world {
	return &world{jobs: &jobs{views: []execgraph.View{
		waitingView(scheduled), checkpointed(endedView(cancelled, status.JobCanceled, status.Canceled)), failedView(failed),
		endedView(finished, status.JobFinished, status.Finished), batchView(batch), checkpointed(runningView(running)),
	}}, config: map[string]string{}, files: fs.ByScheme{"mem": mem.New(time.Now)}}
}

// server serves the world; it stops with the test.
func (w *world) server(t testing.TB) *Server {
	t.Helper()
	c, err := config.New(w.config)
	if err != nil {
		t.Fatal(err)
	}
	if w.store == nil {
		if w.store, err = program.Open(t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	ids := rand.New(rand.NewPCG(1, 2))
	logs := func(name string) fstest.MapFS {
		return fstest.MapFS{name + ".log": {Data: []byte("level=INFO msg=started\n")}, name + ".out": {Data: nil}}
	}
	s := New(Options{
		Files: w.files, Config: c, Jobs: w.jobs, Ask: w.jobs.Request, TaskManagers: oneManager(), Process: machine, Programs: w.store, Planner: &program.Planner{Store: w.store},
		NewJobID: func() ident.JobID { return ident.JobID{ID: ident.New(ids)} },
		Logs:     logs("weir-jobmanager-0-host"), LogFile: "weir-jobmanager-0-host.log",
		OpenLogs: openLogs(logs("weir-taskmanager-0-host")),
		Version:  "0.1.0", Commit: "0123456789abcdef", Built: epoch, Now: func() time.Time { return epoch.Add(time.Minute) },
	})
	t.Cleanup(func() { s.Close() })
	return s
}

// ask sends one request and gives the answer.
func ask(t testing.TB, h http.Handler, method, target, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
