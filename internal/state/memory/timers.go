package memory

import (
	"cmp"
	"encoding/binary"
	"math"
	"unsafe"
)

// Timers are moments of keys, each at most once, which come out in the order of
// time. The goroutine of one task owns it.
//
// Each key group has a table of its timers and a heap of references to them. A
// timer that is deleted leaves the table at once, and the heap when it comes to its
// top or when the table's rows move.
type Timers struct {
	rows   *rowTable[struct{}] // keys are the time, 8 bytes, and the key's bytes
	heaps  [][]moment          // by group
	winner []int32             // a tournament of groups by their first moment; winner[1] is the first of all
	key    []byte              // scratch
}

// A moment is a timer in a heap.
type moment struct {
	at  int64
	ref uint32
}

// NewTimers returns no timers, as NewCells does.
func NewTimers(first, last, max int) (*Timers, error) {
	rows, err := NewCells[struct{}](first, last, max, false)
	if err != nil {
		return nil, err
	}
	n := last - first + 1
	t := &Timers{rows: rows.rows, heaps: make([][]moment, n), winner: make([]int32, 2*n)}
	t.rows.moved = t.rebuild
	for i := range n {
		t.winner[n+i] = int32(i)
	}
	for i := n - 1; i > 0; i-- {
		t.play(i)
	}
	return t, nil
}

// first returns the time of the first moment of a group.
func (t *Timers) first(group int32) int64 {
	if h := t.heaps[group]; len(h) > 0 {
		return h[0].at
	}
	return math.MaxInt64
}

// play sets the winner of a node of the tournament: that with the earlier moment,
// and among equal ones the lower group.
func (t *Timers) play(node int) {
	a, b := t.winner[2*node], t.winner[2*node+1]
	if byTime := cmp.Compare(t.first(a), t.first(b)); byTime > 0 || byTime == 0 && (a > b && len(t.heaps[b]) > 0 || len(t.heaps[a]) == 0) {
		a = b
	}
	t.winner[node] = a
}

// replay sets the winners above a group.
func (t *Timers) replay(group int) {
	for node := (len(t.heaps) + group) / 2; node > 0; node /= 2 {
		t.play(node)
	}
}

// compose returns the key of a timer, valid until the next.
func (t *Timers) compose(k *Key, at int64) (key string, hash uint64) {
	t.key = binary.LittleEndian.AppendUint64(t.key[:0], uint64(at))
	t.key = append(t.key, k.Bytes...)
	key = alias(t.key)
	return key, HashWithin(k.Hash, key)
}

// Register adds a timer for the bytes of k, and says whether it is new.
func (t *Timers) Register(k *Key, at int64) (created bool) {
	key, hash := t.compose(k, at)
	return t.add(key, hash, at)
}

func (t *Timers) add(key string, hash uint64, at int64) bool {
	ref, _, created := t.rows.upsertRef(key, hash)
	if created {
		index := t.rows.own.index(hash)
		t.push(index, moment{at, ref})
		if t.heaps[index][0].ref == ref {
			t.replay(index)
		}
	}
	return created
}

// Delete removes a timer and says whether it was there.
func (t *Timers) Delete(k *Key, at int64) bool {
	key, hash := t.compose(k, at)
	return t.rows.delete(key, hash)
}

// First returns the earliest time of a timer, which may have been deleted.
func (t *Timers) First() (at int64, ok bool) {
	group := t.winner[1]
	if len(t.heaps[group]) == 0 {
		return 0, false
	}
	return t.first(group), true
}

// Pop removes the earliest timer up to and including a time, and returns it and the
// bytes of its key, which are valid until the table is changed. Timers of one time
// come out in the order of their groups and then of their keys.
func (t *Timers) Pop(until int64) (bytes string, at int64, ok bool) {
	for {
		group := int(t.winner[1])
		h := t.heaps[group]
		if len(h) == 0 || h[0].at > until {
			return "", 0, false
		}
		top := h[0]
		r := t.rows.groups[group].pages.at(top.ref)
		live := t.rows.layout.live(r)
		t.key = append(t.key[:0], t.rows.layout.key(r)...)
		t.pop(group)
		if live {
			t.rows.deleteRow(group, top.ref)
		}
		t.replay(group)
		if live {
			return alias(t.key[8:]), top.at, true
		}
	}
}

// before is the order of a heap.
func (t *Timers) before(group int, a, b moment) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	pages := &t.rows.groups[group].pages
	return t.rows.layout.key(pages.at(a.ref)) < t.rows.layout.key(pages.at(b.ref))
}

func (t *Timers) push(group int, m moment) {
	h := append(t.heaps[group], m)
	i := len(h) - 1
	for i > 0 && t.before(group, m, h[(i-1)/2]) {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = m
	t.heaps[group] = h
}

func (t *Timers) pop(group int) {
	h := t.heaps[group]
	last := len(h) - 1
	h[0] = h[last]
	t.heaps[group] = h[:last]
	if last > 0 {
		t.down(group, 0)
	}
	if cap(h) > 64 && last < cap(h)/8 {
		t.heaps[group] = append(make([]moment, 0, cap(h)/4), t.heaps[group]...)
	}
}

// down moves a moment of a heap to where it belongs below.
func (t *Timers) down(group, i int) {
	h := t.heaps[group]
	m := h[i]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && t.before(group, h[child+1], h[child]) {
			child++
		}
		if !t.before(group, h[child], m) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = m
}

// rebuild follows rows that have moved, and drops the timers that were deleted.
func (t *Timers) rebuild(group int, forward func(ref uint32) (uint32, bool)) {
	h := t.heaps[group][:0]
	for _, m := range t.heaps[group] {
		if ref, ok := forward(m.ref); ok {
			h = append(h, moment{m.at, ref})
		}
	}
	t.heaps[group] = h
	for i := len(h)/2 - 1; i >= 0; i-- {
		t.down(group, i)
	}
	t.replay(group)
}

// Restore adds a timer of a key of which only the group is known, and says whether
// it is new.
func (t *Timers) Restore(group int, bytes string, at int64) (created bool) {
	upper := t.rows.own.hash(group-t.rows.own.first, 0)
	return t.Register(&Key{Bytes: bytes, Hash: upper}, at)
}

// RangeGroup calls f with the timers of a group, in no order of time.
func (t *Timers) RangeGroup(group int, f func(bytes string, at int64) bool) bool {
	return t.rows.rangeGroup(group-t.rows.own.first, false, func(_ int, key string, _ *struct{}) bool {
		return f(key[8:], timeOf(key))
	})
}

func timeOf(key string) int64 {
	return int64(binary.LittleEndian.Uint64(unsafe.Slice(unsafe.StringData(key), 8)))
}

// Len returns the number of timers.
func (t *Timers) Len() int { return t.rows.len }

// Bytes returns the memory that the timers hold.
func (t *Timers) Bytes() int {
	bytes := int(unsafe.Sizeof(*t)) + t.rows.memory() + 4*len(t.winner) + len(t.heaps)*24
	for _, h := range t.heaps {
		bytes += cap(h) * int(unsafe.Sizeof(moment{}))
	}
	return bytes
}

// Settle is that of Cells.
func (t *Timers) Settle() { t.rows.settle() }

// Freeze gives a view of the timers, as that of Cells.
func (t *Timers) Freeze(number uint64) *TimersView {
	return &TimersView{first: t.rows.own.first, rows: t.rows.freeze(number)}
}

// A TimersView is what timers there were at a freeze.
type TimersView struct {
	first int
	rows  *rowView[struct{}]
}

// Changed is that of View.
func (v *TimersView) Changed(group int) uint64 { return v.rows.last[group-v.first] }

// Read calls f with the timers that a group had.
func (v *TimersView) Read(group int, b *Buffer, f func(bytes string, at int64) bool) bool {
	b.reset()
	return v.rows.read(group-v.first, b, func(key string, _ *struct{}) bool { return f(key[8:], timeOf(key)) })
}

// ReleaseGroup gives up a group that will not be read.
func (v *TimersView) ReleaseGroup(group int) { v.rows.groups[group-v.first].release() }

// Release gives the view up. It may be called twice.
func (v *TimersView) Release() { v.rows.release() }
