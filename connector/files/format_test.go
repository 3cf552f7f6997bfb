package files

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/format"
	"github.com/weirstream/weir/format/csv"
	"github.com/weirstream/weir/format/json"
	"github.com/weirstream/weir/internal/operator"
)

type item struct {
	Name  string `csv:"name" json:"name"`
	Cents int    `csv:"cents" json:"cents"`
}

// readItems reads a file in splits of step bytes.
func readItems(t *testing.T, f format.Decoding[item], text string, step int) ([]item, *host, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	h := &host{}
	for at := 0; at < len(text); at += step {
		h.answers = append(h.answers, fmt.Sprintf(`{"split":{"files":[{"path":%q,"offset":%d,"length":%d}]}}`, path, at, min(step, len(text)-at)))
	}
	h.answers = append(h.answers, `{"done":true}`)
	var got []item
	err := operator.Guard(func() {
		out := &operator.Receiver[item]{Push: func(v item, _ int64) { got = append(got, v) }, Watermark: func(int64) {}, Idle: func(bool) {}}
		for s := operator.FromSource(Source[item]{Paths: []string{"in"}, Format: f}).Open(h.context(0, 0), out); s.Poll() != operator.Done; {
		}
	})
	return got, h, err
}

var items = []item{{"a", 1}, {"b,\"c\"", 22}, {"", -333}, {"last", 4}}

// What a sink has written a source reads, wherever the file is cut.
func TestFormatsAreReadAsWritten(t *testing.T) {
	for name, f := range map[string]interface {
		format.Encoding[item]
		format.Decoding[item]
	}{"csv": csv.Format[item]{}, "csv with a header": csv.Format[item]{Headed: true}, "json": json.Format[item]{}} {
		e, err := f.NewEncoder()
		if err != nil {
			t.Fatal(err)
		}
		text := e.AppendHeader(nil)
		for _, v := range items {
			if text, err = e.Append(text, v); err != nil {
				t.Fatal(err)
			}
		}
		for _, step := range []int{1, 7, 1000} {
			got, _, err := readItems(t, f, string(text), step)
			if err != nil || !slices.Equal(got, items) {
				t.Errorf("%s in splits of %d bytes: %v, %v", name, step, got, err)
			}
		}
	}
}

// The line of a file that holds no record is told, also where a split does not begin
// at its first.
func TestTheLineIsTold(t *testing.T) {
	for _, step := range []int{1000, 6} {
		_, _, err := readItems(t, csv.Format[item]{Headed: true}, "cents,name\n1,a\n2,b\nx,c\n", step)
		if err == nil || !strings.Contains(err.Error(), `in, line 4, byte 19: field "cents" (column 1): value "x": want int: invalid syntax`) {
			t.Errorf("splits of %d bytes: %v", step, err)
		}
	}
	_, _, err := readItems(t, csv.Format[item]{Headed: true}, "cents\n1\n", 1000)
	if err == nil || !strings.Contains(err.Error(), `in, line 1: csv: no column has the name "name"`) {
		t.Errorf("a column that is missing: %v", err)
	}
}
