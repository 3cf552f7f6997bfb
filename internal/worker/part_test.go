package worker

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/fs/mem"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/storage"
	"github.com/weirstream/weir/internal/state"
	"github.com/weirstream/weir/internal/task"
)

// What travels with an acknowledgement is bounded where there are no files, and what is
// beyond is told with the option that lifts the bound.
func TestAPartInMemoryIsBounded(t *testing.T) {
	p := (&checkpoints{}).part("", 0)
	if _, err := p.Write(make([]byte, maxInline)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write([]byte{1}); err == nil || !strings.Contains(err.Error(), "5242880 bytes") || !strings.Contains(err.Error(), "execution.checkpointing.dir") {
		t.Errorf("got %v, want the bound and the option", err)
	}
	if h, err := p.commit(); err != nil || h.Length != maxInline || len(h.Inline) != maxInline {
		t.Errorf("got %d of %d bytes, %v", len(h.Inline), h.Length, err)
	}
}

// State up to the threshold is in the handle, and there is no file; what is larger is
// all in a file. Either is read back with its checksum.
func TestASmallPartHasNoFile(t *testing.T) {
	for _, tt := range []struct {
		threshold int64
		pieces    []int
		inline    bool
	}{
		{10, []int{4, 6}, true},
		{10, []int{4, 6, 1}, false},
		{10, []int{11}, false},
		{0, []int{1}, false},
		{0, nil, true},
		{-5, []int{0, 3, 4}, false},
	} {
		files := mem.New(time.Now)
		c := &checkpoints{w: &Worker{Options: Options{Files: files}}}
		p := c.part("mem:/chk-1/state", tt.threshold)
		var want []byte
		for i, n := range tt.pieces {
			piece := bytes.Repeat([]byte{byte(i + 1)}, n)
			if written, err := p.Write(piece); err != nil || written != n {
				t.Fatal(written, err)
			}
			want = append(want, piece...)
		}
		h, err := p.commit()
		if err != nil {
			t.Fatal(err)
		}
		there, _ := files.List(t.Context(), "mem:/chk-1")
		if got := h.Location == ""; got != tt.inline || got != (len(there) == 0) {
			t.Errorf("%+v: location %q, files %v", tt, h.Location, there)
		}
		got, err := storage.Bytes(t.Context(), files, h)
		if err != nil || !bytes.Equal(got, want) || h.Length != int64(len(want)) || h.Checksum != snapshot.Checksum(want) {
			t.Errorf("%+v: %v, %v, %+v", tt, got, err, h)
		}
	}
}

// meanwhile is a file system in which something happens before a file is begun, or while it
// is given its name.
type meanwhile struct {
	fs.FileSystem
	create, commit func()
}

type meanwhileWriter struct {
	fs.Writer
	commit func()
}

func (m meanwhile) Create(ctx context.Context, at fs.Location) (fs.Writer, error) {
	if m.create != nil {
		m.create()
	}
	w, err := m.FileSystem.Create(ctx, at)
	return meanwhileWriter{w, m.commit}, err
}

func (w meanwhileWriter) Commit(ctx context.Context) error {
	if w.commit != nil {
		w.commit()
	}
	return w.Writer.Commit(ctx)
}

// An attempt that ends while it writes its part of a checkpoint, and one that has ended
// before, leave no file: the JobMaster may have deleted all of them by then. So does one
// whose process is frozen, with its TaskManager, until nobody counts on it any more.
func TestAnAttemptThatHasEndedLeavesNoPart(t *testing.T) {
	for _, when := range []string{"before", "while it is begun", "while it gets its name"} {
		for _, want := range []error{errOver, errForgotten} {
			synctest.Test(t, func(t *testing.T) {
				files := mem.New(time.Now)
				c := &checkpoints{}
				ends := func() { c.over.Store(true) }
				if want == errForgotten {
					ends = func() { time.Sleep(time.Minute) }
				}
				space := meanwhile{FileSystem: files}
				switch when {
				case "before":
				case "while it is begun":
					space.create = ends
				default:
					space.commit = ends
				}
				c.w = &Worker{Options: Options{Files: space, Silence: 50 * time.Second}}
				c.w.hear()
				if when == "before" {
					ends()
				}
				p := c.part("mem:/chk-1/state", 0)
				_, err := p.Write([]byte("state"))
				if err == nil {
					_, err = p.commit()
				} else {
					p.abort()
				}
				if !errors.Is(err, want) {
					t.Errorf("%s: %v, want %v", when, err, want)
				}
				if there, _ := files.List(t.Context(), "mem:/"); len(there) > 0 {
					t.Errorf("%s: left are %v", when, there)
				}
			})
		}
	}
}

// Of a part of which nobody hears what later checkpoints could have referred to goes too,
// which is not where the JobMaster looks; what others have written stays.
func TestWhatNobodyHearsOfIsForgotten(t *testing.T) {
	files := mem.New(time.Now)
	c := &checkpoints{w: &Worker{Options: Options{Files: files}}, incremental: true}
	options := &pb.CheckpointOptions{Shared: "mem:/shared"}
	text, err := proto.Marshal(options)
	if err != nil {
		t.Fatal(err)
	}
	op := ident.OperatorID{ID: ident.ID{1}}
	for checkpoint := range int64(3) {
		if err := fs.WriteFile(t.Context(), files, c.shared(options, op, checkpoint), []byte("state")); err != nil {
			t.Fatal(err)
		}
	}
	c.forget(task.Taken{Barrier: task.Barrier{Checkpoint: 1, Options: text}, Parts: []task.Part{{Operator: op, Keyed: new(state.Snapshot)}, {}}})
	there, err := files.List(t.Context(), "mem:/")
	if err != nil || len(there) != 2 || there[0].Location != c.shared(options, op, 0) || there[1].Location != c.shared(options, op, 2) {
		t.Errorf("left are %v, %v", there, err)
	}
}
