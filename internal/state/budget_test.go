package state

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/state/disk"
)

// caught returns the *Error that f panics with.
func caught(f func()) (e *Error) {
	defer func() {
		err, _ := recover().(error)
		errors.As(err, &e)
	}()
	f()
	return nil
}

func TestPool(t *testing.T) {
	pool := &Pool{Advice: "Take more."}
	pool.SetLimit(1 << 20)
	held := int64(0)
	k := must(NewKeyed[int64](Options{Operator: "op", Last: 3, Max: 4, Pool: pool, Held: &held}))
	must(NewValue[int64](k.Backend, "small"))
	large := must(NewValue[string](k.Backend, "large"))
	other := must(NewKeyed[int64](Options{Operator: "other", Last: 3, Max: 4, Pool: pool}))
	must(NewValue[int64](other.Backend, "v"))
	other.use(1)
	value := strings.Repeat("x", 1000)
	set := 0
	e := caught(func() {
		for ; set < 10_000; set++ {
			k.use(int64(set))
			large.Set(value)
		}
	})
	if e == nil || e.State != "large" || !errors.Is(e, ErrMemory) {
		t.Fatalf("after %d keys: %v", set, e)
	}
	for _, want := range []string{"operator op", "1048576 are allowed. Take more."} {
		if !strings.Contains(e.Error(), want) {
			t.Errorf("%v does not say %q", e, want)
		}
	}
	if set < 500 || set > 1100 || held != int64(k.Bytes()) || pool.Used() != held+int64(other.counted) {
		t.Errorf("%d keys; %d bytes held, %d taken, %d in the pool", set, held, k.Bytes(), pool.Used())
	}
	if err := errors.Join(k.Close(), other.Close()); err != nil || pool.Used() != 0 {
		t.Errorf("%d bytes are left in the pool: %v", pool.Used(), err)
	}
}

// There is memory beside the state as long as the state, of all backends or on the way
// to the disk, leaves some.
func TestHoldBeside(t *testing.T) {
	pool := new(Pool)
	held := int64(0)
	k := must(NewKeyed[int64](Options{Operator: "op", Last: 3, Max: 4, Pool: pool, Held: &held}))
	v := must(NewValue[int64](k.Backend, "v"))
	k.use(1)
	v.Set(1)
	if !k.HoldBeside(1<<40) || pool.Beside() != 1<<40 || held < 1<<40 {
		t.Errorf("without a limit %d bytes are held, %d of them beside", held, pool.Beside())
	}
	pool.SetLimit(1 << 20)
	if k.HoldBeside(1<<20) || !k.HoldBeside(1<<19) {
		t.Error("it may hold as much as state and more, or not half of it")
	}
	k.use(2)
	v.Set(2) // state does not fail for what is beside it
	if err := k.Close(); err != nil || pool.Beside() != 0 || held != 0 {
		t.Errorf("%d bytes are left beside, %d held: %v", pool.Beside(), held, err)
	}

	d := onDisk[int64](&clock{}, 100<<10)
	w := must(NewValue[int64](d.Backend, "v"))
	d.use(1)
	w.Set(1)
	if !d.HoldBeside(50<<10) || d.HoldBeside(100<<10) {
		t.Error("it may hold as much as there is room for beside state, or not half of it")
	}
	for i := range int64(20_000) {
		d.use(i)
		w.Set(i)
	}
	if d.disk == nil || d.HoldBeside(1) || !d.HoldBeside(0) {
		t.Error("state went to the disk, and something may be held beside it")
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// onDisk returns a backend of which almost nothing stays in memory.
func onDisk[K comparable](c *clock, room int) *Keyed[K] {
	o := Options{Operator: "op", Last: 3, Max: 4, Room: room, Clock: func() int64 { return c.now }}
	o.Disk = func() (disk.Store, error) { return disks.Open(fmt.Sprint("budget-", serial.Add(1)), 1<<20) }
	return must(NewKeyed[K](o))
}

func TestTimersStayInMemory(t *testing.T) {
	k := onDisk[int64](&clock{}, 10<<10)
	timers := must(NewTimers[int64, struct{}](k, "t", nil))
	e := caught(func() {
		for i := range int64(10_000) {
			k.use(i)
			timers.RegisterEventTime(i)
		}
	})
	if e == nil || !errors.Is(e, ErrMemory) || !strings.Contains(e.Error(), "timers stay in memory, and there is room for 10240 bytes") {
		t.Errorf("%v", e)
	}
}

// State is larger than the memory by far, what is used again and again stays in
// memory, and a snapshot has everything.
func TestLargerThanMemory(t *testing.T) {
	const keys, room = 50_000, 200 << 10
	k := onDisk[string](&clock{}, room)
	v := must(NewValue[string](k.Backend, "v"))
	most := 0
	for round := range 3 {
		for i := range keys {
			for _, key := range []string{fmt.Sprint("key ", i), fmt.Sprint("hot ", i%100)} {
				k.use(key)
				had, ok := v.Get()
				if want := fmt.Sprint("value ", round-1); key[0] == 'k' && (ok != (round > 0) || ok && had != want) {
					t.Fatalf("round %d: %s is %q, %v", round, key, had, ok)
				}
				v.Set(fmt.Sprint("value ", round))
			}
			most = max(most, k.Bytes())
		}
	}
	if most > room*5/4 {
		t.Errorf("it takes %d bytes, and there is room for %d", most, room)
	}
	hot := 0
	for i := range 100 {
		k.keys.Set(&k.key, fmt.Sprint("hot ", i), k.Hash(fmt.Sprint("hot ", i)))
		if _, ok := v.blobs.Get(&k.key); ok {
			hot++
		}
	}
	if hot < 60 {
		t.Errorf("%d of 100 keys that are used all the time are in memory", hot)
	}
	if n := v.len(); n != keys+100 {
		t.Errorf("it has %d keys, want %d", n, keys+100)
	}
	var file bytes.Buffer
	w := must(k.Freeze().Write(&file, "file", nil))
	if n := w.States[0].Entries; n != keys+100 {
		t.Errorf("%d keys were written, want %d", n, keys+100)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}

// Keys on the disk that nobody uses again are removed when they have expired.
func TestExpiredOnDisk(t *testing.T) {
	c := &clock{}
	k := onDisk[int64](c, 1)
	v := must(NewValue[int64](k.Backend, "v", WithTTL(TTL{Duration: time.Second})))
	l := must(NewList[int64](k.Backend, "l", WithTTL(TTL{Duration: time.Second})))
	m := must(NewMap[int64, string](k.Backend, "m", WithTTL(TTL{Duration: time.Second})))
	set := func(from, to int64) {
		for i := from; i < to; i++ {
			k.use(i)
			v.Set(i)
			l.Add(i)
			m.Put(i, "x")
		}
	}
	set(0, 5000)
	if v.cold.len() < 4000 || l.cold.len() < 4000 || m.cold.len() < 4000 {
		t.Fatalf("%d, %d, %d keys are on the disk", v.cold.len(), l.cold.len(), m.cold.len())
	}
	c.now += 2000
	set(5000, 10_000)
	if v.cold.len() > 5000 || l.cold.len() > 5000 || m.cold.len() > 5000 {
		t.Errorf("%d, %d, %d keys are on the disk", v.cold.len(), l.cold.len(), m.cold.len())
	}
}

// burning is a disk that fails after a while.
type burning struct {
	disk.Store
	left *int
}

var errBurning = errors.New("the disk is on fire")

func (f burning) Put(key, value []byte) error {
	if *f.left--; *f.left < 0 {
		return errBurning
	}
	return f.Store.Put(key, value)
}

func TestDiskFails(t *testing.T) {
	left := 100
	k := onDisk[int64](&clock{}, 1)
	open := k.options.Disk
	k.options.Disk = func() (disk.Store, error) {
		d, err := open()
		return burning{d, &left}, err
	}
	v := must(NewValue[int64](k.Backend, "v"))
	e := caught(func() {
		for i := range int64(10_000) {
			k.use(i)
			v.Set(i)
		}
	})
	if e == nil || !errors.Is(e, errBurning) {
		t.Errorf("%v", e)
	}
	k = onDisk[int64](&clock{}, 1)
	k.options.Disk = func() (disk.Store, error) { return nil, errBurning }
	must(NewValue[int64](k.Backend, "v"))
	if e := caught(func() { k.use(1) }); e == nil || !errors.Is(e, errBurning) || e.State != "v" {
		t.Errorf("%v", e)
	}
}

// A snapshot is that of its moment, whatever goes to the disk or comes back while it
// is written, and after the backend was closed.
func TestFreezeOnDisk(t *testing.T) {
	k := onDisk[int64](&clock{}, 30<<10)
	v := must(NewValue[int64](k.Backend, "v"))
	m := must(NewMap[int64, string](k.Backend, "m"))
	const keys = 5000
	set := func(x int64) {
		for i := range int64(keys) {
			k.use(i)
			v.Set(x)
			m.Clear()
			for uk := range i % 3 {
				m.Put(uk, fmt.Sprint(x))
			}
		}
	}
	set(1)
	s := k.Freeze()
	set(2)
	var file bytes.Buffer
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	must(s.Write(&file, "file", nil))
	to := must(NewKeyed[int64](Options{Operator: "op", Last: 3, Max: 4}))
	v, m = must(NewValue[int64](to.Backend, "v")), must(NewMap[int64, string](to.Backend, "m"))
	f := must(OpenFile("file", bytes.NewReader(file.Bytes()), int64(file.Len())))
	for _, l := range f.Locations() {
		must(0, to.Restore(f, l))
	}
	for i := range int64(keys) {
		to.use(i)
		if x, ok := v.Get(); x != 1 || !ok || m.Len() != int(i%3) {
			t.Fatalf("key %d has %d, %v, and %d entries", i, x, ok, m.Len())
		}
		m.Each(func(uk int64, x string) bool {
			if x != "1" {
				t.Fatalf("key %d has %d=%s", i, uk, x)
			}
			return true
		})
	}
}
