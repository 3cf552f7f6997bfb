package exec

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/state/keygroup"
	"github.com/weirstream/weir/types"
)

// equality says which keys are equal.
type equality uint8

const (
	// grouping: NULL equals NULL, all that are no number are equal, 0.0 is not -0.0.
	grouping equality = iota
	// comparing: as = does. A NULL and what is no number equal nothing, 0.0 is -0.0.
	comparing
)

// wordsOfKey is how many words a key has at most that is kept as words.
const wordsOfKey = 3

// place is where a column's value lies in a key of words, and the bit that says that
// it is NULL.
type place struct {
	word  int
	shift uint
}

// A keyer makes keys of some columns, batch by batch: words if all have a fixed size
// and are few, otherwise bytes.
type keyer struct {
	columns  []int
	equality equality
	nullSafe []bool // of comparing: these take NULL as equal to NULL
	places   []place
	nulls    place // of the bits for NULL
	packed   bool
	width    int // how many words a key has

	// of the last batch, by the number of the row among those that count
	words  []uint64 // width of each
	bytes  []byte
	ends   []int // of bytes
	hashes []uint64
	valid  []bool // false: the key equals nothing
	any    bool   // some are not valid
}

// newKeyer makes the keyer of columns with these types.
func newKeyer(columns []int, schema []types.Type, e equality, nullSafe []bool) *keyer {
	k := &keyer{columns: columns, equality: e, nullSafe: nullSafe}
	k.pack(schema)
	return k
}

// pack finds each column a place in the words, if there is room.
func (k *keyer) pack(schema []types.Type) {
	var used [wordsOfKey]uint
	find := func(bits uint) (place, bool) {
		for w := range used {
			if used[w]+bits <= 64 {
				p := place{w, used[w]}
				used[w] += bits
				return p, true
			}
		}
		return place{}, false
	}
	for _, c := range k.columns {
		t := schema[c]
		bits := uint(0)
		switch batch.LayoutOf(t) {
		case batch.Bools, batch.Int8s:
			bits = 8
		case batch.Int16s:
			bits = 16
		case batch.Int32s, batch.Float32s:
			bits = 32
		case batch.Int64s, batch.Float64s:
			bits = 64
		case batch.Moments:
			if bits = 64; t.Precision > 3 {
				return
			}
		default:
			return
		}
		p, ok := find(bits)
		if !ok {
			return
		}
		k.places = append(k.places, p)
	}
	ok := true
	if k.equality == grouping || slices.Contains(k.nullSafe, true) {
		k.nulls, ok = find(uint(len(k.columns)))
	}
	k.packed = ok
	for w, bits := range used {
		if bits > 0 {
			k.width = w + 1
		}
	}
	k.width = max(1, k.width)
}

// of makes the keys of the rows of b that count.
func (k *keyer) of(b *batch.Columns) {
	n := b.Len()
	k.valid, k.any = resize(k.valid, n), false
	for r := range k.valid {
		k.valid[r] = true
	}
	if k.packed {
		k.packWords(b, n)
	} else {
		k.encode(b, n)
	}
}

// refuse notes that the key of a row equals nothing.
func (k *keyer) refuse(row int) { k.valid[row], k.any = false, true }

// takesNull reports whether a NULL in the i-th column is a key like others.
func (k *keyer) takesNull(i int) bool {
	return k.equality == grouping || i < len(k.nullSafe) && k.nullSafe[i]
}

func (k *keyer) packWords(b *batch.Columns, n int) {
	k.words, k.hashes = resize(k.words, n*k.width), resize(k.hashes, n)
	clear(k.words)
	for i, c := range k.columns {
		k.packColumn(b.Cols[c], i, b.Sel)
	}
	switch k.width {
	case 1:
		for r, w := range k.words[:len(k.hashes)] {
			k.hashes[r] = keygroup.HashInt(w + 0x9e3779b97f4a7c15)
		}
		return
	case 2:
		words := k.words
		for r := range k.hashes {
			h := keygroup.HashInt(words[0] + 0x9e3779b97f4a7c15)
			if words[1] != 0 {
				h = keygroup.HashInt(h ^ words[1]*0x9e3779b97f4a7c15)
			}
			k.hashes[r], words = h, words[2:]
		}
		return
	}
	for r := range k.hashes {
		w := k.wordsAt(r)
		h := keygroup.HashInt(w[0] + 0x9e3779b97f4a7c15)
		for _, more := range w[1:] {
			if more != 0 {
				h = keygroup.HashInt(h ^ more*0x9e3779b97f4a7c15)
			}
		}
		k.hashes[r] = h
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, max(n, 2*cap(s)))
	}
	return s[:n]
}

// packColumn puts the values of a column into the words.
func (k *keyer) packColumn(c *batch.Column, i int, sel []int32) {
	p := k.places[i]
	if c.Valid == nil && c.Layout == batch.Int64s {
		packWhole(k, c.I64, p, sel)
		return
	}
	if c.Valid == nil && c.Layout == batch.Int32s {
		packWhole(k, c.I32, p, sel)
		return
	}
	for r := range k.hashes {
		row := at(sel, r)
		if c.IsNull(row) {
			if !k.takesNull(i) {
				k.refuse(r)
				continue
			}
			k.words[r*k.width+k.nulls.word] |= 1 << (k.nulls.shift + uint(i))
			continue
		}
		k.words[r*k.width+p.word] |= k.bits(c, row, r) << p.shift
	}
}

// packWhole puts whole numbers of which none is NULL into the words.
func packWhole[T int32 | int64](k *keyer, values []T, p place, sel []int32) {
	mask := ^uint64(0)
	if _, short := any(values).([]int32); short {
		mask = 1<<32 - 1
	}
	if sel == nil {
		for r, v := range values[:len(k.hashes)] {
			k.words[r*k.width+p.word] |= (uint64(v) & mask) << p.shift
		}
		return
	}
	for r, row := range sel[:len(k.hashes)] {
		k.words[r*k.width+p.word] |= (uint64(values[row]) & mask) << p.shift
	}
}

// bits is a value of fixed size as a number that is equal for equal values.
func (k *keyer) bits(c *batch.Column, row, r int) uint64 {
	switch c.Layout {
	case batch.Bools:
		if c.Bool[row] {
			return 1
		}
		return 0
	case batch.Int8s:
		return uint64(uint8(c.I8[row]))
	case batch.Int16s:
		return uint64(uint16(c.I16[row]))
	case batch.Int32s:
		return uint64(uint32(c.I32[row]))
	case batch.Int64s, batch.Moments:
		return uint64(c.I64[row])
	case batch.Float32s:
		return uint64(math.Float32bits(float32(k.float(float64(c.F32[row]), r))))
	case batch.Float64s:
		return math.Float64bits(k.float(c.F64[row], r))
	}
	return 0
}

// float is a number that has equal bits for equal values.
func (k *keyer) float(v float64, r int) float64 {
	switch {
	case v != v:
		if k.equality == comparing {
			k.refuse(r)
		}
		return math.NaN()
	case v == 0 && k.equality == comparing:
		return 0
	}
	return v
}

// encode makes keys of bytes.
func (k *keyer) encode(b *batch.Columns, n int) {
	k.bytes, k.ends, k.hashes = k.bytes[:0], k.ends[:0], resize(k.hashes, n)
	for r := range n {
		row := r
		if b.Sel != nil {
			row = int(b.Sel[r])
		}
		at := len(k.bytes)
		for i, c := range k.columns {
			col := b.Cols[c]
			if col.IsNull(row) && !k.takesNull(i) {
				k.refuse(r)
			}
			k.bytes = k.append(k.bytes, col, row, r)
		}
		k.ends = append(k.ends, len(k.bytes))
		k.hashes[r] = keygroup.HashBytes(k.bytes[at:]) ^ 0x9e3779b97f4a7c15
	}
}

// append encodes a value so that no other has the same bytes, nor ones that begin so.
func (k *keyer) append(dst []byte, c *batch.Column, row, r int) []byte {
	if c.IsNull(row) {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	switch c.Layout {
	case batch.ByteSlices:
		v := c.Bytes(row)
		return append(binary.AppendUvarint(dst, uint64(len(v))), v...)
	case batch.Int128s:
		v := c.I128[row]
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, uint64(v.Hi)), v.Lo)
	case batch.Moments:
		return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(dst, uint64(c.I64[row])), uint32(c.Nanos(row)))
	case batch.Lists, batch.Maps:
		from, to := c.Span(row)
		dst = binary.AppendUvarint(dst, uint64(to-from))
		for ; from < to; from++ {
			for _, child := range c.Children {
				dst = k.append(dst, child, from, r)
			}
		}
		return dst
	case batch.Structs:
		for _, child := range c.Children {
			dst = k.append(dst, child, row, r)
		}
		return dst
	}
	return binary.BigEndian.AppendUint64(dst, k.bits(c, row, r))
}

// key is the bytes of the key of row r.
func (k *keyer) key(r int) []byte {
	if r == 0 {
		return k.bytes[:k.ends[0]]
	}
	return k.bytes[k.ends[r-1]:k.ends[r]]
}

// wordsAt is the key of row r as words.
func (k *keyer) wordsAt(r int) []uint64 { return k.words[r*k.width : (r+1)*k.width] }
