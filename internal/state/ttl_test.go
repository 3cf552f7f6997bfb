package state

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A clock is processing time that a test sets.
type clock struct{ now int64 }

func newKeyed[K comparable](t testing.TB, c *clock) *Keyed[K] {
	t.Helper()
	k, err := NewKeyed[K](scarce(Options{Operator: "op", Last: 3, Max: 4, Clock: func() int64 { return c.now }}))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *Keyed[K]) use(key K) { k.SetKey(key, k.Hash(key)) }

// A probe is one kind of state with a time to live, as text.
type probe struct {
	name  string
	open  func(b *Backend, o Option) probe
	write func(v string)
	read  func() string // "" if there is nothing
	len   func() int    // of all keys
}

var probes = []probe{{
	name: "value in place",
	open: func(b *Backend, o Option) probe {
		s := must(NewValue[[4]byte](b, "s", o))
		return probe{write: func(v string) { s.Set([4]byte([]byte(v))) }, read: func() string {
			v, ok := s.Get()
			if !ok {
				return ""
			}
			return string(v[:])
		}, len: s.len}
	},
}, {
	name: "encoded value",
	open: func(b *Backend, o Option) probe {
		s := must(NewValue[string](b, "s", o))
		return probe{write: s.Set, read: func() string { v, _ := s.Get(); return v }, len: s.len}
	},
}, {
	name: "list",
	open: func(b *Backend, o Option) probe {
		s := must(NewList[string](b, "s", o))
		return probe{write: func(v string) { s.Set([]string{v}) }, read: func() string { return strings.Join(s.Get(), ",") }, len: s.blobs.Len}
	},
}, {
	name: "map in place",
	open: func(b *Backend, o Option) probe {
		s := must(NewMap[string, [4]byte](b, "s", o))
		return probe{write: func(v string) { s.Put("k", [4]byte([]byte(v))) }, read: func() string {
			v, ok := s.Get("k")
			if !ok {
				return ""
			}
			return string(v[:])
		}, len: s.cells.Entries}
	},
}, {
	name: "encoded map",
	open: func(b *Backend, o Option) probe {
		s := must(NewMap[string, string](b, "s", o))
		return probe{write: func(v string) { s.Put("k", v) }, read: func() string { v, _ := s.Get("k"); return v }, len: s.blobs.Entries}
	},
}, {
	name: "each of a map in place",
	open: func(b *Backend, o Option) probe {
		s := must(NewMap[string, [4]byte](b, "s", o))
		return probe{write: func(v string) { s.Put("k", [4]byte([]byte(v))) }, read: func() (all string) {
			s.Each(func(_ string, v [4]byte) bool { all += string(v[:]); return true })
			return all
		}, len: s.cells.Entries}
	},
}, {
	name: "each of an encoded map",
	open: func(b *Backend, o Option) probe {
		s := must(NewMap[string, string](b, "s", o))
		return probe{write: func(v string) { s.Put("k", v) }, read: func() (all string) {
			s.Each(func(_, v string) bool { all += v; return true })
			return all
		}, len: s.blobs.Entries}
	},
}, {
	name: "reducing",
	open: func(b *Backend, o Option) probe {
		s := must(NewReducing(b, "s", func(_, v string) string { return v }, o))
		return probe{write: s.Add, read: func() string { v, _ := s.Get(); return v }, len: s.len}
	},
}}

// eachProbe runs f with each kind of state under a time to live of 100 ms.
func eachProbe(t *testing.T, ttl TTL, f func(t *testing.T, c *clock, k *Keyed[int64], p probe)) {
	ttl.Duration = 100 * time.Millisecond
	for _, kind := range probes {
		t.Run(kind.name, func(t *testing.T) {
			c := &clock{1000}
			k := newKeyed[int64](t, c)
			p := kind.open(k.Backend, WithTTL(ttl))
			p.open = kind.open
			k.use(1)
			f(t, c, k, p)
		})
	}
}

func expect(t *testing.T, p probe, want string) {
	t.Helper()
	if got := p.read(); got != want {
		t.Errorf("reads %q, want %q", got, want)
	}
}

func TestTTLOnCreateAndWrite(t *testing.T) {
	eachProbe(t, TTL{}, func(t *testing.T, c *clock, k *Keyed[int64], p probe) {
		p.write("aaaa")
		c.now += 99
		expect(t, p, "aaaa")
		c.now++ // reading did not keep it alive
		expect(t, p, "")
		if p.len() != 0 {
			t.Errorf("the read that found it expired left it")
		}
		p.write("bbbb")
		c.now += 60
		p.write("cccc")
		c.now += 60
		expect(t, p, "cccc")
	})
}

func TestTTLOnReadAndWrite(t *testing.T) {
	eachProbe(t, TTL{Update: OnReadAndWrite}, func(t *testing.T, c *clock, k *Keyed[int64], p probe) {
		p.write("aaaa")
		for range 5 {
			c.now += 99
			expect(t, p, "aaaa")
		}
		c.now += 100
		expect(t, p, "")
	})
}

func TestTTLReturnsExpiredOnce(t *testing.T) {
	eachProbe(t, TTL{Visibility: ReturnExpiredIfNotCleanedUp}, func(t *testing.T, c *clock, k *Keyed[int64], p probe) {
		p.write("aaaa")
		c.now += 1000
		expect(t, p, "aaaa")
		expect(t, p, "")
	})
}

// What has expired goes away without being read, as other keys are used.
func TestTTLCleansUp(t *testing.T) {
	eachProbe(t, TTL{}, func(t *testing.T, c *clock, k *Keyed[int64], p probe) {
		for key := range int64(1000) {
			k.use(key)
			p.write("aaaa")
		}
		c.now += 100
		for range 300 {
			for key := range int64(10) {
				k.use(key)
				p.write("bbbb")
			}
		}
		if n := p.len(); n != 10 {
			t.Errorf("%d of 1010 entries are left", n)
		}
	})
}

func written1(t *testing.T, s *Snapshot) *File {
	t.Helper()
	var buf bytes.Buffer
	if _, err := s.Write(&buf, "file", nil); err != nil {
		t.Fatal(err)
	}
	if buf.Len() == 0 {
		return nil
	}
	f, err := OpenFile("file", bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What has expired at the freeze is not in the file, and times are.
func TestTTLInSnapshots(t *testing.T) {
	eachProbe(t, TTL{}, func(t *testing.T, c *clock, k *Keyed[int64], p probe) {
		for key := range int64(100) {
			k.use(key)
			p.write("aaaa")
			if key == 49 {
				c.now += 50
			}
		}
		c.now += 50 // the first half has expired
		f := written1(t, k.Freeze())
		if n := f.Sizes()[0].Entries; n != 50 {
			t.Errorf("%d entries are written, want 50", n)
		}
		again := newKeyed[int64](t, c)
		p = p.open(again.Backend, WithTTL(TTL{Duration: 100 * time.Millisecond}))
		for _, l := range f.Locations() {
			if err := again.Restore(f, l); err != nil {
				t.Fatal(err)
			}
		}
		again.use(70)
		c.now += 49
		expect(t, p, "aaaa")
		c.now++
		expect(t, p, "")
	})
}

func TestTTLOfListElements(t *testing.T) {
	for _, update := range []Update{OnCreateAndWrite, OnReadAndWrite} {
		c := &clock{}
		k := newKeyed[string](t, c)
		s := must(NewList[string](k.Backend, "s", WithTTL(TTL{Duration: 100 * time.Millisecond, Update: update})))
		k.use("k")
		s.Add("a")
		c.now = 60
		s.AddAll([]string{"b", "c"})
		c.now = 100
		if got := s.Get(); !slices.Equal(got, []string{"b", "c"}) {
			t.Errorf("%v: list is %q", update, got)
		}
		c.now = 170
		want := map[Update][]string{OnCreateAndWrite: nil, OnReadAndWrite: {"b", "c"}}[update]
		if got := s.Get(); !slices.Equal(got, want) {
			t.Errorf("%v: list is %q, want %q", update, got, want)
		}
	}
}

// A state may get a time to live, another one, or lose it.
func TestTTLChanges(t *testing.T) {
	for _, kind := range probes {
		for _, from := range []time.Duration{0, time.Second} {
			for _, to := range []time.Duration{0, time.Second, 100 * time.Millisecond} {
				t.Run(fmt.Sprint(kind.name, from, to), func(t *testing.T) {
					c := &clock{5000}
					k := newKeyed[int64](t, c)
					p := kind.open(k.Backend, WithTTL(TTL{Duration: from}))
					k.use(1)
					p.write("aaaa")
					c.now += 200
					f := written1(t, k.Freeze())
					again := newKeyed[int64](t, c)
					p = kind.open(again.Backend, WithTTL(TTL{Duration: to}))
					for _, l := range f.Locations() {
						must(0, again.Restore(f, l))
					}
					again.use(1)
					if gone := from == time.Second && to == 100*time.Millisecond; gone {
						expect(t, p, "")
						return
					}
					expect(t, p, "aaaa")
					if c.now += 1 << 40; to > 0 {
						expect(t, p, "")
					} else {
						expect(t, p, "aaaa")
					}
				})
			}
		}
	}
}

// Entries may be put while others, which have expired, are visited.
func TestTTLWhileVisiting(t *testing.T) {
	c := &clock{}
	k := newKeyed[int64](t, c)
	m := must(NewMap[int64, string](k.Backend, "m", WithTTL(TTL{Duration: 100 * time.Millisecond})))
	k.use(1)
	for i := range int64(200) {
		m.Put(i, strings.Repeat("v", int(i)))
		c.now++
	}
	seen := 0
	m.Each(func(uk int64, v string) bool {
		if seen++; len(v) != int(uk) && uk >= 0 || uk < 101 && uk >= 0 {
			t.Errorf("entry %d has %d bytes", uk, len(v))
		}
		if uk >= 0 {
			m.Put(-uk, "longer than what others hold, so that memory is used again")
		}
		return true
	})
	if seen != 99*2 || m.Len() != 99*2 {
		t.Errorf("%d entries are visited, and %d are left", seen, m.Len())
	}
}
