package filesystem

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// csvDecoder finds the records of lines of delimited values.
type csvDecoder struct {
	csvFormat
	csvFields
	// table has the fields of records that are laid out as the table is.
	table csvFields
	// places, of a file with a header, are the table's places of the values of a record; -1:
	// the table has none.
	places []int
}

// csvFields are the values of a record, in order.
type csvFields struct {
	// columns has for each its column of the scan; -1: it is not wanted.
	columns []int
	// empty says of each whether it is NULL if it is empty and without quotes.
	empty []bool
}

var errOpenQuote = errors.New("a quoted value has no end")

// decode finds records.
func (d *csvDecoder) decode(v *values, text []byte, last bool, begin, most int) (consumed int, err error) {
	v.begin(text)
	at := 0
	for v.rows < most && at < begin {
		next, err := d.skipped(text, at, last)
		if next == at {
			next, err = d.record(v, text, at, last)
		}
		if err == errMore {
			break
		}
		if bad, ok := err.(*recordError); ok {
			next, err = bad.end, v.refuse(bad)
		}
		if err != nil {
			return at, err
		}
		at = next
	}
	return at, nil
}

// skipped gives the end of a line that holds no record, because it is empty or a
// comment; at: it holds one.
func (d *csvDecoder) skipped(text []byte, at int, last bool) (next int, err error) {
	switch c := text[at]; {
	case c == '\n':
		return at + 1, nil
	case c == '\r' && at+1 < len(text) && text[at+1] == '\n':
		return at + 2, nil
	case c == '#' && d.comments:
		if end := bytes.IndexByte(text[at:], '\n'); end >= 0 {
			return at + end + 1, nil
		}
		if !last {
			return at, errMore
		}
		return len(text), nil
	}
	return at, nil
}

// record reads the record that begins at a byte, and gives where it ends.
func (d *csvDecoder) record(v *values, text []byte, at int, last bool) (next int, err error) {
	quote, row := d.quoted(), v.rows
	field, i, ends := 0, at, false
	for !ends {
		var value span
		quoted := false
		if quote != 0 && i < len(text) && text[i] == quote {
			quoted = true
			begin := i
			if value, i, ends, err = d.inQuotes(v, text, i, last); err != nil {
				return 0, d.located(err, text, at, field, begin, last)
			}
		} else {
			end := d.end(text, i)
			if end == len(text) && !last {
				return 0, errMore
			}
			value.from, value.to = int32(i), int32(end)
			ends = end == len(text) || text[end] == '\n'
			i = min(end+1, len(text))
			if ends && end > int(value.from) && text[end-1] == '\r' {
				value.to--
			}
			if d.escape != 0 {
				value = d.plain(v, value)
			}
		}
		if field < len(d.columns) {
			if column := d.columns[field]; column >= 0 {
				if !quoted && (value.from == value.to && d.empty[field] || d.hasNull && string(v.bytes(value)) == d.null) {
					value = null
				}
				v.of[column][row] = value
			}
		}
		field++
	}
	if field != len(d.columns) {
		if field > len(d.columns) || !d.lenient {
			return 0, &recordError{at, i, -1, firstLine(text[at:i]), d.miscounted(field)}
		}
		for _, column := range d.columns[field:] {
			if column >= 0 {
				v.of[column][row] = null
			}
		}
	}
	v.found(at, i)
	return i, nil
}

// miscounted says that a record has too many or too few values.
func (d *csvDecoder) miscounted(values int) error {
	who := "table"
	if d.places != nil {
		who = "header"
	}
	return fmt.Errorf("the record has %d values, and the %s %d columns", values, who, len(d.columns))
}

func firstLine(text []byte) []byte {
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	}
	return bytes.TrimSuffix(text, []byte("\r"))
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// end gives where the value without quotes that begins at i ends.
func (d *csvDecoder) end(text []byte, i int) int {
	if d.escape != 0 {
		return d.endEscaped(text, i)
	}
	delimiters, newlines := uint64(d.delimiter)*lowBits, uint64('\n')*lowBits
	for ; i+8 <= len(text); i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		a, b := w^delimiters, w^newlines
		// The lowest of the bits set is that of the first byte which is zero.
		if found := ((a-lowBits)&^a | (b-lowBits)&^b) & highBits; found != 0 {
			return i + bits.TrailingZeros64(found)>>3
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c == d.delimiter || c == '\n' {
			break
		}
	}
	return i
}

func (d *csvDecoder) endEscaped(text []byte, i int) int {
	for ; i < len(text); i++ {
		switch c := text[i]; c {
		case d.delimiter, '\n':
			return i
		case d.escape:
			i++
		}
	}
	return len(text)
}

// plain takes the escapes off a value.
func (d *csvDecoder) plain(v *values, s span) span {
	text := v.text[s.from:s.to]
	if bytes.IndexByte(text, d.escape) < 0 {
		return s
	}
	from := len(v.side)
	for i := 0; i < len(text); i++ {
		if text[i] == d.escape && i+1 < len(text) {
			i++
		}
		v.side = append(v.side, text[i])
	}
	return v.aside(from)
}

// inQuotes reads the value in quotes that begins at i; quotes are doubled within it.
func (d *csvDecoder) inQuotes(v *values, text []byte, i int, last bool) (value span, next int, ends bool, err error) {
	from := i + 1
	end := bytes.IndexByte(text[from:], d.quote)
	if end >= 0 && d.escape == 0 && (from+end+1 == len(text) || text[from+end+1] != d.quote) {
		value, i = span{int32(from), int32(from + end)}, from+end+1
	} else if value, i = d.unquote(v, text, from); i < 0 {
		if !last {
			return value, 0, false, errMore
		}
		return value, 0, false, errOpenQuote
	}
	switch {
	case i == len(text) && !last, i+1 == len(text) && text[i] == '\r' && !last:
		return value, 0, false, errMore
	case i == len(text):
		return value, i, true, nil
	case text[i] == d.delimiter:
		return value, i + 1, false, nil
	case text[i] == '\n':
		return value, i + 1, true, nil
	case text[i] == '\r' && (i+1 == len(text) || text[i+1] == '\n'):
		return value, min(i+2, len(text)), true, nil
	}
	if lines := bytes.Count(text[from:i], []byte{'\n'}); lines > 0 {
		return value, 0, false, fmt.Errorf("after the quoted value, which ends in line %d of the record, comes %q instead of %q", lines+1, text[i], d.delimiter)
	}
	return value, 0, false, fmt.Errorf("after the quoted value comes %q instead of %q", text[i], d.delimiter)
}

// unquote reads to the end of a value in quotes, and gives what is behind it; -1: it has
// no end.
func (d *csvDecoder) unquote(v *values, text []byte, i int) (value span, next int) {
	from := len(v.side)
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == d.escape && d.escape != 0 && i+1 < len(text):
			i++
			v.side = append(v.side, text[i])
		case c != d.quote:
			v.side = append(v.side, c)
		case i+1 < len(text) && text[i+1] == d.quote:
			i++
			v.side = append(v.side, c)
		default:
			return v.aside(from), i + 1
		}
	}
	return null, -1
}

// located says of which record and field an error is. A record whose quotes are wrong
// ends with its first line.
func (d *csvDecoder) located(err error, text []byte, at, field, begin int, last bool) error {
	if err == errMore {
		return err
	}
	end := len(text)
	if line := bytes.IndexByte(text[at:], '\n'); line >= 0 {
		end = at + line + 1
	} else if !last {
		return errMore
	}
	if field < len(d.places) {
		field = d.places[field]
	}
	return &recordError{at, end, field, firstLine(text[begin:]), err}
}
