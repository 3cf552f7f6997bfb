package memory

import (
	"bytes"
	"testing"

	"github.com/weirstream/weir/internal/state/keygroup"
)

func TestSizeClasses(t *testing.T) {
	last, lastSize := -1, 0
	for words := 1; words <= maxPageWords; words++ {
		class, size := sizeClass(words)
		switch {
		case size < words || words > 4 && size > words+words/4:
			t.Fatalf("%d words are given %d", words, size)
		case class != last && class != last+1 || (class == last) != (size == lastSize):
			t.Fatalf("%d words are of class %d and size %d, after class %d and size %d", words, class, size, last, lastSize)
		}
		last, lastSize = class, size
	}
	if last != arenaClasses-1 {
		t.Errorf("%d classes are used of %d", last+1, arenaClasses)
	}
}

// A value that grows by little pieces is copied a few times only, and what is freed
// is used again.
func TestArenaUsesMemoryAgain(t *testing.T) {
	b, err := NewBlobs(0, 0, 1, true)
	if err != nil {
		t.Fatal(err)
	}
	round := func() {
		for key := range uint64(100) {
			k := Key{Word: key, Hash: keygroup.HashInt(key)}
			for range 300 {
				value, _ := b.Extend(&k, 7, 0)
				copy(value[len(value)-7:], "seven b")
			}
			if value, ok := b.Get(&k); !ok || !bytes.Equal(value, bytes.Repeat([]byte("seven b"), 300)) {
				t.Fatalf("key %d has %d bytes", key, len(value))
			}
		}
		for key := range uint64(100) {
			b.Delete(&Key{Word: key, Hash: keygroup.HashInt(key)})
		}
	}
	round()
	once := b.Bytes()
	for range 20 {
		round()
	}
	if n := b.Bytes(); n > 2*once || once > 100*7*300*5 {
		t.Errorf("%d bytes after 21 rounds, %d after one", n, once)
	}
}

// Rows that are deleted give their memory back, and arrays that are almost empty
// become smaller.
func TestDeletingGivesMemoryBack(t *testing.T) {
	for _, integers := range []bool{true, false} {
		c, err := NewCells[int64](0, 3, 4, integers)
		if err != nil {
			t.Fatal(err)
		}
		texts, _ := NewKeys[string](nil)
		each := func(f func(k *Key)) {
			for i := range uint64(50_000) {
				text := string(rune(i+1)) + " is the key"
				k := Key{Word: i, Hash: keygroup.HashInt(i)}
				if !integers {
					k = Key{Bytes: text, Hash: texts.Hash(text)}
				}
				f(&k)
			}
		}
		each(func(k *Key) { c.Upsert(k) })
		full := c.Bytes()
		each(func(k *Key) {
			if !c.Delete(k) {
				t.Fatalf("key %v is not there", k)
			}
		})
		if n := c.Bytes(); c.Len() != 0 || n > full/20 {
			t.Errorf("integers %v: %d keys in %d bytes are left of %d", integers, c.Len(), n, full)
		}
	}
}

func TestGroupHash(t *testing.T) {
	for _, max := range []int{1, 2, 3, 127, 128, 1000, keygroup.Limit} {
		for group := range max {
			upper := GroupHash(group, max)
			if keygroup.Group(upper<<32, max) != group || upper > 0 && keygroup.Group((upper-1)<<32, max) != group-1 {
				t.Fatalf("the least hash of group %d of %d is said to be %#x", group, max, upper)
			}
		}
	}
}
