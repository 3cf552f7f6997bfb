package batch

import "github.com/weirstream/weir/types"

// LayoutOf is how values of a type lie in memory.
func LayoutOf(t types.Type) Layout {
	switch t.Kind {
	case types.Boolean:
		return Bools
	case types.TinyInt:
		return Int8s
	case types.SmallInt:
		return Int16s
	case types.Int, types.Date, types.Time, types.IntervalYearMonth:
		return Int32s
	case types.BigInt, types.IntervalDayTime:
		return Int64s
	case types.Decimal:
		if t.Precision > types.MaxShortPrecision {
			return Int128s
		}
		return Int64s
	case types.Float:
		return Float32s
	case types.Double:
		return Float64s
	case types.Timestamp, types.TimestampLTZ:
		return Moments
	case types.Array:
		return Lists
	case types.Map, types.Multiset:
		return Maps
	case types.Row, types.Structured:
		return Structs
	case types.Null, types.Descriptor:
		return Nothing
	}
	return ByteSlices
}

// NewColumn makes an empty column for values of a type, with its children.
// Timestamps of more than three digits have room for nanoseconds.
func NewColumn(t types.Type) *Column {
	c := &Column{Layout: LayoutOf(t)}
	switch c.Layout {
	case ByteSlices:
		c.Offsets = []int32{0}
	case Lists:
		c.Offsets, c.Children = []int32{0}, []*Column{NewColumn(*t.Elem)}
	case Maps:
		key, value := t.Key, t.Elem
		if t.Kind == types.Multiset {
			count := types.Of(types.Int)
			key, value = t.Elem, &count
		}
		c.Offsets, c.Children = []int32{0}, []*Column{NewColumn(*key), NewColumn(*value)}
	case Structs:
		for _, f := range t.Fields {
			c.Children = append(c.Children, NewColumn(f.Type))
		}
	case Moments:
		if t.Precision > 3 {
			c.I32 = []int32{}
		}
	}
	return c
}
