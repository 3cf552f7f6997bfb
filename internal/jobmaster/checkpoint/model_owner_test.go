package checkpoint

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/status"
)

// later is a step the owner does some time.
func (w *world) later(do func() Event) { w.answers = append(w.answers, do) }

// carryOut does what an effect says, or will.
func (w *world) carryOut(effect Effect) {
	switch e := effect.(type) {
	case DrawID:
		w.later(func() Event {
			if w.bad {
				return IDDrawn{Serial: e.Serial, Err: errBadly}
			}
			w.counter = max(w.counter, e.After) + 1
			return IDDrawn{Serial: e.Serial, Checkpoint: w.counter}
		})
	case Locate:
		w.later(func() Event {
			if w.bad {
				return Located{Checkpoint: e.Checkpoint, Err: errBadly}
			}
			return Located{Checkpoint: e.Checkpoint, Dir: e.Target.Join(fmt.Sprintf("savepoint-%d", e.Checkpoint))}
		})
	case SnapshotCoordinators:
		for _, o := range e.Operators {
			w.later(func() Event {
				if w.bad {
					return CoordinatorSnapshot{Checkpoint: e.Checkpoint, Operator: o, Err: errBadly}
				}
				return CoordinatorSnapshot{Checkpoint: e.Checkpoint, Operator: o, State: snapshot.Handle{Inline: []byte("c"), Length: 1}}
			})
		}
	case TriggerTasks:
		w.trigger(e)
	case WriteMetadata:
		w.later(func() Event { return w.writeMetadata(e) })
	case Store:
		w.later(func() Event { return w.enter(e) })
	case Discard:
		w.discards = append(w.discards, e)
	case NotifyComplete:
		w.complete(e)
	case NotifyAborted:
		for _, t := range w.tasks {
			if w.maybe("news of the abort") {
				t.barriers = slices.DeleteFunc(t.barriers, func(b Barrier) bool { return b.Checkpoint == e.Checkpoint })
			}
		}
	case Answer:
		if _, savepoint := e.Location.Under("mem:/sp"); savepoint && e.Err == nil {
			w.mine = append(w.mine, e.Location)
		}
	case FailJob:
		if e.Cause.Fatal {
			w.Fatalf("the job cannot go on: %s", e.Cause.Error())
		}
		w.restart()
	case FailTask:
		w.restart()
	case ReadMetadata:
		w.later(func() Event {
			return MetadataRead{Location: e.Location, Metadata: w.written[e.Location], Dir: e.Location}
		})
	case Restore:
		w.restore(e)
	}
}

func (w *world) trigger(e TriggerTasks) {
	if e.Checkpoint <= w.triggered {
		w.Fatalf("checkpoint %d is triggered after %d", e.Checkpoint, w.triggered)
	}
	w.triggered = e.Checkpoint
	for _, t := range w.tasks {
		if !t.alive {
			w.Fatalf("checkpoint %d is triggered while %s does not run", e.Checkpoint, t.attempt)
		}
		t.barriers = append(t.barriers, e.Barrier)
	}
}

func (w *world) writeMetadata(e WriteMetadata) Event {
	if w.bad {
		return MetadataWritten{Checkpoint: e.Checkpoint, Err: errBadly}
	}
	w.disk[e.Dir.Join(snapshot.MetadataName)] = true
	w.written[e.Dir] = e.Metadata
	return MetadataWritten{Checkpoint: e.Checkpoint}
}

// enter puts a checkpoint into the store; that may fail, or nobody knows.
func (w *world) enter(e Store) Event {
	uncertain := w.bad && w.maybe("uncertain")
	if !w.bad || uncertain && w.maybe("there") {
		w.store[e.Checkpoint] = e.Location
		w.newest = max(w.newest, e.Checkpoint)
	}
	w.checkStore()
	if w.bad {
		return Stored{Checkpoint: e.Checkpoint, Err: errBadly, Uncertain: uncertain}
	}
	return Stored{Checkpoint: e.Checkpoint}
}

// complete checks a checkpoint that is told complete.
func (w *world) complete(e NotifyComplete) {
	w.completions++
	m := w.written[w.store[e.Checkpoint]]
	if m == nil || m.Checkpoint != e.Checkpoint {
		w.Fatalf("checkpoint %d is told complete and is not in the store", e.Checkpoint)
	}
	if len(e.Attempts) != len(w.tasks) {
		w.Fatalf("checkpoint %d of %d tasks", e.Checkpoint, len(e.Attempts))
	}
	for _, o := range m.Operators {
		for i, s := range o.Subtasks {
			if len(s.Keyed) != 1 {
				w.Fatalf("checkpoint %d: subtask %d of %s acknowledged %d times", e.Checkpoint, i, o.Name, len(s.Keyed))
			}
		}
	}
	for _, t := range w.tasks {
		if t.alive && !slices.Contains(e.Attempts, t.attempt) {
			w.Fatalf("checkpoint %d is told complete after %s began with an older one", e.Checkpoint, t.attempt)
		}
	}
	w.told = max(w.told, e.Checkpoint)
}

// checkStore checks that all files of what is in the store are there.
func (w *world) checkStore() {
	for id, dir := range w.store {
		m := w.written[dir]
		if !w.disk[dir.Join(snapshot.MetadataName)] || m == nil {
			w.Fatalf("checkpoint %d is in the store, and its metadata is not there", id)
		}
		for h := range m.Handles() {
			if h.Location != "" && !w.disk[h.Location] {
				w.Fatalf("checkpoint %d is in the store, and its file %s is not there", id, h.Location)
			}
		}
	}
}

// restore lets all tasks begin anew.
func (w *world) restore(e Restore) {
	if e.Checkpoint < w.told || e.Checkpoint > w.newest || !e.Global {
		w.Fatalf("checkpoint %d is restored; %d was told complete, %d is the newest", e.Checkpoint, w.told, w.newest)
	}
	if e.Checkpoint > 0 {
		w.restored++
	}
	w.restoring = false
	w.apply(JobStatus{State: status.JobRunning})
	for i, t := range w.tasks {
		attempt := t.attempt
		attempt.Attempt++
		*t = modelTask{attempt: attempt, alive: true, clock: 1, taken: map[int64]modelSnapshot{}}
		if e.Assignment != nil {
			begun := modelSnapshot{at: 1}
			state := e.Assignment.Operators[min(i/2, 1)].Subtasks[attempt.Subtask]
			for g := range begun.files {
				begun.files[g] = state.Keyed[0].Files[g].Location
			}
			t.taken[e.Checkpoint] = begun
		}
		w.apply(TaskStatus{Attempt: attempt, State: status.Running})
	}
}

// settle lets everything that is under way come to its end.
func (w *world) settle() {
	for range 100000 {
		switch {
		case w.leaderless:
			w.begin()
		case len(w.answers) > 0:
			w.answer(false)
		case len(w.discards) > 0:
			w.discard()
		case len(w.letters) > 0:
			w.deliver()
		case w.barriers():
			w.takeBarrier()
		default:
			if !w.c.Quiet() {
				w.Fatalf("an answer is due, and nobody was asked")
			}
			return
		}
	}
	w.Fatalf("it does not come to rest")
}

func (w *world) barriers() bool {
	return slices.ContainsFunc(w.tasks, func(t *modelTask) bool { return t.alive && len(t.barriers) > 0 })
}

// checkNothingIsLeft checks that every file is of something that is kept. What a
// leader that was lost had under way may be left until the job's end.
func (w *world) checkNothingIsLeft() {
	w.checkStore()
	if w.crashed {
		return
	}
	wanted := map[fs.Location]bool{}
	dirs := slices.Clone(w.mine)
	for _, dir := range w.store {
		dirs = append(dirs, dir)
	}
	for _, u := range w.c.uncertain {
		dirs = append(dirs, u.dir)
	}
	for _, dir := range dirs {
		wanted[dir.Join(snapshot.MetadataName)] = true
		for h := range w.written[dir].Handles() {
			wanted[h.Location] = true
		}
	}
	for l := range w.disk {
		if !wanted[l] {
			w.Fatalf("%s is left, and nobody refers to it", l)
		}
	}
}

// end ends the job, and checks what it leaves.
func (w *world) end() {
	stored := maps.Clone(w.store)
	failed := map[int64]bool{} // who asked was told so, though they may be in the store
	for _, u := range w.c.uncertain {
		failed[u.id] = true
	}
	end := []status.Job{status.JobFinished, status.JobCanceled, status.JobFailed, status.JobSuspended}[w.one(4, "end")]
	w.now = w.now.Add(time.Millisecond)
	w.apply(JobStatus{State: end})
	for _, t := range w.tasks {
		t.alive, t.barriers = false, nil
	}
	w.settle()
	kept := end == status.JobSuspended || end == status.JobCanceled && w.opts.Retention == RetainOnCancel || end == status.JobFailed && w.opts.Retention != DeleteAlways
	if (end == status.JobSuspended) != (len(w.store) == len(stored) && len(stored) > 0) && len(stored) > 0 {
		w.Fatalf("%s: %d were in the store, now %d", end, len(stored), len(w.store))
	}
	for id, dir := range stored {
		_, checkpoint := dir.Under("mem:/ckpt")
		if there := w.disk[dir.Join(snapshot.MetadataName)]; !failed[id] && there != (kept || !checkpoint) {
			w.Fatalf("%s, %d: checkpoint %d is there: %v", end, w.opts.Retention, id, there)
		}
	}
	for _, dir := range w.mine {
		for h := range w.written[dir].Handles() {
			if h.Location != "" && !w.disk[h.Location] {
				w.Fatalf("%s of savepoint %s is gone", h.Location, dir)
			}
		}
	}
	if !kept {
		for l := range w.disk {
			if _, checkpoint := l.Under("mem:/ckpt"); checkpoint {
				w.Fatalf("%s is left after the job is %s", l, end)
			}
		}
	}
}
