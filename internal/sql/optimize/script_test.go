package optimize_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/bind"
	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/estimate"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/optimize"
	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/types"
)

// Scripts of testdata: "table name rows=N" makes a table of the INT columns of the input
// and texts that begin with t_; "optimize" shows what becomes of a query, and "rule"
// what it is before and after one rule.
func TestScripts(t *testing.T) {
	rules := map[string]func(*optimize.Context, logical.Node) logical.Node{
		"FactorDisjunctions": optimize.FactorDisjunctions, "PushFilters": optimize.PushFilters, "OrderJoins": optimize.OrderJoins,
		"PruneColumns": optimize.PruneColumns, "MergeProjects": optimize.MergeProjects, "LowerSemiJoins": optimize.LowerSemiJoins, "Subqueries": optimize.Subqueries,
	}
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		names := catalog.NewManager()
		o := bind.Options{Catalog: names, Registry: builtin.Registry(), Session: &expr.Session{Zone: time.UTC}}
		c := &optimize.Context{Registry: o.Registry, Session: o.Session, Estimate: estimate.New(func(s *logical.Scan) (float64, bool) {
			return float64(s.Table.Statistics.Rows), true
		})}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "table" {
				makeTable(t, names, d)
				return ""
			}
			statement, err := parse.Statement(d.Input)
			if err != nil {
				return err.Error()
			}
			n, err := bind.Query(o, statement.(*ast.Query))
			if err != nil {
				return err.Error()
			}
			if d.Cmd == "optimize" {
				return logical.Text(optimize.Optimize(c, n))
			}
			for _, name := range []string{"Subqueries", "PushFilters"} { // which the others follow
				if name != d.CmdArgs[0].Key && d.CmdArgs[0].Key != "FactorDisjunctions" {
					n = rules[name](c, n)
				}
			}
			return logical.Text(n) + "becomes\n" + logical.Text(rules[d.CmdArgs[0].Key](c, n))
		})
	})
}

func makeTable(t *testing.T, names *catalog.Manager, d *datadriven.TestData) {
	table := &catalog.Table{Statistics: &catalog.Statistics{}}
	name := ""
	for _, a := range d.CmdArgs {
		if a.Key != "rows" {
			name = a.Key
			continue
		}
		rows, err := strconv.ParseInt(a.Vals[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		table.Statistics.Rows = rows
	}
	for _, column := range strings.Fields(d.Input) {
		kind := types.Of(types.Int)
		if strings.HasPrefix(column, "t_") {
			kind = types.String()
		}
		table.Schema.Columns = append(table.Schema.Columns, catalog.Column{Name: column, Type: kind})
	}
	path, err := names.Qualify([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := names.CreateTable(path, table, false); err != nil {
		t.Fatal(err)
	}
}
