package expr

import (
	"bytes"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/civil"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/internal/sql/floattext"
	"github.com/weirstream/weir/types"
)

// toText writes values as texts, cut to the length and, for CHAR, filled up with
// blanks.
func toText(from, to types.Type, s *Session) convert {
	return func(out, in *batch.Column, rows Rows, _ failure) error {
		w := NewBytes(out)
		defer w.Close()
		return rows.Each(func(i int) error {
			w.Row(i)
			start := len(w.Data)
			switch {
			case from.Kind.IsText():
				w.Data = append(w.Data, in.Bytes(i)...)
			case s.LegacyCast && from.Kind == types.Boolean:
				w.Data = fmt.Appendf(w.Data, "%t", in.Bool[i])
			default:
				w.Data = appendText(w.Data, s.Zone, from, in, i)
			}
			if !s.LegacyCast {
				w.Data = fitText(w.Data, start, to)
			}
			return nil
		})
	}
}

// fitText cuts or fills what was appended, by characters.
func fitText(data []byte, start int, to types.Type) []byte {
	if to.Kind == types.VarChar && len(data)-start <= to.Length {
		return data
	}
	n := 0
	for at := start; at < len(data); n++ {
		if n == to.Length {
			return data[:at]
		}
		_, size := utf8.DecodeRune(data[at:])
		at += size
	}
	if to.Kind == types.Char {
		for ; n < to.Length; n++ {
			data = append(data, ' ')
		}
	}
	return data
}

// reader reads the text of value i into out, and reports whether it could.
type reader func(out *batch.Column, i int, text []byte) bool

func fromText(from, to types.Type, s *Session) (convert, error) {
	if to.Kind.IsBinary() {
		return binaryTo(to), nil
	}
	read := readerOf(to, s)
	if read == nil {
		return nil, fmt.Errorf("there is no cast from %s to %s", from.Text(), to.Text())
	}
	return func(out, in *batch.Column, rows Rows, fail failure) error {
		return rows.Each(func(i int) error {
			if text := in.Bytes(i); !read(out, i, text) {
				return fail(i, &CastError{Text: shown(text), Type: to})
			}
			return nil
		})
	}, nil
}

// CastError is a text that has no value of a type.
type CastError struct {
	// Text is the text, cut to 200 bytes.
	Text string
	Type types.Type
}

// Error says which text is no value of which type.
func (e *CastError) Error() string {
	return fmt.Sprintf("cannot cast '%s' to %s", e.Text, e.Type.Text())
}

// shown is a text cut to 200 bytes.
func shown(text []byte) string {
	if len(text) <= 200 {
		return string(text)
	}
	end := 200
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return string(text[:end]) + "…"
}

func readerOf(to types.Type, s *Session) reader {
	switch to.Kind {
	case types.Boolean:
		return readBoolean
	case types.TinyInt:
		return readInteger[int8](math.MinInt8, math.MaxInt8)
	case types.SmallInt:
		return readInteger[int16](math.MinInt16, math.MaxInt16)
	case types.Int:
		return readInteger[int32](math.MinInt32, math.MaxInt32)
	case types.BigInt:
		return readInteger[int64](math.MinInt64, math.MaxInt64)
	case types.Float:
		return func(out *batch.Column, i int, text []byte) bool {
			v, ok := floattext.Parse(text, 32)
			out.F32[i] = float32(v)
			return ok
		}
	case types.Double:
		return func(out *batch.Column, i int, text []byte) (ok bool) {
			out.F64[i], ok = floattext.Parse(text, 64)
			return ok
		}
	case types.Decimal:
		return func(out *batch.Column, i int, text []byte) bool {
			v, ok := readDecimal(text, to)
			setUnscaled(out, i, v)
			return ok
		}
	case types.Date:
		return func(out *batch.Column, i int, text []byte) bool {
			days, ok := civil.ParseDate(text)
			out.I32[i] = int32(days)
			return ok
		}
	case types.Time:
		return func(out *batch.Column, i int, text []byte) bool {
			millis, ok := civil.ParseTime(text)
			local, _ := cut(int64(millis), 0, to.Precision)
			out.I32[i] = int32(local)
			return ok
		}
	case types.Timestamp, types.TimestampLTZ:
		return func(out *batch.Column, i int, text []byte) bool {
			millis, nanos, ok := civil.ParseTimestamp(text)
			if unit := decimal.Power64(max(3-to.Precision, 0)); unit > 1 {
				// Digits of a text are dropped, in what is before 1970 too.
				millis -= civil.FloorMod(millis, unit)
			}
			setDatetime(out, i, millis, nanos, to, s, false)
			return ok
		}
	}
	return nil
}

// readBoolean reads the words for TRUE and FALSE, in any case.
func readBoolean(out *batch.Column, i int, text []byte) bool {
	for _, word := range []string{"t", "true", "y", "yes", "1"} {
		if bytes.EqualFold(text, []byte(word)) {
			out.Bool[i] = true
			return true
		}
	}
	out.Bool[i] = false
	for _, word := range []string{"f", "false", "n", "no", "0"} {
		if bytes.EqualFold(text, []byte(word)) {
			return true
		}
	}
	return false
}

// readInteger reads a sign and digits, with blanks around. What stands behind a point
// must be digits, and does not count.
func readInteger[T integer](least, most int64) reader {
	return func(out *batch.Column, i int, text []byte) bool {
		v, ok := ParseInteger(text)
		if ok = ok && least <= v && v <= most; ok {
			batch.Values[T](out)[i] = T(v)
		} else {
			batch.Values[T](out)[i] = 0
		}
		return ok
	}
}

// ParseInteger reads a whole number as CAST to BIGINT does.
func ParseInteger(text []byte) (v int64, ok bool) {
	text = bytes.Trim(text, " ")
	negative := false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		text = text[1:]
	}
	if len(text) == 0 {
		return 0, false
	}
	digits, fraction, _ := bytes.Cut(text, []byte{'.'})
	// The negative is built up, because there is one more of them.
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		if v < math.MinInt64/10 || v == math.MinInt64/10 && c > '8' {
			return 0, false
		}
		v = v*10 - int64(c-'0')
	}
	for _, c := range fraction {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	if negative {
		return v, true
	}
	return -v, v != math.MinInt64
}

// readDecimal reads a number with blanks around, and a letter d or f behind it. More
// digits before the point than the type has are too many, if they are zeros as well.
func readDecimal(text []byte, to types.Type) (decimal.Int128, bool) {
	text = bytes.Trim(text, " ")
	if n := len(text); n > 1 && (text[n-1]|0x20 == 'd' || text[n-1]|0x20 == 'f') {
		text = text[:n-1]
	}
	digits := bytes.TrimLeft(text, "+-")
	if n := len(digits) - len(bytes.TrimLeft(digits, "0123456789")); n > to.Precision && to.Precision < types.MaxPrecision {
		return decimal.Int128{}, false
	}
	v, outcome := decimal.Parse(text, to.Precision, to.Scale)
	return v, outcome == decimal.Good
}
