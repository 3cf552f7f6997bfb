package state

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/weirstream/weir/internal/state/disk"
	"github.com/weirstream/weir/internal/state/keygroup"
	"github.com/weirstream/weir/internal/state/memory"
)

// A cold is that part of one table which lies on the disk for want of memory. Its
// unit is a key with all that the table has of it.
//
// Invariant: a key is in the table or on the disk, never in both, so that neither a
// snapshot nor a count has to compare the two. What is used comes back into memory;
// when the budget is passed, keys that were not used of late go to the disk.
//
// Keys on the disk begin with the number of the table and the key group:
//
//	number u32, group u16, both big-endian │ key

type cold struct {
	b      *Backend
	number uint32
	words  bool        // keys are integers
	groups []coldGroup // by key group; nil: nothing was ever put on the disk
	prefix []byte      // scratch
	value  []byte      // scratch
}

// A coldGroup is one key group of a cold.
type coldGroup struct {
	keys int    // on the disk
	put  uint64 // 1 + the number of the newest snapshot before one was put there
	// taken says that one was taken from there.
	taken bool

	// used has a bit for each key that was used since keys of the group were put on
	// the disk the last time, by its hash. Several may share one: then some stay in
	// memory for longer than they should.
	used []uint64

	// A sweep goes on at this key, when so many calls have passed.
	cursor []byte
	calls  int
}

func newCold(b *Backend, words bool) *cold {
	b.tables++
	return &cold{b: b, number: b.tables, words: words}
}

// fail panics with an error of the disk.
func (c *cold) fail(err error) {
	if err != nil {
		panic(&Error{State: "on disk", Err: err})
	}
}

// use notes that a key is used, and returns its group if something of that is on the
// disk; else nil.
func (c *cold) use(hash uint64) *coldGroup {
	g := &c.groups[keygroup.Group(hash, c.b.options.Max)-c.b.options.First]
	if g.keys == 0 && g.used == nil {
		return nil
	}
	g.used[uint32(hash)>>6&uint32(len(g.used)-1)] |= 1 << (hash & 63)
	if g.keys == 0 {
		return nil
	}
	return g
}

// key returns what a key of a group has before it on the disk, or the end of the
// group's, and the key. It is valid until the next call.
func (c *cold) key(group int, k *memory.Key) []byte {
	p := binary.BigEndian.AppendUint32(c.prefix[:0], c.number)
	p = binary.BigEndian.AppendUint16(p, uint16(group))
	switch {
	case k == nil:
	case c.words:
		p = binary.BigEndian.AppendUint64(p, k.Word)
	default:
		p = append(p, k.Bytes...)
	}
	c.prefix = p
	return p
}

// prefixBytes is the length of what comes before keys on the disk.
const prefixBytes = 6

// keyOf returns the key of which these are the bytes on the disk; it aliases them.
func keyOf(key []byte, words bool) memory.Key {
	if key = key[prefixBytes:]; words {
		return memory.Key{Word: binary.BigEndian.Uint64(key)}
	}
	return memory.Key{Bytes: text(key)}
}

// bounds returns where the keys of a group begin and end.
func bounds(number uint32, group int) (from, to []byte) {
	from = binary.BigEndian.AppendUint32(make([]byte, 0, prefixBytes), number)
	to = binary.BigEndian.AppendUint32(make([]byte, 0, prefixBytes), number)
	return binary.BigEndian.AppendUint16(from, uint16(group)), binary.BigEndian.AppendUint16(to, uint16(group+1))
}

// take removes a key of a group from the disk and returns its value, if it is there.
// The value is valid until the next call.
func (c *cold) take(g *coldGroup, k *memory.Key) ([]byte, bool) {
	value, ok, err := c.b.disk.Take(c.value[:0], c.key(keygroup.Group(k.Hash, c.b.options.Max), k))
	c.fail(err)
	if !ok {
		return nil, false
	}
	c.value = value
	g.keys--
	g.taken = true
	return value, true
}

// forget says that a key, which is not on the disk, is not in memory any more either.
func (c *cold) forget(k *memory.Key) {
	group := keygroup.Group(k.Hash, c.b.options.Max)
	if c.groups[group-c.b.options.First].taken {
		c.fail(c.b.disk.Forget(c.key(group, k)))
	}
}

// put moves a key of a group, which the table then gives up, to the disk.
func (c *cold) put(group int, k *memory.Key, value []byte) {
	c.fail(c.b.disk.Put(c.key(group, k), value))
	g := &c.groups[group-c.b.options.First]
	g.keys++
	g.put = c.b.number + 1
}

// sift returns whether a key with this hash, of a group of so many, stays in memory,
// and what ends the sifting. At most half of them do, and none that were not used
// since the last time: so that each time half of the memory comes free.
func (c *cold) sift(group, keys int) (stays func(hash uint64) bool, end func()) {
	if c.groups == nil {
		o := c.b.options
		c.groups = make([]coldGroup, o.Last-o.First+1)
	}
	g := &c.groups[group-c.b.options.First]
	used, left := g.used, keys/2
	stays = func(hash uint64) bool {
		if used == nil || left == 0 || used[uint32(hash)>>6&uint32(len(used)-1)]&(1<<(hash&63)) == 0 {
			return false
		}
		left--
		return true
	}
	return stays, func() {
		// Two bits for each key that there may be until the next time.
		g.used = make([]uint64, 1<<bits.Len(uint(keys/32)))
	}
}

// each calls f with the keys of a group on the disk, in the order of their bytes.
func (c *cold) each(group int, f func(k memory.Key, value []byte) bool) bool {
	if c.groups == nil || c.groups[group-c.b.options.First].keys == 0 {
		return true
	}
	from, to := bounds(c.number, group)
	all := true
	c.fail(c.b.disk.Each(from, to, func(key, value []byte) bool {
		all = f(keyOf(key, c.words), value)
		return all
	}))
	return all
}

// sweepCalls and sweepKeys are how many accesses to a state with a time to live share
// a look at how many keys on the disk.
const sweepCalls, sweepKeys = 64, 256

// sweep looks, now and then, at some keys of the group of a hash that are on the
// disk, others each time, and removes those that have expired.
func (c *cold) sweep(hash uint64, expired func(value []byte) bool) {
	group := keygroup.Group(hash, c.b.options.Max)
	g := &c.groups[group-c.b.options.First]
	if g.keys == 0 {
		return
	}
	if g.calls++; g.calls < sweepCalls {
		return
	}
	g.calls = 0
	from, to := bounds(c.number, group)
	if len(g.cursor) > 0 {
		from = g.cursor
	}
	var gone [][]byte
	left := sweepKeys
	g.cursor = nil
	c.fail(c.b.disk.Each(from, to, func(key, value []byte) bool {
		if left--; left < 0 {
			g.cursor = append([]byte(nil), key...)
			return false
		}
		if expired(value) {
			gone = append(gone, append([]byte(nil), key...))
		}
		return true
	}))
	for _, key := range gone {
		c.fail(c.b.disk.Delete(key))
		g.keys--
	}
}

// len returns the number of keys on the disk.
func (c *cold) len() int {
	n := 0
	for i := range c.groups {
		n += c.groups[i].keys
	}
	return n
}

// bytes returns the memory that it takes to know what is on the disk.
func (c *cold) bytes() int {
	n := len(c.groups) * int(unsafe.Sizeof(coldGroup{}))
	for i := range c.groups {
		n += 8 * len(c.groups[i].used)
	}
	return n
}

// clear removes all keys. The cold is then another one.
func (c *cold) clear() {
	if c.groups == nil {
		return
	}
	if c.len() > 0 {
		from := binary.BigEndian.AppendUint32(nil, c.number)
		to := binary.BigEndian.AppendUint32(nil, c.number+1)
		c.fail(c.b.disk.DeleteRange(from, to))
	}
	c.b.tables++
	c.number, c.groups = c.b.tables, nil
}

// A frozenCold is a cold at a freeze.
type frozenCold struct {
	view   disk.Reader
	number uint32
	words  bool
	first  int
	groups []frozenColdGroup // nil: nothing is on the disk
}

// A frozenColdGroup is the keys and put of a coldGroup.
type frozenColdGroup struct {
	keys int
	put  uint64
}

func (c *cold) freeze() frozenCold {
	f := frozenCold{view: c.b.view, number: c.number, words: c.words, first: c.b.options.First}
	if c.groups == nil {
		return f
	}
	f.groups = make([]frozenColdGroup, len(c.groups))
	for i := range c.groups {
		f.groups[i] = frozenColdGroup{c.groups[i].keys, c.groups[i].put}
	}
	return f
}

// each is that of cold, for who writes to w. When only changes are written, a group to
// which no key was put meanwhile has none: what changes does so in memory.
func (f *frozenCold) each(group int, w *blockWriter, each func(k memory.Key, value []byte) bool) {
	if f.groups == nil || w.err != nil {
		return
	}
	if g := f.groups[group-f.first]; g.keys == 0 || w.changes && g.put <= w.base {
		return
	}
	from, to := bounds(f.number, group)
	err := f.view.Each(from, to, func(key, value []byte) bool { return each(keyOf(key, f.words), value) })
	if err != nil {
		w.fail(err)
	}
}
