package datagen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/sql/civil"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// row is one that is being made.
type row struct {
	n      int64
	random *rand.Rand
	now    time.Time
}

// field makes the values of a column.
type field struct {
	t     types.Type
	nulls float64 // how many of the values are NULL, of 1
	value func(c *batch.Column, r *row)
}

func (f *field) append(c *batch.Column, r *row) {
	if f.nulls > 0 && r.random.Float64() < f.nulls {
		c.AppendNull()
		return
	}
	f.value(c, r)
}

// field reads how a field is made; key is what its options begin with.
func (o *options) field(key string, t types.Type) (f field, err error) {
	f.t = t
	switch kind, _ := o.text(key + ".kind"); kind {
	case "sequence":
		f.value, err = o.sequence(key, t)
		return f, err
	case "", "random":
	default:
		return f, fmt.Errorf("option '%s.kind' is '%s'; there are random and sequence", key, kind)
	}
	if f.nulls, err = o.fraction(key+".null-rate", 0, 1, 0); err != nil {
		return f, err
	}
	if f.nulls > 0 && !t.Nullable {
		return f, fmt.Errorf("option '%s.null-rate' is above 0, and the column is NOT NULL", key)
	}
	f.value, err = o.random(key, t)
	return f, err
}

// sequence counts from start to end.
func (o *options) sequence(key string, t types.Type) (func(*batch.Column, *row), error) {
	least, most, ok := wholes(t)
	if !ok && t.Kind != types.Float && t.Kind != types.Double && t.Kind != types.Decimal && !t.Kind.IsText() {
		return nil, fmt.Errorf("option '%s.kind' is 'sequence', and there are no sequences of %s", key, t.Text())
	}
	for _, bound := range []string{".start", ".end"} {
		if _, ok := o.text(key + bound); !ok {
			return nil, fmt.Errorf("missing required option '%s%s': %w", key, bound, errNoBounds)
		}
	}
	start, err := o.number(key+".start", least, most, 0)
	if err != nil {
		return nil, err
	}
	end, err := o.number(key+".end", start, most, 0)
	if err != nil {
		return nil, err
	}
	if rows := uint64(end) - uint64(start); rows < math.MaxInt64 {
		o.end = min(o.end, int64(rows)+1)
	}
	if t.Kind == types.Decimal {
		if _, fits := decimal.Parse(strconv.AppendInt(nil, end, 10), t.Precision, t.Scale); fits != decimal.Good {
			return nil, fmt.Errorf("option '%s.end' is '%d', which is no %s", key, end, t.Text())
		}
	}
	var text []byte
	return func(c *batch.Column, r *row) {
		n := start + r.n
		switch {
		case t.Kind.IsText():
			c.AppendBytes(strconv.AppendInt(nil, n, 10))
		case t.Kind == types.Decimal:
			text = strconv.AppendInt(text[:0], n, 10)
			v, _ := decimal.Parse(text, t.Precision, t.Scale)
			appendDecimal(c, v)
		case t.Kind == types.Float:
			batch.Append(c, float32(n))
		case t.Kind == types.Double:
			batch.Append(c, float64(n))
		default:
			appendWhole(c, n)
		}
	}, nil
}

func appendDecimal(c *batch.Column, v decimal.Int128) {
	if c.Layout == batch.Int64s {
		batch.Append(c, decimal.Low(v))
	} else {
		batch.Append(c, v)
	}
}

// appendWhole adds a number that is known to fit.
func appendWhole(c *batch.Column, n int64) {
	switch c.Layout {
	case batch.Int8s:
		batch.Append(c, int8(n))
	case batch.Int16s:
		batch.Append(c, int16(n))
	case batch.Int32s:
		batch.Append(c, int32(n))
	default:
		batch.Append(c, n)
	}
}

// wholes are the bounds of a type of whole numbers.
func wholes(t types.Type) (least, most int64, ok bool) {
	switch t.Kind {
	case types.TinyInt:
		return math.MinInt8, math.MaxInt8, true
	case types.SmallInt:
		return math.MinInt16, math.MaxInt16, true
	case types.Int, types.IntervalYearMonth:
		return math.MinInt32, math.MaxInt32, true
	case types.BigInt, types.IntervalDayTime:
		return math.MinInt64, math.MaxInt64, true
	}
	return math.MinInt64, math.MaxInt64, false
}

// between is a number from least to most.
func between(r *rand.Rand, least, most int64) int64 {
	span := uint64(most) - uint64(least)
	if span == math.MaxUint64 {
		return int64(r.Uint64())
	}
	return int64(uint64(least) + r.Uint64N(span+1))
}

// random makes values that have nothing to do with each other.
func (o *options) random(key string, t types.Type) (func(*batch.Column, *row), error) {
	if least, most, ok := wholes(t); ok {
		return o.whole(key, least, most)
	}
	switch t.Kind {
	case types.Boolean:
		return func(c *batch.Column, r *row) { batch.Append(c, r.random.Uint64()&1 != 0) }, nil
	case types.Float, types.Double:
		return o.floating(key, t)
	case types.Decimal:
		return o.decimal(key, t)
	case types.Char, types.VarChar, types.Binary, types.VarBinary:
		return o.bytes(key, t)
	case types.Date:
		return func(c *batch.Column, r *row) {
			local := civil.ToLocal(o.zone, r.now.UnixMilli())
			batch.Append(c, int32(civil.FloorDiv(local, int64(civil.Day))))
		}, nil
	case types.Time:
		return func(c *batch.Column, r *row) {
			local := civil.ToLocal(o.zone, r.now.UnixMilli())
			batch.Append(c, int32(civil.FloorMod(local, int64(civil.Day))))
		}, nil
	case types.Timestamp, types.TimestampLTZ:
		return o.moment(key, t)
	case types.Row, types.Structured:
		return o.row(key, t)
	case types.Array, types.Map, types.Multiset:
		return o.collection(key, t)
	}
	return nil, fmt.Errorf("column %s: values of type %s cannot be made up", key[len("fields."):], t.Text())
}

func (o *options) whole(key string, least, most int64) (func(*batch.Column, *row), error) {
	from, err := o.number(key+".min", least, most, least)
	if err != nil {
		return nil, err
	}
	to, err := o.number(key+".max", from, most, most)
	if err != nil {
		return nil, err
	}
	return func(c *batch.Column, r *row) { appendWhole(c, between(r.random, from, to)) }, nil
}

func (o *options) floating(key string, t types.Type) (func(*batch.Column, *row), error) {
	most := math.MaxFloat64
	if t.Kind == types.Float {
		most = math.MaxFloat32
	}
	from, err := o.fraction(key+".min", -most, most, 0)
	if err != nil {
		return nil, err
	}
	to, err := o.fraction(key+".max", from, most, most)
	if err != nil {
		return nil, err
	}
	return func(c *batch.Column, r *row) {
		share := r.random.Float64()
		v := from*(1-share) + to*share
		if t.Kind == types.Float {
			batch.Append(c, float32(v))
		} else {
			batch.Append(c, v)
		}
	}, nil
}

// decimal makes numbers with all digits of the scale.
func (o *options) decimal(key string, t types.Type) (func(*batch.Column, *row), error) {
	most := math.Pow10(t.Precision - t.Scale)
	from, err := o.fraction(key+".min", -most, most, 0)
	if err != nil {
		return nil, err
	}
	to, err := o.fraction(key+".max", from, most, most)
	if err != nil {
		return nil, err
	}
	var text []byte
	return func(c *batch.Column, r *row) {
		share := r.random.Float64()
		text = strconv.AppendFloat(text[:0], from*(1-share)+to*share, 'f', t.Scale, 64)
		v, fits := decimal.Parse(text, t.Precision, t.Scale)
		if fits != decimal.Good { // rounded up to what has one digit too many
			v, _ = decimal.Parse(strconv.AppendFloat(text[:0], math.Trunc(from), 'f', 0, 64), t.Precision, t.Scale)
		}
		appendDecimal(c, v)
	}, nil
}

// defaultLength is how long texts are, and defaultElements how many elements collections
// have.
const (
	defaultLength   = 100
	defaultElements = 3
)

// bytes makes texts of hexadecimal digits, or bytes.
func (o *options) bytes(key string, t types.Type) (func(*batch.Column, *row), error) {
	fixed := t.Kind == types.Char || t.Kind == types.Binary
	otherwise := int64(min(defaultLength, t.Length))
	if fixed {
		otherwise = int64(t.Length)
	}
	length, err := o.number(key+".length", 1, int64(t.Length), otherwise)
	if err != nil {
		return nil, err
	}
	if fixed && length != int64(t.Length) {
		return nil, fmt.Errorf("option '%s.length' is %d, and values of %s have one length", key, length, t.Text())
	}
	varies, err := o.truth(key + ".var-len")
	if err != nil {
		return nil, err
	}
	if varies && fixed {
		return nil, fmt.Errorf("option '%s.var-len' is true, and values of %s have one length", key, t.Text())
	}
	value := make([]byte, 0, min(length, 1<<10))
	return func(c *batch.Column, r *row) {
		n := length
		if varies {
			n = between(r.random, 1, length)
		}
		value = value[:0]
		for bits := uint64(0); int64(len(value)) < n; bits >>= 8 {
			if len(value)%8 == 0 {
				bits = r.random.Uint64()
			}
			if t.Kind.IsText() {
				value = append(value, "0123456789abcdef"[bits&15])
			} else {
				value = append(value, byte(bits))
			}
		}
		c.AppendBytes(value)
	}, nil
}

func (o *options) truth(key string) (bool, error) {
	text, ok := o.text(key)
	if !ok {
		return false, nil
	}
	v, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("option '%s' is '%s', neither true nor false", key, text)
	}
	return v, nil
}

// moment makes timestamps of now, or of up to max-past before.
func (o *options) moment(key string, t types.Type) (func(*batch.Column, *row), error) {
	past := time.Duration(0)
	if text, ok := o.text(key + ".max-past"); ok {
		var err error
		if past, err = config.ParseDuration(text); err != nil {
			return nil, fmt.Errorf("option '%s.max-past': %w", key, err)
		}
	}
	return func(c *batch.Column, r *row) {
		millis := r.now.UnixMilli() - between(r.random, 0, past.Milliseconds())
		if t.Kind == types.Timestamp {
			millis = civil.ToLocal(o.zone, millis)
		}
		if t.Precision < 3 {
			unit := int64(math.Pow10(3 - t.Precision))
			millis = civil.FloorDiv(millis, unit) * unit
		}
		c.AppendMoment(millis, 0)
	}, nil
}

func (o *options) row(key string, t types.Type) (func(*batch.Column, *row), error) {
	var all []field
	for _, f := range t.Fields {
		one, err := o.field(key+"."+f.Name, f.Type)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return func(c *batch.Column, r *row) {
		for i := range all {
			all[i].append(c.Children[i], r)
		}
		c.EndRow()
	}, nil
}

// collection makes values of so many elements; keys that are equal count once.
func (o *options) collection(key string, t types.Type) (func(*batch.Column, *row), error) {
	length, err := o.number(key+".length", 0, math.MaxInt32, defaultElements)
	if err != nil {
		return nil, err
	}
	if t.Kind == types.Array {
		element, err := o.field(key+".element", *t.Elem)
		return func(c *batch.Column, r *row) {
			for range length {
				element.append(c.Children[0], r)
			}
			c.EndCollection()
		}, err
	}
	count := field{t: types.Of(types.Int), value: func(c *batch.Column, r *row) { batch.Append(c, int32(between(r.random, 1, defaultElements))) }}
	keyName, keyType, values := ".element", *t.Elem, count
	if t.Kind == types.Map {
		keyName, keyType = ".key", *t.Key
		if values, err = o.field(key+".value", *t.Elem); err != nil {
			return nil, err
		}
	}
	keys, err := o.field(key+keyName, keyType)
	candidate, seen := batch.NewColumn(keyType), map[string]bool{}
	return func(c *batch.Column, r *row) {
		clear(seen)
		for range length {
			candidate.Reset(0)
			keys.append(candidate, r)
			text := expr.Display(keyType, candidate, 0)
			if seen[text] {
				continue
			}
			seen[text] = true
			c.Children[0].AppendFrom(candidate, 0)
			values.append(c.Children[1], r)
		}
		c.EndCollection()
	}, err
}
