package memory

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// A world is one kind of table and what it must agree with: a map from the text
// of keys to the text of values.
type world interface {
	step(random *rand.Rand, scale int)                   // makes one change of both
	content() map[string]string                          // of the model
	live() map[string]string                             // of the table
	freeze(number uint64) (groups int, view frozenWorld) // of the table
	settle()
}

type frozenWorld interface {
	read(group int, b *Buffer) map[string]string
	Changed(group int) uint64
	Release()
}

// readAll reads all groups of a view, in random order.
func readAll(v frozenWorld, order []int) map[string]string {
	all := map[string]string{}
	var b Buffer
	for _, group := range order {
		maps.Copy(all, v.read(group, &b))
	}
	v.Release()
	return all
}

// runFrozen changes a table while views of it are read by other goroutines. Each
// must hold what the table held when it was made.
func runFrozen(t *testing.T, w world) {
	random := seed(t)
	var readers sync.WaitGroup
	defer readers.Wait()
	steps := 6000
	if testing.Short() {
		steps = 2000
	}
	scale, number, last := 300, uint64(0), w.content()
	for range steps {
		switch n := random.IntN(200); {
		case n < 2:
			number++
			groups, view := w.freeze(number)
			want := maps.Clone(w.content())
			checkChanges(t, view, number, groups, last, want)
			last = want
			order := random.Perm(groups)
			if n == 0 && random.IntN(3) == 0 {
				order = order[:random.IntN(groups)] // given up
				want = nil
			}
			readers.Go(func() {
				if got := readAll(view, order); want != nil && !maps.Equal(got, want) {
					t.Errorf("the view has %d keys, want %d: %s", len(got), len(want), difference(got, want))
				}
			})
		case n == 3:
			if got, want := w.live(), w.content(); !maps.Equal(got, want) {
				t.Fatalf("the table differs: %s", difference(got, want))
			}
		case n == 4:
			scale = 1 << random.IntN(12)
		case n == 5 && random.IntN(4) == 0:
			readers.Wait()
		default:
			w.step(random, scale)
		}
	}
	readers.Wait()
	if got, want := w.live(), w.content(); !maps.Equal(got, want) {
		t.Fatalf("the table differs: %s", difference(got, want))
	}
}

// checkChanges wants each difference since the freeze before to be in a group that
// is said to have changed.
func checkChanges(t *testing.T, view frozenWorld, number uint64, groups int, before, after map[string]string) {
	t.Helper()
	if maps.Equal(before, after) {
		return
	}
	for group := range groups {
		if view.Changed(group) >= number {
			return
		}
	}
	t.Errorf("freeze %d: no group is said to have changed", number)
}

func difference(got, want map[string]string) string {
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if got[k] != want[k] {
			return fmt.Sprintf("%q has %.40q, want %.40q", k, got[k], want[k])
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			return fmt.Sprintf("%q should not be there", k)
		}
	}
	return "not at all"
}

const worldGroups = 5

// cellWorld is Cells of int64 keys or of strings.
type cellWorld struct {
	cells *Cells[[3]int64]
	keys  *Keys[int64]
	texts *Keys[string]
	want  map[string]string
}

func newCellWorld(t *testing.T, integers bool) *cellWorld {
	cells, err := NewCells[[3]int64](0, worldGroups-1, worldGroups, integers)
	if err != nil {
		t.Fatal(err)
	}
	w := &cellWorld{cells: cells, want: map[string]string{}}
	w.keys, _ = NewKeys[int64](nil)
	w.texts, _ = NewKeys[string](nil)
	return w
}

func (w *cellWorld) key(n int) (k Key, text string) {
	text = strconv.Itoa(n)
	if w.cells.Integers() {
		w.keys.Set(&k, int64(n), w.keys.Hash(int64(n)))
	} else {
		w.texts.Set(&k, text, w.texts.Hash(text))
	}
	return k, text
}

func (w *cellWorld) text(k Key) string {
	if w.cells.Integers() {
		return strconv.Itoa(int(k.Word))
	}
	return string([]byte(k.Bytes))
}

func (w *cellWorld) step(random *rand.Rand, scale int) {
	k, text := w.key(random.IntN(scale))
	switch n := random.IntN(100); {
	case n < 60:
		x := random.Int64N(1 << 20)
		v, _ := w.cells.Upsert(&k)
		*v = [3]int64{x, x, x}
		w.want[text] = strconv.Itoa(int(x))
	case n < 80:
		w.cells.Delete(&k)
		delete(w.want, text)
	case n < 90:
		w.batch(random, scale)
	case n < 92:
		w.cells.Sweep(k.Hash, 20, func(v *[3]int64) bool { return v[0]%5 == 0 })
		w.want = w.live()
	case n == 99 && random.IntN(20) == 0:
		w.cells.Clear()
		clear(w.want)
	}
}

func (w *cellWorld) batch(random *rand.Rand, scale int) {
	ints, texts := make([]int64, 100), make([]string, 100)
	for i := range ints {
		ints[i] = random.Int64N(int64(scale))
		texts[i] = strconv.Itoa(int(ints[i]))
	}
	b := w.texts.Batch(texts)
	if w.cells.Integers() {
		b = w.keys.Batch(ints)
	}
	w.cells.UpsertBatch(b, 0, func(i int, v *[3]int64, _ bool) {
		*v = [3]int64{int64(i), int64(i), int64(i)}
		w.want[texts[i]] = strconv.Itoa(i)
	})
}

func (w *cellWorld) content() map[string]string { return w.want }

func (w *cellWorld) live() map[string]string {
	all := map[string]string{}
	for group := range worldGroups {
		w.cells.RangeGroup(group, func(k Key, v *[3]int64) bool {
			all[w.text(k)] = strconv.Itoa(int(v[0]))
			return true
		})
	}
	return all
}

func (w *cellWorld) settle() { w.cells.Settle() }

type cellView struct {
	*View[[3]int64]
	w *cellWorld
}

func (w *cellWorld) freeze(number uint64) (int, frozenWorld) {
	return worldGroups, cellView{w.cells.Freeze(number), &cellWorld{cells: w.cells}}
}

func (v cellView) read(group int, b *Buffer) map[string]string {
	all := map[string]string{}
	v.Read(group, b, func(k Key, value *[3]int64) bool {
		if value[0] != value[1] || value[1] != value[2] {
			all["torn"] = fmt.Sprint(value)
		}
		all[v.w.text(k)] = strconv.Itoa(int(value[0]))
		return true
	})
	return all
}

func TestFrozenIntegers(t *testing.T) { runFrozen(t, newCellWorld(t, true)) }

func TestFrozenRows(t *testing.T) { runFrozen(t, newCellWorld(t, false)) }

// blobWorld is Blobs of string keys.
type blobWorld struct {
	blobs *Blobs
	keys  *Keys[string]
	want  map[string]string
}

func newBlobWorld(t *testing.T) *blobWorld {
	blobs, err := NewBlobs(0, worldGroups-1, worldGroups, false)
	if err != nil {
		t.Fatal(err)
	}
	w := &blobWorld{blobs: blobs, want: map[string]string{}}
	w.keys, _ = NewKeys[string](nil)
	return w
}

func randomValue(random *rand.Rand) []byte {
	n := random.IntN(100)
	switch random.IntN(40) {
	case 0:
		n = random.IntN(100_000)
	case 1:
		n = 0
	case 2:
		n = random.IntN(10_000)
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + random.IntN(26))
	}
	return b
}

func (w *blobWorld) step(random *rand.Rand, scale int) {
	text := strconv.Itoa(random.IntN(scale))
	k := Key{Hash: w.keys.Hash(text), Bytes: text}
	switch n := random.IntN(100); {
	case n < 45:
		value := randomValue(random)
		w.blobs.Put(&k, value)
		w.want[text] = string(value)
	case n < 65:
		w.extend(k, randomValue(random))
	case n < 90:
		_, known := w.want[text]
		if w.blobs.Delete(&k) != known {
			panic("Delete and the model do not agree on " + text)
		}
		delete(w.want, text)
	case n < 97:
		got, ok := w.blobs.Get(&k)
		if want, known := w.want[text]; ok != known || string(got) != want {
			panic("Get and the model do not agree on " + text)
		}
	default:
		w.blobs.Sweep(k.Hash, 10, func(value []byte) bool { return len(value)%7 == 0 })
		w.want = w.live()
	}
}

// extend appends to the value of k, and changes its first byte.
func (w *blobWorld) extend(k Key, more []byte) {
	old, known := w.want[k.Bytes]
	value, created := w.blobs.Extend(&k, len(more), 1)
	if created == known || len(value) != len(old)+len(more) {
		panic("Extend and the model do not agree on " + k.Bytes)
	}
	copy(value[len(old):], more)
	if len(value) > 0 {
		value[0] = 'X'
		w.want[k.Bytes] = "X" + (old + string(more))[1:]
	} else {
		w.want[k.Bytes] = ""
	}
}

func (w *blobWorld) content() map[string]string { return w.want }

func (w *blobWorld) live() map[string]string {
	all := map[string]string{}
	for group := range worldGroups {
		w.blobs.RangeGroup(group, func(k Key, value []byte) bool {
			all[string([]byte(k.Bytes))] = string(value)
			return true
		})
	}
	return all
}

func (w *blobWorld) settle() { w.blobs.Settle() }

type blobView struct{ *BlobsView }

func (w *blobWorld) freeze(number uint64) (int, frozenWorld) {
	return worldGroups, blobView{w.blobs.Freeze(number)}
}

func (v blobView) read(group int, b *Buffer) map[string]string {
	all := map[string]string{}
	v.Read(group, b, func(k Key, value []byte) bool {
		all[string([]byte(k.Bytes))] = string(value)
		return true
	})
	return all
}

func TestFrozenBlobs(t *testing.T) { runFrozen(t, newBlobWorld(t)) }

// timerWorld is Timers of string keys.
type timerWorld struct {
	timers *Timers
	want   map[string]string // the time and the key
}

func timerText(bytes string, at int64) string { return fmt.Sprintf("%06d %s", at, bytes) }

func (w *timerWorld) step(random *rand.Rand, scale int) {
	text := strconv.Itoa(random.IntN(scale))
	k := Key{Hash: HashWithin(uint64(len(text)+int(text[0]))<<61, text), Bytes: text}
	at := random.Int64N(50)
	entry := timerText(text, at)
	_, known := w.want[entry]
	switch n := random.IntN(100); {
	case n < 60:
		if w.timers.Register(&k, at) == known {
			panic("Register and the model do not agree on " + entry)
		}
		w.want[entry] = ""
	case n < 85:
		if w.timers.Delete(&k, at) != known {
			panic("Delete and the model do not agree on " + entry)
		}
		delete(w.want, entry)
	case n < 86:
		w.drain(random.Int64N(50))
	}
}

// drain pops up to a time. Times must ascend, and the model hold all of them and
// nothing else that is so early.
func (w *timerWorld) drain(until int64) {
	last := int64(-1)
	for {
		bytes, at, ok := w.timers.Pop(until)
		if !ok {
			break
		}
		entry := timerText(bytes, at)
		if _, known := w.want[entry]; !known || at < last {
			panic("Pop gives " + entry)
		}
		last = at
		delete(w.want, entry)
	}
	for entry := range w.want {
		if entry <= timerText("", until) {
			panic("Pop has not given " + entry)
		}
	}
}

func (w *timerWorld) content() map[string]string { return w.want }

func (w *timerWorld) live() map[string]string {
	all := map[string]string{}
	for group := range 8 {
		w.timers.RangeGroup(group, func(bytes string, at int64) bool {
			all[timerText(bytes, at)] = ""
			return true
		})
	}
	return all
}

func (w *timerWorld) settle() { w.timers.Settle() }

type timerView struct{ *TimersView }

func (w *timerWorld) freeze(number uint64) (int, frozenWorld) {
	return 8, timerView{w.timers.Freeze(number)}
}

func (v timerView) read(group int, b *Buffer) map[string]string {
	all := map[string]string{}
	v.Read(group, b, func(bytes string, at int64) bool {
		all[timerText(bytes, at)] = ""
		return true
	})
	return all
}

func TestFrozenTimers(t *testing.T) {
	timers, err := NewTimers(0, 7, 8)
	if err != nil {
		t.Fatal(err)
	}
	runFrozen(t, &timerWorld{timers, map[string]string{}})
}
