package checkpoint

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/record"
	"github.com/weirstream/weir/internal/status"
)

// A world is a coordinator with the job, the store and the disk around it, which
// do what they are told late, in any order, and not always well. It holds the
// coordinator to the invariants of checkpoints:
//
//   - ids strictly rise, over leaders too;
//   - a completed checkpoint has one acknowledgement of each task, and all its
//     files are there;
//   - what is restored is at most the newest completed one, and at least any whose
//     completion was told;
//   - no file of a checkpoint in the store is deleted, and every other file is gone
//     once all is quiet.
type world struct {
	*rapid.T
	opts  Options
	graph *jobgraph.Graph
	c     *Coordinator
	now   time.Time

	counter int64 // of ids; outlives leaders
	disk    map[fs.Location]bool
	written map[fs.Location]*snapshot.Metadata // by directory
	store   map[int64]fs.Location
	mine    []fs.Location // directories of completed savepoints

	answers  []func() Event // steps that the owner has not done yet
	discards []Discard      // done one after the other
	letters  []Event        // of tasks, under way
	tasks    []*modelTask

	requests            RequestID
	triggered, told     int64 // the greatest id triggered, and told complete
	newest              int64 // the greatest id that was ever in the store
	leaderless, crashed bool  // there is no leader; one was lost at some time
	restoring           bool
	bad                 bool // the step at hand goes badly
	restored            int
	completions         int
}

// A modelTask keeps a number of groups, each of which lies in the file of the
// checkpoint that last saw it dirty.
type modelTask struct {
	attempt  ident.AttemptID
	alive    bool
	clock    int
	dirty    [3]int                  // by group: when it was last written to
	taken    map[int64]modelSnapshot // by checkpoint; also the one it was restored from
	barriers []Barrier
}

type modelSnapshot struct {
	at    int
	files [3]fs.Location
}

func TestModel(t *testing.T) {
	restored, completions := 0, 0
	run := func(t *rapid.T) {
		w := newWorld(t)
		w.begin()
		for range rapid.IntRange(20, 400).Draw(t, "steps") {
			w.step()
		}
		w.settle()
		w.checkNothingIsLeft()
		w.end()
		restored += w.restored
		completions += w.completions
	}
	for range 10 {
		rapid.Check(t, run)
	}
	t.Logf("%d checkpoints completed, %d restored", completions, restored)
	if completions == 0 || restored == 0 {
		t.Error("the model did nothing")
	}
}

func newWorld(t *rapid.T) *world {
	w := &world{T: t, now: time.UnixMilli(1_000_000), disk: map[fs.Location]bool{}, written: map[fs.Location]*snapshot.Metadata{}, store: map[int64]fs.Location{}}
	w.opts = Options{
		Version: "test", Interval: time.Second, FirstDelay: 100 * time.Millisecond, Timeout: 5 * time.Second, MinPause: 200 * time.Millisecond,
		MaxConcurrent: rapid.IntRange(1, 3).Draw(t, "concurrent"), Retained: rapid.IntRange(1, 3).Draw(t, "retained"),
		Tolerable: rapid.SampledFrom([]int{1000, 2, 0}).Draw(t, "tolerable"), Retention: Retention(rapid.IntRange(0, 2).Draw(t, "retention")),
		Directory: "mem:/ckpt", ExactlyOnce: true, Incremental: rapid.Bool().Draw(t, "incremental"), AfterFinish: true, History: 5,
	}
	w.graph = parseGraph(t, "src 2 coordinated\nmap 1 <- src:all")
	for _, v := range w.graph.Vertices {
		for s := range v.Parallelism {
			w.tasks = append(w.tasks, &modelTask{attempt: ident.AttemptID{Graph: ident.GraphID{ID: ident.ID{1}}, Vertex: v.ID, Subtask: s, Attempt: -1}})
		}
	}
	return w
}

func (w *world) one(of int, what string) int { return rapid.IntRange(0, of-1).Draw(w.T, what) }

// maybe is seldom true: numbers are drawn from the low end more often.
func (w *world) maybe(what string) bool { return w.one(4, what) == 3 }

// begin gives the job a leader.
func (w *world) begin() {
	w.c = New(w.opts, w.graph)
	w.leaderless, w.restoring = false, true
	ev := Recover{}
	for _, id := range slices.Sorted(keys(w.store)) {
		ev.Stored = append(ev.Stored, Pointer{Checkpoint: id, Location: w.store[id]})
	}
	w.apply(ev)
}

func keys[V any](m map[int64]V) func(func(int64) bool) {
	return func(yield func(int64) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// step lets one thing happen.
func (w *world) step() {
	if w.leaderless {
		w.begin()
		return
	}
	switch w.one(16, "step") {
	case 0, 1, 2:
		w.now = w.now.Add(time.Duration(rapid.IntRange(1, 1500).Draw(w.T, "millis")) * time.Millisecond)
		w.apply(Tick{})
	case 3, 4, 5:
		w.deliver()
	case 6, 7, 8:
		w.takeBarrier()
	case 9, 10, 11:
		w.answer(w.one(16, "badly") == 15)
	case 12:
		w.discard()
	case 13:
		w.requests++
		r := Request{ID: w.requests, Kind: snapshot.Kind(w.one(3, "kind")), Target: "mem:/sp", Full: w.maybe("full")}
		if r.Kind == snapshot.SyncSavepoint {
			r.Stop = Suspend
		}
		w.apply(r)
	case 14:
		if w.one(8, "fail") == 7 {
			w.fail()
		}
	case 15:
		if w.maybe("lose the leader") {
			w.loseLeader()
		}
	}
}

// deliver brings one letter.
func (w *world) deliver() {
	if len(w.letters) == 0 {
		return
	}
	i := w.one(len(w.letters), "letter")
	letter := w.letters[i]
	w.letters = slices.Delete(w.letters, i, i+1)
	w.apply(letter)
}

// takeBarrier lets a task take its part of its oldest barrier, or decline.
func (w *world) takeBarrier() {
	task := w.tasks[w.one(len(w.tasks), "task")]
	for g := range task.dirty {
		if w.maybe("dirty") {
			task.clock++
			task.dirty[g] = task.clock
		}
	}
	if !task.alive || len(task.barriers) == 0 {
		return
	}
	b := task.barriers[0]
	task.barriers = task.barriers[1:]
	if w.one(30, "decline") == 29 {
		w.letters = append(w.letters, Decline{Checkpoint: b.Checkpoint, Attempt: task.attempt, Reason: Declined})
		return
	}
	ack := task.take(b, w.disk)
	w.letters = append(w.letters, ack)
	if w.maybe("twice") {
		w.letters = append(w.letters, ack)
	}
}

// take writes the groups that are dirty since the base, and refers to the base's
// files for the others. It writes all when it does not know the base.
func (t *modelTask) take(b Barrier, disk map[fs.Location]bool) Ack {
	s := modelSnapshot{at: t.clock}
	dir := b.Shared
	if b.Base == 0 {
		dir = b.Dir
	}
	file := dir.Join(fmt.Sprintf("%d-%s", b.Checkpoint, t.attempt))
	base, known := t.taken[b.Base]
	keyed := snapshot.KeyedState{Last: 127}
	for g := range s.files {
		s.files[g] = base.files[g]
		if !known || t.dirty[g] > base.at {
			s.files[g] = file
			disk[file] = true
		}
		keyed.Files = append(keyed.Files, snapshot.KeyedFile{Handle: snapshot.Handle{Location: s.files[g], Length: 1}})
	}
	maps.DeleteFunc(t.taken, func(id int64, _ modelSnapshot) bool { return id < b.Base })
	t.taken[b.Checkpoint] = s
	states := []TaskState{{Operator: ident.OperatorID(t.attempt.Vertex), State: snapshot.SubtaskState{Keyed: []snapshot.KeyedState{keyed}}}}
	return Ack{Checkpoint: b.Checkpoint, Attempt: t.attempt, States: states, Figures: record.Figures{State: 3, Checkpointed: 1}}
}

var errBadly = errors.New("it went badly")

// answer does one of the steps that were asked for.
func (w *world) answer(badly bool) {
	if len(w.answers) == 0 {
		return
	}
	i := w.one(len(w.answers), "answer")
	do := w.answers[i]
	w.answers = slices.Delete(w.answers, i, i+1)
	w.bad = badly
	if ev := do(); ev != nil {
		w.apply(ev)
	}
}

// discard does the oldest discard.
func (w *world) discard() {
	if len(w.discards) == 0 {
		return
	}
	d := w.discards[0]
	w.discards = w.discards[1:]
	w.delete(d)
	w.apply(Discarded{Discard: d.ID})
}

func (w *world) delete(d Discard) {
	delete(w.store, d.Unstore)
	gone := slices.Clone(d.Files)
	if d.Metadata != "" {
		gone = append(gone, d.Metadata)
	}
	for l := range w.disk {
		if _, below := l.Under(d.Tree); below && d.Tree != "" {
			gone = append(gone, l)
		}
	}
	for _, l := range gone {
		delete(w.disk, l)
	}
	w.checkStore()
}

// fail lets a task fail, upon which the job restarts.
func (w *world) fail() {
	if w.restoring {
		return
	}
	task := w.tasks[w.one(len(w.tasks), "failing")]
	w.apply(TaskStatus{Attempt: task.attempt, State: status.Failed})
	w.restart()
}

func (w *world) restart() {
	if w.restoring {
		return
	}
	w.restoring = true
	for _, t := range w.tasks {
		t.alive, t.barriers = false, nil
	}
	w.apply(JobStatus{State: status.JobRestarting})
	w.apply(Restart{Global: true})
}

// loseLeader loses all that is under way; some of it was done.
func (w *world) loseLeader() {
	for _, do := range w.answers {
		if w.maybe("still done") {
			w.bad = false
			do()
		}
	}
	for _, d := range w.discards {
		w.delete(d)
		if w.maybe("no more discards") {
			break
		}
	}
	w.answers, w.discards, w.letters = nil, nil, nil
	for _, t := range w.tasks {
		t.alive, t.barriers = false, nil
	}
	w.leaderless, w.crashed = true, true
}

func (w *world) log(before string, of any) {
	text := fmt.Sprintf("%+v", of)
	w.Logf("%s%T %s", before, of, text[:min(len(text), 300)])
}

// apply gives the coordinator an event and carries out what it wants done.
func (w *world) apply(ev Event) {
	effects := w.c.Apply(ev, w.now)
	w.log("", ev)
	checkCoordinator(w.c, w.now)
	for _, e := range effects {
		w.log("  → ", e)
		w.carryOut(e)
	}
}
