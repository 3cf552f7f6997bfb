package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go/format"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/types"
)

// decimals is where the unscaled values of a DECIMAL go.
type decimals struct {
	t     types.Type
	short bool  // in 64 bits
	limit int64 // the greatest value that a short one has
}

// put keeps a value, if it has no more digits than the type.
func (d *decimals) put(to *batch.Column, i int, v batch.Int128) error {
	if !decimal.Fits(v, d.t.Precision) {
		return fmt.Errorf("the value %s is no %s", decimal.Append(nil, v, d.t.Scale), d.t.Text())
	}
	if d.short {
		to.I64[i] = int64(v.Lo)
	} else {
		to.I128[i] = v
	}
	return nil
}

func (d *decimals) putLong(to *batch.Column, i int, v int64) error {
	if d.short && v <= d.limit && v >= -d.limit {
		to.I64[i] = v
		return nil
	}
	return d.put(to, i, decimal.FromInt64(v))
}

// decimals reads unscaled decimals.
func (n *node) decimals(t types.Type) (read convert, hint string) {
	if !n.decimal() {
		return nil, ""
	}
	if n.scale != t.Scale {
		return nil, fmt.Sprintf("its values have %d digits behind the point; declare it so, and cast it in the query", n.scale)
	}
	d := &decimals{t: t, short: t.Precision <= types.MaxShortPrecision, limit: math.MaxInt64}
	if d.short {
		d.limit = decimal.Power64(t.Precision) - 1
	}
	switch n.physical {
	case format.Int32:
		return d.ints, ""
	case format.Int64:
		if d.short {
			return d.shortLongs, ""
		}
		return d.longs, ""
	case format.FixedLenByteArray:
		return d.fixed, ""
	case format.ByteArray:
		return d.bytes, ""
	}
	return nil, ""
}

func (d *decimals) ints(l *leaf, to *batch.Column, at, n int) error {
	return l.ints(at, n, func(at int, part []int32) error {
		for i, v := range part {
			if err := d.putLong(to, at+i, int64(v)); err != nil {
				return err
			}
		}
		return nil
	})
}

// shortLongs reads values of 64 bits as the column has them.
func (d *decimals) shortLongs(l *leaf, to *batch.Column, at, n int) error {
	if err := readLongs(l, to, at, n); err != nil {
		return err
	}
	for i, v := range to.I64[at : at+n] {
		if v > d.limit || v < -d.limit {
			return d.putLong(to, at+i, v)
		}
	}
	return nil
}

func (d *decimals) longs(l *leaf, to *batch.Column, at, n int) error {
	return l.longs(at, n, func(at int, part []int64) error {
		for i, v := range part {
			if err := d.putLong(to, at+i, v); err != nil {
				return err
			}
		}
		return nil
	})
}

func (d *decimals) fixed(l *leaf, to *batch.Column, at, n int) error {
	size := l.n.length
	raw, err := l.raw(n, size)
	if err != nil {
		return err
	}
	for i := range n {
		v, err := unscaled(raw[i*size : (i+1)*size])
		if err == nil {
			err = d.put(to, at+i, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *decimals) bytes(l *leaf, to *batch.Column, at, n int) error {
	c := batch.Column{Layout: batch.ByteSlices, Offsets: []int32{0}, Data: l.values.raw[:0]}
	if err := l.values.texts(&c, n, &l.dictionary); err != nil {
		return err
	}
	l.values.raw = c.Data
	for i := range n {
		v, err := unscaled(c.Bytes(i))
		if err == nil {
			err = d.put(to, at+i, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unscaled reads an integer in two's complement, the highest byte first.
func unscaled(text []byte) (v batch.Int128, err error) {
	if len(text) == 0 {
		return v, errors.New("a decimal has no bytes")
	}
	sign := byte(int8(text[0]) >> 7)
	for len(text) > 16 {
		if text[0] != sign {
			return v, fmt.Errorf("a decimal of %d bytes has more than 38 digits", len(text))
		}
		text = text[1:]
	}
	var all [16]byte
	for i := range all {
		all[i] = sign
	}
	copy(all[16-len(text):], text)
	return batch.Int128{Hi: int64(binary.BigEndian.Uint64(all[:])), Lo: binary.BigEndian.Uint64(all[8:])}, nil
}
