package filesystem

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/weirstream/weir/types"
)

// jsonFormat is how records are written as JSON: an object to a line.
type jsonFormat struct {
	lenient bool // what cannot be read is NULL, and lines without an object are passed over
	missing bool // a member that is not there is an error
	iso     bool // timestamps are written as ISO-8601 has them

	// What is written: nullKeys says what becomes of a NULL key of a map, and nullKey is
	// the key instead of it.
	dropNulls bool // members that are NULL are left out
	plain     bool // decimals have no exponent
	nullKeys  string
	nullKey   string
}

var jsonOptions = []string{"json.fail-on-missing-field", "json.ignore-parse-errors", "json.timestamp-format.standard",
	"json.map-null-key.mode", "json.map-null-key.literal", "json.encode.decimal-as-plain-number", "json.encode.ignore-null-fields"}

// set takes an option; known is false if it is none of the format's.
func (f *jsonFormat) set(key, value string) (known bool, err error) {
	switch key {
	case "json.fail-on-missing-field":
		f.missing, err = truth(value)
	case "json.ignore-parse-errors":
		f.lenient, err = truth(value)
	case "json.timestamp-format.standard":
		if f.iso = value == "ISO-8601"; !f.iso && value != "SQL" {
			err = fmt.Errorf("'%s' is neither SQL nor ISO-8601", value)
		}
	case "json.encode.decimal-as-plain-number":
		f.plain, err = truth(value)
	case "json.encode.ignore-null-fields":
		f.dropNulls, err = truth(value)
	case "json.map-null-key.mode":
		if f.nullKeys = value; value != nullKeyFails && value != nullKeyDrops && value != nullKeyText {
			err = fmt.Errorf("'%s' is none of %s, %s and %s", value, nullKeyFails, nullKeyDrops, nullKeyText)
		}
	case "json.map-null-key.literal":
		f.nullKey = value
	default:
		return false, nil
	}
	return true, err
}

// jsonDecoder finds the members that are wanted of objects, one to a line, or of arrays of
// them.
type jsonDecoder struct {
	jsonFormat
	columns []jsonColumn // of the table
	wanted  int          // how many of them are
	// shape are the members of the record before, which those of the next are likely to
	// be.
	shape []jsonMember
	found []bool // by column of the scan: the record has it
	// within says that the text goes on with the next object of an array, which is a line.
	within bool
}

// jsonColumn is a column of the table.
type jsonColumn struct {
	name []byte // in quotes
	// column is that of the scan; -1: it is not wanted.
	column int
	kind   jsonKind
}

// jsonKind is how values of a column are written.
type jsonKind uint8

const (
	jsonPlain  jsonKind = iota // as texts or numbers
	jsonMoment                 // as texts, in one of two ways
	jsonNested                 // as JSON that is read later
)

func jsonKindOf(t types.Type) jsonKind {
	switch {
	case t.Kind.IsCollection() || t.Kind.IsComposite():
		return jsonNested
	case t.Kind.IsTimestamp():
		return jsonMoment
	}
	return jsonPlain
}

// jsonMember is a member's name, as it is written in quotes, and its column; nil: there
// is none, or it is not wanted.
type jsonMember struct {
	name []byte
	of   *jsonColumn
}

var errNoObject = errors.New("a record is a JSON object, or an array of them")

// decode finds records.
func (d *jsonDecoder) decode(v *values, text []byte, last bool, begin, most int) (consumed int, err error) {
	v.begin(text)
	at := 0
	for v.rows < most && (at < begin || d.within) {
		end := bytes.IndexByte(text[at:], '\n')
		next := at + end + 1
		if end < 0 {
			if !last {
				break
			}
			next = len(text)
			end = next - at
		}
		line := text[:at+end]
		i := space(line, at)
		switch {
		case i == len(line):
		case d.within || line[i] == '[':
			if next, err = d.elements(v, line, i, next, most); err != nil {
				return at, err
			}
		default:
			if bad := d.record(v, line, i); bad != nil {
				bad.at, bad.end = at, next
				if err := v.refuse(bad); err != nil {
					return at, err
				}
			} else {
				v.found(at, next)
			}
		}
		at = next
	}
	return at, nil
}

// elements reads the objects of an array that is a line, which begins, or goes on, at a
// byte. It gives where the next of them begins, if that is for other values, or next, where
// the line ends.
func (d *jsonDecoder) elements(v *values, line []byte, i, next, most int) (int, error) {
	if !d.within {
		if i = space(line, i+1); i < len(line) && line[i] == ']' {
			return d.behind(v, line, i+1, next)
		}
	}
	d.within = false
	for {
		end, err := skip(line, i, 1)
		if err != nil {
			return next, v.refuse(&recordError{i, next, -1, line[i:], err})
		}
		if bad := d.record(v, line[:end], i); bad != nil {
			bad.at, bad.end = i, end
			if err := v.refuse(bad); err != nil {
				return i, err
			}
		} else {
			v.found(i, end)
		}
		i = space(line, end)
		switch {
		case i < len(line) && line[i] == ']':
			return d.behind(v, line, i+1, next)
		case i == len(line) || line[i] != ',':
			return next, v.refuse(&recordError{end, next, -1, line[end:], fmt.Errorf("after an object of an array comes a comma or ']'%s", seen(line, i))})
		}
		if i = space(line, i+1); v.rows == most {
			d.within = true
			return i, nil
		}
	}
}

// behind looks at what is behind an array, up to its line's end.
func (d *jsonDecoder) behind(v *values, line []byte, i, next int) (int, error) {
	if more := space(line, i); more < len(line) {
		return next, v.refuse(&recordError{more, next, -1, line[more:], fmt.Errorf("after the array comes more%s", seen(line, more))})
	}
	return next, nil
}

// record reads the object that begins at a byte of a text that ends with its line.
func (d *jsonDecoder) record(v *values, text []byte, begin int) *recordError {
	refused := func(place int, value []byte, err error) *recordError {
		return &recordError{place: place, value: bytes.TrimSpace(value), err: err}
	}
	if text[begin] != '{' {
		return refused(-1, text[begin:], fmt.Errorf("%w%s", errNoObject, seen(text, begin)))
	}
	clear(d.found)
	left := d.wanted
	i := space(text, begin+1)
	if i < len(text) && text[i] == '}' {
		i++
	} else {
		for ordinal := 0; ; ordinal++ {
			of, after, err := d.name(text, i, ordinal)
			if err != nil {
				return refused(-1, text[begin:], err)
			}
			i = space(text, after)
			end, err := skip(text, i, 1)
			if err != nil {
				return refused(-1, text[begin:], err)
			}
			if of != nil {
				value, err := d.value(v, text, i, end, of.kind)
				if err != nil && !d.lenient {
					return refused(-1, text[begin:], fmt.Errorf("the member %s: %w", of.name, err))
				} else if err != nil {
					value = null
				}
				v.of[of.column][v.rows] = value
				if !d.found[of.column] {
					d.found[of.column] = true
					left--
				}
			}
			if i = space(text, end); i < len(text) && text[i] == ',' {
				i = space(text, i+1)
				continue
			}
			if i < len(text) && text[i] == '}' {
				i++
				break
			}
			return refused(-1, text[begin:], fmt.Errorf("after a JSON value comes a comma or '}'%s", seen(text, i)))
		}
	}
	if i = space(text, i); i < len(text) {
		return refused(-1, text[begin:], fmt.Errorf("after the record comes more%s", seen(text, i)))
	}
	if left == 0 {
		return nil
	}
	for _, c := range d.columns {
		if c.column >= 0 && !d.found[c.column] {
			if d.missing && !d.lenient {
				return refused(-1, text[begin:], fmt.Errorf("the member %s is missing", c.name))
			}
			v.of[c.column][v.rows] = null
		}
	}
	return nil
}

// name reads the name of the record's member of that number, which begins at i. It gives
// the column, if that is wanted, and the byte behind the colon.
func (d *jsonDecoder) name(text []byte, i, ordinal int) (of *jsonColumn, after int, err error) {
	if ordinal < len(d.shape) {
		m := &d.shape[ordinal]
		if n := len(m.name); i+n < len(text) && text[i+n] == ':' && string(text[i:i+n]) == string(m.name) {
			return m.of, i + n + 1, nil
		}
	}
	name, after, err := memberName(text, i)
	if err != nil {
		return nil, i, err
	}
	of = d.column(name)
	if ordinal == len(d.shape) && ordinal < maxShape {
		d.shape = append(d.shape, jsonMember{})
	}
	if ordinal < len(d.shape) {
		m := &d.shape[ordinal]
		m.name, m.of = append(m.name[:0], name...), of
	}
	return of, after, nil
}

// maxShape bounds how many members of a record are remembered.
const maxShape = 256

// column is that of a member, if it is wanted.
func (d *jsonDecoder) column(name []byte) *jsonColumn {
	if bytes.IndexByte(name, '\\') >= 0 {
		if plain, err := unquoted(nil, name); err == nil {
			name = append(append([]byte{'"'}, plain...), '"')
		}
	}
	for i := range d.columns {
		if c := &d.columns[i]; bytes.Equal(c.name, name) {
			if c.column < 0 {
				return nil
			}
			return c
		}
	}
	return nil
}

// value is the value that lies between two bytes: of several of one name the last counts.
func (d *jsonDecoder) value(v *values, text []byte, i, end int, kind jsonKind) (span, error) {
	switch {
	case text[i] == 'n':
		return null, nil
	case text[i] != '"' || kind == jsonNested:
		return span{int32(i), int32(end)}, nil
	}
	s := span{int32(i + 1), int32(end - 1)}
	if bytes.IndexByte(text[i:end], '\\') >= 0 {
		from := len(v.side)
		side, err := unquoted(v.side, text[i:end])
		if err != nil {
			return null, err
		}
		v.side = side
		s = v.aside(from)
	}
	if kind == jsonMoment {
		return d.moment(v, s), nil
	}
	return s, nil
}

// moment is a timestamp as SQL writes it. One as in ISO-8601 is understood whichever of
// them the table's option names, which settles how they are written; an instant is one of UTC.
func (d *jsonDecoder) moment(v *values, s span) span {
	text := v.bytes(s)
	if n := len(text); n > 0 && text[n-1] == 'Z' {
		s.to--
		text = text[:n-1]
	}
	if len(text) <= dateLength || text[dateLength] != 'T' {
		return s
	}
	from := len(v.side)
	v.side = append(v.side, text...)
	v.side[from+dateLength] = ' '
	return v.aside(from)
}

const dateLength = len("2006-01-02")

// sqlMoment writes a timestamp as SQL does.
func sqlMoment(text []byte) []byte {
	if len(text) > dateLength && text[dateLength] == 'T' {
		text[dateLength] = ' '
	}
	return bytes.TrimSuffix(text, []byte("Z"))
}
