package engine

import (
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

// rows is how many rows a table has: what ANALYZE TABLE has found, or what there is to
// read says.
func (st *statement) rows(s *logical.Scan) (rows float64, known bool) {
	if s.Table.Statistics != nil {
		return float64(s.Table.Statistics.Rows), true
	}
	options := s.Table.Options
	sized, ok := st.o.Connectors[options["connector"]].(exec.Sized)
	if !ok {
		return 0, false
	}
	size, ok := sized.Size(options)
	switch {
	case !ok:
		return 0, false
	case size.Rows >= 0:
		return float64(size.Rows), true
	}
	width := 0.0
	for _, c := range s.Table.Schema.Stored() {
		width += textWidth(c.Type)
		if options["format"] == "json" {
			width += float64(len(c.Name) + 5)
		}
	}
	return float64(size.Bytes) / max(1, width), true
}

// textWidth is about how many bytes a value and what ends it take as text.
func textWidth(t types.Type) float64 {
	switch t.Kind {
	case types.Boolean:
		return 6
	case types.TinyInt, types.SmallInt:
		return 4
	case types.Int:
		return 6
	case types.BigInt, types.Float, types.Decimal:
		return 9
	case types.Double:
		return 14
	case types.Date, types.Time:
		return 11
	}
	if t.Kind.IsTimestamp() {
		return 22
	}
	return 14
}
