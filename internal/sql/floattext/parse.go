package floattext

import (
	"bytes"
	"strconv"
)

// Parse reads a number as Java does: blanks around it, a sign, digits with a point and
// an exponent, a hexadecimal form with its binary exponent, NaN and Infinity, and one of
// the letters d, D, f, F after it. Numbers too great are infinite.
func Parse(text []byte, size int) (float64, bool) {
	text = bytes.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	body := bytes.TrimLeft(text, "+-")
	if len(text)-len(body) > 1 || len(body) == 0 {
		return 0, false
	}
	switch string(body) {
	case "NaN", "Infinity":
		v, err := strconv.ParseFloat(string(text), size)
		if string(body) == "NaN" {
			v, err = strconv.ParseFloat("NaN", size)
		}
		return v, err == nil
	}
	hexadecimal := len(body) > 2 && body[0] == '0' && (body[1] == 'x' || body[1] == 'X')
	if c := body[0]; (c < '0' || c > '9') && c != '.' {
		return 0, false
	}
	if hexadecimal && !bytes.ContainsAny(body, "pP") {
		return 0, false
	}
	if last := text[len(text)-1]; last|0x20 == 'd' || last|0x20 == 'f' {
		text = text[:len(text)-1]
	}
	if bytes.IndexByte(text, '_') >= 0 {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(text), size)
	if err != nil {
		number, ok := err.(*strconv.NumError)
		return v, ok && number.Err == strconv.ErrRange
	}
	return v, true
}
