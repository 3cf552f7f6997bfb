package pebble

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"
)

// A set holds what a map does, as long as there is room.
func TestTaken(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	key := func(table, i int) []byte {
		return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(table)), uint32(i))
	}
	type entry struct{ table, i int }
	for _, bytes := range []int64{0, 100, 2 << 10, 64 << 10} {
		set, model := newTaken(bytes), map[entry]bool{}
		for range 20_000 {
			e := entry{r.IntN(4), r.IntN(500)}
			k := takenKeyOf(key(e.table, e.i))
			if set.has(k) != model[e] {
				t.Fatalf("%d bytes: %v is in the set: %v", bytes, e, !model[e])
			}
			switch step := r.IntN(1000); {
			case step == 0:
				set.removeRange(key(e.table, 0)[:4], key(e.table+1, 0)[:4])
				for e2 := range model {
					if e2.table == e.table {
						delete(model, e2)
					}
				}
			case step < 500 && !model[e]:
				if added := set.add(k); added != (len(model) < set.most) {
					t.Fatalf("%d bytes: with %d entries one is added: %v", bytes, len(model), added)
				} else if added {
					model[e] = true
				}
			case step >= 500:
				if set.remove(k) != model[e] {
					t.Fatalf("%d bytes: %v is removed: %v", bytes, e, !model[e])
				}
				delete(model, e)
			}
			if set.len != len(model) || int64(len(set.places))*takenBytes > max(bytes, 1<<10) {
				t.Fatalf("%d bytes: %d entries of %d in %d places", bytes, set.len, len(model), len(set.places))
			}
		}
	}
}

// Removing a range leaves nothing outside of it out.
func TestTakenRange(t *testing.T) {
	set := newTaken(1 << 10)
	for _, key := range []string{"aaaa", "aaaab", "bbbb", "bbbbx", "cccc", "cccczz", "dddd"} {
		set.add(takenKeyOf([]byte(key)))
	}
	set.removeRange([]byte("aaaaa"), []byte("cccc"))
	for key, want := range map[string]bool{"aaaa": true, "bbbb": false, "bbbbx": false, "cccc": true, "cccczz": true, "dddd": true} {
		if set.has(takenKeyOf([]byte(key))) != want {
			t.Errorf("%s is in the set: %v", key, !want)
		}
	}
}
