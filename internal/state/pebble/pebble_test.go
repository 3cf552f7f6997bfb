package pebble

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weirstream/weir/internal/state/disk"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// open makes a store in files of the test's own.
func open(t *testing.T, files vfs.FS, memory int64) (disk.Store, string) {
	t.Helper()
	shared := &Shared{fs: files, bytes: 1 << 20}
	t.Cleanup(shared.Close)
	directory := filepath.Join(t.TempDir(), "state")
	d, err := shared.Open(directory, memory)
	if err != nil {
		t.Fatal(err)
	}
	return d, directory
}

func key(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)) }

// held returns what a reader gives from one key to another.
func held(t *testing.T, r disk.Reader, from, to int) string {
	t.Helper()
	var all []string
	err := r.Each(key(from), key(to), func(k, v []byte) bool {
		all = append(all, fmt.Sprintf("%d=%s", binary.BigEndian.Uint64(k), v))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

func put(t *testing.T, d disk.Store, from, to int, value string) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := d.Put(key(i), []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Commit(); err != nil {
		t.Fatal(err)
	}
}

func TestStore(t *testing.T) {
	d, directory := open(t, vfs.Default, 1<<20)
	put(t, d, 1, 5, "a")
	view, err := d.View()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{2, 3} {
		if value, ok, err := d.Take(nil, key(i)); string(value) != "a" || !ok || err != nil {
			t.Errorf("key %d is %q, %v, %v", i, value, ok, err)
		}
		if value, ok, err := d.Take(nil, key(i)); ok || err != nil {
			t.Errorf("key %d that was taken is %q, %v", i, value, err)
		}
		if i == 2 {
			for range 2 {
				if err := d.Forget(key(i)); err != nil {
					t.Error(err)
				}
			}
		}
	}
	put(t, d, 3, 4, "b")
	put(t, d, 10, 20, "c")
	if err := d.DeleteRange(key(10), key(19)); err != nil {
		t.Error(err)
	}
	if got, want := held(t, d, 0, 100), "1=a 3=b 4=a 19=c"; got != want {
		t.Errorf("it holds %s, want %s", got, want)
	}
	if got, want := held(t, d, 3, 19), "3=b 4=a"; got != want {
		t.Errorf("a part of it holds %s, want %s", got, want)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if got, want := held(t, view, 0, 100), "1=a 2=a 3=a 4=a"; got != want {
		t.Errorf("the view holds %s after the store was closed, want %s", got, want)
	}
	if err := view.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(directory); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is left: %v", err)
	}
}

// What is put and taken again and again stays right when it is sorted in between, if
// all that is taken can be remembered, or some of it, or nothing; also what is deleted.
func TestManyRounds(t *testing.T) {
	for _, memory := range []int64{0, 16 << 10, 256 << 10} {
		d, _ := open(t, vfs.NewMem(), memory)
		const keys = 3000
		value := bytes.Repeat([]byte("v"), 100)
		for round := range 10 {
			put(t, d, 0, keys, fmt.Sprintf("%s%d", value, round))
			for i := range keys {
				if i%7 == 0 && round == 9 {
					continue
				}
				if i%11 == round {
					if err := d.Delete(key(i)); err != nil {
						t.Fatal(err)
					}
					continue
				}
				got, ok, err := d.Take(nil, key(i))
				if want := fmt.Sprintf("%s%d", value, round); string(got) != want || !ok || err != nil {
					t.Fatalf("round %d: key %d is %q, %v, %v", round, i, got, ok, err)
				}
				if i%5 == round {
					if err := d.Forget(key(i)); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if got := held(t, d, 0, 20); got != fmt.Sprintf("0=%s9 7=%s9 14=%s9", value, value, value) {
			t.Errorf("it holds %s", got)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A view gives what there was, although some of it was taken before, and more is
// taken, put and deleted later.
func TestViewOfTaken(t *testing.T) {
	d, _ := open(t, vfs.NewMem(), 1<<20)
	put(t, d, 0, 6, "a")
	take := func(keys ...int) {
		for _, i := range keys {
			if _, ok, err := d.Take(nil, key(i)); !ok || err != nil {
				t.Errorf("key %d: %v, %v", i, ok, err)
			}
		}
	}
	take(1, 2)
	view, err := d.View()
	if err != nil {
		t.Fatal(err)
	}
	take(3, 4)
	put(t, d, 1, 2, "b")
	if err := errors.Join(d.Forget(key(2)), d.Forget(key(4))); err != nil {
		t.Error(err)
	}
	if got, want := held(t, view, 0, 100), "0=a 3=a 4=a 5=a"; got != want {
		t.Errorf("the view holds %s, want %s", got, want)
	}
	if got, want := held(t, d, 0, 100), "0=a 1=b 5=a"; got != want {
		t.Errorf("the store holds %s, want %s", got, want)
	}
	if err := errors.Join(view.Close(), d.Close()); err != nil {
		t.Error(err)
	}
}

// full is a disk on which there is no room for more than some bytes.
type full struct {
	vfs.FS
	left *atomic.Int64
}

type fullFile struct {
	vfs.File
	left *atomic.Int64
}

func (f full) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	if err != nil {
		return nil, err
	}
	return fullFile{file, f.left}, nil
}

func (f fullFile) Write(b []byte) (int, error) {
	if f.left.Add(-int64(len(b))) < 0 {
		return 0, fmt.Errorf("write: %w", syscall.ENOSPC)
	}
	return f.File.Write(b)
}

// A disk that is full fails the store, and neither hangs nor ends the process. It may
// be full for the files of data first, or for the list of them.
func TestFullDisk(t *testing.T) {
	for _, room := range []int64{10_000, 20_000, 70_000, 100_000, 200_000, 500_000} {
		left := new(atomic.Int64)
		left.Store(room)
		d, directory := open(t, full{vfs.NewMem(), left}, 0)
		var err error
		puts := 0
		for ; err == nil && puts < 1_000_000; puts++ {
			if err = d.Put(key(puts), bytes.Repeat([]byte("v"), 100)); err == nil && puts%50 == 0 {
				err = d.Commit()
			}
		}
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), directory) {
			t.Errorf("room for %d bytes: after %d puts: %v", room, puts, err)
		}
		if _, err := d.View(); err == nil {
			t.Error("a store that has failed gives a view")
		}
		if err := d.Close(); err != nil {
			t.Errorf("room for %d bytes: close: %v", room, err)
		}
	}
}

// What Pebble would end the process for is an error that can be told from others.
func TestWhatIsFatalKeepsItsCause(t *testing.T) {
	d, directory := open(t, vfs.NewMem(), 0)
	s := d.(*store)
	logger{s}.Fatalf("MANIFEST flush failed: %v", fmt.Errorf("write: %w", syscall.ENOSPC))
	if err := d.Commit(); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), directory+": MANIFEST flush failed: write: no space left on device") {
		t.Errorf("error %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	shared := NewShared(1 << 20)
	defer shared.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := shared.Open(filepath.Join(file, "state"), 0); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error %v", err)
	}
}
