package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// sample returns a file with all kinds of state, and another that is newer.
func sample() []byte {
	c := &cluster[string]{key: func(n int) string { return fmt.Sprint("k", n) }, want: map[string]string{}}
	c.subtasks = append(c.subtasks, newSubtask[string](0, 1))
	for n := range 41 {
		s := c.at(n)
		s.count.Set(int64(n))
		s.name.Set(strings.Repeat("name", n))
		s.list.AddAll([]string{"a", "", "ccc"})
		s.nums.Add(int32(n))
		s.m.Put("x", int64(n))
		s.texts.Put(int32(n), "text")
		s.texts.Put(int32(n+1), "text")
		s.ns.Set(window{int64(n), int64(n)})
		s.sum.Add(1)
		s.join.Add("j")
		s.mean.Add(int64(n))
		s.inWin.Put("u", "v")
		s.sliced.Set(7, int64(n))
		s.words.Set(-7, "w")
		s.timers.RegisterEventTime(int64(n))
		s.timers.RegisterProcessingTime(int64(n))
	}
	var buf bytes.Buffer
	must(c.subtasks[0].k.Freeze().Write(&buf, "sample", nil))
	return buf.Bytes()
}

// restoreAll opens a file and restores all of it.
func restoreAll(b []byte) (*subtask[string], error) {
	f, err := OpenFile("chk-1/file", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	if f.header.Max != worldMax {
		return nil, errors.New("another maximum parallelism")
	}
	s := newSubtask[string](0, 1)
	for _, l := range f.Locations() {
		if err := s.k.Restore(f, l); err != nil {
			return nil, err
		}
	}
	return s, nil
}

var rewrite = flag.Bool("rewrite", false, "write the files of testdata anew")

// What the first release wrote is read by all later ones.
func TestFormatIsStable(t *testing.T) {
	const name = "testdata/version1.keys"
	if *rewrite {
		must(0, os.WriteFile(name, sample(), 0o644))
	}
	s, err := restoreAll(must(os.ReadFile(name)))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 41 {
		key := fmt.Sprint("k", n)
		s.k.use(key)
		s.ns.Set(window{int64(n), int64(n)})
		count, _ := s.count.Get()
		name, _ := s.name.Get()
		x, _ := s.m.Get("x")
		sum, _ := s.sum.Get()
		mean, _ := s.mean.Get()
		u, _ := s.inWin.Get("u")
		slice, _ := s.sliced.Get(7)
		word, _ := s.words.Get(-7)
		got := fmt.Sprint(count, name, s.list.Get(), s.nums.Get(), x, s.texts.Len(), sum, mean, u, slice, word)
		want := fmt.Sprint(n, strings.Repeat("name", n), []string{"a", "", "ccc"}, []int{n}, n, 2, 1, float64(n), "v", n, "w")
		if got != want {
			t.Errorf("key %s has %s, want %s", key, got, want)
		}
	}
	if event, processing := s.timers.Len(); event != 41 || processing != 41 {
		t.Errorf("%d and %d timers", event, processing)
	}
}

// Every truncation and every flipped bit is found, and said where.
func TestDamageIsFound(t *testing.T) {
	good := sample()
	if _, err := restoreAll(good); err != nil {
		t.Fatal(err)
	}
	wrong := func(what string, b []byte) {
		t.Helper()
		_, err := restoreAll(b)
		var file *FileError
		if !errors.As(err, &file) || file.File != "chk-1/file" || file.Offset < 0 || file.Offset > int64(len(b)) || !strings.Contains(err.Error(), "chk-1/file at offset") {
			t.Fatalf("%s: error %v", what, err)
		}
		if f, openErr := OpenFile("chk-1/file", bytes.NewReader(b), int64(len(b))); openErr == nil && f.Verify() == nil {
			t.Fatalf("%s: Verify finds nothing", what)
		}
	}
	for cut := 0; cut < len(good); cut += 1 + len(good)/700 {
		wrong(fmt.Sprintf("%d of %d bytes", cut, len(good)), good[:cut])
	}
	for at := 0; at < len(good); at += 1 + len(good)/700 {
		bad := bytes.Clone(good)
		bad[at] ^= 1 << (at % 8)
		wrong(fmt.Sprintf("a bit of byte %d", at), bad)
	}
	wrong("nothing", nil)
	wrong("another file", bytes.Repeat([]byte("text\n"), 100))
	wrong("something behind", append(bytes.Clone(good), 0))
}

// A file that is shorter than its size is cut short, and a reader's own error is not
// damage.
func TestReadersThatFail(t *testing.T) {
	good := sample()
	_, err := OpenFile("f", bytes.NewReader(good[:30]), int64(len(good)))
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("error %v, want ErrCorrupt", err)
	}
	_, err = OpenFile("f", failing{}, int64(len(good)))
	if errors.Is(err, ErrCorrupt) || !errors.Is(err, errDisk) {
		t.Errorf("error %v, want that of the disk", err)
	}
	s := newSubtask[string](0, 1)
	s.k.use("k")
	s.count.Set(1)
	if _, err := s.k.Freeze().Write(failing{}, "f", nil); !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "op-1 to f at offset 0") {
		t.Errorf("error %v, want that of the disk", err)
	}
}

var errDisk = errors.New("the disk is full")

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, errDisk }
func (failing) Write([]byte) (int, error)         { return 0, errDisk }

var _ io.ReaderAt = failing{}

// mend writes all sums of a file anew, as far as it is one.
func mend(b []byte) {
	put := func(at int, sum uint32) { binary.LittleEndian.PutUint32(b[at:], sum) }
	if len(b) < headBytes+trailerBytes {
		return
	}
	length := int(binary.LittleEndian.Uint32(b[12:]))
	if length > len(b)-headBytes-trailerBytes {
		return
	}
	put(16, crc32.Checksum(b[headBytes:headBytes+length], castagnoli))
	trailer := len(b) - trailerBytes
	index := int(binary.LittleEndian.Uint64(b[trailer:]))
	if index < headBytes+length || index > trailer {
		return
	}
	put(trailer+12, crc32.Checksum(b[index:trailer], castagnoli))
	for at := headBytes + length; at+blockHead <= index; {
		n := int(binary.LittleEndian.Uint32(b[at:]))
		if n > index-at-blockHead {
			return
		}
		put(at+4, crc32.Checksum(b[at+8:at+blockHead+n], castagnoli))
		at += blockHead + n
	}
}

// Whatever a file holds, even if all its sums are right, is restored or refused, and
// what was restored can be used.
func FuzzRestore(f *testing.F) {
	good := sample()
	f.Add(good, true)
	f.Add(good[:len(good)/2], false)
	random := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		bad := bytes.Clone(good)
		for range 3 {
			bad[random.IntN(len(bad))] ^= byte(1 << random.IntN(8))
		}
		f.Add(bad, true)
	}
	f.Fuzz(func(t *testing.T, b []byte, mended bool) {
		if mended {
			b = bytes.Clone(b)
			mend(b)
		}
		s, err := restoreAll(b)
		if err != nil {
			return
		}
		c := &cluster[string]{subtasks: []*subtask[string]{s}, key: func(n int) string { return fmt.Sprint("k", n) }}
		defer func() {
			if e := recover(); e != nil {
				if _, ok := e.(*Error); !ok {
					panic(e)
				}
			}
		}()
		for n := range 41 {
			s := c.at(n)
			s.count.Get()
			s.name.Get()
			s.list.Add("x")
			s.list.Get()
			s.nums.Get()
			s.m.Each(func(string, int64) bool { return true })
			s.texts.Each(func(int32, string) bool { return true })
			s.texts.Clear()
		}
		_ = s.timers.AdvanceEventTime(100, func(string, window, int64) error { return nil })
		must(s.k.Freeze().Write(io.Discard, "again", nil))
	})
}

// versions open a state as one release of a job did.
type version func(b *Backend) (write func(), read func() any)

type userV1 struct {
	Name  string
	Age   int32
	Old   []string
	Score float32
}

type userV2 struct {
	Score float64
	Name  string
	New   int8
	Age   int64
}

// Pointer-free, and not so any more.
type pointV1 struct{ X, Y int16 }

type pointV2 struct {
	X    int64
	Y    int16
	Note string
}

func valueOf[V any](v V) version {
	return func(b *Backend) (func(), func() any) {
		s := must(NewValue[V](b, "s"))
		return func() { s.Set(v) }, func() any { v, _ := s.Get(); return v }
	}
}

func listOf[V any](vals ...V) version {
	return func(b *Backend) (func(), func() any) {
		s := must(NewList[V](b, "s"))
		return func() { s.AddAll(vals) }, func() any { return s.Get() }
	}
}

func mapOf[V any](v V) version {
	return func(b *Backend) (func(), func() any) {
		s := must(NewMap[string, V](b, "s"))
		return func() { s.Put("k", v) }, func() any { v, _ := s.Get("k"); return v }
	}
}

func slicedOf[V any](v V) version {
	return func(b *Backend) (func(), func() any) {
		s := must(NewSliced[V](b, "s"))
		return func() { s.Set(3, v) }, func() any { v, _ := s.Get(3); return v }
	}
}

// evolve writes with one version and restores with another.
func evolve(t *testing.T, from, to version) (any, error) {
	t.Helper()
	k := newKeyed[int64](t, &clock{})
	write, _ := from(k.Backend)
	k.use(5)
	write()
	f := written1(t, k.Freeze())
	again := newKeyed[int64](t, &clock{})
	_, read := to(again.Backend)
	for _, l := range f.Locations() {
		if err := again.Restore(f, l); err != nil {
			return nil, err
		}
	}
	again.use(5)
	return read(), nil
}

func TestTypesChange(t *testing.T) {
	oldUser := userV1{"ann", 33, []string{"x"}, 0.5}
	newUser := userV2{0.5, "ann", 0, 33}
	for name, c := range map[string]struct {
		from, to version
		want     any
	}{
		"wider":             {valueOf(int32(-5)), valueOf(int64(0)), int64(-5)},
		"struct":            {valueOf(oldUser), valueOf(newUser), newUser},
		"to encoded":        {valueOf(pointV1{1, 2}), valueOf(pointV2{}), pointV2{1, 2, ""}},
		"to in place":       {valueOf(pointV2{1, 2, "n"}), valueOf(struct{ X int64 }{}), struct{ X int64 }{1}},
		"encoded, the same": {valueOf(oldUser), valueOf(userV1{}), oldUser},
		"list":              {listOf(oldUser, oldUser), listOf[userV2](), []userV2{newUser, newUser}},
		"list in place":     {listOf(pointV1{1, 2}), listOf[pointV2](), []pointV2{{1, 2, ""}}},
		"map":               {mapOf(oldUser), mapOf(newUser), newUser},
		"map to encoded":    {mapOf(pointV1{1, 2}), mapOf(pointV2{}), pointV2{1, 2, ""}},
		"map to in place":   {mapOf(pointV2{1, 2, "n"}), mapOf(struct{ X int64 }{}), struct{ X int64 }{1}},
		"sliced":            {slicedOf(oldUser), slicedOf(newUser), newUser},
		"sliced in place":   {slicedOf(int8(4)), slicedOf(int16(4)), int16(4)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := evolve(t, c.from, c.to)
			if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestTypesThatDoNotFit(t *testing.T) {
	for name, c := range map[string]struct {
		from, to version
		want     string
	}{
		"narrower": {valueOf(int64(5)), valueOf(int32(0)), `state "s": codec: value was int64 and is now int32`},
		"field":    {listOf(oldNames{}), listOf[newNames](), "codec: value.Name was string and is now int64"},
		"kind":     {valueOf("x"), listOf[string](), "it was a VALUE state and is now a LIST state"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := evolve(t, c.from, c.to)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "restore operator op from file") {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

type (
	oldNames struct{ Name string }
	newNames struct{ Name int64 }
)

func TestCompare(t *testing.T) {
	from := Header{Key: "int32", States: []Descriptor{
		{Name: "a", Kind: KindValue, Value: "int8"},
		{Name: "b", Kind: KindList, Value: "{A:int8;}"},
		{Name: "c", Kind: KindMap, UserKey: "int8", Value: "string"},
		{Name: "d", Kind: KindReducing, Namespace: "int64", Value: "int8"},
		{Name: "gone", Kind: KindValue, Value: "int8"},
	}}
	to := []Descriptor{
		{Name: "new", Kind: KindValue, Value: "int8"},
		{Name: "a", Kind: KindValue, Value: "int8"},
		{Name: "b", Kind: KindList, Value: "{A:int16;B:string;}"},
		{Name: "c", Kind: KindMap, UserKey: "int16", Value: "string"},
		{Name: "d", Kind: KindReducing, Value: "int8"},
	}
	var got []string
	for _, c := range Compare(from, "int32", to) {
		got = append(got, fmt.Sprint(c.Name, " ", c.Outcome, " ", c.Reason))
	}
	want := []string{
		"new new ",
		"a kept ",
		"b migrated value.A widened from int8 to int16; value.B added",
		"c refused the keys of its maps were int8 and are now int16: they cannot change",
		`d refused its namespaces were "int64" and are now "": they cannot change`,
		"gone lost the operator does not open it",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if c := Compare(from, "int64", to)[1]; c.Outcome != Migrated || c.Reason != "keys widened from int32 to int64" {
		t.Errorf("with wider keys: %v", c)
	}
	for _, key := range []string{"string", "int16", "{A:int32;}", "uint64"} {
		if c := Compare(from, "string", to)[1]; c.Outcome != Refused {
			t.Errorf("keys int32 as %s: %v", key, c)
		}
	}
}

// Keys may become wider integers: they keep their hash.
func TestKeysWiden(t *testing.T) {
	small := newKeyed[int32](t, &clock{})
	v := must(NewValue[int8](small.Backend, "v"))
	m := must(NewMap[string, int8](small.Backend, "m"))
	timers := must(NewTimers[int32, struct{}](small, "t", nil))
	for key := int32(-3); key < 3; key++ {
		small.use(key)
		v.Set(int8(key))
		m.Put("k", int8(key))
		timers.RegisterEventTime(int64(key))
	}
	f := written1(t, small.Freeze())
	wide := newKeyed[int64](t, &clock{})
	v, m = must(NewValue[int8](wide.Backend, "v")), must(NewMap[string, int8](wide.Backend, "m"))
	later := must(NewTimers[int64, struct{}](wide, "t", nil))
	for _, l := range f.Locations() {
		must(0, wide.Restore(f, l))
	}
	for key := int64(-3); key < 3; key++ {
		wide.use(key)
		got, _ := v.Get()
		in, _ := m.Get("k")
		if int64(got) != key || int64(in) != key {
			t.Errorf("key %d has %d and %d", key, got, in)
		}
	}
	next := int64(-3)
	must(0, later.AdvanceEventTime(10, func(key int64, _ struct{}, at int64) error {
		if key != next || at != next {
			t.Errorf("timer of key %d at %d, want %d", key, at, next)
		}
		next++
		return nil
	}))
}

func TestRestoreRefuses(t *testing.T) {
	b := sample()
	f := must(OpenFile("f", bytes.NewReader(b), int64(len(b))))
	for want, o := range map[string]Options{
		"it is the state of operator op-1":             {Operator: "other", Last: worldMax - 1, Max: worldMax},
		"its maximum parallelism was 12 and is now 13": {Operator: "op-1", Last: 12, Max: 13},
		"the subtask has groups 0 to 0":                {Operator: "op-1", Last: 0, Max: worldMax},
	} {
		k := must(NewKeyed[string](scarce(o)))
		if err := k.Restore(f, f.Locations()[5]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	s := newSubtask[string](0, 1)
	must(0, s.k.Restore(f, f.Locations()[0]))
	if err := s.k.Restore(f, f.Locations()[0]); err == nil || !strings.Contains(err.Error(), "it was restored whole before") {
		t.Errorf("a group that is restored twice: %v", err)
	}
	moved := f.Locations()[3]
	moved.Group = 4
	if err := newSubtask[string](0, 1).k.Restore(f, moved); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "here is key group 3, not 4") {
		t.Errorf("a location of another group: %v", err)
	}
}

// A snapshot in which nothing changed writes nothing, and one in which a key changed
// writes its group.
func TestIncremental(t *testing.T) {
	k := must(NewKeyed[int64](scarce(Options{Operator: "op", Last: 127, Max: 128})))
	v := must(NewValue[int64](k.Backend, "v"))
	for key := range int64(10_000) {
		k.use(key)
		v.Set(key)
	}
	var full bytes.Buffer
	base := must(k.Freeze().Write(&full, "chk-1", nil))
	if len(base.Locations) != 128 {
		t.Fatalf("%d groups are written", len(base.Locations))
	}
	var empty bytes.Buffer
	same := must(k.Freeze().Write(&empty, "chk-2", &base.Base))
	if empty.Len() != 0 || !slices.Equal(same.Locations, base.Locations) {
		t.Errorf("%d bytes of no change", empty.Len())
	}
	k.use(77)
	v.Set(-77)
	var one bytes.Buffer
	third := must(k.Freeze().Write(&one, "chk-3", &same.Base))
	if one.Len() > full.Len()/50 {
		t.Errorf("%d bytes of one change, %d of all", one.Len(), full.Len())
	}
	inNew := 0
	for _, l := range third.Locations {
		if l.File == "chk-3" {
			inNew++
		}
	}
	if inNew != 1 || len(third.Locations) != 128 {
		t.Errorf("%d of %d groups are in the new file", inNew, len(third.Locations))
	}
}

// With one key of a hundred changed, wherever it is, a snapshot on the base of another
// takes a few bytes of a hundred; sections of changes are few, and reading them all gives
// what there was.
func TestOnlyWhatChangedIsWritten(t *testing.T) {
	const keys = 100_000
	open := func() (*Keyed[int64], *Value[int64], *Value[string]) {
		k := must(NewKeyed[int64](Options{Operator: "op", Last: 31, Max: 32}))
		v, s := must(NewValue[int64](k.Backend, "v")), must(NewValue[string](k.Backend, "s"))
		k.Track()
		return k, v, s
	}
	k, v, s := open()
	want := map[int64]int64{}
	set := func(key, value int64) {
		k.use(key)
		v.Set(value)
		s.Set(fmt.Sprint("text of ", value))
		want[key] = value
	}
	for key := range int64(keys) {
		set(key, key)
	}
	var base *Base
	files := map[string]*File{}
	full, deepest, all := 0, 0, 0
	const rounds = 70
	for n := range rounds {
		var out bytes.Buffer
		name := fmt.Sprint("chk-", n)
		w := must(k.Freeze().Write(&out, name, base))
		files[name] = must(OpenFile(name, bytes.NewReader(out.Bytes()), int64(out.Len())))
		if n == 0 {
			full = out.Len()
		} else if all += out.Len(); 100*out.Len() > 5*full && n > leastChanges || 100*out.Len() > 2*full && n <= leastChanges {
			t.Errorf("snapshot %d has %d bytes of %d", n, out.Len(), full)
		}
		base = &w.Base
		for group := range 32 {
			deepest = max(deepest, len(base.sections(group)))
		}
		for i := range int64(keys / 100) {
			switch key := (i*7919 + int64(n)*31337) % keys; {
			case i%10 > 0:
				set(key, key+int64(n))
			default:
				k.use(key)
				v.Clear()
				s.Clear()
				delete(want, key)
			}
		}
	}
	t.Logf("%d snapshots of one key in a hundred: each %.1f bytes of a hundred", rounds-1, 100*float64(all)/float64(full)/(rounds-1))
	if limit := 1 + mostChanges; deepest > limit {
		t.Errorf("a group has %d sections, want at most %d", deepest, limit)
	}
	var last bytes.Buffer
	w := must(k.Freeze().Write(&last, "last", base))
	files["last"] = must(OpenFile("last", bytes.NewReader(last.Bytes()), int64(last.Len())))
	k, v, s = open()
	for _, l := range slices.Backward(w.Locations) {
		must(0, k.Restore(files[l.File], l))
	}
	must(0, k.Restored())
	for key := range int64(keys) {
		k.use(key)
		got, ok := v.Get()
		text, _ := s.Get()
		if value, there := want[key]; ok != there || got != value || ok && text != fmt.Sprint("text of ", value) {
			t.Fatalf("key %d is %d %q, %t; want %d, %t", key, got, text, ok, value, there)
		}
	}
}

// A group of which only changes were restored is refused.
func TestChangesWithoutWhatTheyAreBasedOn(t *testing.T) {
	k := must(NewKeyed[int64](Options{Operator: "op", Last: 0, Max: 1}))
	v := must(NewValue[int64](k.Backend, "v"))
	k.Track()
	for key := range int64(1000) {
		k.use(key)
		v.Set(key)
	}
	base := must(k.Freeze().Write(io.Discard, "one", nil)).Base
	k.use(7)
	v.Set(8)
	var out bytes.Buffer
	w := must(k.Freeze().Write(&out, "two", &base))
	f := must(OpenFile("two", bytes.NewReader(out.Bytes()), int64(out.Len())))
	k = must(NewKeyed[int64](Options{Operator: "op", Last: 0, Max: 1}))
	must(NewValue[int64](k.Backend, "v"))
	must(0, k.Restore(f, w.Locations[1]))
	if err := k.Restored(); err == nil || !strings.Contains(err.Error(), "the section that its changes are based on is missing") {
		t.Errorf("got %v", err)
	}
}

// Groups of many blocks come back: each kind of state with more than a block holds,
// and one key with more than a block.
func TestLargeGroups(t *testing.T) {
	open := func() (k *Keyed[string], v *Value[int64], text *Value[string], l *List[string], m *Map[int64, int64], texts *Map[string, string], sliced *Sliced[int64], timers *Timers[string, struct{}]) {
		o := scarce(Options{Operator: "op", Last: 1, Max: 2})
		o.Room *= 100 // timers stay in memory
		k = must(NewKeyed[string](o))
		b := k.Backend
		return k, must(NewValue[int64](b, "v")), must(NewValue[string](b, "text")), must(NewList[string](b, "l")), must(NewMap[int64, int64](b, "m")),
			must(NewMap[string, string](b, "texts")), must(NewSliced[int64](b, "sliced")), must(NewTimers[string, struct{}](k, "t", nil))
	}
	const keys, inner = 4000, 3000
	k, v, text, l, m, texts, sliced, timers := open()
	for i := range int64(keys) {
		k.use(fmt.Sprint("key", i))
		v.Set(i)
		text.Set(strings.Repeat("t", int(i%200)))
		l.Add("one")
		m.Put(i, i)
		sliced.Set(i%3, i)
		timers.RegisterEventTime(i % 17)
	}
	for i := range int64(inner) {
		m.Put(-i, i)
		texts.Put(fmt.Sprint(i), strings.Repeat("x", 100))
		l.Add(strings.Repeat("y", 100))
	}
	f := written1(t, k.Freeze())
	if sizes := f.Sizes(); sizes[0].Entries != keys || sizes[3].Entries != keys+inner || sizes[4].Entries != inner || sizes[5].Entries != keys || sizes[6].Entries != keys {
		t.Errorf("sizes %v", sizes)
	}
	k, v, text, l, m, texts, sliced, timers = open()
	for _, l := range f.Locations() {
		must(0, k.Restore(f, l))
	}
	for i := range int64(keys) {
		k.use(fmt.Sprint("key", i))
		got, _ := v.Get()
		s, _ := text.Get()
		in, _ := m.Get(i)
		part, _ := sliced.Get(i % 3)
		if got != i || len(s) != int(i%200) || in != i || part != i || len(l.Get()) < 1 {
			t.Fatalf("key %d has %d, %q, %d, %d", i, got, s, in, part)
		}
	}
	next := int64(0)
	m.Each(func(uk, _ int64) bool {
		if want := -next; uk != want && !(next == 0 && uk == keys-1) {
			t.Fatalf("entry %d is %d", next, uk)
		}
		if uk <= 0 {
			next++
		}
		return true
	})
	fired := 0
	must(0, timers.AdvanceEventTime(20, func(string, struct{}, int64) error { fired++; return nil }))
	k.use(fmt.Sprint("key", keys-1))
	if next != inner || texts.Len() != inner || len(l.Get()) != inner+1 || fired != keys {
		t.Errorf("%d entries, %d texts, %d elements, %d timers", next, texts.Len(), len(l.Get()), fired)
	}
}
