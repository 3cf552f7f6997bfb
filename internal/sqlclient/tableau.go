package sqlclient

import (
	"io"
	"strings"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sqlgateway/client"
	"github.com/weirstream/weir/types"
)

const (
	nullText = "<NULL>"
	cutMark  = "..."
	opColumn = "op"
)

// opNames are how rows of a changelog are marked.
var opNames = [...]string{batch.Insert: "+I", batch.UpdateBefore: "-U", batch.UpdateAfter: "+U", batch.Delete: "-D"}

// A tableau prints rows between lines, each column as wide as it is set.
type tableau struct {
	out    io.Writer
	names  []string
	widths []int
	// null is what stands for NULL.
	null string
	// ops says that the first column is what a row does to the result.
	ops bool
}

// byContent makes a tableau whose columns are as wide as their widest text, but not
// wider than limit.
func byContent(out io.Writer, columns []types.Field, rows []client.Row, null string, limit int) *tableau {
	t := &tableau{out: out, null: null}
	for i, c := range columns {
		w := len([]rune(c.Name))
		for _, r := range rows {
			w = max(w, width(t.field(r.Fields[i])))
		}
		t.names, t.widths = append(t.names, c.Name), append(t.widths, min(w, limit))
	}
	return t
}

// byType makes a tableau whose columns are as wide as values of their types may be, for
// rows that are not there yet.
func byType(out io.Writer, columns []types.Field, limit int) *tableau {
	t := &tableau{out: out, null: nullText, ops: true, names: []string{opColumn}, widths: []int{len(opColumn)}}
	for _, c := range columns {
		w := max(typeWidth(c.Type, limit), len(nullText), len([]rune(c.Name)))
		t.names, t.widths = append(t.names, c.Name), append(t.widths, w)
	}
	return t
}

// typeWidth is how wide values of a type may be; limit for those that have no bound.
func typeWidth(t types.Type, limit int) int {
	const fraction = 1 // the point before the digits of a second
	switch t.Kind {
	case types.TinyInt:
		return 4
	case types.SmallInt:
		return 6
	case types.Int:
		return 11
	case types.BigInt:
		return 20
	case types.Decimal:
		return t.Precision + 3
	case types.Boolean:
		return 5
	case types.Date:
		return 10
	case types.Time:
		if t.Precision == 0 {
			return 8
		}
		return 8 + fraction + t.Precision
	case types.Timestamp, types.TimestampLTZ:
		if t.Precision == 0 {
			return 19
		}
		return 19 + fraction + t.Precision
	}
	return limit
}

func (t *tableau) field(f *string) string {
	if f == nil {
		return t.null
	}
	return *f
}

func (t *tableau) rule() {
	var b strings.Builder
	for _, w := range t.widths {
		b.WriteString("+" + strings.Repeat("-", w+2))
	}
	b.WriteString("+\n")
	_, _ = io.WriteString(t.out, b.String()) // who reads is gone, and is not told
}

// header prints the names between lines.
func (t *tableau) header() {
	t.rule()
	t.line(t.names)
	t.rule()
}

func (t *tableau) row(r client.Row) {
	cells := make([]string, 0, len(t.names))
	if t.ops {
		cells = append(cells, opNames[r.Kind])
	}
	for _, f := range r.Fields {
		cells = append(cells, t.field(f))
	}
	t.line(cells)
}

func (t *tableau) line(cells []string) {
	var b strings.Builder
	b.WriteString("|")
	for i, c := range cells {
		b.WriteString(" ")
		if w := width(c); w <= t.widths[i] {
			b.WriteString(spaces(t.widths[i]-w) + c)
		} else {
			b.WriteString(fit(c, t.widths[i]-len(cutMark)) + cutMark)
		}
		b.WriteString(" |")
	}
	b.WriteString("\n")
	_, _ = io.WriteString(t.out, b.String()) // who reads is gone, and is not told
}
