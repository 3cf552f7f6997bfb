package parquet

import (
	"fmt"
	"slices"

	"github.com/weirstream/weir/batch"
)

// maxElements bounds the values of one column in a batch.
const maxElements = 1 << 26

// convert reads the next n values of a page into a column from place at on; texts are
// appended.
type convert func(l *leaf, to *batch.Column, at, n int) error

// leaf reads a column of a file into a vector.
type leaf struct {
	chunk
	to      *batch.Column
	convert convert // nil: only the levels are wanted
	// flat says that the field is a column of the table itself, so that every row has one
	// value or NULL.
	flat bool
	// unordered says that values are not in the order of those of the file.
	unordered bool
	// exists is the definition level from which on there is a place for a value: that of
	// the innermost list around it.
	exists int

	// The levels of the batch's values; none for flat ones.
	repetition, definition []uint8
	// ahead are those at the end that belong to the next batch.
	ahead int

	slots int // of to
	valid batch.Bitmap
	nulls int
}

// start begins a row group.
func (l *leaf) start(f *File, group int) error {
	l.repetition, l.definition, l.ahead = l.repetition[:0], l.definition[:0], 0
	return l.begin(f, group)
}

// read reads the values of so many rows.
func (l *leaf) read(rows int) (err error) {
	l.slots, l.nulls, l.valid = 0, 0, l.valid[:0]
	if l.to != nil {
		l.to.Reset(0)
	}
	if l.flat {
		err = l.readFlat(rows)
	} else {
		err = l.readNested(rows)
	}
	if err != nil || l.to == nil {
		return err
	}
	l.to.Len = l.slots
	if l.nulls == 0 {
		l.to.Reuse()
	} else {
		l.to.OwnValid(l.valid)
	}
	return nil
}

func (l *leaf) readFlat(rows int) error {
	for rows > 0 {
		if err := l.next(); err != nil {
			return err
		}
		m := min(rows, l.left)
		l.room(m)
		k := m
		var err error
		if l.n.definition > 0 {
			k, err = l.levels.definition.bits(l.valid, l.slots, m)
		} else {
			fill(l.valid, l.slots, m)
		}
		if err == nil {
			err = l.take(m, k)
		}
		if err != nil {
			return l.failed(err)
		}
		l.left -= m
		rows -= m
	}
	return nil
}

// room makes the bitmap long enough for n more values.
func (l *leaf) room(n int) {
	words := (l.slots + n + 63) / 64
	for len(l.valid) < words {
		l.valid = append(l.valid, 0)
	}
}

// fill sets n bits from one place on.
func fill(b batch.Bitmap, at, n int) {
	for n > 0 {
		m := min(n, 64-at&63)
		v := ^uint64(0) >> (64 - m)
		b[at>>6] |= v << (at & 63)
		at, n = at+m, n-m
	}
}

// take reads k values into m places, of which the bitmap says which have one.
func (l *leaf) take(m, k int) error {
	if l.convert == nil || m == 0 {
		return nil
	}
	if l.slots+m > maxElements {
		return fmt.Errorf("a batch of rows has more than %d values", maxElements)
	}
	extend(l.to, l.slots+m)
	if k > 0 {
		if err := l.convert(l, l.to, l.slots, k); err != nil {
			return err
		}
	}
	if k < m {
		spread(l.to, l.slots, m, k, l.valid)
		l.nulls += m - k
	}
	l.slots += m
	return nil
}

func (l *leaf) readNested(rows int) error {
	// What was read ahead moves to the front.
	n := copy(l.repetition, l.repetition[len(l.repetition)-l.ahead:])
	copy(l.definition, l.definition[len(l.definition)-l.ahead:])
	l.repetition, l.definition = l.repetition[:n], l.definition[:n]
	done := 0 // levels whose values have been read
	begun := 0
	for {
		if done == len(l.repetition) {
			if l.left == 0 && l.rest == 0 {
				break // the row group ends
			}
			if err := l.more(); err != nil {
				return err
			}
		}
		end := done
		for end < len(l.repetition) {
			if l.repetition[end] == 0 {
				if begun == rows {
					break
				}
				begun++
			} else if begun == 0 {
				return l.failed(fmt.Errorf("a row begins with the rest of a list"))
			}
			end++
		}
		if err := l.places(done, end); err != nil {
			return l.failed(err)
		}
		if done = end; end < len(l.repetition) {
			break
		}
	}
	if begun < rows {
		return l.failed(fmt.Errorf("the column has fewer rows than the row group"))
	}
	l.ahead = len(l.repetition) - done
	return nil
}

// more reads levels of the page, or of the next one.
func (l *leaf) more() error {
	if err := l.next(); err != nil {
		return err
	}
	m := min(l.left, some)
	at := len(l.repetition)
	if at+m > maxElements {
		return l.failed(fmt.Errorf("a batch of rows has more than %d values", maxElements))
	}
	l.repetition, l.definition = slices.Grow(l.repetition, m)[:at+m], slices.Grow(l.definition, m)[:at+m]
	clear(l.repetition[at:])
	clear(l.definition[at:])
	if l.n.repeated > 0 {
		if err := l.levels.repetition.levels(l.repetition[at:], l.n.repeated); err != nil {
			return l.failed(err)
		}
	}
	if l.n.definition > 0 {
		if err := l.levels.definition.levels(l.definition[at:], l.n.definition); err != nil {
			return l.failed(err)
		}
	}
	l.left -= m
	return nil
}

// places reads the values that belong to some levels, all of the page.
func (l *leaf) places(from, to int) error {
	l.room(to - from)
	m, k := 0, 0
	for _, d := range l.definition[from:to] {
		if int(d) == l.n.definition {
			l.valid.Set(l.slots + m)
			k++
		}
		if int(d) >= l.exists {
			m++
		}
	}
	return l.take(m, k)
}

// current are the levels of the batch.
func (l *leaf) current() (repetition, definition []uint8) {
	n := len(l.repetition) - l.ahead
	return l.repetition[:n], l.definition[:n]
}

// extend makes the slices of a column long enough for n values of fixed size.
func extend(c *batch.Column, n int) {
	switch c.Layout {
	case batch.Bools:
		c.Bool = grown(c.Bool, n)
	case batch.Int8s:
		c.I8 = grown(c.I8, n)
	case batch.Int16s:
		c.I16 = grown(c.I16, n)
	case batch.Int32s:
		c.I32 = grown(c.I32, n)
	case batch.Int64s:
		c.I64 = grown(c.I64, n)
	case batch.Int128s:
		c.I128 = grown(c.I128, n)
	case batch.Float32s:
		c.F32 = grown(c.F32, n)
	case batch.Float64s:
		c.F64 = grown(c.F64, n)
	case batch.Moments:
		c.I64 = grown(c.I64, n)
		if c.I32 != nil {
			c.I32 = grown(c.I32, n)
		}
	}
}

func grown[T any](s []T, n int) []T { return slices.Grow(s, n-len(s))[:n] }

// spread moves k values to those of m places that are valid, and clears the others.
func spread(c *batch.Column, at, m, k int, valid batch.Bitmap) {
	switch c.Layout {
	case batch.Bools:
		apart(c.Bool, at, m, k, valid)
	case batch.Int8s:
		apart(c.I8, at, m, k, valid)
	case batch.Int16s:
		apart(c.I16, at, m, k, valid)
	case batch.Int32s:
		apart(c.I32, at, m, k, valid)
	case batch.Int64s:
		apart(c.I64, at, m, k, valid)
	case batch.Int128s:
		apart(c.I128, at, m, k, valid)
	case batch.Float32s:
		apart(c.F32, at, m, k, valid)
	case batch.Float64s:
		apart(c.F64, at, m, k, valid)
	case batch.Moments:
		apart(c.I64, at, m, k, valid)
		if c.I32 != nil {
			apart(c.I32, at, m, k, valid)
		}
	case batch.ByteSlices:
		c.Offsets = grown(c.Offsets, at+m+1)
		offsets := c.Offsets
		for i := m - 1; i >= 0; i-- {
			offsets[at+i+1] = offsets[at+k]
			if valid.Get(at + i) {
				k--
			}
		}
	}
}

// apart goes from the end, so that no value is overwritten before it is moved. Once as
// many values as places are left, they are where they belong.
func apart[T batch.Fixed](s []T, at, m, k int, valid batch.Bitmap) {
	var zero T
	for i := m - 1; i >= k && i >= 0; i-- {
		if !valid.Get(at + i) {
			s[at+i] = zero
			continue
		}
		k--
		s[at+i] = s[at+k]
	}
}
