package checkpointing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/fs/faulty"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/snapshot/storage"
	"github.com/weirstream/weir/internal/status"
)

// stored begins a world whose store is files, which it shares with the
// checkpoints.
func stored(t *testing.T) *world {
	w := newWorld(t)
	w.store = w.leader()
	return w
}

// leader makes the store as another JobMaster finds it.
func (w *world) leader() *Lasting {
	return NewLasting(w.loop, storage.Ledger{Files: w.disk, Dir: "mem:/ha/job"})
}

// draw draws an id from a store.
func (w *world) draw(s Store, after int64) int64 {
	w.t.Helper()
	var got int64
	s.NextID(after, func(id int64, err error) {
		if err != nil {
			w.t.Error(err)
		}
		got = id
	})
	w.loop.settle()
	return got
}

func TestIDsRiseOverLeaders(t *testing.T) {
	w := stored(t)
	first, second := w.leader(), w.leader()
	var got []int64
	for _, s := range []Store{first, first, second, first, second, w.leader()} {
		got = append(got, w.draw(s, 0))
	}
	got = append(got, w.draw(first, 20), w.draw(second, 0))
	w.want("ids", fmt.Sprint(got), "[1 2 3 4 5 6 21 22]")
	w.want("files", w.files(), "/ha/job/ids/22")

	// Both see the same ids before either has drawn.
	got = nil
	for _, s := range []Store{first, second} {
		s.NextID(0, func(id int64, err error) { got = append(got, id) })
	}
	w.loop.settle()
	w.want("at once", fmt.Sprint(got), "[23 24]")
}

// An id whose file may be there is not drawn again.
func TestAnIDThatMayBeDrawn(t *testing.T) {
	w := stored(t)
	w.draw(w.store, 0)
	w.disk.Fail = func(op faulty.Op, at fs.Location) error {
		if op == faulty.Commit {
			return fs.ErrUncertain
		}
		return nil
	}
	var failed error
	w.store.NextID(0, func(_ int64, err error) { failed = err })
	w.loop.settle()
	if !errors.Is(failed, fs.ErrUncertain) || !strings.Contains(failed.Error(), "draw the id of a checkpoint: commit mem:/ha/job/ids/2: ") {
		t.Errorf("failed with %v", failed)
	}
	w.disk.Fail = nil
	if err := fs.WriteFile(t.Context(), w.disk, "mem:/ha/job/ids/2", nil); err != nil { // it was
		t.Fatal(err)
	}
	w.want("the next", fmt.Sprint(w.draw(w.store, 0)), "3")
}

// The next JobMaster restores what the last one has completed, goes on with its
// ids, and leaves nothing when the job has ended.
func TestTheNextLeaderGoesOn(t *testing.T) {
	w := stored(t)
	w.begin(nil)
	w.run()
	w.loop.pass(22 * time.Second)
	w.owner.Apply(checkpoint.JobStatus{State: status.JobSuspended})
	w.loop.settle()
	w.want("in the store", strings.Join(w.below("mem:/ha/job"), " "), "completed/2 completed/3 ids/3")

	w.store, w.restored = w.leader(), nil
	w.begin(nil)
	if len(w.restored) != 1 || w.restored[0].Checkpoint != 3 || !w.restored[0].Global {
		t.Fatalf("restored %+v", w.restored)
	}
	w.attempt.Attempt++
	w.run()
	w.loop.pass(2 * time.Second)
	w.want("completed", fmt.Sprint(w.completed), "[1 2 3 4]")
	w.owner.Apply(checkpoint.JobStatus{State: status.JobCanceled})
	w.loop.settle()
	w.want("after the end", w.files(), "")
}

// below lists the files below a directory.
func (w *world) below(dir fs.Location) []string {
	w.t.Helper()
	entries, err := w.disk.List(context.Background(), dir)
	if err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		name, _ := e.Location.Under(dir)
		names = append(names, name)
	}
	return names
}

// A job whose store cannot be read waits; it does not begin empty. One that is
// canceled meanwhile leaves nothing all the same.
func TestAStoreThatCannotBeRead(t *testing.T) {
	for _, canceled := range []bool{false, true} {
		w := stored(t)
		w.begin(nil)
		w.run()
		w.loop.pass(2 * time.Second)
		w.owner.Apply(checkpoint.JobStatus{State: status.JobSuspended})
		w.loop.settle()

		w.store, w.restored = w.leader(), nil
		w.disk.Fail = func(op faulty.Op, at fs.Location) error {
			if op == faulty.List {
				return errors.New("stale file handle")
			}
			return nil
		}
		w.begin(nil)
		w.logged(`msg="the store of completed checkpoints cannot be read" error="list the completed checkpoints: list mem:/ha/job/completed: stale file handle" again=1s`)
		if canceled {
			w.owner.Apply(checkpoint.JobStatus{State: status.JobCanceled})
		}
		w.loop.pass(10 * time.Second)
		if len(w.restored) > 0 {
			t.Fatalf("restored %+v", w.restored)
		}
		w.disk.Fail = nil
		w.loop.pass(10 * time.Second)
		switch {
		case canceled:
			w.want("after the end", w.files(), "")
		case len(w.restored) != 1 || w.restored[0].Checkpoint != 1:
			t.Errorf("restored %+v", w.restored)
		}
	}
}

// A pointer whose outcome is not known may be there: the files stay, and are found
// by the next JobMaster if it is.
func TestAPointerThatMayBeThere(t *testing.T) {
	for _, there := range []bool{false, true} {
		w := stored(t)
		w.disk.Fail = func(op faulty.Op, at fs.Location) error {
			if _, pointer := at.Under("mem:/ha/job/completed"); pointer && op == faulty.Commit && at.Base() == "2" {
				return fs.ErrUncertain
			}
			return nil
		}
		w.begin(nil)
		w.run()
		w.loop.pass(12 * time.Second)
		w.want("completed", fmt.Sprint(w.completed), "[1]")
		w.logged(`msg="it is not known whether the checkpoint is in the store; its files are kept" checkpoint=2`)
		w.disk.Fail = nil
		dir := fs.Location("mem:/ckpt").Join(w.graph.Job.String(), "chk-2")
		w.want("its files", strings.Join(w.below(dir), " "), "_metadata state")
		want := int64(1)
		if there {
			want = 2
			if err := fs.WriteFile(t.Context(), w.disk, "mem:/ha/job/completed/2", []byte(dir)); err != nil {
				t.Fatal(err)
			}
		}
		w.owner.Apply(checkpoint.JobStatus{State: status.JobSuspended})
		w.loop.settle()
		w.store, w.restored = w.leader(), nil
		w.begin(nil)
		if len(w.restored) != 1 || w.restored[0].Checkpoint != want {
			t.Errorf("restored %+v, want checkpoint %d", w.restored, want)
		}
	}
}

// A pointer that is damaged is a checkpoint that cannot be read.
func TestADamagedPointer(t *testing.T) {
	w := stored(t)
	w.begin(nil)
	w.run()
	w.loop.pass(12 * time.Second)
	w.owner.Apply(checkpoint.JobStatus{State: status.JobSuspended})
	w.loop.settle()
	at := fs.Location("mem:/ha/job/completed/2")
	if err := errors.Join(w.disk.Delete(t.Context(), at), fs.WriteFile(t.Context(), w.disk, at, []byte("no location"))); err != nil {
		t.Fatal(err)
	}
	w.store, w.restored = w.leader(), nil
	w.begin(nil)
	w.logged(`msg="a completed checkpoint cannot be read" checkpoint=2 error="mem:/ha/job/completed/2 at byte `)
	if len(w.restored) != 1 || w.restored[0].Checkpoint != 1 || w.restored[0].Assignment.Operators[0].Subtasks[0].Keyed == nil {
		t.Errorf("restored %+v", w.restored)
	}
}

// A checkpoint that cannot be taken out of the store keeps its files, also when the
// job ends, and goes with a later one.
func TestAPointerThatStays(t *testing.T) {
	for _, ends := range []bool{false, true} {
		w := stored(t)
		w.begin(func(o *checkpoint.Options) { o.Retained = 1 })
		w.run()
		w.loop.pass(2 * time.Second)
		w.disk.Fail = func(op faulty.Op, at fs.Location) error {
			if op == faulty.Delete && at == "mem:/ha/job/completed/1" {
				return errors.New("permission denied")
			}
			return nil
		}
		w.loop.pass(20 * time.Second)
		w.logged(`msg="files of a checkpoint could not be deleted" error="take checkpoint 1 out of the store: delete mem:/ha/job/completed/1: permission denied"`)
		w.want("in the store", strings.Join(w.below("mem:/ha/job/completed"), " "), "1 3")
		dir := fs.Location("mem:/ckpt").Join(w.graph.Job.String())
		w.want("files", strings.Join(w.below(dir), " "), "chk-1/_metadata chk-1/state chk-3/_metadata chk-3/state")
		if ends {
			w.owner.Apply(checkpoint.JobStatus{State: status.JobCanceled})
			w.loop.settle()
			w.logged(`: checkpoint 1 is still in the store"`)
			w.want("files after the end", strings.Join(w.below(dir), " "), "chk-1/_metadata chk-1/state")
			continue
		}
		w.disk.Fail = nil
		w.loop.pass(10 * time.Second)
		w.want("in the store", strings.Join(w.below("mem:/ha/job/completed"), " "), "4")
		w.want("files", strings.Join(w.below(dir), " "), "chk-4/_metadata chk-4/state")
	}
}
