package main

import (
	_ "embed"
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/bind"
	"github.com/weirstream/weir/internal/sql/connector"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

//go:embed statement-exceptions.tsv
var statementExceptionsFile string

//go:embed query-exceptions.tsv
var queryExceptionsFile string

// declared is a connector whose tables are only planned for.
type declared struct{ d connector.Declaration }

// Declaration is what the connector says of itself.
func (d declared) Declaration() connector.Declaration { return d.d }

// Source refuses.
func (d declared) Source(*plan.Scan, *expr.Session) (exec.End, error) {
	return exec.End{}, fmt.Errorf("the table is only planned for")
}

// Sink refuses.
func (d declared) Sink(*plan.Write, *expr.Session) (exec.End, error) {
	return exec.End{}, fmt.Errorf("the table is only planned for")
}

// Declaration is what the recordings show of their connector.
func (m *memory) Declaration() connector.Declaration {
	return connector.Declaration{Source: true, Sink: true, Required: []string{"id"}, Optional: []string{"changelog", "lookup", "bounded"},
		Changes: func(options map[string]string) string { return options["changelog"] }}
}

// harnessFunctions are the user functions of the recordings, by their classes.
func harnessFunctions(class string) (*expr.Function, bool) {
	switch class {
	case "oracle.MyFn":
		return &expr.Function{Name: "MYFN", Usage: "myf(a => INT)", Volatility: expr.Stable,
			Infer: func(s *expr.Site) (types.Type, error) {
				if err := s.Count(1, 1); err != nil {
					return types.Type{}, err
				}
				if !s.Kind(0).IsNumeric() {
					return types.Type{}, s.NoMatch("INT")
				}
				return types.Of(types.Int), nil
			},
			Kernel: func(*expr.Bound) (expr.Kernel, error) {
				return func(out *batch.Column, args []*batch.Column, rows expr.Rows) error {
					return rows.Each(func(i int) error { out.I32[i] = args[0].I32[i]; return nil })
				}, nil
			}}, true
	case "oracle.MyTf":
		return &expr.Function{Name: "MYTF", Usage: "mytf(a => STRING)", Category: bind.TableFunction, Volatility: expr.Stable,
			Infer: func(s *expr.Site) (types.Type, error) {
				if err := s.Count(1, 1); err != nil {
					return types.Type{}, err
				}
				if !s.Kind(0).IsText() {
					return types.Type{}, s.NoMatch("STRING")
				}
				row := types.RowOf(types.Field{Name: "w", Type: types.String()}, types.Field{Name: "n", Type: types.Of(types.Int)})
				return types.ArrayOf(row), nil
			},
			Kernel: func(*expr.Bound) (expr.Kernel, error) {
				return func(*batch.Column, []*batch.Column, expr.Rows) error { return fmt.Errorf("mytf is only planned for") }, nil
			}}, true
	}
	return nil, false
}
