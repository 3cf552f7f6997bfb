package filesystem

import (
	"cmp"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// decoded reads a text of three columns of text, of which at first only so many bytes are
// there. Bad records are among the rows if they are collected.
func decoded(f formats, text string, first int, collects bool) (rows []string, err error) {
	var columns []types.Field
	for _, name := range []string{"a", "b", "c"} {
		columns = append(columns, types.Field{Name: name, Type: types.String()})
	}
	s := &source{format: f, scan: &plan.Scan{Columns: columns, Fields: []int{0, 1, 2}}, partitions: newPartitions(columns, nil)}
	d, v := s.decoder([]int{0, -1, 1}), newValues(2, 2)
	v.collects = collects
	for at, end := 0, first; at < len(text); {
		n, err := d.decode(v, []byte(text[at:end]), end == len(text), end-at, 2)
		if err != nil {
			return rows, err
		}
		behind := int32(0)
		for i := range v.rows {
			row := fmt.Sprintf("%d", at+int(v.starts[i]))
			for _, c := range v.of {
				if c[i].isNull() {
					row += "|-"
				} else {
					row += fmt.Sprintf("|%q", v.bytes(c[i]))
				}
			}
			rows = append(rows, row)
			if v.starts[i] < behind || v.ends[i] <= v.starts[i] || int(v.ends[i]) > n {
				return rows, fmt.Errorf("record %d from %d to %d of %d bytes", i, v.starts[i], v.ends[i], n)
			}
			behind = v.ends[i]
		}
		for _, bad := range v.bad {
			rows = append(rows, fmt.Sprintf("%d bad: %q", at+bad.at, v.raw(bad.at, bad.end)))
		}
		if at += n; n == 0 && end == len(text) {
			return rows, fmt.Errorf("nothing is read of %d bytes", len(text)-at)
		} else if n == 0 {
			end = len(text)
		}
	}
	slices.SortFunc(rows, func(x, y string) int { return cmp.Compare(offsetOf(x), offsetOf(y)) })
	return rows, nil
}

// offsetOf is the number that a text begins with.
func offsetOf(text string) (n int) {
	fmt.Sscanf(text, "%d", &n)
	return n
}

// same reads a text at once and in two parts.
func same(t *testing.T, f formats, text string) {
	for _, collects := range []bool{false, true} {
		whole, wrong := decoded(f, text, len(text), collects)
		if collects && wrong != nil {
			t.Fatalf("%v %q: %v", f.kind, text, wrong)
		}
		for first := range len(text) {
			parts, err := decoded(f, text, first, collects)
			if (err == nil) != (wrong == nil) || err == nil && !slices.Equal(parts, whole) {
				t.Fatalf("%s %q: at once %q, %v; in parts of %d and the rest %q, %v", f.kind, text, whole, wrong, first, parts, err)
			}
		}
	}
}

var jsonFormats = formats{kind: "json"}

// csvFormats are some ways to write values.
func csvFormats(which uint8) formats {
	f := formats{kind: "csv", csv: newCSVFormat()}
	if which&1 != 0 {
		f.csv.escape = '\\'
	}
	f.csv.comments, f.csv.disabled, f.csv.lenient, f.csv.hasNull, f.csv.null = which&2 != 0, which&4 != 0, which&8 != 0, which&16 != 0, "-"
	if which&32 != 0 {
		f.csv.quote, f.csv.delimiter = '\'', ';'
	}
	return f
}

func TestTextInParts(t *testing.T) {
	for _, text := range []string{"a,b,c\nd,\"e\"\"\n,\",f\r\n\n,,\n", "\"a\",\"b\",\"c\"", "a,b,c\r\n", "a,b\n", "\"a,b,c\n"} {
		same(t, csvFormats(0), text)
	}
	for _, text := range []string{"[]\n[ {} ]\r\n" + `[{"a":1}, {"a":2},{"a":3} , {"a":4}]` + "\n[{},]\n[{}\n[{}]]\n[1,{},[],{}]\n[", `{"a":"1","b":2.5e3}` + "\n\n" + `{"c":[{"x":"]"}],"a":null}`, `{"a":"\u00e4\n"}`, `{"a":`, "7\n"} {
		same(t, jsonFormats, text)
	}
}

func FuzzCSV(f *testing.F) {
	f.Add(uint8(0), "a,b,c\n\"d\"\"\",e,f\r\n")
	f.Add(uint8(1+2+8+16), "# x\na\\,b,-,\"c\\\"\"\n-,\n")
	f.Fuzz(func(t *testing.T, which uint8, text string) { same(t, csvFormats(which), text[:min(len(text), 100)]) })
}

// FuzzJSON also compares what is accepted with what the standard library accepts.
func FuzzJSON(f *testing.F) {
	f.Add(`{"a":"x","b":[1,{"c":null}],"c":-1.5e-3}` + "\n")
	f.Add(`{"a" : "\u0041\ud83d\ude00", "\u0061":true}` + "\n[1]\n" + `{"c":01}`)
	f.Fuzz(func(t *testing.T, text string) {
		text = text[:min(len(text), 100)]
		same(t, jsonFormats, text)
		line, _, _ := strings.Cut(text, "\n")
		line = strings.Trim(line, " \t\r")
		if line == "" || line[0] == '[' {
			return
		}
		value := jsontext.NewDecoder(strings.NewReader(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		_, err := value.ReadValue()
		if err == nil {
			_, err = value.ReadToken()
		}
		standard := errors.Is(err, io.EOF) && line[0] == '{'
		_, wrong := decoded(jsonFormats, line, len(line), false)
		if standard == (wrong != nil) && !strings.Contains(line, `\`) { // escapes of what nobody wants are not looked into
			t.Fatalf("%q: the standard library says %v, and the decoder %v", line, err, wrong)
		}
	})
}

// FuzzConversion compares how values of usual forms are read with how CAST reads them.
func FuzzConversion(f *testing.F) {
	for _, text := range []string{"-17", "1.50", "2024-02-29", "2024-02-29 23:59:59.123", "-0.0", "99999999999999999", "123456789012345678", "1.", ".5", "-.5", "0000-01-01", "1e5"} {
		f.Add(text)
	}
	all := []types.Type{types.Of(types.TinyInt), types.Of(types.SmallInt), types.Of(types.Int), types.Of(types.BigInt), types.Of(types.Double), types.Of(types.Date),
		types.DecimalOf(10, 2), types.DecimalOf(18, 18), types.DecimalOf(38, 10), types.DecimalOf(5, 0), types.TimestampOf(0), types.TimestampOf(3), types.TimestampOf(9), types.TimestampLTZOf(6)}
	f.Fuzz(func(t *testing.T, text string) {
		for _, of := range all {
			fast, slow := batch.NewColumn(of), batch.NewColumn(of)
			fast.Reset(1)
			slow.Reset(1)
			if !fastReader(of, expr.UTC)(fast, 0, []byte(text)) {
				continue
			}
			if !expr.TextReader(of, expr.UTC)(slow, 0, []byte(text)) || !reflect.DeepEqual(fast, slow) {
				t.Fatalf("%q as %s is %+v, and by CAST %+v", text, of, fast, slow)
			}
		}
	})
}
