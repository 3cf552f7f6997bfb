package parquet

import (
	"encoding/binary"
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// conversion is how the values of a leaf become those of a type. Numbers may become
// wider, and never narrower.
func conversion(t types.Type, n *node, reading Reading) (convert, error) {
	var read convert
	hint := ""
	is := func(p format.Type) bool { return n.physical == p && !n.decimal() }
	integer := is(format.Int32) && !n.temporal()
	long := is(format.Int64) && !n.temporal()
	switch t.Kind {
	case types.Boolean:
		if is(format.Boolean) {
			read = readBools
		}
	case types.TinyInt, types.SmallInt, types.Int:
		if integer {
			read = narrow(t, n.unsigned())
		}
	case types.BigInt:
		switch {
		case integer && n.unsigned():
			read = readUnsigned
		case integer:
			read = readWidened
		case long && n.unsigned():
			read = readUnsignedLongs
		case long:
			read = readLongs
		}
	case types.Float:
		if is(format.Float) {
			read = readFloats
		}
	case types.Double:
		if is(format.Double) {
			read = readDoubles
		} else if is(format.Float) {
			read = readWidenedFloats
		}
	case types.Char, types.VarChar:
		if is(format.ByteArray) {
			read = readTexts
		}
	case types.Binary, types.VarBinary:
		if is(format.ByteArray) || is(format.FixedLenByteArray) {
			read = readTexts
		}
	case types.Date:
		_, annotated := n.logical.(*format.DateType)
		if is(format.Int32) && (annotated || n.converted == deprecated.Date || n.logical == nil && !n.annotated) {
			read = readInts
		}
	case types.Time:
		read = n.times()
	case types.Timestamp, types.TimestampLTZ:
		read, hint = n.moments(t, reading)
	case types.Decimal:
		read, hint = n.decimals(t)
	}
	if read == nil {
		return nil, wrong(n, t, hint)
	}
	return read, nil
}

// temporal reports whether integers stand for dates and times.
func (n *node) temporal() bool {
	switch n.logical.(type) {
	case *format.DateType, *format.TimeType, *format.TimestampType:
		return true
	}
	return n.logical == nil && n.annotated && n.converted >= deprecated.Date && n.converted <= deprecated.TimestampMicros
}

func readBools(l *leaf, to *batch.Column, at, n int) error { return l.values.bools(to.Bool[at : at+n]) }
func readInts(l *leaf, to *batch.Column, at, n int) error {
	return l.values.int32s(to.I32[at:at+n], &l.dictionary)
}
func readLongs(l *leaf, to *batch.Column, at, n int) error {
	return l.values.int64s(to.I64[at:at+n], &l.dictionary)
}
func readFloats(l *leaf, to *batch.Column, at, n int) error {
	return l.values.float32s(to.F32[at:at+n], &l.dictionary)
}
func readDoubles(l *leaf, to *batch.Column, at, n int) error {
	return l.values.float64s(to.F64[at:at+n], &l.dictionary)
}
func readTexts(l *leaf, to *batch.Column, at, n int) error {
	return l.values.texts(to, n, &l.dictionary)
}

// narrow reads integers of at most 32 bits, and refuses those that the type does not have.
func narrow(t types.Type, unsigned bool) convert {
	switch {
	case t.Kind == types.Int && !unsigned:
		return readInts
	case t.Kind == types.Int:
		return func(l *leaf, to *batch.Column, at, n int) error {
			err := readInts(l, to, at, n)
			for _, v := range to.I32[at : at+n] {
				if v < 0 {
					return beyond(int64(uint32(v)), t)
				}
			}
			return err
		}
	}
	return func(l *leaf, to *batch.Column, at, n int) error {
		return l.ints(at, n, func(at int, part []int32) error {
			for i, v := range part {
				if t.Kind == types.SmallInt {
					if int32(int16(v)) != v {
						return beyond(int64(v), t)
					}
					to.I16[at+i] = int16(v)
					continue
				}
				if int32(int8(v)) != v {
					return beyond(int64(v), t)
				}
				to.I8[at+i] = int8(v)
			}
			return nil
		})
	}
}

func beyond(v int64, t types.Type) error {
	return fmt.Errorf("the value %d is no %s", v, t.Text())
}

// ints gives n integers of 32 bits in parts, for places from at on.
func (l *leaf) ints(at, n int, part func(at int, all []int32) error) error {
	for n > 0 {
		m := min(n, some)
		all := l.values.i32[:m]
		if err := l.values.int32s(all, &l.dictionary); err != nil {
			return err
		}
		if err := part(at, all); err != nil {
			return err
		}
		at, n = at+m, n-m
	}
	return nil
}

// longs gives n integers of 64 bits in parts, for places from at on.
func (l *leaf) longs(at, n int, part func(at int, all []int64) error) error {
	for n > 0 {
		m := min(n, some)
		all := l.values.i64[:m]
		if err := l.values.int64s(all, &l.dictionary); err != nil {
			return err
		}
		if err := part(at, all); err != nil {
			return err
		}
		at, n = at+m, n-m
	}
	return nil
}

func readWidened(l *leaf, to *batch.Column, at, n int) error {
	return l.ints(at, n, func(at int, part []int32) error {
		for i, v := range part {
			to.I64[at+i] = int64(v)
		}
		return nil
	})
}

func readUnsigned(l *leaf, to *batch.Column, at, n int) error {
	return l.ints(at, n, func(at int, part []int32) error {
		for i, v := range part {
			to.I64[at+i] = int64(uint32(v))
		}
		return nil
	})
}

func readUnsignedLongs(l *leaf, to *batch.Column, at, n int) error {
	err := readLongs(l, to, at, n)
	for _, v := range to.I64[at : at+n] {
		if v < 0 {
			return fmt.Errorf("the value %d is no BIGINT", uint64(v))
		}
	}
	return err
}

func readWidenedFloats(l *leaf, to *batch.Column, at, n int) error {
	for n > 0 {
		m := min(n, some)
		if err := l.values.float32s(l.values.f32[:m], &l.dictionary); err != nil {
			return err
		}
		for i, v := range l.values.f32[:m] {
			to.F64[at+i] = float64(v)
		}
		at, n = at+m, n-m
	}
	return nil
}

// times reads times of day.
func (n *node) times() convert {
	unit := int64(0) // of a millisecond
	if t, ok := n.logical.(*format.TimeType); ok && t.Unit.Value != nil {
		unit = perMilli(t.Unit)
	} else if n.logical == nil && n.annotated {
		switch n.converted {
		case deprecated.TimeMillis:
			unit = 1
		case deprecated.TimeMicros:
			unit = 1000
		}
	}
	const day = 86_400_000
	switch {
	case n.physical == format.Int32 && unit == 1:
		return func(l *leaf, to *batch.Column, at, n int) error {
			err := readInts(l, to, at, n)
			for _, v := range to.I32[at : at+n] {
				if v < 0 || v >= day {
					return fmt.Errorf("the value %d is no time of day in milliseconds", v)
				}
			}
			return err
		}
	case n.physical == format.Int64 && unit > 1:
		return func(l *leaf, to *batch.Column, at, n int) error {
			return l.longs(at, n, func(at int, part []int64) error {
				for i, v := range part {
					if v < 0 || v/unit >= day {
						return fmt.Errorf("the value %d is no time of day", v)
					}
					to.I32[at+i] = int32(v / unit)
				}
				return nil
			})
		}
	}
	return nil
}

// perMilli is how many of a unit are a millisecond.
func perMilli(u format.TimeUnit) int64 {
	switch u.Value.(type) {
	case *format.MicroSeconds:
		return 1000
	case *format.NanoSeconds:
		return 1_000_000
	}
	return 1
}

// stamp is what a timestamp of the file counts, as parts of a millisecond, 0 if nothing
// says so, and whether it is an instant.
func (n *node) stamp() (instants bool, unit int64) {
	if s, ok := n.logical.(*format.TimestampType); ok && s.Unit.Value != nil {
		return s.IsAdjustedToUTC, perMilli(s.Unit)
	}
	if n.logical == nil && n.annotated {
		switch n.converted {
		case deprecated.TimestampMillis:
			return true, 1
		case deprecated.TimestampMicros:
			return true, 1000
		}
	}
	return true, 0
}

// moments reads timestamps.
func (n *node) moments(t types.Type, reading Reading) (read convert, hint string) {
	instants, unit := n.stamp()
	place := reading.place(t, instants)
	keep := precise(t.Precision)
	switch {
	case n.physical == format.Int96:
		return readInt96(place, keep), ""
	case n.physical != format.Int64:
		return nil, ""
	case unit == 0:
		return nil, "the file does not say in which unit it counts time"
	case unit == 1 && place == nil && t.Precision >= 3:
		return func(l *leaf, to *batch.Column, at, n int) error {
			if to.I32 != nil {
				clear(to.I32[at : at+n])
			}
			return readLongs(l, to, at, n)
		}, ""
	}
	return func(l *leaf, to *batch.Column, at, n int) error {
		nanos := 1_000_000 / unit
		return l.longs(at, n, func(at int, part []int64) error {
			for i, v := range part {
				millis := v / unit
				rest := v - millis*unit
				if rest < 0 {
					millis, rest = millis-1, rest+unit
				}
				keep(to, at+i, millis, int32(rest*nanos), place)
			}
			return nil
		})
	}, ""
}

// place gives how what a file has becomes a timestamp: an instant is seen in the zone of
// reading, and what is no instant is one there; nil: it stays as it is.
func (r Reading) place(t types.Type, instants bool) func(int64) int64 {
	if r.Zone == nil {
		return nil
	}
	switch {
	case t.Kind == types.Timestamp && instants:
		return r.Zone.Local
	case t.Kind == types.TimestampLTZ && !instants:
		return func(local int64) int64 { return r.Zone.Instant(local, false) }
	}
	return nil
}

// precise gives how a timestamp of a precision is kept; digits that it does not have are
// cut off.
func precise(precision int) func(to *batch.Column, i int, millis int64, nanos int32, place func(int64) int64) {
	step, nanoStep := int64(1), int32(1)
	for range 3 - precision {
		step *= 10
	}
	for range 9 - max(precision, 3) {
		nanoStep *= 10
	}
	return func(to *batch.Column, i int, millis int64, nanos int32, place func(int64) int64) {
		if place != nil {
			millis = place(millis)
		}
		if step > 1 {
			millis -= (millis%step + step) % step
		}
		to.I64[i] = millis
		if to.I32 != nil {
			to.I32[i] = nanos - nanos%nanoStep
		}
	}
}

// julianEpoch is the Julian day of 1970-01-01.
const julianEpoch = 2_440_588

// readInt96 reads the nanoseconds of a day and its number, as old programs write them.
func readInt96(place func(int64) int64, keep func(*batch.Column, int, int64, int32, func(int64) int64)) convert {
	return func(l *leaf, to *batch.Column, at, n int) error {
		raw, err := l.raw(n, 12)
		if err != nil {
			return err
		}
		for i := range n {
			nanos := int64(binary.LittleEndian.Uint64(raw[i*12:]))
			day := int64(int32(binary.LittleEndian.Uint32(raw[i*12+8:])))
			millis := nanos / 1_000_000
			rest := nanos - millis*1_000_000
			if rest < 0 {
				millis, rest = millis-1, rest+1_000_000
			}
			keep(to, at+i, (day-julianEpoch)*86_400_000+millis, int32(rest), place)
		}
		return nil
	}
}

// raw reads n values of a fixed size.
func (l *leaf) raw(n, size int) ([]byte, error) {
	if n > maxData/size {
		return nil, errTooLong
	}
	l.values.raw = sized(l.values.raw, n*size)
	return l.values.raw, l.values.fixed(l.values.raw, &l.dictionary)
}
