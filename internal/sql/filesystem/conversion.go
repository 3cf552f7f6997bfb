package filesystem

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/civil"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// conversion makes the column of one field of a scan of texts. It keeps the column for
// the next records.
type conversion struct {
	field  types.Field
	column *batch.Column
	// lenient says that what is no value of the type is NULL.
	lenient bool
	// fast reads usual forms of texts, and read all of them, as CAST does; nil: values are
	// copied, or the rest says how they are read.
	fast func(out *batch.Column, i int, text []byte) bool
	read func(out *batch.Column, i int, text []byte) bool
	// cast is the program for texts, which are gathered first; nil: there is none.
	cast   *expr.Program
	texts  *batch.Column
	base64 bool // texts are bytes in Base64
	// exact says that a fraction, which CAST to a whole number cuts off, is refused.
	exact bool
	// nested is for JSON values that are made of others; nil: they are not.
	nested *nestedBuilder
	one    *batch.Column
}

// conversion says how values of a column are read.
func (s *source) conversion(f types.Field) (*conversion, error) {
	t := f.Type.OrNull()
	c := &conversion{field: f, column: batch.NewColumn(t), lenient: s.format.lenient()}
	session := s.reading()
	switch {
	case s.nested(t):
		c.nested = &nestedBuilder{registry: s.registry, session: session, format: s.format.json, casts: map[string]*expr.Program{}}
		c.one = batch.NewColumn(t)
		return c, nil
	case plainText(t):
		return c, nil
	}
	// What cannot be cast at all is refused before anything is read.
	cast, err := castProgram(s.registry, session, t, c.lenient)
	if err != nil {
		return nil, err
	}
	if c.read = expr.TextReader(t, session); c.read != nil {
		c.fast = fastReader(t, session)
		if t.Kind.IsInteger() {
			c.exact = s.format.kind == "csv"
			if s.format.kind == "json" {
				c.read = withExponents(c.read)
			}
		}
		return c, nil
	}
	c.cast, c.texts, c.base64 = cast, batch.NewColumn(types.String()), s.format.kind == "json" && t.Kind.IsBinary()
	return c, nil
}

// single converts one text.
func (c *conversion) single(text []byte, isNull bool) (*batch.Column, error) {
	s := span{0, int32(len(text))}
	if isNull {
		s = null
	}
	var refused error
	c.convert(&values{text: text}, []span{s}, func(_ int, why error) { refused = why })
	return c.column, refused
}

// refusals is told of values that are none of their column's type.
type refusals func(row int, why error)

// convert makes the column. A value that is refused is NULL.
func (c *conversion) convert(v *values, spans []span, refused refusals) {
	switch {
	case c.nested != nil:
		c.convertNested(v, spans, refused)
	case c.cast != nil:
		c.convertCast(v, spans, refused)
	case c.read == nil:
		copyTexts(c.column, v, spans)
	default:
		c.convertFixed(v, spans, refused)
	}
}

// copyTexts makes a column of values as they are.
func copyTexts(to *batch.Column, v *values, spans []span) {
	to.Reset(len(spans))
	data := to.Data
	for i, s := range spans {
		if s.isNull() {
			to.SetNull(i)
		} else {
			data = append(data, v.bytes(s)...)
		}
		to.Offsets[i+1] = int32(len(data))
	}
	to.Data = data
}

// convertFixed reads values of fixed size.
func (c *conversion) convertFixed(v *values, spans []span, refused refusals) {
	out := c.column
	out.Reset(len(spans))
	holes := false
	for i, s := range spans {
		if s.isNull() {
			out.SetNull(i)
			holes = true
			continue
		}
		text := v.bytes(s)
		if c.fast != nil && c.fast(out, i, text) || c.read(out, i, text) && !(c.exact && fractional(text)) {
			continue
		}
		out.SetNull(i)
		holes = true
		if !c.lenient {
			refused(i, c.castError(text))
		}
	}
	if holes {
		out.ClearNulls()
	}
}

// withExponents reads whole numbers also as JSON may write them, such as 1e3.
func withExponents(read func(out *batch.Column, i int, text []byte) bool) func(out *batch.Column, i int, text []byte) bool {
	return func(out *batch.Column, i int, text []byte) bool {
		if read(out, i, text) {
			return true
		}
		v, err := strconv.ParseFloat(string(text), 64)
		if err != nil || v < -1<<63 || v >= 1<<63 || !bytes.ContainsAny(text, "eE") {
			return false
		}
		return read(out, i, strconv.AppendInt(nil, int64(v), 10))
	}
}

// fractional reports whether a number has a fraction that is not zero.
func fractional(text []byte) bool {
	_, behind, _ := bytes.Cut(text, []byte{'.'})
	return len(bytes.Trim(behind, "0 ")) > 0
}

// castError says that a text is no value of the type.
func (c *conversion) castError(text []byte) error {
	return &expr.CastError{Text: shown(text), Type: c.field.Type.OrNull()}
}

// convertCast gathers texts and casts them together.
func (c *conversion) convertCast(v *values, spans []span, refused refusals) {
	if c.base64 {
		c.decodeBase64(v, spans, refused)
	} else {
		copyTexts(c.texts, v, spans)
	}
	for {
		columns, err := c.cast.Eval(&batch.Columns{N: len(spans), Cols: []*batch.Column{c.texts}})
		if err == nil {
			c.column = columns[0]
			return
		}
		row := 0
		if failed, ok := errors.AsType[*expr.RowError](err); ok {
			row = failed.Row
		}
		refused(row, err)
		c.texts.SetNull(row) // and once more without it
	}
}

// decodeBase64 gathers what is written in Base64.
func (c *conversion) decodeBase64(v *values, spans []span, refused refusals) {
	c.texts.Reset(0)
	for i, s := range spans {
		if s.isNull() {
			c.texts.AppendNull()
			continue
		}
		decoded, err := base64.StdEncoding.AppendDecode(nil, v.bytes(s))
		if err == nil {
			c.texts.AppendBytes(decoded)
			continue
		}
		c.texts.AppendNull()
		if !c.lenient {
			refused(i, fmt.Errorf("it is no Base64: %w", err))
		}
	}
}

// convertNested reads values that are made of others. One that fails half-way leaves
// nothing of itself.
func (c *conversion) convertNested(v *values, spans []span, refused refusals) {
	c.column.Reset(0)
	for i, s := range spans {
		if s.isNull() {
			c.column.AppendNull()
			continue
		}
		c.one.Reset(0)
		if err := c.nested.append(c.one, c.field.Type.OrNull(), v.bytes(s)); err != nil {
			refused(i, err)
			c.column.AppendNull()
			continue
		}
		c.column.AppendFrom(c.one, 0)
	}
}

// fastReader reads the forms that values of a type mostly have; it reports false for
// others, which may be values too. nil: there is none.
func fastReader(t types.Type, session *expr.Session) func(out *batch.Column, i int, text []byte) bool {
	switch t.Kind {
	case types.TinyInt:
		return fastInteger(func(out *batch.Column) []int8 { return out.I8 })
	case types.SmallInt:
		return fastInteger(func(out *batch.Column) []int16 { return out.I16 })
	case types.Int:
		return fastInt
	case types.BigInt:
		return fastBigInt
	case types.Decimal:
		return fastDecimal(t.Precision, t.Scale)
	case types.Double:
		return fastDouble
	case types.Date:
		return fastDate
	case types.Timestamp:
		return fastTimestamp(t.Precision)
	case types.TimestampLTZ:
		if session.Zone == time.UTC {
			return fastTimestamp(t.Precision)
		}
	}
	return nil
}

// wholeNumber reads up to 18 digits with a minus sign.
func wholeNumber(text []byte) (v int64, ok bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	if len(text) == 0 || len(text) > 18 {
		return 0, false
	}
	for _, c := range text {
		if c -= '0'; c > 9 {
			return 0, false
		}
		v = v*10 + int64(c)
	}
	if negative {
		v = -v
	}
	return v, true
}

func fastBigInt(out *batch.Column, i int, text []byte) bool {
	v, ok := wholeNumber(text)
	out.I64[i] = v
	return ok
}

func fastInt(out *batch.Column, i int, text []byte) bool {
	v, ok := wholeNumber(text)
	out.I32[i] = int32(v)
	return ok && int64(int32(v)) == v
}

func fastInteger[T int8 | int16](of func(*batch.Column) []T) func(out *batch.Column, i int, text []byte) bool {
	return func(out *batch.Column, i int, text []byte) bool {
		v, ok := wholeNumber(text)
		of(out)[i] = T(v)
		return ok && int64(T(v)) == v
	}
}

// point is a decimal point as a digit.
const point = '.' - '0' + 1<<8

// number reads a minus sign and digits with a point among them, 18 at most and one before
// it at least.
func number(text []byte) (v int64, whole, behind int, ok bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	if len(text) == 0 || len(text) > 19 {
		return 0, 0, 0, false
	}
	whole = len(text)
	for i, c := range text {
		if c -= '0'; c > 9 {
			if c != point || whole < len(text) {
				return 0, 0, 0, false
			}
			whole = i
			continue
		}
		v = v*10 + int64(c)
	}
	if whole < len(text) {
		behind = len(text) - whole - 1
	}
	if negative {
		v = -v
	}
	return v, whole, behind, whole > 0 && whole+behind <= 18
}

func fastDecimal(precision, scale int) func(out *batch.Column, i int, text []byte) bool {
	return func(out *batch.Column, i int, text []byte) bool {
		v, whole, behind, ok := number(text)
		if !ok || whole > precision-scale || behind > scale || whole+scale > 18 {
			return false
		}
		v *= decimal.Power64(scale - behind)
		if out.Layout == batch.Int64s {
			out.I64[i] = v
		} else {
			out.I128[i] = batch.Int128{Hi: v >> 63, Lo: uint64(v)}
		}
		return true
	}
}

// fastDouble divides two numbers that are exact, which rounds once.
func fastDouble(out *batch.Column, i int, text []byte) bool {
	v, _, behind, ok := number(text)
	if !ok || v < -1<<53 || v > 1<<53 || v == 0 && text[0] == '-' { // which has a sign
		return false
	}
	out.F64[i] = float64(v) / powers[behind]
	return true
}

var powers = func() (p [19]float64) {
	for i := range p {
		p[i] = math.Pow10(i)
	}
	return p
}()

// twoDigits is the number that two digits are; 100 or more: they are none.
func twoDigits(text []byte, i int) int {
	a, b := text[i]-'0', text[i+1]-'0'
	if a > 9 || b > 9 {
		return 100
	}
	return int(a)*10 + int(b)
}

// date reads yyyy-mm-dd at the beginning of a text.
func date(text []byte) (days int, ok bool) {
	w := binary.LittleEndian.Uint64(text)
	if byte(w>>32) != '-' || byte(w>>56) != '-' {
		return 0, false
	}
	century, year, month, day := twoDigits(text, 0), twoDigits(text, 2), twoDigits(text, 5), twoDigits(text, 8)
	if century > 99 || year > 99 || century+year == 0 || month > 12 || month == 0 || day == 0 || day > civil.DaysIn(century*100+year, month) {
		return 0, false
	}
	return civil.Days(century*100+year, month, day), true
}

func fastDate(out *batch.Column, i int, text []byte) bool {
	if len(text) != 10 {
		return false
	}
	days, ok := date(text)
	out.I32[i] = int32(days)
	return ok
}

// fastTimestamp reads yyyy-mm-dd hh:mm:ss with digits behind the second, no more than the
// precision.
func fastTimestamp(precision int) func(out *batch.Column, i int, text []byte) bool {
	return func(out *batch.Column, i int, text []byte) bool {
		if len(text) < 19 || text[10] != ' ' || text[13] != ':' || text[16] != ':' {
			return false
		}
		days, ok := date(text)
		hour, minute, second := twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)
		if !ok || hour > 23 || minute > 59 || second > 59 {
			return false
		}
		nanos := 0
		if len(text) > 19 {
			if text[19] != '.' || len(text)-20 > precision {
				return false
			}
			unit := 1_000_000_000
			for _, c := range text[20:] {
				if c -= '0'; c > 9 {
					return false
				}
				unit /= 10
				nanos += int(c) * unit
			}
		}
		out.I64[i] = int64(days)*civil.Day + int64(hour*civil.Hour+minute*civil.Minute+second*civil.Second+nanos/1e6)
		if out.I32 != nil {
			out.I32[i] = int32(nanos % 1e6)
		} else if precision > 3 {
			return false
		}
		return true
	}
}
