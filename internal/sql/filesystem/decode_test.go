package filesystem

import (
	"fmt"
	"testing"

	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// decoded reads a text of three columns of text, of which at first only so many bytes are
// there.
func decoded(kind, text string, first int) (rows []string, err error) {
	var columns []types.Field
	for _, name := range []string{"a", "b", "c"} {
		columns = append(columns, types.Field{Name: name, Type: types.String()})
	}
	s := &source{format: formats{kind: kind, csv: newCSVFormat()}, scan: &plan.Scan{Columns: columns, Fields: []int{0, 1, 2}}, partitions: newPartitions(columns, nil)}
	d, v := s.decoder([]int{0, 1, 2}), newValues(3, 2)
	for at, end := 0, first; at < len(text); {
		n, err := d.decode(v, []byte(text[at:end]), end == len(text), end-at, 2)
		if err != nil {
			return rows, err
		}
		for i := range v.rows {
			row := ""
			for _, c := range v.of {
				if c[i].isNull() {
					row += "|-"
				} else {
					row += fmt.Sprintf("|%q", v.bytes(c[i]))
				}
			}
			rows = append(rows, row)
		}
		if at += n; n == 0 && end == len(text) {
			return rows, fmt.Errorf("nothing is read of %d bytes", len(text)-at)
		} else if n == 0 {
			end = len(text)
		}
	}
	return rows, nil
}

func same(t *testing.T, kind, text string) {
	whole, wrong := decoded(kind, text, len(text))
	for first := range len(text) {
		parts, err := decoded(kind, text, first)
		if (err == nil) != (wrong == nil) || err == nil && fmt.Sprint(parts) != fmt.Sprint(whole) {
			t.Fatalf("%s %q: at once %q, %v; in parts of %d and the rest %q, %v", kind, text, whole, wrong, first, parts, err)
		}
	}
}

func TestTextInParts(t *testing.T) {
	for _, text := range []string{"a,b,c\nd,\"e\"\"\n,\",f\r\n\n,,\n", "\"a\",\"b\",\"c\"", "a,b,c\r\n", "a,b\n", "\"a,b,c\n"} {
		same(t, "csv", text)
	}
	for _, text := range []string{`{"a":"1","b":2.5e3}` + "\n\n" + `{"c":[{"x":"]"}],"a":null}`, `{"a":"\u00e4\n"}`, `{"a":`, "7\n"} {
		same(t, "json", text)
	}
}

func FuzzCSV(f *testing.F) {
	f.Add("a,b,c\n\"d\"\"\",e,f\r\n")
	f.Fuzz(func(t *testing.T, text string) { same(t, "csv", text[:min(len(text), 200)]) })
}

func FuzzJSON(f *testing.F) {
	f.Add(`{"a":"x","b":[1,{"c":null}],"c":-1.5e-3}` + "\n")
	f.Fuzz(func(t *testing.T, text string) { same(t, "json", text[:min(len(text), 200)]) })
}
