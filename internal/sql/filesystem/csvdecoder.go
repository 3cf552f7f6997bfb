package filesystem

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/weirstream/weir/batch"
)

// csvDecoder cuts text into records, and their values into columns of text.
type csvDecoder struct {
	csvFormat
	// to has the column for each value of a record, in order; nil: it is not wanted.
	to []*batch.Column
	// empty says of each whether an empty value without quotes is NULL.
	empty  []bool
	value  []byte  // one with quotes, without them
	starts []int32 // where each record begins
}

var errOpenQuote = errors.New("a quoted value has no end")

// decode reads records until so many are there, or only a part of one is left. It gives
// how many bytes they have; last says that no more text follows.
func (d *csvDecoder) decode(text []byte, last bool, most int) (consumed int, err error) {
	d.starts = d.starts[:0]
	for len(d.starts) < most && consumed < len(text) {
		n, whole, err := d.record(text[consumed:], last, consumed)
		if err != nil {
			return consumed, err
		}
		if !whole {
			break
		}
		consumed += n
	}
	return consumed, nil
}

// record reads one record. A line without a character holds none.
func (d *csvDecoder) record(text []byte, last bool, at int) (n int, whole bool, err error) {
	if line, blank := blankLine(text); blank && (line < len(text) || last || text[line-1] == '\n') {
		return line, true, nil
	}
	if d.comments && text[0] == '#' {
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			return end + 1, true, nil
		}
		return len(text), last, nil
	}
	field := 0
	for {
		value, quoted, size, end, err := d.next(text[n:], last)
		if errors.Is(err, errMore) {
			d.undo(field)
			return 0, false, nil
		}
		if err != nil {
			d.undo(field)
			return 0, false, d.failed(at, field, value, err)
		}
		if field >= len(d.to) {
			d.undo(field)
			return 0, false, d.failed(at, -1, firstLine(text), fmt.Errorf("the record has more than %d values", len(d.to)))
		}
		d.append(field, value, quoted)
		n += size
		field++
		if end {
			break
		}
	}
	if field < len(d.to) {
		if !d.lenient {
			d.undo(field)
			return 0, false, d.failed(at, -1, firstLine(text), fmt.Errorf("the record has %d values, and the table %d columns", field, len(d.to)))
		}
		for ; field < len(d.to); field++ {
			if d.to[field] != nil {
				d.to[field].AppendNull()
			}
		}
	}
	d.starts = append(d.starts, int32(at))
	return n, true, nil
}

// blankLine is how long a line is that has nothing in it.
func blankLine(text []byte) (n int, blank bool) {
	switch {
	case text[0] == '\n':
		return 1, true
	case text[0] == '\r' && len(text) > 1 && text[1] == '\n':
		return 2, true
	}
	return 0, false
}

func firstLine(text []byte) []byte {
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	}
	return bytes.TrimSuffix(text, []byte("\r"))
}

// errMore says that the text ends within a record.
var errMore = errors.New("more text is needed")

// next reads one value: it gives it, how long it is with what ends it, and whether it is
// the record's last.
func (d *csvDecoder) next(text []byte, last bool) (value []byte, quoted bool, size int, end bool, err error) {
	if q := d.quoted(); q != 0 && len(text) > 0 && text[0] == q {
		return d.inQuotes(text, last)
	}
	i := 0
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == d.delimiter:
			return d.plain(text[:i]), false, i + 1, false, nil
		case c == '\n':
			return d.plain(bytes.TrimSuffix(text[:i], []byte("\r"))), false, i + 1, true, nil
		case c == d.escape && d.escape != 0:
			i++
		}
	}
	if !last {
		return nil, false, 0, false, errMore
	}
	return d.plain(bytes.TrimSuffix(text, []byte("\r"))), false, len(text), true, nil
}

// plain takes the escapes off a value.
func (d *csvDecoder) plain(text []byte) []byte {
	if d.escape == 0 || bytes.IndexByte(text, d.escape) < 0 {
		return text
	}
	d.value = d.value[:0]
	for i := 0; i < len(text); i++ {
		if text[i] == d.escape && i+1 < len(text) {
			i++
		}
		d.value = append(d.value, text[i])
	}
	return d.value
}

// inQuotes reads a value in quotes, which are doubled within it.
func (d *csvDecoder) inQuotes(text []byte, last bool) (value []byte, quoted bool, size int, end bool, err error) {
	q := d.quote
	d.value = d.value[:0]
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == d.escape && d.escape != 0 && i+1 < len(text):
			i++
			d.value = append(d.value, text[i])
		case c != q:
			d.value = append(d.value, c)
		case i+1 < len(text) && text[i+1] == q:
			i++
			d.value = append(d.value, q)
		default:
			return d.afterQuotes(text, i+1, last)
		}
	}
	if !last {
		return nil, true, 0, false, errMore
	}
	return firstLine(text), true, 0, false, errOpenQuote
}

// afterQuotes reads what ends a value in quotes.
func (d *csvDecoder) afterQuotes(text []byte, i int, last bool) (value []byte, quoted bool, size int, end bool, err error) {
	switch {
	case i == len(text) && !last, i+1 == len(text) && text[i] == '\r' && !last:
		return nil, true, 0, false, errMore
	case i == len(text):
		return d.value, true, i, true, nil
	case text[i] == d.delimiter:
		return d.value, true, i + 1, false, nil
	case text[i] == '\n':
		return d.value, true, i + 1, true, nil
	case text[i] == '\r' && (i+1 == len(text) || text[i+1] == '\n'):
		return d.value, true, min(i+2, len(text)), true, nil
	}
	return firstLine(text), true, 0, false, fmt.Errorf("after the quoted value comes %q instead of %q", text[i], d.delimiter)
}

// append adds a value to its column.
func (d *csvDecoder) append(field int, value []byte, quoted bool) {
	c := d.to[field]
	switch {
	case c == nil:
	case !quoted && (d.empty[field] && len(value) == 0 || d.hasNull && string(value) == d.null):
		c.AppendNull()
	default:
		c.AppendBytes(value)
	}
}

// undo takes back what a record that is not whole has added.
func (d *csvDecoder) undo(fields int) {
	for _, c := range d.to[:min(fields, len(d.to))] {
		if c != nil {
			cut(c, len(d.starts))
		}
	}
}

// cut leaves a column of text its first n values.
func cut(c *batch.Column, n int) {
	if c.Len <= n {
		return
	}
	if c.Valid != nil {
		for i := n; i < c.Len; i++ {
			c.Valid.Set(i)
		}
	}
	c.Len, c.Data, c.Offsets = n, c.Data[:c.Offsets[n]], c.Offsets[:n+1]
}

// recordError is a record that cannot be read.
type recordError struct {
	at    int // of the record, in the text
	field int // -1: none in particular
	value string
	err   error
}

func (e *recordError) Error() string { return e.err.Error() }

func (d *csvDecoder) failed(at, field int, value []byte, err error) error {
	return &recordError{at, field, string(value), err}
}
