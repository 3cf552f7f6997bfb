package filesystem

import (
	"bytes"
	"errors"
)

// span is where a value is written: in the text, or, if from is negative, in what has
// been taken out of quotes and escapes.
type span struct{ from, to int32 }

// null is the span of NULL.
var null = span{0, -1}

func (s span) isNull() bool { return s.to < 0 }

// values are the records that a decoder has found in a text, and where their values are.
type values struct {
	text []byte
	side []byte // values that are not in the text as they are
	// of has, for each column of the scan, the values of the records.
	of   [][]span
	rows int
	// starts and ends are where the records begin and end, with what ends their line.
	starts, ends []int32
	// collects says that records that cannot be read are passed over and kept in bad;
	// otherwise the first of them is an error.
	collects bool
	bad      []*recordError
}

// newValues makes room for so many records of so many columns.
func newValues(columns, rows int) *values {
	v := &values{of: make([][]span, columns), starts: make([]int32, rows), ends: make([]int32, rows)}
	for i := range v.of {
		v.of[i] = make([]span, rows)
	}
	return v
}

// begin forgets all records.
func (v *values) begin(text []byte) {
	v.text, v.side, v.rows = text, v.side[:0], 0
	clear(v.bad)
	v.bad = v.bad[:0]
}

// bytes is a value that is not NULL. It is there until the next records are read.
func (v *values) bytes(s span) []byte {
	if s.from < 0 {
		return v.side[^s.from:s.to]
	}
	return v.text[s.from:s.to]
}

// found adds a record, whose values are there.
func (v *values) found(at, end int) {
	v.starts[v.rows], v.ends[v.rows] = int32(at), int32(end)
	v.rows++
}

// record is the text of a record, without what ends its line.
func (v *values) record(row int) []byte { return v.raw(int(v.starts[row]), int(v.ends[row])) }

func (v *values) raw(at, end int) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(v.text[at:end], []byte("\n")), []byte("\r"))
}

// aside is the span of what has been added to side since it was so long.
func (v *values) aside(from int) span { return span{^int32(from), int32(len(v.side))} }

// refuse takes note of a record that cannot be read, or gives it as an error.
func (v *values) refuse(e *recordError) error {
	if !v.collects {
		return e
	}
	v.bad = append(v.bad, e)
	return nil
}

// recordError is a record that cannot be read.
type recordError struct {
	// at and end are where the record is in the text.
	at, end int
	// place is that of its field; -1: none in particular.
	place int
	// value is what was seen.
	value []byte
	err   error
}

func (e *recordError) Error() string { return e.err.Error() }

// errMore says that the text ends within a record.
var errMore = errors.New("more text is needed")

// decoder finds the records of a text.
type decoder interface {
	// decode finds those that begin before a byte, until so many are there, or only a part
	// of one is left. It gives how many bytes it is done with; last says that no more text
	// follows.
	decode(v *values, text []byte, last bool, begin, most int) (consumed int, err error)
}
