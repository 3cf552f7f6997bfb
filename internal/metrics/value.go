package metrics

import (
	"math"
	"strconv"
	"strings"

	"github.com/weirstream/weir/internal/status"
)

// A Value is what a metric is at one moment. Its text is the one Flink gives,
// which is Java's: a whole number without a fraction, another one always with.
type Value struct {
	kind   kind
	whole  int64
	number float64
	text   string
	spread *status.Distribution
}

type kind uint8

const (
	isWhole  kind = iota
	isNumber      // of double precision
	isSingle      // of single precision
	isTruth
	isText
	isSpread
)

// Whole is a whole number.
func Whole(n int64) Value { return Value{kind: isWhole, whole: n} }

// Number is a number of double precision; it may be NaN.
func Number(f float64) Value { return Value{kind: isNumber, number: f} }

// Single is a number that Flink keeps in single precision.
func Single(f float64) Value { return Value{kind: isSingle, number: f} }

// Truth is a yes or no.
func Truth(b bool) Value {
	if b {
		return Value{kind: isTruth, whole: 1}
	}
	return Value{kind: isTruth}
}

// Text is a value that is no number.
func Text(s string) Value { return Value{kind: isText, text: s} }

// Spread is a histogram.
func Spread(d *status.Distribution) Value { return Value{kind: isSpread, spread: d} }

// Float is the value as a number; ok is false where it is none. As in Flink, a
// truth is none: it is not added up over tasks.
func (v Value) Float() (f float64, ok bool) {
	switch v.kind {
	case isWhole:
		return float64(v.whole), true
	case isNumber:
		return v.number, true
	case isSingle:
		return float64(float32(v.number)), true
	}
	return 0, false
}

// String is the value as REST writes it; a histogram has none, see Metric.Flat.
func (v Value) String() string {
	switch v.kind {
	case isWhole:
		return strconv.FormatInt(v.whole, 10)
	case isNumber:
		return FormatDouble(v.number)
	case isSingle:
		return format(v.number, 32)
	case isTruth:
		return strconv.FormatBool(v.whole != 0)
	}
	return v.text
}

// Distribution is the value of a histogram; nil: the metric is none.
func (v Value) Distribution() *status.Distribution { return v.spread }

// Gauge is the value as a reporter that knows only numbers shows it: a truth is
// 0 or 1, a text is 0.
func (v Value) Gauge() float64 {
	if v.kind == isTruth {
		return float64(v.whole)
	}
	f, _ := v.Float()
	return f
}

// FormatDouble writes a number as Java does: 0.0, 470.7, 4.6724312E7, 1.0E-4, NaN.
func FormatDouble(f float64) string { return format(f, 64) }

func format(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	if size := math.Abs(f); size == 0 || size >= 1e-3 && size < 1e7 {
		return withFraction(strconv.FormatFloat(f, 'f', -1, bits))
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, bits), "e")
	sign := ""
	if exponent[0] == '-' {
		sign = "-"
	}
	return withFraction(mantissa) + "E" + sign + strings.TrimLeft(exponent[1:], "0")
}

func withFraction(digits string) string {
	if strings.Contains(digits, ".") {
		return digits
	}
	return digits + ".0"
}
