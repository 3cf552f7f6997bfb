package memory

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// entryWorld is BlobEntries of owners "0" to "9". The model keeps the order.
type entryWorld struct {
	t       *testing.T
	entries *BlobEntries
	want    map[string][]modelEntry
}

type modelEntry struct{ inner, value string }

func entryKeys(owner, inner string) (o, k Key) {
	hash := uint64(owner[0]) << 61
	o = Key{Bytes: owner, Hash: HashWithin(hash, owner)}
	return o, Key{Bytes: owner + inner, Hash: HashWithin(hash, owner+inner)}
}

func (w *entryWorld) step(random *rand.Rand, scale int) {
	owner, inner := strconv.Itoa(random.IntN(10)), strconv.Itoa(random.IntN(scale))
	o, k := entryKeys(owner, inner)
	list := w.want[owner]
	at := slices.IndexFunc(list, func(e modelEntry) bool { return e.inner == inner })
	switch n := random.IntN(100); {
	case n < 55:
		value := string(randomValue(random))
		if w.entries.Put(&o, &k, []byte(value), 1) != (at < 0) {
			w.t.Fatalf("Put of %s/%s: known at %d", owner, inner, at)
		}
		if at < 0 {
			w.want[owner] = append(list, modelEntry{inner, value})
		} else {
			list[at].value = value
		}
	case n < 85:
		if w.entries.Delete(&o, &k) != (at >= 0) {
			w.t.Fatalf("Delete of %s/%s: known at %d", owner, inner, at)
		}
		if at >= 0 {
			w.remove(owner, at)
		}
	case n < 90:
		w.eachDeleting(random, owner, &o)
	case n < 95:
		value, _, ok := w.entries.Get(&k)
		if ok != (at >= 0) || ok && string(value) != list[at].value || w.entries.Len(&o) != len(list) {
			w.t.Fatalf("Get of %s/%s: %v, known at %d; Len %d of %d", owner, inner, ok, at, w.entries.Len(&o), len(list))
		}
	case n < 97:
		w.sweep(random, &o)
	case random.IntN(10) == 0:
		w.entries.Clear(&o)
		delete(w.want, owner)
	}
}

func (w *entryWorld) remove(owner string, at int) {
	if w.want[owner] = slices.Delete(w.want[owner], at, at+1); len(w.want[owner]) == 0 {
		delete(w.want, owner)
	}
}

// eachDeleting walks the entries of an owner and deletes some on the way.
func (w *entryWorld) eachDeleting(random *rand.Rand, owner string, o *Key) {
	var got, left []modelEntry
	w.entries.Each(o, 0, 0, func(inner string, value []byte, _ int64) bool {
		e := modelEntry{strings.Clone(inner), string(value)}
		got = append(got, e)
		if random.IntN(4) == 0 {
			_, k := entryKeys(owner, inner)
			if !w.entries.Delete(o, &k) {
				w.t.Fatalf("%s/%s cannot be deleted while it is visited", owner, inner)
			}
		} else {
			left = append(left, e)
		}
		return true
	})
	if !slices.Equal(got, w.want[owner]) {
		w.t.Fatalf("owner %s: entries %.300v, want %.300v", owner, got, w.want[owner])
	}
	if w.want[owner] = left; len(left) == 0 {
		delete(w.want, owner)
	}
}

// sweep touches a random half of an owner's entries and removes the others of its
// group as far as it comes.
func (w *entryWorld) sweep(random *rand.Rand, o *Key) {
	w.entries.Each(o, 0, 0, func(inner string, _ []byte, _ int64) bool {
		if random.IntN(2) == 0 {
			_, k := entryKeys(o.Bytes, inner)
			w.entries.Touch(o, &k, 5)
		}
		return true
	})
	before := w.entries.Entries()
	gone := 0
	w.entries.Sweep(o.Hash, 30, func(at int64) bool {
		if at == 5 {
			gone++
		}
		return at == 5
	})
	if w.entries.Entries() != before-gone {
		w.t.Fatalf("%d of %d entries expired, %d are left", gone, before, w.entries.Entries())
	}
	for owner := range w.want {
		w.want[owner] = slices.DeleteFunc(w.want[owner], func(e modelEntry) bool {
			_, k := entryKeys(owner, e.inner)
			_, _, ok := w.entries.Get(&k)
			return !ok
		})
		if len(w.want[owner]) == 0 {
			delete(w.want, owner)
		}
	}
	w.entries.Each(o, 1, 0, func(string, []byte, int64) bool { return true })
}

func entriesText(list []modelEntry) string { return fmt.Sprint(list) }

func (w *entryWorld) content() map[string]string {
	all := map[string]string{}
	for owner, list := range w.want {
		all[owner] = entriesText(list)
	}
	return all
}

func (w *entryWorld) live() map[string]string {
	all := map[string]string{}
	for group := range 8 {
		w.entries.RangeOwners(group, func(owner string) bool {
			var list []modelEntry
			o, _ := entryKeys(owner, "")
			w.entries.Each(&o, 0, 0, func(inner string, value []byte, _ int64) bool {
				list = append(list, modelEntry{strings.Clone(inner), string(value)})
				return true
			})
			all[strings.Clone(owner)] = entriesText(list)
			return true
		})
	}
	return all
}

func (w *entryWorld) settle() { w.entries.Settle() }

type entryView struct{ *BlobEntriesView }

func (w *entryWorld) freeze(number uint64) (int, frozenWorld) {
	return 8, entryView{w.entries.Freeze(number)}
}

func (v entryView) read(group int, b *Buffer) map[string]string {
	lists := map[string][]modelEntry{}
	owner := ""
	v.Read(group, b, func(o string) { owner = strings.Clone(o) }, func(inner string, value []byte, _ int64) {
		lists[owner] = append(lists[owner], modelEntry{strings.Clone(inner), string(value)})
	})
	all := map[string]string{}
	for o, list := range lists {
		all[o] = entriesText(list)
	}
	return all
}

func TestFrozenEntries(t *testing.T) {
	entries, err := NewBlobEntries(0, 7, 8)
	if err != nil {
		t.Fatal(err)
	}
	runFrozen(t, &entryWorld{t, entries, map[string][]modelEntry{}})
}
