package state

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestOpenRefuses(t *testing.T) {
	k := must(NewKeyed[int64](Options{Operator: "op", Max: 1}))
	other := must(NewKeyed[int64](Options{Operator: "other", Max: 1}))
	foreign := must(NewNamespace[int64](other.Backend))
	must(NewValue[int64](k.Backend, "taken"))
	open := map[string]func() error{
		"a state needs a name":         func() error { _, err := NewValue[int64](k.Backend, ""); return err },
		"a state of this name is open": func() error { _, err := NewList[int64](k.Backend, "taken"); return err },
		"was given no clock":           func() error { _, err := NewList[int64](k.Backend, "a", WithTTL(TTL{Duration: 1})); return err },
		"its time to live is -1ns":     func() error { _, err := NewList[int64](k.Backend, "b", WithTTL(TTL{Duration: -1})); return err },
		"belongs to another operator":  func() error { _, err := NewMap[int64, int64](k.Backend, "c", In(foreign)); return err },
		"the field is unexported":      func() error { _, err := NewValue[struct{ value chan int }](k.Backend, "d"); return err },
	}
	for want, f := range open {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "op") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	k.use(1)
	if _, err := NewValue[int64](k.Backend, "late"); err == nil || !strings.Contains(err.Error(), "before the first key") {
		t.Errorf("error %v", err)
	}
	if _, err := NewKeyed[any](Options{Operator: "op", Max: 1}); err == nil {
		t.Error("keys of any type are taken")
	}
	if _, err := NewKeyed[*int](Options{Operator: "op", Max: 1}); err == nil || !strings.Contains(err.Error(), "pointer") {
		t.Errorf("error %v", err)
	}
	if _, err := NewKeyed[int64](Options{Operator: "op", First: 3, Last: 2, Max: 4}); err == nil {
		t.Error("no key groups are taken")
	}
}

func TestEachKey(t *testing.T) {
	s := newSubtask[string](0, 1)
	names := []string{"a", "b", "c", "d", "e"}
	for i, name := range names {
		s.k.use(name)
		s.count.Set(int64(i))
		s.list.Add("x")
		s.ns.Set(window{1, 2})
		s.sum.Add(1)
		s.inWin.Put("u", "v")
		s.timers.RegisterProcessingTime(5)
		s.ns.Set(window{2, 3})
		s.sum.Add(1)
		s.sliced.Set(1, 1)
		s.sliced.Set(2, 1)
	}
	for _, v := range []View{s.count, s.list, s.sum, s.inWin, s.timers, s.sliced} {
		var got []string
		s.k.EachKey(v, func(key string) bool {
			if s.k.Key() != key {
				t.Errorf("key %q is given, and %q is current", key, s.k.Key())
			}
			got = append(got, key)
			return true
		})
		slices.Sort(got)
		if !slices.Equal(got, names) {
			t.Errorf("%s: keys %q", v.Descriptor().Name, got)
		}
	}
	s.k.EachKey(s.count, func(string) bool { s.count.Clear(); return true })
	s.k.EachKey(s.count, func(key string) bool { t.Errorf("key %q is left", key); return false })
}

// picky is a type that encodes itself, and not always.
type picky struct{ s string }

var errPicky = errors.New("it does not want to")

func (p picky) AppendBinary(b []byte) ([]byte, error) {
	if p.s == "bad" {
		return b, errPicky
	}
	return append(b, p.s...), nil
}

func (p *picky) UnmarshalBinary(b []byte) error {
	if p.s = string(b); p.s == "worse" {
		return errPicky
	}
	return nil
}

func TestErrorsOfUsersTypes(t *testing.T) {
	k := newKeyed[int64](t, &clock{})
	v := must(NewValue[picky](k.Backend, "the value"))
	l := must(NewList[picky](k.Backend, "the list"))
	m := must(NewMap[int64, picky](k.Backend, "the map"))
	k.use(1)
	for name, f := range map[string]func(){
		"the value":  func() { v.Set(picky{"bad"}) },
		"the list":   func() { l.Add(picky{"bad"}) },
		"the map":    func() { m.Put(1, picky{"bad"}) },
		"the value ": func() { v.Set(picky{"worse"}); v.Get() },
		"the list ":  func() { l.Add(picky{"worse"}); l.Get() },
		"the map ":   func() { m.Put(1, picky{"worse"}); m.Get(1) },
	} {
		func() {
			defer func() {
				err, _ := recover().(error)
				var e *Error
				if !errors.As(err, &e) || !errors.Is(err, errPicky) || e.State != strings.TrimSpace(name) {
					t.Errorf("%s: %v", name, err)
				}
			}()
			f()
			t.Errorf("%s: no panic", name)
		}()
	}
}

func TestTimersFireInOrder(t *testing.T) {
	k := newKeyed[string](t, &clock{})
	timers := must(NewTimers[string, struct{}](k, "t", nil))
	register := func(key string, at int64) {
		k.use(key)
		timers.RegisterEventTime(at)
	}
	for _, key := range []string{"c", "a", "b"} {
		register(key, 5)
		register(key, math.MinInt64)
		register(key, math.MaxInt64)
	}
	if at, ok := timers.NextEventTime(); !ok || at != math.MinInt64 {
		t.Errorf("the next timer is at %d, %v", at, ok)
	}
	var got []string
	fire := func(key string, _ struct{}, at int64) error {
		got = append(got, key)
		if at == 5 && key == "a" {
			register("x", 5)
			register("y", 6)
			register("z", 7)
			k.use("z")
			timers.DeleteEventTime(7)
			timers.DeleteEventTime(8)
		}
		return nil
	}
	must(0, timers.AdvanceEventTime(math.MinInt64, fire))
	must(0, timers.AdvanceEventTime(7, fire))
	if len(got) != 8 || !slices.Contains(got[3:], "x") || got[7] != "y" {
		t.Errorf("fired %q", got)
	}
	if event, processing := timers.Len(); event != 3 || processing != 0 {
		t.Errorf("%d and %d timers are left", event, processing)
	}
	stop := errors.New("stop")
	if err := timers.AdvanceEventTime(math.MaxInt64, func(string, struct{}, int64) error { return stop }); err != stop {
		t.Errorf("error %v", err)
	}
	must(0, timers.AdvanceEventTime(math.MaxInt64, fire))
	if _, ok := timers.NextEventTime(); ok || len(got) != 10 {
		t.Errorf("fired %q", got)
	}
}

// The order of timers of one time does not depend on that in which they came, nor
// on the parallelism within a key group.
func TestTimerOrderIsThatOfKeys(t *testing.T) {
	var orders [][]int64
	for _, step := range []int64{1, 7, 11} {
		k := newKeyed[int64](t, &clock{})
		timers := must(NewTimers[int64, struct{}](k, "t", nil))
		for i := range int64(100) {
			k.use(i * step % 100 * 13)
			timers.RegisterProcessingTime(1)
			timers.RegisterProcessingTime(2)
			timers.DeleteProcessingTime(2)
		}
		var order []int64
		must(0, timers.AdvanceProcessingTime(3, func(key int64, _ struct{}, _ int64) error {
			order = append(order, key)
			return nil
		}))
		orders = append(orders, order)
	}
	if len(orders[0]) != 100 || !slices.Equal(orders[0], orders[1]) || !slices.Equal(orders[0], orders[2]) {
		t.Errorf("orders %v", orders)
	}
}

func TestSlices(t *testing.T) {
	k := newKeyed[string](t, &clock{})
	s := must(NewSliced[int64](k.Backend, "s"))
	keys := []string{"a", "b", "a"}
	for _, slice := range []int64{30, 10, 20} {
		UpsertSlice(k, s, slice, keys, func(i int, v *int64, created bool) {
			if created != (i < 2) {
				t.Errorf("key %d: created %v", i, created)
			}
			*v += slice
		})
	}
	if !slices.Equal(s.Slices(), []int64{10, 20, 30}) || s.Len(10) != 2 || s.Len(11) != 0 {
		t.Errorf("slices %d, of which the first has %d keys", s.Slices(), s.Len(10))
	}
	sum := int64(0)
	EachInSlice(k, s, 20, func(key string, v int64) bool {
		if want := map[string]int64{"a": 40, "b": 20}[key]; v != want {
			t.Errorf("key %q has %d", key, v)
		}
		sum += v
		return true
	})
	EachInSlice(k, s, 21, func(string, int64) bool { t.Error("a slice that is not there has keys"); return true })
	s.Drop(20)
	s.Drop(21)
	k.use("a")
	if _, ok := s.Get(20); ok || sum != 60 || !slices.Equal(s.Slices(), []int64{10, 30}) {
		t.Errorf("slices %d after a drop", s.Slices())
	}
	if v, created := s.Ref(40); !created || *v != 0 {
		t.Error("a slice begins with what another held")
	}
	s.Clear(10)
	if _, ok := s.Get(10); ok {
		t.Error("a key is there after Clear")
	}
}

func TestBatches(t *testing.T) {
	for _, ttl := range []time.Duration{0, time.Second} {
		c := &clock{}
		k := newKeyed[place](t, c)
		v := must(NewValue[int64](k.Backend, "v", WithTTL(TTL{Duration: ttl})))
		r := must(NewReducing(k.Backend, "r", func(a, b int64) int64 { return a + b }, WithTTL(TTL{Duration: ttl})))
		text := must(NewReducing(k.Backend, "text", func(a, b string) string { return a + b }))
		var keys []place
		var vals []int64
		var texts []string
		for i := range 1000 {
			keys = append(keys, place{"c", int16(i % 400)})
			vals = append(vals, int64(i))
			texts = append(texts, "t")
		}
		UpsertBatch(k, v, keys, func(i int, v *int64, created bool) {
			if created != (i < 400) {
				t.Fatalf("key %d: created %v", i, created)
			}
			*v++
		})
		last := int64(0)
		AddBatch(k, r, keys, vals, func(_ int, v int64) { last = v })
		AddBatch(k, text, keys, texts, nil)
		k.use(place{"c", 199})
		got, _ := v.Get()
		sum, _ := r.Get()
		s, _ := text.Get()
		if got != 3 || sum != 199+599+999 || last != sum || s != "ttt" {
			t.Errorf("key 199 has %d, %d (last %d), %q", got, sum, last, s)
		}
		c.now += 5000
		UpsertBatch(k, v, keys[:1], func(_ int, v *int64, created bool) {
			if created != (ttl > 0) || created && *v != 0 {
				t.Errorf("time to live %v: created %v with %d", ttl, created, *v)
			}
		})
	}
}

func TestHotPathDoesNotAllocate(t *testing.T) {
	c := &clock{}
	k := newKeyed[string](t, c)
	k.options.Room = 1 << 30 // nothing goes to the disk
	ns := must(NewNamespace[window](k.Backend))
	v := must(NewValue[average](k.Backend, "v"))
	ttl := must(NewValue[average](k.Backend, "ttl", WithTTL(TTL{Duration: time.Second, Update: OnReadAndWrite})))
	r := must(NewReducing(k.Backend, "r", func(a, b int64) int64 { return a + b }, In(ns)))
	a := must(NewAggregating(k.Backend, "a", averages))
	l := must(NewList[average](k.Backend, "l"))
	m := must(NewMap[int64, average](k.Backend, "m"))
	s := must(NewSliced[int64](k.Backend, "s"))
	timers := must(NewTimers[string](k, "t", ns))
	keys := make([]string, 300)
	for i := range keys {
		keys[i] = strings.Repeat("k", i%30) + string(rune('a'+i%26))
	}
	work := func() {
		for i, key := range keys {
			k.use(key)
			ns.Set(window{int64(i % 3), 5})
			v.Set(average{1, 2})
			v.Get()
			p, _ := v.Ref()
			p.N++
			ttl.Set(average{1, 2})
			ttl.Get()
			r.Add(5)
			r.Get()
			a.Add(3)
			a.Get()
			m.Put(int64(i%2), average{1, 2})
			m.Get(1)
			s.Set(1, 5)
			*first(s.Ref(1)) += 1
			timers.RegisterEventTime(1)
			l.Set([]average{{1, 2}})
			l.Each(func(average) bool { return true })
		}
	}
	work()
	if n := testing.AllocsPerRun(5, work); n > 2 {
		t.Errorf("a round allocates %v times", n)
	}
}

func first[A, B any](a A, _ B) A { return a }
