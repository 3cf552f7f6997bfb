package state

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/weirstream/weir/internal/state/memory"
)

// A snapshot is a header, the state of key groups, an index and a trailer. The state
// of a group is blocks: one that begins it, those of its states, one that ends it.
//
//	"WEIRKEYS" version length crc │ header           see header.go
//	group: │ begin │ block │ block │ … │ end │       one after the other
//	index, see header.go │ offset length crc "WEIRKEND"
//
// A block is a head of blockHead bytes, all numbers little-endian, and its payload:
//
//	length of the payload  u32
//	CRC-32C of all behind  u32
//	state in the header    u16, or beginState, endState
//	entries                u32
//
// Its payload are columns. Values are a batch that a plan has encoded, or each by
// itself; bytes are end offsets (u32 each) and then the bytes.
//
//	values       [slice i64] keys, values, [times i64 each]
//	             keys are u64 each or bytes; values are a batch, or bytes
//	lists        keys, lists as bytes (see list.go)
//	maps         owners u32, owners' entries u32 each, owners as bytes, inner keys as
//	             bytes, values as a batch or bytes, [times]
//	timers       times i64 each, keys as bytes
const (
	blockHead  = 14
	beginState = 0xffff // entries is the group
	endState   = 0xfffe // entries is the number of blocks between
	// A section of what has changed begins so; entries is the group. Of each state that
	// it tells of there is a block of filters before all others; entries is the state.
	beginChanges = 0xfffd
	filterState  = 0xfffc

	// A block is written when it has so many entries, or bytes of keys and values
	// that are bytes.
	blockEntries = 1024
	blockBytes   = 64 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A blockWriter writes blocks to a file. The first error stays.
type blockWriter struct {
	w      io.Writer
	off    int64
	header Header
	buf    []byte // the block being built
	group  int    // being written
	begun  int64  // where it begins; negative: no block of it was written
	blocks int    // of the group
	sum    uint32 // CRC-32C of what was written of it
	sizes  []Size // by state
	// changes says that only changes are written, only which keys of a state these
	// may be.
	changes bool
	base    uint64 // the snapshot since which
	only    []*filter
	err     error
	buffer  memory.Buffer // to which groups are copied
}

func (w *blockWriter) write(b []byte) {
	if w.err == nil {
		var n int
		n, w.err = w.w.Write(b)
		w.off += int64(n)
		w.sum = crc32.Update(w.sum, castagnoli, b[:n])
	}
}

// leaves says whether a key is left out, because it has not changed.
func (w *blockWriter) leaves(k memory.Key, words bool, salt uint32) bool {
	if !w.changes {
		return false
	}
	if len(w.only) == 0 {
		return true
	}
	hash := hashOf(k, words) ^ salt
	for _, f := range w.only {
		if f.has(hash) {
			return false
		}
	}
	return true
}

// begin starts a block and returns where its payload is to be appended.
func (w *blockWriter) begin() []byte { return append(w.buf[:0], make([]byte, blockHead)...) }

// end writes the block of a state whose head and payload are buf.
func (w *blockWriter) end(buf []byte, state uint16, entries int) {
	w.block(buf, state, entries)
	w.sizes[state].Entries += int64(entries)
	w.sizes[state].Bytes += int64(len(buf))
}

// block writes a block, and before the first one the beginning of the group.
func (w *blockWriter) block(buf []byte, state uint16, entries int) {
	w.buf = buf
	if w.begun < 0 {
		if w.off == 0 {
			w.write(appendHeader(nil, w.header))
		}
		w.begun, w.sum = w.off, 0
		begin := uint16(beginState)
		if w.changes {
			begin = beginChanges
		}
		w.emit(make([]byte, blockHead), begin, w.group)
	}
	w.emit(buf, state, entries)
	w.blocks++
}

// emit fills the head of a block in and writes it.
func (w *blockWriter) emit(buf []byte, state uint16, entries int) {
	binary.LittleEndian.PutUint32(buf, uint32(len(buf)-blockHead))
	binary.LittleEndian.PutUint16(buf[8:], state)
	binary.LittleEndian.PutUint32(buf[10:], uint32(entries))
	binary.LittleEndian.PutUint32(buf[4:], crc32.Checksum(buf[8:], castagnoli))
	w.write(buf)
}

// fail notes that a value could not be encoded.
func (w *blockWriter) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// A column of bytes is being built.
type column struct{ ends, bytes []byte }

func (c *column) add(s string) {
	c.bytes = append(c.bytes, s...)
	c.ends = binary.LittleEndian.AppendUint32(c.ends, uint32(len(c.bytes)))
}

func (c *column) appendTo(dst []byte) []byte {
	dst = append(append(dst, c.ends...), c.bytes...)
	c.ends, c.bytes = c.ends[:0], c.bytes[:0]
	return dst
}

// keyColumn is a column of keys, words or bytes.
type keyColumn struct {
	words   bool
	numbers []byte
	column
}

func (c *keyColumn) add(k memory.Key) {
	if c.words {
		c.numbers = binary.LittleEndian.AppendUint64(c.numbers, k.Word)
	} else {
		c.column.add(k.Bytes)
	}
}

func (c *keyColumn) appendTo(dst []byte) []byte {
	if c.words {
		dst = append(dst, c.numbers...)
		c.numbers = c.numbers[:0]
		return dst
	}
	return c.column.appendTo(dst)
}

// A payload is what is left of a block to be read.
type payload struct {
	rest    []byte
	entries int
	total   int    // entries of the state in the group; 0: unknown
	newer   *newer // what newer sections say of the state; nil: there are none
	salt    uint32 // of the slice
}

// take cuts n bytes off.
func (p *payload) take(n int) ([]byte, error) {
	if n < 0 || n > len(p.rest) {
		return nil, fmt.Errorf("a column needs %d bytes, %d are left", n, len(p.rest))
	}
	head := p.rest[:n:n]
	p.rest = p.rest[n:]
	return head, nil
}

// numbers cuts n 64-bit numbers off.
func (p *payload) numbers(n int) (func(i int) uint64, error) {
	b, err := p.take(n * 8)
	return func(i int) uint64 { return binary.LittleEndian.Uint64(b[i*8:]) }, err
}

// bytes cuts a column of n byte strings off, which alias the block.
func (p *payload) bytes(n int) (func(i int) []byte, error) {
	ends, err := p.take(n * 4)
	if err != nil || n == 0 {
		return nil, err
	}
	end := func(i int) int { return int(binary.LittleEndian.Uint32(ends[i*4:])) }
	for i := 1; i < n; i++ {
		if end(i) < end(i-1) {
			return nil, fmt.Errorf("end offset %d of entry %d is out of order", end(i), i)
		}
	}
	all, err := p.take(end(n - 1))
	return func(i int) []byte {
		if i == 0 {
			return all[:end(0)]
		}
		return all[end(i-1):end(i)]
	}, err
}

// keys cuts a column of n keys off, words or bytes, which alias the block.
func (p *payload) keys(n int, words bool) (func(i int) memory.Key, error) {
	if words {
		numbers, err := p.numbers(n)
		return func(i int) memory.Key { return memory.Key{Word: numbers(i)} }, err
	}
	bytes, err := p.bytes(n)
	return func(i int) memory.Key { return memory.Key{Bytes: text(bytes(i))} }, err
}

// done checks that nothing is left.
func (p *payload) done() error {
	if len(p.rest) > 0 {
		return fmt.Errorf("%d bytes are left behind the last column", len(p.rest))
	}
	return nil
}
