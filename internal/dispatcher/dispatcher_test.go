package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// A master is a JobMaster that does what the script says.
type master struct {
	w     *world
	graph *jobgraph.Graph
	ended func(execgraph.View)
	view  execgraph.View
}

func (m *master) note(format string, args ...any) {
	m.w.notes = append(m.w.notes, m.graph.Name+": "+fmt.Sprintf(format, args...))
}

func (m *master) move(to status.Job) {
	m.note("%s", to)
	m.view.State = to
	m.view.Stamps[to] = m.w.loop.Now()
	if to.Terminal() {
		m.view.End = m.w.loop.Now()
		m.ended(m.view)
	}
}

func (m *master) Start() {
	m.note("started")
	m.move(status.JobRunning)
}

func (m *master) Cancel(then func(error)) {
	m.note("asked to cancel while %s", m.view.State)
	m.move(status.JobCancelling)
	then(nil)
}

func (m *master) TakeCheckpoint(full bool, then func(int64, error)) { then(7, nil) }

func (m *master) TakeSavepoint(s jobmaster.Savepoint, then func(fs.Location, error)) {
	m.note("a savepoint in %s", s.Target)
	then(s.Target.Join("savepoint-1"), nil)
}

func (m *master) Request(_ ident.OperatorID, payload []byte, then func([]byte, error)) {
	then(payload, nil)
}

func (m *master) Require(wish map[ident.VertexID]execgraph.Bounds, then func(error)) {
	m.note("wishes for %d vertices", len(wish))
	then(nil)
}

func (m *master) Close(then func()) {
	if !m.view.State.Terminal() {
		m.move(status.JobSuspended)
	}
	m.w.loop.After(time.Second, func() {
		m.note("has said goodbye")
		then()
	})
}

func (m *master) View() execgraph.View { return m.view }

type world struct {
	t          *testing.T
	loop       *actor.Real
	dispatcher *Dispatcher
	masters    map[string]*master
	notes      []string // what happened since the last command; touched on the loop
	begun      time.Time
}

func (w *world) create(graph *jobgraph.Graph, ended func(execgraph.View)) (JobMaster, error) {
	if strings.HasPrefix(graph.Name, "broken") {
		return nil, errors.New("no such coordinator")
	}
	m := &master{w: w, graph: graph, ended: ended}
	m.view = execgraph.View{Job: graph.Job, Name: graph.Name, State: status.JobCreated, Start: w.loop.Now(), Plan: graph}
	w.masters[graph.Name] = m
	return m, nil
}

func jobID(text string) ident.JobID {
	n, _ := strconv.Atoi(text)
	id := ident.JobID{}
	id.ID[15] = byte(n)
	return id
}

func graphOf(t *testing.T, d *datadriven.TestData) *jobgraph.Graph {
	var id, artifact string
	parallelism, maxParallelism := 1, 128
	d.MaybeScanArgs(t, "id", &id)
	d.MaybeScanArgs(t, "artifact", &artifact)
	d.MaybeScanArgs(t, "parallelism", &parallelism)
	d.MaybeScanArgs(t, "max", &maxParallelism)
	g := &jobgraph.Graph{Job: jobID(id), Name: d.CmdArgs[0].Key, Artifact: jobgraph.Artifact{SHA256: artifact}}
	if !d.HasArg("empty") {
		g.Vertices = []*jobgraph.Vertex{{Name: "Map", Parallelism: parallelism, MaxParallelism: maxParallelism}}
	}
	return g
}

func (w *world) run(d *datadriven.TestData) string {
	ctx := context.Background()
	var err error
	switch d.Cmd {
	case "submit":
		err = w.dispatcher.Submit(ctx, graphOf(w.t, d))
	case "cancel":
		err = w.dispatcher.Cancel(ctx, jobID(d.CmdArgs[0].Key))
	case "move":
		state, _ := status.ParseJob(d.CmdArgs[1].Key)
		_, err = actor.Query(ctx, w.loop, func() bool { w.masters[d.CmdArgs[0].Key].move(state); return true })
	case "wait":
		go func() {
			v, err := w.dispatcher.Wait(ctx, jobID(d.CmdArgs[0].Key))
			w.loop.Post(func() { w.notes = append(w.notes, fmt.Sprintf("wait ended: %s, error %v", v.State, err)) })
		}()
	case "tick":
		by, _ := time.ParseDuration(d.CmdArgs[0].Key)
		time.Sleep(by)
	case "close":
		err = w.dispatcher.Close(ctx)
	case "jobs":
		return w.list()
	}
	synctest.Wait()
	notes, _ := actor.Query(ctx, w.loop, func() []string {
		notes := w.notes
		w.notes = nil
		return notes
	})
	if err != nil {
		notes = append(notes, "error: "+err.Error())
	}
	if len(notes) == 0 {
		return "ok\n"
	}
	return strings.Join(notes, "\n") + "\n"
}

// archive takes five seconds to write a job down.
func (w *world) archive(v execgraph.View, then func()) {
	w.notes = append(w.notes, fmt.Sprintf("%s is being archived as %s", v.Name, v.State))
	w.loop.After(5*time.Second, func() {
		w.notes = append(w.notes, v.Name+" is archived")
		then()
	})
}

func (w *world) list() string {
	views, err := w.dispatcher.Jobs(context.Background())
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, v := range views {
		fmt.Fprintf(&b, "%s %s since %s", v.Name, v.State, v.Start.Sub(w.begun))
		for _, f := range v.Failures {
			fmt.Fprintf(&b, " (%s)", f.Failure)
		}
		b.WriteByte('\n')
	}
	counts, _ := w.dispatcher.Counts(context.Background())
	for _, s := range status.Jobs() {
		if counts[s] > 0 {
			fmt.Fprintf(&b, "%s: %d\n", s, counts[s])
		}
	}
	return b.String()
}

// Each script is one Dispatcher's life. move NAME STATE is what the job's
// JobMaster does by itself.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		synctest.Test(t, func(t *testing.T) {
			w := &world{t: t, loop: actor.StartSeeded("dispatcher", 1), masters: map[string]*master{}, begun: time.Now()}
			defer w.loop.Close()
			o := Options{
				Loop: w.loop, NewJobMaster: w.create,
				ReleaseArtifact: func(sha string, then func()) { w.notes = append(w.notes, "artifact released: "+sha); then() },
				Finished:        StoreOptions{MaxCapacity: 3, Expiration: time.Hour},
			}
			if filepath.Base(path) == "archive.txt" {
				o.Archive = w.archive
			}
			w.dispatcher = New(o)
			datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string { return w.run(d) })
		})
	})
}

func TestStoreBoundsItsMemory(t *testing.T) {
	s := newStore(StoreOptions{MaxCapacity: 100, MaxBytes: 3 * (2048 + 1024 + 640)})
	for i := range 5 {
		v := execgraph.View{Job: jobID(strconv.Itoa(i + 1)), Vertices: []*execgraph.VertexView{{Subtasks: make([]execgraph.SubtaskView, 1)}}}
		s.put(v)
	}
	if s.len() != 3 || s.bytes != s.options.MaxBytes {
		t.Errorf("%d jobs of %d bytes", s.len(), s.bytes)
	}
	if _, ok := s.get(jobID("1")); ok {
		t.Error("the job that ended first is still there")
	}
	large := execgraph.View{Job: jobID("9"), Vertices: []*execgraph.VertexView{{Subtasks: make([]execgraph.SubtaskView, 1000)}}}
	s.put(large)
	if _, ok := s.get(large.Job); !ok || s.len() != 1 {
		t.Errorf("after a large job: %d jobs, the large one there: %v", s.len(), ok)
	}
}

func TestNobodyIsLeftWaiting(t *testing.T) {
	w := &world{t: t, loop: actor.Start("dispatcher"), masters: map[string]*master{}}
	defer w.loop.Close()
	w.dispatcher = New(Options{Loop: w.loop, NewJobMaster: w.create, Finished: StoreOptions{MaxCapacity: 1}})
	graph := &jobgraph.Graph{Job: jobID("1"), Name: "a", Vertices: []*jobgraph.Vertex{{Parallelism: 1, MaxParallelism: 1}}}
	if err := w.dispatcher.Submit(t.Context(), graph); err != nil {
		t.Fatal(err)
	}
	impatient := errors.New("impatient")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(impatient)
	if _, err := w.dispatcher.Wait(ctx, graph.Job); !errors.Is(err, impatient) {
		t.Errorf("wait: %v", err)
	}
	waiting, err := actor.Query(t.Context(), w.loop, func() int { return len(w.dispatcher.find(graph.Job).waiters) })
	if waiting != 0 || err != nil {
		t.Errorf("%d still wait, error %v", waiting, err)
	}
	var notFound *NotFoundError
	if _, err := w.dispatcher.Wait(t.Context(), jobID("7")); !errors.As(err, &notFound) {
		t.Errorf("wait for an unknown job: %v", err)
	}
}

func TestARetainedArtifactStays(t *testing.T) {
	released := make(chan string, 2)
	w := &world{t: t, loop: actor.Start("dispatcher"), masters: map[string]*master{}}
	defer w.loop.Close()
	w.dispatcher = New(Options{Loop: w.loop, NewJobMaster: w.create, ReleaseArtifact: func(sha string, then func()) { released <- sha; then() }})
	giveBack, err := w.dispatcher.Retain(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	graph := &jobgraph.Graph{Job: jobID("1"), Name: "a", Artifact: jobgraph.Artifact{SHA256: "p"},
		Vertices: []*jobgraph.Vertex{{Parallelism: 1, MaxParallelism: 1}}}
	if err := w.dispatcher.Submit(t.Context(), graph); err != nil {
		t.Fatal(err)
	}
	_, err = actor.Query(t.Context(), w.loop, func() bool { w.masters["a"].move(status.JobFinished); return true })
	if len(released) > 0 || err != nil {
		t.Errorf("released while retained, error %v", err)
	}
	giveBack()
	if sha := <-released; sha != "p" {
		t.Errorf("released %q", sha)
	}
}

// A disk may be slow to delete. Who puts an artifact there again meanwhile must not find it
// there, and lose it then.
func TestAnArtifactThatIsBeingReleasedIsNotRetained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var deleted []func()
		w := &world{t: t, loop: actor.StartSeeded("dispatcher", 1), masters: map[string]*master{}}
		defer w.loop.Close()
		w.dispatcher = New(Options{Loop: w.loop, NewJobMaster: w.create, ReleaseArtifact: func(_ string, then func()) { deleted = append(deleted, then) }})
		giveBack, err := w.dispatcher.Retain(t.Context(), "p")
		if err != nil {
			t.Fatal(err)
		}
		giveBack()
		synctest.Wait()
		impatient, cancel := context.WithCancel(t.Context())
		retained := make(chan error, 2)
		for _, ctx := range []context.Context{impatient, t.Context()} {
			go func() {
				_, err := w.dispatcher.Retain(ctx, "p")
				retained <- err
			}()
		}
		synctest.Wait()
		cancel()
		if err := <-retained; !errors.Is(err, context.Canceled) {
			t.Errorf("who gave up is told %v", err)
		}
		synctest.Wait()
		if len(retained) > 0 || len(deleted) != 1 {
			t.Fatalf("retained while it is being deleted %d times", len(deleted))
		}
		w.loop.Post(deleted[0])
		if err := <-retained; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if len(deleted) != 1 || w.dispatcher.artifacts["p"] != 1 {
			t.Errorf("deleted %d times, %d need it", len(deleted), w.dispatcher.artifacts["p"])
		}
	})
}
