package expr

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/civil"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/types"
)

// number is a number as written, with the sign before it: INT or BIGINT, DECIMAL of the
// digits written, DOUBLE if there is an exponent.
func numberLiteral(n *ast.NumberLiteral, negative bool, at ast.Span) (*Literal, error) {
	text := strings.TrimSuffix(n.Text, ".")
	signed := text
	if negative {
		signed = "-" + text
	}
	outOfRange := func() error { return Refuse(at, "the number %s is out of range", signed) }
	var l *Literal
	switch point := strings.IndexByte(text, '.'); {
	case n.Approximate:
		v, err := strconv.ParseFloat(signed, 64)
		if err != nil && math.IsInf(v, 0) {
			return nil, outOfRange()
		}
		l = Constant(types.Of(types.Double), v)
	case point < 0:
		v, err := strconv.ParseInt(signed, 10, 64)
		if err != nil {
			return nil, outOfRange()
		}
		if v == int64(int32(v)) {
			l = Constant(types.Of(types.Int), int32(v))
		} else {
			l = Constant(types.Of(types.BigInt), v)
		}
	default:
		precision, scale := len(text)-1, len(text)-point-1
		v, err := strconv.ParseInt(strings.Replace(signed, ".", "", 1), 10, 64)
		if err != nil || precision > types.MaxPrecision {
			return nil, outOfRange()
		}
		t := types.DecimalOf(precision, scale)
		if isShort(t) {
			l = Constant(t, v)
		} else {
			l = Constant(t, decimal.FromInt64(v))
		}
	}
	l.At, l.Text = at, signed
	return l, nil
}

func binaryLiteral(n *ast.BinaryLiteral) (*Literal, error) {
	b, err := hex.DecodeString(n.Hex)
	if err != nil {
		return nil, Refuse(n.Range(), "X'%s' has an odd number of digits", n.Hex)
	}
	l := textOf(types.BinaryOf(len(b)).NotNull(), string(b))
	l.At = n.Range()
	return l, nil
}

func booleanLiteral(n *ast.BooleanLiteral) *Literal {
	if n.Value == ast.Unknown {
		return Null(types.Of(types.Boolean), n.Range())
	}
	l := Constant(types.Of(types.Boolean), n.Value == ast.True)
	l.At = n.Range()
	return l
}

// symbolLiteral is a keyword as an argument: a text of a type of its own.
func symbolLiteral(word string, at ast.Span) *Literal {
	l := textOf(types.Of(types.Symbol).NotNull(), word)
	l.At = at
	return l
}

// dateTimeLiteral is DATE 'yyyy-M-d', TIME 'H:m:s[.f]' or TIMESTAMP with both, of as many
// digits as the fraction has; of a TIMESTAMP the time may be missing. The years are 1 to
// 9999.
func dateTimeLiteral(n *ast.DateTimeLiteral) (*Literal, error) {
	text := n.Value.Value
	var l *Literal
	ok := false
	format := "yyyy-MM-dd"
	switch n.Kind {
	case "DATE":
		var days int
		days, ok = exactDate(text)
		l = Constant(types.Of(types.Date), int32(days))
	case "TIME":
		format = "HH:mm:ss"
		var nanos int64
		var digits int
		nanos, digits, ok = exactClock(text)
		l = Constant(Resolved(types.TimeOf(digits)), int32(nanos/1e6))
	default:
		format = "yyyy-MM-dd HH:mm:ss"
		date, clock, timed := strings.Cut(text, " ")
		days, isDate := exactDate(date)
		nanos, digits, isClock := exactClock(clock)
		ok = isDate && (isClock || !timed) // the date alone is its midnight
		t := types.TimestampOf(digits)
		c := batch.NewColumn(t)
		c.AppendMoment(int64(days)*civil.Day+nanos/1e6, int32(nanos%1e6))
		l = &Literal{T: t.NotNull(), Value: c}
	}
	if !ok {
		return nil, Refuse(n.Range(), "%s '%s' is no %s: the form is %s, and the years are 1 to 9999", n.Kind, text, strings.ToLower(n.Kind), format)
	}
	l.At = n.Range()
	return l, nil
}

// exactDate reads yyyy-M-d.
func exactDate(text string) (days int, ok bool) {
	parts := strings.Split(text, "-")
	if len(parts) != 3 {
		return 0, false
	}
	year, ok1 := digits(parts[0], 4)
	month, ok2 := digits(parts[1], 2)
	day, ok3 := digits(parts[2], 2)
	if !ok1 || !ok2 || !ok3 || year < 1 || !civil.Valid(year, month, day) {
		return 0, false
	}
	return civil.Days(year, month, day), true
}

// exactClock reads H:m:s[.f], of which nine digits count.
func exactClock(text string) (nanos int64, precision int, ok bool) {
	clock, fraction, _ := strings.Cut(text, ".")
	parts := strings.Split(clock, ":")
	if len(parts) != 3 {
		return 0, 0, false
	}
	hour, ok1 := digits(parts[0], 2)
	minute, ok2 := digits(parts[1], 2)
	second, ok3 := digits(parts[2], 2)
	if !ok1 || !ok2 || !ok3 || hour > 23 || minute > 59 || second > 59 {
		return 0, 0, false
	}
	nanos = (int64(hour)*3600 + int64(minute)*60 + int64(second)) * 1e9
	if fraction == "" {
		return nanos, 0, !strings.Contains(text, ".")
	}
	precision = min(len(fraction), 9)
	for _, c := range fraction {
		if c < '0' || c > '9' {
			return 0, 0, false
		}
	}
	f, _ := strconv.ParseInt(fraction[:precision]+strings.Repeat("0", 9-precision), 10, 64)
	return nanos + f, precision, true
}

// digits reads a number of one digit to most.
func digits(text string, most int) (int, bool) {
	if len(text) == 0 || len(text) > most {
		return 0, false
	}
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
