package jsondoc

import (
	"bytes"
	"strconv"

	"github.com/weirstream/weir/internal/sql/floattext"
)

// AppendDecimal appends a number of JSON as Java's BigDecimal writes it: with its digits,
// and with an exponent if it is far from them.
func AppendDecimal(dst, digits []byte) []byte {
	mantissa, exponent, ok := splitNumber(digits)
	if !ok {
		return append(dst, digits...)
	}
	negative := mantissa[0] == '-'
	if negative {
		mantissa = mantissa[1:]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	unscaled := append(append(make([]byte, 0, len(mantissa)), whole...), fraction...)
	for len(unscaled) > 1 && unscaled[0] == '0' {
		unscaled = unscaled[1:]
	}
	if negative && string(unscaled) != "0" {
		dst = append(dst, '-')
	}
	return appendScaled(dst, unscaled, int64(len(fraction))-exponent)
}

// appendScaled appends unscaled·10^-scale.
func appendScaled(dst, unscaled []byte, scale int64) []byte {
	adjusted := int64(len(unscaled)) - 1 - scale
	if scale == 0 {
		return append(dst, unscaled...)
	}
	if scale > 0 && adjusted >= -6 {
		if point := int64(len(unscaled)) - scale; point > 0 {
			dst = append(append(dst, unscaled[:point]...), '.')
			return append(dst, unscaled[point:]...)
		}
		dst = append(dst, "0."...)
		for n := scale - int64(len(unscaled)); n > 0; n-- {
			dst = append(dst, '0')
		}
		return append(dst, unscaled...)
	}
	dst = append(dst, unscaled[0])
	if len(unscaled) > 1 {
		dst = append(append(dst, '.'), unscaled[1:]...)
	}
	if adjusted != 0 {
		dst = append(dst, 'E')
		if adjusted > 0 {
			dst = append(dst, '+')
		}
		dst = strconv.AppendInt(dst, adjusted, 10)
	}
	return dst
}

// splitNumber cuts a number at its exponent.
func splitNumber(digits []byte) (mantissa []byte, exponent int64, ok bool) {
	i := bytes.IndexAny(digits, "eE")
	if i < 0 {
		return digits, 0, true
	}
	e, err := strconv.ParseInt(string(bytes.TrimPrefix(digits[i+1:], []byte("+"))), 10, 32)
	return digits[:i], e, err == nil
}

// appendVariantNumber appends a number as its value: one without exponent and of up to 38
// digits as a decimal without zeros at its end, any other as a DOUBLE.
func appendVariantNumber(dst, digits []byte) []byte {
	plain := !bytes.ContainsAny(digits, "eE")
	point := bytes.IndexByte(digits, '.')
	count := len(bytes.TrimLeft(bytes.ReplaceAll(digits, []byte("."), nil), "-0"))
	if !plain || count > 38 {
		v, _ := strconv.ParseFloat(string(digits), 64)
		return floattext.AppendDouble(dst, v)
	}
	if point >= 0 {
		digits = bytes.TrimSuffix(bytes.TrimRight(digits, "0"), []byte("."))
	}
	if string(digits) == "-0" {
		digits = digits[1:]
	}
	return append(dst, digits...)
}
