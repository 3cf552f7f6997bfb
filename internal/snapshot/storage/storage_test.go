package storage

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/fs/mem"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/snapshot"
)

const testDirectory = fs.Location("mem:/ckpt/chk-7")

// small is a snapshot in a directory, whose one file holds two key groups.
func small(t *testing.T, f fs.FileSystem, dir fs.Location) *snapshot.Metadata {
	t.Helper()
	data := []byte("group0group1")
	state := snapshot.Handle{Location: dir.Join("state"), Length: 12, Checksum: snapshot.Checksum(data)}
	if err := fs.WriteFile(t.Context(), f, state.Location, data); err != nil {
		t.Fatal(err)
	}
	sum := func(from, to int) uint32 { return snapshot.Checksum(data[from:to]) }
	return &snapshot.Metadata{Checkpoint: 7, Kind: snapshot.Savepoint, Triggered: time.UnixMilli(5).UTC(), Operators: []snapshot.OperatorState{{
		ID: ident.OperatorID{ID: ident.ID{0xaa}}, Parallelism: 1, MaxParallelism: 2, Coordinator: snapshot.Handle{Inline: []byte("c"), Length: 1, Checksum: snapshot.Checksum([]byte("c"))},
		Subtasks: []snapshot.SubtaskState{{Keyed: []snapshot.KeyedState{{Last: 1, Files: []snapshot.KeyedFile{{Handle: state}},
			Sections: []snapshot.Section{{Group: 0, Length: 6, Checksum: sum(0, 6)}, {Group: 1, Offset: 6, Length: 6, Checksum: sum(6, 12)}}}}}},
	}}}
}

func TestWriteReadMoveDispose(t *testing.T) {
	ctx, f := t.Context(), mem.New(time.Now)
	dir := fs.Location("mem:/sp/savepoint-1")
	m := small(t, f, dir)
	size, err := Write(ctx, f, dir, m)
	if err != nil {
		t.Fatal(err)
	}
	data, err := fs.ReadFile(ctx, f, dir.Join(snapshot.MetadataName), 1<<20)
	if err != nil || int64(len(data)) != size {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	for _, at := range []fs.Location{dir, dir.Join(snapshot.MetadataName)} {
		got, in, err := Read(ctx, f, at)
		if err != nil || in != dir || !reflect.DeepEqual(got, m) {
			t.Errorf("%s: %v %v", at, in, err)
		}
	}
	// Moved elsewhere it refers to what lies there.
	moved := fs.Location("mem:/backup/mine")
	for _, name := range []string{"state", snapshot.MetadataName} {
		data, err := fs.ReadFile(ctx, f, dir.Join(name), 1<<20)
		if err == nil {
			err = fs.WriteFile(ctx, f, moved.Join(name), data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if left, err := Dispose(ctx, f, dir); err != nil || len(left) > 0 {
		t.Errorf("%v %v", left, err)
	}
	if got, _, err := Read(ctx, f, moved); err != nil || Verify(ctx, f, got, true) != nil {
		t.Errorf("the moved one: %v, %v", err, Verify(ctx, f, got, true))
	}
	for at, want := range map[fs.Location]string{
		dir:           "Cannot find checkpoint or savepoint file/directory 'mem:/sp/savepoint-1' on file system 'mem'.",
		"mem:/backup": "Cannot find meta data file '_metadata' in directory 'mem:/backup'. Please try to load",
	} {
		if _, _, err := Read(ctx, f, at); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", at, err)
		}
	}
}

func TestDisposeLeavesWhatIsNotTheSnapshots(t *testing.T) {
	ctx, f := t.Context(), mem.New(time.Now)
	m := small(t, f, "mem:/mine")
	shared := snapshot.Handle{Location: "mem:/shared/x", Length: 1}
	m.Operators[0].Subtasks[0].Lists = []snapshot.ListState{{Name: "l", File: shared}}
	if _, err := Write(ctx, f, "mem:/mine", m); err != nil {
		t.Fatal(err)
	}
	if err := fs.WriteFile(ctx, f, "mem:/mine/letters", []byte("x")); err != nil {
		t.Fatal(err)
	}
	left, err := Dispose(ctx, f, "mem:/mine")
	if err != nil || len(left) != 1 || left[0] != shared.Location {
		t.Errorf("%v %v", left, err)
	}
	if entries, _ := f.List(ctx, "mem:/"); len(entries) != 1 || entries[0].Location != "mem:/mine/letters" {
		t.Errorf("left are %v", entries)
	}
}

// What was damaged behind the metadata is found before anything is used.
func TestDamagedState(t *testing.T) {
	for _, c := range []struct {
		name, now      string // what the file holds instead; "": it is missing
		shallow, bytes string
		group1         string
	}{
		{"missing", "", "at byte 0: the file is missing", "at byte 0: the file is missing", ""},
		{"short", "group0gro", "at byte 9: the file has 9 bytes, want 12", "at byte 9: the file has 9 bytes, want 12",
			"at byte 9: it is cut short: the section of key group 1 has 6 bytes"},
		{"long", "group0group1!", "at byte 12: the file has 13 bytes, want 12", "at byte 12: the file has 13 bytes, want 12", ""},
		{"flipped", "group0groUp1", "", "at byte 0: it is damaged: its 12 bytes do not have their checksum",
			"at byte 6: it is damaged: the 6 bytes of key group 1 do not have their checksum"},
	} {
		ctx, f := t.Context(), mem.New(time.Now)
		m := small(t, f, testDirectory)
		k := m.Operators[0].Subtasks[0].Keyed[0]
		h := k.Files[0].Handle
		if err := f.Delete(ctx, h.Location); err != nil {
			t.Fatal(err)
		}
		if c.now != "" {
			if err := fs.WriteFile(ctx, f, h.Location, []byte(c.now)); err != nil {
				t.Fatal(err)
			}
		}
		says := func(what, want string, err error) {
			t.Helper()
			_, corrupt := errors.AsType[*snapshot.CorruptError](err)
			switch {
			case want == "" && err != nil, want != "" && !corrupt, err != nil && !strings.HasPrefix(err.Error(), "mem:/ckpt/chk-7/state "+want):
				t.Errorf("%s, %s: %v", c.name, what, err)
			}
		}
		says("verify", c.shallow, Verify(ctx, f, m, false))
		says("verify deep", c.bytes, Verify(ctx, f, m, true))
		_, err := Bytes(ctx, f, h)
		says("bytes", c.bytes, err)
		if c.now == "" {
			continue
		}
		file, err := f.Open(ctx, h.Location)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Section(file, k.Sections[0], nil)
		says("group 0", "", err)
		_, err = Section(file, k.Sections[1], nil)
		says("group 1", c.group1, err)
	}
}

// What was in flight on one channel is read alone, and checked alone.
func TestChannel(t *testing.T) {
	ctx, f := t.Context(), mem.New(time.Now)
	data := []byte("aabbbcd")
	at := fs.Location("mem:/flight")
	if err := fs.WriteFile(ctx, f, at, data); err != nil {
		t.Fatal(err)
	}
	file := snapshot.Handle{Location: at, Length: 7, Checksum: snapshot.Checksum(data)}
	extents := []snapshot.Extent{{Offset: 2, Length: 3}, {Offset: 5, Length: 1}}
	sound := snapshot.ChannelState{File: file, Checksum: snapshot.Checksum([]byte("bbbc")), Buffers: extents}
	whole, inline, cut := sound, sound, sound
	whole.Checksum = 0
	inline.File = snapshot.Handle{Inline: data, Length: 7, Checksum: file.Checksum}
	cut.File.Length = 8
	for _, c := range []snapshot.ChannelState{sound, whole, inline} {
		if got, err := Channel(ctx, f, c); err != nil || !reflect.DeepEqual(got, [][]byte{[]byte("bbb"), []byte("c")}) {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
	gone := sound
	gone.File.Location = "mem:/nowhere"
	damaged := []byte("aabbXcd")
	if err := fs.WriteFile(ctx, f, "mem:/damaged", damaged); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]snapshot.ChannelState{
		"the file is missing":             gone,
		"the file has 7 bytes, want 8":    cut,
		"the 4 bytes of a channel do not": {File: snapshot.Handle{Location: "mem:/damaged", Length: 7, Checksum: file.Checksum}, Checksum: sound.Checksum, Buffers: extents},
		"its 7 bytes do not have":         {File: snapshot.Handle{Location: "mem:/damaged", Length: 7, Checksum: file.Checksum}, Buffers: extents},
	} {
		_, err := Channel(ctx, f, c)
		if _, corrupt := errors.AsType[*snapshot.CorruptError](err); !corrupt || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
