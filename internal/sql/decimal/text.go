package decimal

import "strconv"

// Append writes a value with all digits of its scale.
func Append(dst []byte, v Int128, scale int) []byte {
	var digits [40]byte
	m, negative := magnitude(v)
	w := widen(m)
	i := len(digits)
	for !w.isZero() {
		rest := w.divide([2]uint64{powers64[maxPower]})[0]
		for n := 0; n < maxPower && (rest != 0 || !w.isZero()); n++ {
			i--
			digits[i] = byte('0' + rest%10)
			rest /= 10
		}
	}
	if negative {
		dst = append(dst, '-')
	}
	whole := len(digits) - i - scale
	if whole <= 0 {
		dst = append(dst, '0')
	} else {
		dst = append(dst, digits[i:i+whole]...)
		i += whole
	}
	if scale == 0 {
		return dst
	}
	dst = append(dst, '.')
	for ; whole < 0; whole++ {
		dst = append(dst, '0')
	}
	return append(dst, digits[i:]...)
}

// ToFloat64 is the nearest number.
func ToFloat64(v Int128, scale int) float64 {
	if n, ok := ToInt64(v); ok && -1<<53 <= n && n <= 1<<53 && scale <= 22 {
		return float64(n) / exact[scale]
	}
	var buffer [64]byte
	b := Append(buffer[:0], v, 0)
	b = append(b, 'e', '-')
	b = strconv.AppendInt(b, int64(scale), 10)
	f, _ := strconv.ParseFloat(string(b), 64)
	return f
}

// exact are the powers of ten that a float64 holds exactly.
var exact = func() (p [23]float64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

// Parsed is what became of a text.
type Parsed uint8

// The outcomes of Parse.
const (
	Good Parsed = iota
	// Malformed is a text that is no number.
	Malformed
	// Overflow is a number with more digits than the precision.
	Overflow
)

// Parse reads [sign] digits [. digits] [e exponent], rounding HALF_UP to the scale.
func Parse(text []byte, precision, scale int) (Int128, Parsed) {
	if v, outcome, handled := parseShort(text, precision, scale); handled {
		return v, outcome
	}
	p := parser{text: text}
	switch {
	case !p.number():
		return Int128{}, Malformed
	case p.w.isZero():
		return Int128{}, Good
	case p.exponent > 1<<20 || len(text) > 1<<20:
		return Int128{}, Overflow
	}
	v, ok := p.w.rescaled(p.negative, p.scale-p.exponent, precision, scale)
	if !ok {
		return v, Overflow
	}
	return v, Good
}

// parseShort is Parse for up to 18 digits without an exponent, which nearly all texts are.
func parseShort(text []byte, precision, scale int) (v Int128, outcome Parsed, handled bool) {
	negative := len(text) > 0 && text[0] == '-'
	digits := text
	if negative || len(text) > 0 && text[0] == '+' {
		digits = text[1:]
	}
	if len(digits) == 0 || len(digits) > shortDigits {
		return v, Malformed, false
	}
	n, point := uint64(0), -1
	for i, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			n = n*10 + uint64(c-'0')
		case c == '.' && point < 0 && len(digits) > 1:
			point = i
		default:
			return v, Malformed, false
		}
	}
	behind := 0
	if point >= 0 {
		behind = len(digits) - point - 1
	}
	v, ok, handled := settled([2]uint64{n}, negative, behind, precision, scale)
	if !ok {
		return v, Overflow, handled
	}
	return v, Good, handled
}

// shortDigits is how many digits 64 bits hold at least.
const shortDigits = 18

// parser collects the significant digits of a number.
type parser struct {
	text     []byte
	at       int
	negative bool
	w        wide
	// count is how many digits w took, without leading zeros; scale is how many of the
	// digits read stand behind the point, less those that did not fit into w.
	count, scale int
	exponent     int
}

// kept is how many digits are kept exactly: 38 before the point and 38 after it, and
// one to round by.
const kept = 96

func (p *parser) number() bool {
	p.sign(&p.negative)
	whole := p.digits(false)
	fraction := 0
	if p.at < len(p.text) && p.text[p.at] == '.' {
		p.at++
		fraction = p.digits(true)
	}
	if whole+fraction == 0 {
		return false
	}
	if p.at < len(p.text) && (p.text[p.at] == 'e' || p.text[p.at] == 'E') {
		p.at++
		if !p.power() {
			return false
		}
	}
	return p.at == len(p.text)
}

func (p *parser) sign(negative *bool) {
	if p.at < len(p.text) && (p.text[p.at] == '-' || p.text[p.at] == '+') {
		*negative = p.text[p.at] == '-'
		p.at++
	}
}

func (p *parser) digits(fraction bool) (n int) {
	for ; p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9'; p.at++ {
		n++
		if p.count == kept {
			if !fraction {
				p.scale--
			}
			continue
		}
		p.w.multiply(10)
		p.w.add(wide{uint64(p.text[p.at] - '0')})
		if !p.w.isZero() {
			p.count++
		}
		if fraction {
			p.scale++
		}
	}
	return n
}

func (p *parser) power() bool {
	negative, n := false, 0
	p.sign(&negative)
	for ; p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9'; p.at++ {
		p.exponent = min(p.exponent*10+int(p.text[p.at]-'0'), 1<<24)
		n++
	}
	if negative {
		p.exponent = -p.exponent
	}
	return n > 0
}
