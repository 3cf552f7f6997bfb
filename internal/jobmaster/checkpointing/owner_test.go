package checkpointing

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/fs/faulty"
	"github.com/weirstream/weir/internal/fs/mem"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/storage"
	"github.com/weirstream/weir/internal/status"
)

// A loop runs callbacks when the test says so, and its clock stands still between.
type loop struct {
	now    time.Time
	queue  []func()
	timers []*timer
	rand   *rand.Rand
}

type timer struct {
	at      time.Time
	f       func()
	stopped bool
}

func (t *timer) Stop() { t.stopped = true }

func (l *loop) Post(f func()) { l.queue = append(l.queue, f) }

func (l *loop) After(d time.Duration, f func()) actor.Timer {
	t := &timer{at: l.now.Add(d), f: f}
	l.timers = append(l.timers, t)
	return t
}

func (l *loop) Go(work func(), then func()) { l.Post(func() { work(); then() }) }

func (l *loop) Now() time.Time { return l.now }

func (l *loop) Rand() *rand.Rand { return l.rand }

// settle runs what was posted.
func (l *loop) settle() {
	for len(l.queue) > 0 {
		f := l.queue[0]
		l.queue = l.queue[1:]
		f()
	}
}

// pass lets time pass.
func (l *loop) pass(d time.Duration) {
	end := l.now.Add(d)
	for {
		l.settle()
		l.timers = slices.DeleteFunc(l.timers, func(t *timer) bool { return t.stopped })
		slices.SortStableFunc(l.timers, func(a, b *timer) int { return a.at.Compare(b.at) })
		if len(l.timers) == 0 || l.timers[0].at.After(end) {
			break
		}
		t := l.timers[0]
		l.timers = l.timers[1:]
		l.now = t.at
		t.f()
	}
	l.now = end
}

// A world is an owner whose one task acknowledges every checkpoint at once, with a
// file.
type world struct {
	t     *testing.T
	loop  *loop
	disk  *faulty.FileSystem
	store Store
	graph *jobgraph.Graph
	owner *Owner
	log   bytes.Buffer

	attempt   ident.AttemptID
	declines  bool
	completed []int64
	restored  []checkpoint.Restore
	failures  []*status.Failure
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, loop: &loop{now: time.Unix(1000, 0), rand: rand.New(rand.NewPCG(1, 2))}}
	w.disk = faulty.New(mem.New(func() time.Time { return w.loop.now }))
	w.store = &Memory{}
	v := &jobgraph.Vertex{ID: ident.VertexID{ID: ident.ID{7}}, Name: "source", Parallelism: 1, MaxParallelism: 128,
		Operators: []*jobgraph.Operator{{ID: ident.OperatorID{ID: ident.ID{7}}, Name: "source", Coordinator: &jobgraph.Coordinator{Kind: "test"}}}}
	w.graph = &jobgraph.Graph{Job: ident.JobID{ID: ident.ID{0xab, 0xcd, 0xef}}, Name: "job", Vertices: []*jobgraph.Vertex{v}}
	w.attempt = ident.AttemptID{Vertex: v.ID}
	return w
}

// begin gives the job a JobMaster.
func (w *world) begin(change func(*checkpoint.Options)) {
	opts := checkpoint.Options{
		Interval: 10 * time.Second, FirstDelay: time.Second, Timeout: time.Minute, MaxConcurrent: 1, Retained: 2, Tolerable: 3,
		Directory: "mem:/ckpt", ExactlyOnce: true, AfterFinish: true, History: 10,
	}
	if change != nil {
		change(&opts)
	}
	w.owner = New(Options{
		Loop: w.loop, Core: checkpoint.New(opts, w.graph), Job: w.graph.Job, Disk: storage.Disk{Files: w.disk}, Store: w.store, Tasks: w,
		Log: slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{ReplaceAttr: withoutTime})),
	})
	w.owner.Recover(nil)
	w.loop.settle()
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// run lets the task run.
func (w *world) run() {
	w.owner.Apply(checkpoint.JobStatus{State: status.JobRunning})
	w.owner.Apply(checkpoint.TaskStatus{Attempt: w.attempt, State: status.Running})
}

func (w *world) Trigger(e checkpoint.TriggerTasks) {
	w.loop.Post(func() {
		if w.declines {
			w.owner.Apply(checkpoint.Decline{Checkpoint: e.Checkpoint, Attempt: w.attempt, Reason: checkpoint.Declined})
			return
		}
		data := fmt.Appendf(nil, "state of checkpoint %d", e.Checkpoint)
		h := snapshot.Handle{Location: e.Dir.Join("state"), Length: int64(len(data)), Checksum: snapshot.Checksum(data)}
		if err := fs.WriteFile(context.Background(), w.disk, h.Location, data); err != nil {
			w.owner.Apply(checkpoint.Decline{Checkpoint: e.Checkpoint, Attempt: w.attempt, Reason: checkpoint.AsyncFailure, Err: err})
			return
		}
		state := snapshot.SubtaskState{Keyed: []snapshot.KeyedState{{Last: 127, Files: []snapshot.KeyedFile{{Handle: h}}}}}
		w.owner.Apply(checkpoint.Ack{Checkpoint: e.Checkpoint, Attempt: w.attempt, States: []checkpoint.TaskState{{Operator: w.graph.Vertices[0].Operators[0].ID, State: state}}})
	})
}

func (w *world) SnapshotCoordinators(_ int64, operators []ident.OperatorID, then func(ident.OperatorID, snapshot.Handle, error)) {
	state := []byte("splits")
	for _, o := range operators {
		then(o, snapshot.Handle{Inline: state, Length: int64(len(state)), Checksum: snapshot.Checksum(state)}, nil)
	}
}

func (w *world) Complete(e checkpoint.NotifyComplete) {
	w.completed = append(w.completed, e.Checkpoint)
}

func (w *world) Abort(checkpoint.NotifyAborted) {}

func (w *world) Restore(e checkpoint.Restore) { w.restored = append(w.restored, e) }

func (w *world) FailJob(f *status.Failure) { w.failures = append(w.failures, f) }

func (w *world) FailTask(_ ident.AttemptID, f *status.Failure) { w.failures = append(w.failures, f) }

// files lists what is on the disk.
func (w *world) files() string {
	entries, err := w.disk.List(context.Background(), "mem:/")
	if err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.Replace(e.Location.Path(), w.graph.Job.String(), "JOB", 1))
	}
	return strings.Join(names, " ")
}

func (w *world) want(what, got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s: %s\nwant %s", what, got, want)
	}
}

func (w *world) logged(want string) {
	w.t.Helper()
	if !strings.Contains(w.log.String(), want) {
		w.t.Errorf("%q is not in the log:\n%s", want, w.log.String())
	}
}

func TestCheckpointsAreWrittenAndDeleted(t *testing.T) {
	w := newWorld(t)
	w.begin(nil)
	w.run()
	w.loop.pass(22 * time.Second)
	w.want("files", w.files(), "/ckpt/JOB/chk-2/_metadata /ckpt/JOB/chk-2/state /ckpt/JOB/chk-3/_metadata /ckpt/JOB/chk-3/state")
	w.want("completed", fmt.Sprint(w.completed), "[1 2 3]")
	if v := w.owner.View(); v.Counts.Completed != 3 || v.Completed.ID != 3 || !v.History[2].Discarded {
		t.Errorf("shown: %+v", v.Counts)
	}
	m, _, err := storage.Read(t.Context(), w.disk, w.owner.View().Completed.Location)
	if err != nil || storage.Verify(t.Context(), w.disk, m, true) != nil || string(m.Operators[0].Coordinator.Inline) != "splits" {
		t.Errorf("the newest one: %+v, %v", m, err)
	}
	w.owner.Apply(checkpoint.JobStatus{State: status.JobFinished})
	w.loop.settle()
	if !w.owner.Quiet() {
		t.Error("something is under way")
	}
	w.want("after the end", w.files(), "")
	w.store.All(func(left []checkpoint.Pointer, _ error) {
		if len(left) > 0 {
			t.Errorf("in the store: %v", left)
		}
	})
}

func TestSavepoint(t *testing.T) {
	w := newWorld(t)
	w.begin(nil)
	w.run()
	var answers []checkpoint.Answer
	ask := func(target fs.Location) {
		w.owner.Ask(checkpoint.Request{Kind: snapshot.Savepoint, Target: target}, func(a checkpoint.Answer) { answers = append(answers, a) })
		w.loop.settle()
	}
	ask("mem:/sp")
	ask("s3://bucket/sp")
	if len(answers) != 2 || answers[0].Err != nil || !strings.HasPrefix(answers[0].Location.String(), "mem:/sp/savepoint-abcdef-") || len(answers[0].Location.Base()) != len("savepoint-abcdef-123456789012") {
		t.Fatalf("answers %+v", answers)
	}
	if err := answers[1].Err; err == nil || !strings.Contains(err.Error(), "failed to create savepoint directory at s3://bucket/sp: create s3://bucket/sp/savepoint-abcdef-") {
		t.Errorf("into nowhere: %v", err)
	}
	w.owner.Apply(checkpoint.JobStatus{State: status.JobFinished})
	w.loop.settle()
	if m, _, err := storage.Read(t.Context(), w.disk, answers[0].Location); err != nil || m.Kind != snapshot.Savepoint {
		t.Errorf("after the job's end: %v", err)
	}
}

// A full disk is counted, named with its free bytes, and the job goes on.
func TestFullDisk(t *testing.T) {
	w := newWorld(t)
	w.begin(nil)
	w.run()
	w.loop.pass(2 * time.Second)
	w.disk.Limit(3)
	w.loop.pass(10 * time.Second)
	w.disk.Limit(30)
	w.loop.pass(10 * time.Second)
	w.disk.Limit(-1)
	w.loop.pass(10 * time.Second)
	w.want("completed", fmt.Sprint(w.completed), "[1 4]")
	w.logged(`msg="checkpoint failed" checkpoint=2 error="Asynchronous task checkpoint failed.: write mem:/ckpt/`)
	w.logged("/chk-2/state (0 bytes free): no space left")
	w.logged(`msg="checkpoint failed" checkpoint=3 error="Failure to finalize checkpoint.: write the metadata of checkpoint 3: write mem:/ckpt/`)
	w.want("files", w.files(), "/ckpt/JOB/chk-1/_metadata /ckpt/JOB/chk-1/state /ckpt/JOB/chk-4/_metadata /ckpt/JOB/chk-4/state")
	if len(w.failures) > 0 {
		t.Errorf("the job failed: %v", w.failures)
	}
}

// damage changes what a file holds.
func (w *world) damage(name string, change func([]byte) []byte) {
	w.t.Helper()
	at := fs.Location("mem:/ckpt").Join(w.graph.Job.String(), name)
	data, err := fs.ReadFile(context.Background(), w.disk, at, 1<<20)
	if err == nil {
		err = w.disk.Delete(context.Background(), at)
	}
	if data = change(data); err == nil && data != nil {
		err = fs.WriteFile(context.Background(), w.disk, at, data)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// A new JobMaster restores the newest that can be read, and never begins empty.
func TestRecovery(t *testing.T) {
	flip := func(data []byte) []byte { data[30] ^= 1; return data }
	gone := func([]byte) []byte { return nil }
	for _, c := range []struct {
		name     string
		damage   func(w *world)
		restored int64 // 0: nothing is
		log      string
	}{
		{"whole", func(*world) {}, 2, ""},
		{"metadata damaged", func(w *world) { w.damage("chk-2/_metadata", flip) }, 1, "chk-2/_metadata at byte 24: it is damaged"},
		{"state missing", func(w *world) { w.damage("chk-2/state", gone) }, 1, "chk-2/state at byte 0: the file is missing"},
		{"state cut short", func(w *world) { w.damage("chk-2/state", func(d []byte) []byte { return d[:5] }) }, 1, "chk-2/state at byte 5: the file has 5 bytes, want 21"},
		{"all damaged", func(w *world) { w.damage("chk-1/state", gone); w.damage("chk-2/_metadata", gone) }, 0, "Cannot find meta data file '_metadata' in directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.begin(nil)
			w.run()
			w.loop.pass(12 * time.Second)
			w.owner.Apply(checkpoint.JobStatus{State: status.JobSuspended})
			w.loop.settle()
			c.damage(w)
			w.restored = nil
			w.begin(nil)
			w.logged(c.log)
			if c.restored == 0 {
				if len(w.restored) > 0 || len(w.failures) != 1 || !w.failures[0].Fatal {
					t.Fatalf("restored %v, failures %v", w.restored, w.failures)
				}
				return
			}
			if len(w.restored) != 1 || w.restored[0].Checkpoint != c.restored {
				t.Fatalf("restored %+v", w.restored)
			}
			if c.log != "" {
				w.logged(`level=ERROR msg="an older checkpoint is restored, because newer ones cannot be read" checkpoint=1`)
			}
			state := w.restored[0].Assignment.Operators[0].Subtasks[0]
			data, err := storage.Bytes(t.Context(), w.disk, state.Keyed[0].Files[0].Handle)
			if err != nil || string(data) != fmt.Sprintf("state of checkpoint %d", c.restored) {
				t.Errorf("%q, %v", data, err)
			}
			w.run()
			w.loop.pass(2 * time.Second)
			if w.owner.View().Completed == nil || w.owner.View().Completed.ID != 3 {
				t.Errorf("the next one is %+v", w.owner.View().Completed)
			}
		})
	}
}

func TestTooManyFailures(t *testing.T) {
	w := newWorld(t)
	w.begin(func(o *checkpoint.Options) { o.Tolerable = 1 })
	w.run()
	w.declines = true
	w.loop.pass(12 * time.Second)
	if len(w.failures) != 1 || w.failures[0].Error() != "Exceeded checkpoint tolerable failure threshold.: Checkpoint was declined." {
		t.Errorf("failures %v", w.failures)
	}
}

// A deletion that fails is told, and does not stop the others.
func TestDeletionsThatFail(t *testing.T) {
	w := newWorld(t)
	w.begin(func(o *checkpoint.Options) { o.Retained = 1 })
	w.disk.Fail = func(op faulty.Op, at fs.Location) error {
		if op == faulty.Delete && strings.Contains(at.String(), "chk-1/") {
			return fmt.Errorf("permission denied")
		}
		return nil
	}
	w.run()
	w.loop.pass(32 * time.Second)
	w.logged(`msg="files of a checkpoint could not be deleted" error="delete mem:/ckpt/`)
	w.want("files", w.files(), "/ckpt/JOB/chk-1/_metadata /ckpt/JOB/chk-1/state /ckpt/JOB/chk-4/_metadata /ckpt/JOB/chk-4/state")
}
