package expr_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/functions"
	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/types"
)

// Of all recorded expressions the value is the same whether the literals are constants or
// in columns. The recording is not part of the repository.
func TestFormsOfRecordedExpressions(t *testing.T) {
	text, err := os.ReadFile("../../../../shared/oracle/sql/expressions.tsv")
	if err != nil {
		t.Skip(err)
	}
	registry := functions.NewRegistry()
	s := &expr.Session{Zone: time.UTC, Database: "db", Now: time.Unix(1e9, 0)}
	compared := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "\t")
		if cells[2] != "" || strings.Contains(cells[3], `\`) {
			continue
		}
		tree, err := parse.Expression(cells[3])
		if err != nil {
			continue
		}
		e, err := (&expr.Binder{Registry: registry, Session: s}).Expr(tree)
		if err != nil {
			var refused *expr.Error
			if !errors.As(err, &refused) {
				t.Errorf("%s: %v has no place", cells[3], err)
			}
			continue
		}
		if e.Type().Kind == types.Null || !steady(e) {
			continue
		}
		folded, err := evaluated(s, e, 0)
		inColumns, other := evaluated(s, e, 3)
		compared++
		if (err == nil) != (other == nil) && !needsConstant(other) || err == nil && other == nil && folded != inColumns {
			t.Errorf("%s: folded %s %v, in columns %s %v", cells[3], folded, err, inColumns, other)
		}
	}
	t.Logf("%d expressions compared", compared)
}
