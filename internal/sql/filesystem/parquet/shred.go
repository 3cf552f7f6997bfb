package parquet

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/datetime"
	"github.com/weirstream/weir/types"
)

// treeWriter makes the schema of a table, as Flink has it.
type treeWriter struct {
	w       *Writing
	schema  []format.SchemaElement
	columns []*column
}

// shredder takes the values of one field apart, down to its leaves.
type shredder struct {
	t        types.Type
	n        *node
	children []*shredder
	// leaves are those below.
	leaves []*column
	// repeated is, of a list, the repetition level of its elements but the first.
	repeated uint8
	zone     *datetime.Zone
	unit     Unit
	size     int // of a decimal's bytes
	scratch  [16]byte
}

// add adds an element of the schema.
func (b *treeWriter) add(parent *node, name string, repetition format.FieldRepetitionType) (*node, *format.SchemaElement) {
	n := &node{name: name, path: name, names: append(slices.Clone(parent.names), name), repetition: repetition, definition: parent.definition, repeated: parent.repeated}
	if parent.path != "" {
		n.path = parent.path + "." + name
	}
	if repetition != format.Required {
		n.definition++
	}
	if repetition == format.Repeated {
		n.repeated++
	}
	b.schema = append(b.schema, format.SchemaElement{Name: name, RepetitionType: thrift.New(repetition)})
	return n, &b.schema[len(b.schema)-1]
}

func (b *treeWriter) field(parent *node, name string, t types.Type) *shredder {
	repetition := format.Required
	if t.Nullable {
		repetition = format.Optional
	}
	n, e := b.add(parent, name, repetition)
	s := &shredder{t: t, n: n, zone: b.w.Zone, unit: b.w.Unit}
	from := len(b.columns)
	switch t.Kind {
	case types.Array:
		e.NumChildren = thrift.New(int32(1))
		e.ConvertedType, e.LogicalType.Value = thrift.New(deprecated.List), new(format.ListType)
		list, e := b.add(n, "list", format.Repeated)
		e.NumChildren = thrift.New(int32(1))
		s.repeated = uint8(list.repeated)
		s.children = []*shredder{b.field(list, "element", *t.Elem)}
	case types.Map, types.Multiset:
		key, value := t.Key, t.Elem
		if t.Kind == types.Multiset {
			count := types.Of(types.Int).NotNull()
			key, value = t.Elem, &count
		}
		e.NumChildren = thrift.New(int32(1))
		e.ConvertedType, e.LogicalType.Value = thrift.New(deprecated.Map), new(format.MapType)
		pair, e := b.add(n, "key_value", format.Repeated)
		e.NumChildren = thrift.New(int32(2))
		s.repeated = uint8(pair.repeated)
		s.children = []*shredder{b.field(pair, "key", key.NotNull()), b.field(pair, "value", *value)}
	case types.Row, types.Structured:
		e.NumChildren = thrift.New(int32(len(t.Fields)))
		for _, f := range t.Fields {
			s.children = append(s.children, b.field(n, f.Name, f.Type))
		}
	default:
		b.leaf(s, e)
	}
	s.leaves = b.columns[from:len(b.columns):len(b.columns)]
	return s
}

// leaf says how the values of a plain type are written.
func (b *treeWriter) leaf(s *shredder, e *format.SchemaElement) {
	n := s.n
	switch s.t.Kind {
	case types.Boolean:
		n.physical = format.Boolean
	case types.TinyInt:
		n.physical, e.ConvertedType, e.LogicalType.Value = format.Int32, thrift.New(deprecated.Int8), &format.IntType{BitWidth: 8, IsSigned: true}
	case types.SmallInt:
		n.physical, e.ConvertedType, e.LogicalType.Value = format.Int32, thrift.New(deprecated.Int16), &format.IntType{BitWidth: 16, IsSigned: true}
	case types.Int:
		n.physical = format.Int32
	case types.BigInt:
		n.physical = format.Int64
	case types.Float:
		n.physical = format.Float
	case types.Double:
		n.physical = format.Double
	case types.Char, types.VarChar:
		n.physical, e.ConvertedType, e.LogicalType.Value = format.ByteArray, thrift.New(deprecated.UTF8), new(format.StringType)
	case types.Binary, types.VarBinary:
		n.physical = format.ByteArray
	case types.Date:
		n.physical, e.ConvertedType, e.LogicalType.Value = format.Int32, thrift.New(deprecated.Date), new(format.DateType)
	case types.Time:
		n.physical, e.ConvertedType, e.LogicalType.Value = format.Int32, thrift.New(deprecated.TimeMillis), &format.TimeType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: new(format.MilliSeconds)}}
	case types.Decimal:
		b.decimal(s, e)
	case types.Timestamp, types.TimestampLTZ:
		b.timestamp(s, e)
	}
	e.Type = thrift.New(n.physical)
	b.columns = append(b.columns, newColumn(n, b.w))
}

func (b *treeWriter) decimal(s *shredder, e *format.SchemaElement) {
	n := s.n
	switch p := s.t.Precision; {
	case p <= 9:
		n.physical = format.Int32
	case p <= types.MaxShortPrecision:
		n.physical = format.Int64
	default:
		n.physical, n.length = format.FixedLenByteArray, bytesOf(p)
		e.TypeLength = thrift.New(int32(n.length))
	}
	n.logical = &format.DecimalType{Scale: int32(s.t.Scale), Precision: int32(s.t.Precision)}
	s.size = n.length
	e.ConvertedType, e.LogicalType.Value = thrift.New(deprecated.Decimal), n.logical
	e.Scale, e.Precision = thrift.New(int32(s.t.Scale)), thrift.New(int32(s.t.Precision))
}

// bytesOf is how many bytes hold all decimals of so many digits, more than 18.
func bytesOf(precision int) int {
	size, limit := 8, 18 // 2^63 has 19 digits
	for limit < precision {
		size++
		limit = (size*8 - 1) * 30103 / 100_000 // log10 of 2
	}
	return size
}

func (b *treeWriter) timestamp(s *shredder, e *format.SchemaElement) {
	if !b.w.Int64 {
		s.n.physical = format.Int96
		return
	}
	s.n.physical = format.Int64
	instant := s.t.Kind == types.TimestampLTZ
	t := &format.TimestampType{IsAdjustedToUTC: instant, Unit: format.TimeUnit{Value: new(format.MilliSeconds)}}
	converted := deprecated.TimestampMillis
	switch b.w.Unit {
	case Micros:
		t.Unit.Value, converted = new(format.MicroSeconds), deprecated.TimestampMicros
	case Nanos:
		t.Unit.Value = new(format.NanoSeconds)
	}
	e.LogicalType.Value = t
	if instant && b.w.Unit != Nanos { // the old name is that of an instant
		e.ConvertedType = thrift.New(converted)
	}
}

// errNull says that a value that must be there is not.
var errNull = errors.New("a value is NULL that must not be")

// rows writes rows of a column of the table.
func (s *shredder) rows(c *batch.Column, rows []int32) error {
	for _, i := range rows {
		if err := s.value(c, int(i), 0, 0); err != nil {
			return &columnError{s.n.path, err}
		}
	}
	return nil
}

// columnError says which column of the table cannot be written.
type columnError struct {
	column string
	err    error
}

func (e *columnError) Error() string { return "column " + e.column + ": " + e.err.Error() }
func (e *columnError) Unwrap() error { return e.err }

// value writes one value, the levels of what is around it given.
func (s *shredder) value(c *batch.Column, i int, repetition, definition uint8) error {
	if c.IsNull(i) {
		if s.n.repetition != format.Optional {
			return errNull
		}
		s.none(repetition, definition)
		return nil
	}
	if s.n.repetition == format.Optional {
		definition++
	}
	switch c.Layout {
	case batch.Structs:
		for k, child := range s.children {
			if err := child.value(c.Children[k], i, repetition, definition); err != nil {
				return err
			}
		}
		return nil
	case batch.Lists, batch.Maps:
		from, to := c.Span(i)
		if from == to {
			s.none(repetition, definition)
		}
		for j := from; j < to; j++ {
			for k, child := range s.children {
				if err := child.value(c.Children[k], j, repetition, definition+1); err != nil {
					return err
				}
			}
			repetition = s.repeated
		}
		return nil
	}
	s.leaves[0].level(repetition, definition)
	return s.plain(s.leaves[0], c, i)
}

// none notes in all leaves that there is no value.
func (s *shredder) none(repetition, definition uint8) {
	for _, l := range s.leaves {
		l.level(repetition, definition)
	}
}

// plain writes the value of a leaf.
func (s *shredder) plain(to *column, c *batch.Column, i int) error {
	switch c.Layout {
	case batch.Bools:
		to.bool(c.Bool[i])
	case batch.Int8s:
		to.int32(int32(c.I8[i]))
	case batch.Int16s:
		to.int32(int32(c.I16[i]))
	case batch.Int32s:
		to.int32(c.I32[i])
	case batch.Int64s:
		if s.n.physical == format.Int32 { // a decimal of few digits
			to.int32(int32(c.I64[i]))
		} else {
			to.int64(c.I64[i])
		}
	case batch.Float32s:
		to.float32(c.F32[i])
	case batch.Float64s:
		to.float64(c.F64[i])
	case batch.ByteSlices:
		to.text(c.Bytes(i))
	case batch.Int128s:
		binary.BigEndian.PutUint64(s.scratch[:], uint64(c.I128[i].Hi))
		binary.BigEndian.PutUint64(s.scratch[8:], c.I128[i].Lo)
		to.fixed(s.scratch[16-s.size:])
	case batch.Moments:
		return s.moment(to, c.I64[i], c.Nanos(i))
	default:
		return errNull
	}
	return nil
}

// errRange says that a timestamp is too far away for how it is written.
var errRange = errors.New("a timestamp is beyond those that the file's way to write them has; see 'parquet.timestamp.time.unit'")

// moment writes a timestamp.
func (s *shredder) moment(to *column, millis int64, nanos int32) error {
	if s.n.physical == format.Int64 {
		per := [...]int64{Millis: 1, Micros: 1000, Nanos: 1_000_000}[s.unit]
		v := millis * per
		if v/per != millis {
			return errRange
		}
		to.int64(v + int64(nanos)*per/1_000_000)
		return nil
	}
	if s.t.Kind == types.Timestamp && s.zone != nil {
		millis = s.zone.Instant(millis, false)
	}
	const day = 86_400_000
	days := millis / day
	rest := millis % day
	if rest < 0 {
		days, rest = days-1, rest+day
	}
	if days > 1<<31-1-julianEpoch || days < -julianEpoch {
		return errRange
	}
	binary.LittleEndian.PutUint64(s.scratch[:], uint64(rest*1_000_000+int64(nanos)))
	binary.LittleEndian.PutUint32(s.scratch[8:], uint32(days+julianEpoch))
	to.fixed(s.scratch[:12])
	return nil
}
