package datetime

import (
	"fmt"
	"strconv"
)

// Formatter is a compiled pattern of java.time.format.DateTimeFormatter, for local dates
// and times in English as the United States write it. It may be used by many goroutines.
type Formatter struct {
	pattern string
	items   []item
}

// item is a piece of a Formatter.
type item struct {
	kind  itemKind
	field byte // the letter; 'O' stands for all offsets
	// min and max are how many digits a number has; max fixed says that it takes exactly
	// so many when it is parsed, behind are the digits of numbers that follow at once.
	min, max int
	sign     signStyle
	fixed    bool
	behind   int
	count    int
	literal  string
	pad      int
	inner    []item // of an optional section
}

type itemKind uint8

const (
	literalItem itemKind = iota
	numberItem
	reducedItem // a year of two digits
	fractionItem
	textItem
	offsetItem
	zoneItem
	optionalItem
)

type signStyle uint8

const (
	normalSign signStyle = iota
	notNegative
	exceedsPad
)

// NewFormatter compiles a pattern.
func NewFormatter(pattern string) (*Formatter, error) {
	tokens, err := tokenize(pattern)
	if err != nil {
		return nil, err
	}
	c := &formatterCompiler{pattern: pattern}
	c.open = [][]item{nil}
	c.active = []int{-1}
	for _, t := range tokens {
		if err := c.token(t); err != nil {
			return nil, err
		}
	}
	if c.pad > 0 {
		return nil, fmt.Errorf("pattern %q: a width of padding is not followed by a field", pattern)
	}
	for len(c.open) > 1 {
		c.close()
	}
	return &Formatter{pattern: pattern, items: c.open[0]}, nil
}

// formatterCompiler builds items; open are the optional sections that are not ended, and
// active the number in each that others may adjoin, -1 if none.
type formatterCompiler struct {
	pattern string
	open    [][]item
	active  []int
	pad     int
}

func (c *formatterCompiler) token(t token) error {
	if t.letter != 0 {
		return c.letter(t.letter, t.count)
	}
	switch {
	case t.count == 1 && t.literal == "[":
		c.open, c.active = append(c.open, nil), append(c.active, -1)
	case t.count == 1 && t.literal == "]":
		if len(c.open) == 1 {
			return fmt.Errorf("pattern %q: ']' without '['", c.pattern)
		}
		c.close()
	case t.count == 1 && (t.literal == "{" || t.literal == "}" || t.literal == "#"):
		return fmt.Errorf("pattern %q: the character %s is reserved", c.pattern, t.literal)
	default:
		c.add(item{kind: literalItem, literal: t.literal})
	}
	return nil
}

// close ends an optional section.
func (c *formatterCompiler) close() {
	n := len(c.open) - 1
	inner := c.open[n]
	c.open, c.active = c.open[:n], c.active[:n]
	c.add(item{kind: optionalItem, inner: inner})
}

func (c *formatterCompiler) add(it item) {
	n := len(c.open) - 1
	it.pad, c.pad = c.pad, 0
	c.open[n] = append(c.open[n], it)
	c.active[n] = -1
}

// number adds a number; numbers that follow one another at once share the digits.
func (c *formatterCompiler) number(it item) {
	n := len(c.open) - 1
	at := c.active[n]
	switch {
	case at < 0:
		c.add(it)
		at = len(c.open[n]) - 1
	case it.min == it.max && it.sign == notNegative:
		c.open[n][at].behind += it.max
		it.fixed = true
		c.add(it)
	default:
		c.open[n][at].fixed = true
		c.add(it)
		at = len(c.open[n]) - 1
	}
	c.active[n] = at
}

func (c *formatterCompiler) tooMany(l byte) error {
	return fmt.Errorf("pattern %q: too many letters %c", c.pattern, l)
}

// letter adds what a letter stands for.
func (c *formatterCompiler) letter(l byte, n int) error {
	switch l {
	case 'y', 'u', 'Y':
		c.year(l, n)
	case 'M', 'L', 'Q', 'q':
		return c.named(l, n, n <= 2)
	case 'E', 'e', 'c':
		if l == 'c' && n == 2 {
			return fmt.Errorf("pattern %q: invalid pattern \"cc\"", c.pattern)
		}
		return c.named(l, n, l != 'E' && n <= 2)
	case 'B':
		if n == 2 || n == 3 || n > 5 {
			return fmt.Errorf("pattern %q: invalid number of pattern letters: %d of B; allowed are 1, 4 and 5", c.pattern, n)
		}
		c.add(item{kind: textItem, field: l, count: n})
	case 'G', 'a':
		if n > 5 || l == 'a' && n > 1 {
			return c.tooMany(l)
		}
		c.add(item{kind: textItem, field: l, count: n})
	case 'd', 'h', 'H', 'k', 'K', 'm', 's', 'w':
		if n > 2 {
			return c.tooMany(l)
		}
		if n == 1 {
			c.number(item{kind: numberItem, field: l, min: 1, max: 19})
		} else {
			c.number(item{kind: numberItem, field: l, min: 2, max: 2, sign: notNegative})
		}
	case 'D':
		if n > 3 {
			return c.tooMany(l)
		}
		if n == 1 {
			c.number(item{kind: numberItem, field: l, min: 1, max: 19})
		} else {
			c.number(item{kind: numberItem, field: l, min: n, max: 3, sign: notNegative})
		}
	case 'F', 'W':
		if n > 1 {
			return c.tooMany(l)
		}
		c.number(item{kind: numberItem, field: l, min: 1, max: 19})
	case 'S':
		if n > 9 {
			return c.tooMany(l)
		}
		c.number(item{kind: fractionItem, field: l, min: n, max: n, sign: notNegative})
	case 'A', 'n', 'N', 'g':
		c.number(item{kind: numberItem, field: l, min: n, max: 19, sign: notNegative})
	case 'X', 'x', 'Z', 'O', 'z', 'V', 'v':
		return c.zone(l, n)
	case 'p':
		c.pad = n
		return nil
	default:
		return fmt.Errorf("pattern %q: unknown pattern letter %c", c.pattern, l)
	}
	return nil
}

func (c *formatterCompiler) year(l byte, n int) {
	switch {
	case n == 2:
		c.number(item{kind: reducedItem, field: l, min: 2, max: 2, sign: notNegative})
	case n < 4:
		c.number(item{kind: numberItem, field: l, min: n, max: 19})
	default:
		c.number(item{kind: numberItem, field: l, min: n, max: 19, sign: exceedsPad})
	}
}

func (c *formatterCompiler) named(l byte, n int, numeric bool) error {
	switch {
	case n > 5:
		return c.tooMany(l)
	case numeric && n == 1:
		c.number(item{kind: numberItem, field: l, min: 1, max: 19})
	case numeric:
		c.number(item{kind: numberItem, field: l, min: 2, max: 2, sign: notNegative})
	default:
		c.add(item{kind: textItem, field: l, count: max(n, 3)})
	}
	return nil
}

func (c *formatterCompiler) zone(l byte, n int) error {
	switch {
	case l == 'V' && n != 2:
		return fmt.Errorf("pattern %q: pattern letter count must be 2: V", c.pattern)
	case l == 'z' && n > 4, n > 5, l == 'O' && n != 1 && n != 4, l == 'v' && n != 1 && n != 4:
		return c.tooMany(l)
	case l == 'z' || l == 'V' || l == 'v':
		c.add(item{kind: zoneItem, field: l, count: n})
	default:
		c.add(item{kind: offsetItem, field: l, count: n})
	}
	return nil
}

// Append appends a local time in milliseconds with nanoseconds within. It fails if the
// pattern asks what a local time has not, such as its zone.
func (f *Formatter) Append(dst []byte, ms int64, nanos int32) ([]byte, error) {
	l := localOf(ms, nanos)
	for i := range f.items {
		var err error
		if dst, err = f.items[i].append(dst, &l); err != nil {
			return dst, fmt.Errorf("pattern %q: %w", f.pattern, err)
		}
	}
	return dst, nil
}

func (it *item) append(dst []byte, l *local) ([]byte, error) {
	from := len(dst)
	switch it.kind {
	case literalItem:
		dst = append(dst, it.literal...)
	case numberItem:
		v := l.number(it.field)
		if it.sign == exceedsPad && v >= pow10(it.min) {
			dst = append(dst, '+')
		}
		dst = appendPadded(dst, v, it.min)
	case reducedItem:
		dst = appendPadded(dst, floorMod(l.number(it.field), 100), 2)
	case fractionItem:
		nanos := l.ms%Second*1_000_000 + int64(l.nanos)
		dst = appendPadded(dst, nanos/pow10(9-it.min), it.min)
	case textItem:
		dst = append(dst, l.text(it.field, it.count)...)
	case optionalItem:
		for i := range it.inner {
			var err error
			if dst, err = it.inner[i].append(dst, l); err != nil {
				return dst[:from], nil
			}
		}
	case offsetItem, zoneItem:
		return dst, fmt.Errorf("a local time has no zone, which %c asks for", it.field)
	}
	if fill := it.pad - (len(dst) - from); it.pad > 0 {
		if fill < 0 {
			return dst, fmt.Errorf("%q is longer than the width of %d", dst[from:], it.pad)
		}
		text := string(dst[from:])
		dst = dst[:from]
		for ; fill > 0; fill-- {
			dst = append(dst, ' ')
		}
		dst = append(dst, text...)
	}
	return dst, nil
}

func pow10(n int) int64 {
	p := int64(1)
	for ; n > 0 && p < 1e18; n-- {
		p *= 10
	}
	return p
}

// number is the value of a field that is a number.
func (l *local) number(field byte) int64 {
	hour := l.ms / Hour
	switch field {
	case 'u':
		return l.year
	case 'y':
		if l.year <= 0 {
			return 1 - l.year
		}
		return l.year
	case 'Y':
		year, _ := localWeek(l.days)
		return year
	case 'w':
		_, week := localWeek(l.days)
		return week
	case 'M', 'L':
		return l.month
	case 'Q', 'q':
		return (l.month + 2) / 3
	case 'd':
		return l.day
	case 'D':
		return DayOfYear(l.days)
	case 'F':
		return (l.day-1)%7 + 1
	case 'W':
		return (l.day-1+Weekday(Days(l.year, l.month, 1)))/7 + 1
	case 'e', 'c':
		return Weekday(l.days) + 1
	case 'H':
		return hour
	case 'k':
		return (hour+23)%24 + 1
	case 'K':
		return hour % 12
	case 'h':
		return (hour+11)%12 + 1
	case 'm':
		return l.ms % Hour / Minute
	case 's':
		return l.ms % Minute / Second
	case 'A':
		return l.ms
	case 'n':
		return l.ms%Second*1_000_000 + int64(l.nanos)
	case 'N':
		return l.ms*1_000_000 + int64(l.nanos)
	case 'g':
		return l.days + 40587
	}
	return 0
}

// text is the value of a field that is a word.
func (l *local) text(field byte, count int) string {
	name := ""
	switch field {
	case 'M', 'L':
		name = monthNames[l.month-1]
	case 'E', 'e', 'c':
		name = dayNames[Weekday(l.days)]
	case 'Q', 'q':
		q := strconv.FormatInt((l.month+2)/3, 10)
		switch count {
		case 3:
			return "Q" + q
		case 4:
			return []string{"1st", "2nd", "3rd", "4th"}[(l.month-1)/3] + " quarter"
		}
		return q
	case 'a':
		return []string{"AM", "PM"}[l.ms/(12*Hour)]
	case 'B':
		return dayPeriod(l.ms/Minute, count)
	case 'G':
		era := 1 - one(l.year <= 0)
		switch count {
		case 4:
			return []string{"Before Christ", "Anno Domini"}[era]
		case 5:
			return []string{"B", "A"}[era]
		}
		return []string{"BC", "AD"}[era]
	}
	switch count {
	case 3:
		return name[:3]
	case 5:
		return name[:1]
	}
	return name
}

// dayPeriod is the part of the day that a minute is in, in words.
func dayPeriod(minute int64, count int) string {
	switch hour := minute / 60; {
	case minute == 0 && count == 5:
		return "mi"
	case minute == 0:
		return "midnight"
	case minute == 12*60 && count == 5:
		return "n"
	case minute == 12*60:
		return "noon"
	case hour < 6 || hour >= 21:
		return "at night"
	case hour < 12:
		return "in the morning"
	case hour < 18:
		return "in the afternoon"
	}
	return "in the evening"
}
