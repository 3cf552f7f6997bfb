package state

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weirstream/weir/internal/state/keygroup"
	"pgregory.net/rapid"
)

const worldMax = 12 // key groups

// must returns v, or ends the test.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

type window struct{ Start, End int64 }

type average struct{ Sum, N int64 }

// A subtask is a backend with a state of each kind.
type subtask[K comparable] struct {
	k      *Keyed[K]
	count  *Value[int64]
	name   *Value[string]
	list   *List[string]
	nums   *List[int32]
	m      *Map[string, int64]
	texts  *Map[int32, string]
	ns     *Namespace[window]
	sum    *Reducing[int64]
	join   *Reducing[string]
	mean   *Aggregating[int64, average, float64]
	inWin  *Map[string, string]
	sliced *Sliced[int64]
	words  *Sliced[string]
	timers *Timers[K, window]
}

var averages = Aggregator[int64, average, float64]{
	Create: func() average { return average{} },
	Add:    func(acc *average, v int64) { acc.Sum += v; acc.N++ },
	Merge:  func(acc *average, other average) { acc.Sum += other.Sum; acc.N += other.N },
	Result: func(acc *average) float64 { return float64(acc.Sum) / float64(acc.N) },
}

func newSubtask[K comparable](index, parallelism int) *subtask[K] {
	first, last := keygroup.Range(index, parallelism, worldMax)
	k := must(NewKeyed[K](scarce(Options{Operator: "op-1", First: first, Last: last, Max: worldMax})))
	ns := must(NewNamespace[window](k.Backend))
	return &subtask[K]{
		k:      k,
		count:  must(NewValue[int64](k.Backend, "count")),
		name:   must(NewValue[string](k.Backend, "name")),
		list:   must(NewList[string](k.Backend, "list")),
		nums:   must(NewList[int32](k.Backend, "nums")),
		m:      must(NewMap[string, int64](k.Backend, "map")),
		texts:  must(NewMap[int32, string](k.Backend, "texts")),
		ns:     ns,
		sum:    must(NewReducing(k.Backend, "sum", func(a, b int64) int64 { return a + b }, In(ns))),
		join:   must(NewReducing(k.Backend, "join", func(a, b string) string { return a + b })),
		mean:   must(NewAggregating(k.Backend, "mean", averages, In(ns))),
		inWin:  must(NewMap[string, string](k.Backend, "in window", In(ns))),
		sliced: must(NewSliced[int64](k.Backend, "sliced")),
		words:  must(NewSliced[string](k.Backend, "words")),
		timers: must(NewTimers[K](k, "timers", ns)),
	}
}

// A cluster is an operator: its subtasks, and what they must hold.
type cluster[K comparable] struct {
	subtasks []*subtask[K]
	key      func(n int) K
	want     map[string]string
}

// at makes key n current in its subtask.
func (c *cluster[K]) at(n int) *subtask[K] {
	key := c.key(n)
	hash := c.subtasks[0].k.Hash(key)
	s := c.subtasks[keygroup.Subtask(keygroup.Group(hash, worldMax), len(c.subtasks), worldMax)]
	s.k.SetKey(key, hash)
	return s
}

func (c *cluster[K]) set(what string, n int, format string, args ...any) {
	c.want[fmt.Sprintf("%s/%d", what, n)] = fmt.Sprintf(format, args...)
}

func (c *cluster[K]) unset(what string, n int) { delete(c.want, fmt.Sprintf("%s/%d", what, n)) }

// entries are a map as text, in its order.
type entries []string

func (e entries) put(key, value string) entries {
	for i, old := range e {
		if strings.HasPrefix(old, key+"=") {
			e = slices.Clone(e)
			e[i] = key + "=" + value
			return e
		}
	}
	return append(slices.Clone(e), key+"="+value)
}

func (e entries) remove(key string) entries {
	return slices.DeleteFunc(slices.Clone(e), func(old string) bool { return strings.HasPrefix(old, key+"=") })
}

func (c *cluster[K]) entries(what string, n int) entries {
	if text, ok := c.want[fmt.Sprintf("%s/%d", what, n)]; ok {
		return strings.Split(text, "|")
	}
	return nil
}

func (c *cluster[K]) setEntries(what string, n int, e entries) {
	if len(e) == 0 {
		c.unset(what, n)
	} else {
		c.set(what, n, "%s", strings.Join(e, "|"))
	}
}

// step makes one change of a state and of what it must hold.
func (c *cluster[K]) step(t *rapid.T) {
	n := rapid.IntRange(0, 40).Draw(t, "key")
	x := rapid.Int64Range(0, 999).Draw(t, "x")
	text := fmt.Sprint("t", x, strings.Repeat("+", int(x)%90))
	s := c.at(n)
	win := window{x % 3 * 10, x%3*10 + 10}
	s.ns.Set(win)
	scoped := func(what string) string { return fmt.Sprint(what, "@", win.Start) }
	switch op := rapid.IntRange(0, 24).Draw(t, "op"); op {
	case 0:
		s.count.Set(x)
		c.set("count", n, "%d", x)
	case 1:
		v, created := s.count.Ref()
		if _, known := c.want[fmt.Sprintf("count/%d", n)]; created == known {
			t.Fatalf("count of key %d: created %v, known %v", n, created, known)
		}
		*v = x
		c.set("count", n, "%d", x)
	case 2:
		s.count.Clear()
		c.unset("count", n)
	case 3, 4:
		s.name.Set(text)
		c.set("name", n, "%s", text)
	case 5:
		s.name.Clear()
		c.unset("name", n)
	case 6, 7:
		s.list.Add(text)
		c.setEntries("list", n, append(c.entries("list", n), text))
	case 8:
		s.list.AddAll([]string{text, "b"})
		c.setEntries("list", n, append(c.entries("list", n), text, "b"))
	case 9:
		s.list.Set([]string{text})
		c.setEntries("list", n, entries{text})
	case 10:
		s.list.Clear()
		c.unset("list", n)
	case 11:
		s.nums.Add(int32(x))
		c.setEntries("nums", n, append(c.entries("nums", n), fmt.Sprint(x)))
	case 12, 13:
		uk := fmt.Sprint("k", x%7)
		s.m.Put(uk, x)
		c.setEntries("map", n, c.entries("map", n).put(uk, fmt.Sprint(x)))
	case 14:
		uk := fmt.Sprint("k", x%7)
		s.m.Delete(uk)
		c.setEntries("map", n, c.entries("map", n).remove(uk))
	case 15:
		s.texts.Put(int32(x%5), text)
		c.setEntries("texts", n, c.entries("texts", n).put(fmt.Sprint(x%5), text))
	case 16:
		s.texts.Clear()
		c.unset("texts", n)
	case 17:
		old := int64(0)
		fmt.Sscan(c.want[fmt.Sprintf("%s/%d", scoped("sum"), n)], &old)
		if got := s.sum.AddGet(x); got != old+x {
			t.Fatalf("sum of key %d is %d, want %d", n, got, old+x)
		}
		c.set(scoped("sum"), n, "%d", old+x)
	case 18:
		s.sum.Take()
		c.unset(scoped("sum"), n)
	case 19:
		s.join.Add(text)
		c.set("join", n, "%s", c.want[fmt.Sprintf("join/%d", n)]+text)
	case 20:
		s.mean.Add(x)
		s.mean.Add(x)
		s.mean.Take()
		s.mean.Add(x)
		c.set(scoped("mean"), n, "%v", float64(x))
	case 21:
		s.inWin.Put(text, "v")
		c.setEntries(scoped("in window"), n, c.entries(scoped("in window"), n).put(text, "v"))
	case 22:
		s.sliced.Set(x%4, x)
		c.set(fmt.Sprint("sliced@", x%4), n, "%d", x)
		s.words.Set(x%2, text)
		c.set(fmt.Sprint("words@", x%2), n, "%s", text)
	case 23:
		if x%3 == 0 {
			c.drop(x % 4)
		}
	case 24:
		c.timer(s, n, x, win)
	}
}

// drop drops a slice from all subtasks.
func (c *cluster[K]) drop(slice int64) {
	for _, s := range c.subtasks {
		s.sliced.Drop(slice)
	}
	maps.DeleteFunc(c.want, func(k, _ string) bool { return strings.HasPrefix(k, fmt.Sprint("sliced@", slice, "/")) })
}

func (c *cluster[K]) timer(s *subtask[K], n int, x int64, win window) {
	at := x / 3 % 20
	what := fmt.Sprintf("timer@%d@%d", win.Start, at)
	if x%5 == 0 {
		s.timers.DeleteEventTime(at)
		c.unset(what, n)
	} else {
		s.timers.RegisterEventTime(at)
		s.timers.RegisterEventTime(at)
		c.set(what, n, "")
	}
	s.timers.RegisterProcessingTime(x)
	c.set(fmt.Sprintf("ptimer@%d@%d", win.Start, x), n, "")
}

// got reads everything.
func (c *cluster[K]) got() map[string]string {
	have := &cluster[K]{want: map[string]string{}}
	for n := range 41 {
		s := c.at(n)
		if v, ok := s.count.Get(); ok {
			have.set("count", n, "%d", v)
		}
		if v, ok := s.name.Get(); ok {
			have.set("name", n, "%s", v)
		}
		have.setEntries("list", n, s.list.Get())
		var nums entries
		s.nums.Each(func(v int32) bool { nums = append(nums, fmt.Sprint(v)); return true })
		have.setEntries("nums", n, nums)
		var m, texts entries
		s.m.Each(func(uk string, v int64) bool { m = append(m, fmt.Sprint(uk, "=", v)); return true })
		have.setEntries("map", n, m)
		if s.m.Len() != len(m) {
			have.set("map length", n, "%d", s.m.Len())
		}
		s.texts.Each(func(uk int32, v string) bool { texts = append(texts, fmt.Sprint(uk, "=", v)); return true })
		have.setEntries("texts", n, texts)
		if v, ok := s.join.Get(); ok {
			have.set("join", n, "%s", v)
		}
		for start := int64(0); start < 30; start += 10 {
			s.ns.Set(window{start, start + 10})
			if v, ok := s.sum.Get(); ok {
				have.set(fmt.Sprint("sum@", start), n, "%d", v)
			}
			if v, ok := s.mean.Get(); ok {
				have.set(fmt.Sprint("mean@", start), n, "%v", v)
			}
			var in entries
			s.inWin.Each(func(uk, v string) bool { in = append(in, uk+"="+v); return true })
			have.setEntries(fmt.Sprint("in window@", start), n, in)
		}
		for slice := range int64(4) {
			if v, ok := s.sliced.Get(slice); ok {
				have.set(fmt.Sprint("sliced@", slice), n, "%d", v)
			}
			if v, ok := s.words.Get(slice); ok {
				have.set(fmt.Sprint("words@", slice), n, "%s", v)
			}
		}
	}
	c.gotTimers(have)
	return have.want
}

// gotTimers reads timers from a copy: firing removes them.
func (c *cluster[K]) gotTimers(have *cluster[K]) {
	numbers := map[K]int{}
	for n := range 41 {
		numbers[c.key(n)] = n
	}
	for _, s := range c.subtasks {
		var again []func()
		for _, kind := range []string{"timer", "ptimer"} {
			last := int64(-1)
			fire := func(key K, win window, at int64) error {
				if at < last || s.k.Key() != key || s.ns.Current() != win {
					return errors.New("timers are out of order, or the key or namespace is not theirs")
				}
				last = at
				have.set(fmt.Sprintf("%s@%d@%d", kind, win.Start, at), numbers[key], "")
				again = append(again, func() {
					s.k.SetKey(key, s.k.Hash(key))
					s.ns.Set(win)
					if kind == "timer" {
						s.timers.RegisterEventTime(at)
					} else {
						s.timers.RegisterProcessingTime(at)
					}
				})
				return nil
			}
			if kind == "timer" {
				must(0, s.timers.AdvanceEventTime(1<<40, fire))
			} else {
				must(0, s.timers.AdvanceProcessingTime(1<<40, fire))
			}
		}
		for _, f := range again {
			f()
		}
	}
}

// A saved is what a snapshot of a cluster is.
type saved struct {
	files map[string][]byte
	bases []Base
}

// snapshot freezes all subtasks and writes them elsewhere, on top of an older
// snapshot if there is one. done waits for that.
func (c *cluster[K]) snapshot(name string, old *saved) (done func() *saved) {
	s := &saved{files: map[string][]byte{}, bases: make([]Base, len(c.subtasks))}
	if old != nil {
		maps.Copy(s.files, old.files)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	for i, sub := range c.subtasks {
		snap := sub.k.Freeze()
		wg.Go(func() {
			var base *Base
			if old != nil {
				base = &old.bases[i]
			}
			var buf bytes.Buffer
			file := fmt.Sprint(name, "-", i)
			w := must(snap.Write(&buf, file, base))
			if int(w.Bytes) != buf.Len() {
				panic(fmt.Sprintf("%d bytes are said to be written, and %d were", w.Bytes, buf.Len()))
			}
			mu.Lock()
			defer mu.Unlock()
			if s.bases[i] = w.Base; buf.Len() > 0 {
				s.files[file] = buf.Bytes()
			}
		})
	}
	return func() *saved {
		wg.Wait()
		return s
	}
}

// restore makes subtasks of what was saved.
func restore[K comparable](s *saved, parallelism int, track bool) []*subtask[K] {
	files := map[string]*File{}
	for name, b := range s.files {
		f := must(OpenFile(name, bytes.NewReader(b), int64(len(b))))
		must(0, f.Verify())
		files[name] = f
	}
	var all []*subtask[K]
	for i := range parallelism {
		sub := newSubtask[K](i, parallelism)
		if track {
			sub.k.Track()
		}
		first, last := keygroup.Range(i, parallelism, worldMax)
		for _, base := range s.bases {
			for _, l := range slices.Backward(base.Locations) {
				if l.Group >= first && l.Group <= last {
					must(0, sub.k.Restore(files[l.File], l))
				}
			}
		}
		must(0, sub.k.Restored())
		all = append(all, sub)
	}
	return all
}

// restored returns what the subtasks were restored from as the base of their next
// snapshot.
func (s *saved) restored(parallelism int) *saved {
	to := &saved{files: s.files, bases: make([]Base, parallelism)}
	for _, base := range s.bases {
		for _, l := range base.Locations {
			b := &to.bases[keygroup.Subtask(l.Group, parallelism, worldMax)]
			b.Locations = append(b.Locations, l)
		}
	}
	return to
}

func check(t *rapid.T, what string, got, want map[string]string) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if got[k] != want[k] {
			t.Fatalf("%s: %s is %.200q, want %.200q", what, k, got[k], want[k])
		}
	}
	for k, v := range got {
		if _, ok := want[k]; !ok {
			t.Fatalf("%s: %s is %.200q and should not be", what, k, v)
		}
	}
}

// runWorld changes a cluster, saves it while it is changed on, restores what was
// saved at other parallelisms, and goes on with that.
func runWorld[K comparable](t *testing.T, key func(n int) K) {
	rapid.Check(t, func(t *rapid.T) {
		c := &cluster[K]{key: key, want: map[string]string{}}
		track := rapid.Bool().Draw(t, "track")
		for i := range 2 {
			c.subtasks = append(c.subtasks, newSubtask[K](i, 2))
			if track {
				c.subtasks[i].k.Track()
			}
		}
		var old *saved
		for round := range rapid.IntRange(1, 12).Draw(t, "rounds") {
			for range rapid.SampledFrom([]int{0, 3, 20, 150}).Draw(t, "steps") {
				c.step(t)
			}
			if rapid.IntRange(0, 3).Draw(t, "lost") == 0 { // the next one is based on an older one
				c.snapshot(fmt.Sprint("lost-", round), old)()
			}
			done := c.snapshot(fmt.Sprint("chk-", round), old)
			want := maps.Clone(c.want)
			for range rapid.IntRange(0, 60).Draw(t, "steps meanwhile") {
				c.step(t)
			}
			old = done()
			check(t, "the cluster", c.got(), c.want)
			if rapid.Bool().Draw(t, "restore") {
				parallelism := rapid.IntRange(1, 5).Draw(t, "parallelism")
				c.subtasks, c.want = restore[K](old, parallelism, track), want
				check(t, "restored", c.got(), want)
				old = old.restored(parallelism)
			}
		}
	})
}

func TestIntegerKeys(t *testing.T) { runWorld(t, func(n int) int64 { return int64(n) * 77 }) }

func TestStringKeys(t *testing.T) {
	runWorld(t, func(n int) string { return strings.Repeat("key", n%9) + fmt.Sprint(n) })
}

type place struct {
	City string
	Zone int16
}

func TestStructKeys(t *testing.T) {
	runWorld(t, func(n int) place { return place{fmt.Sprint("city", n/3), int16(n % 3)} })
}
