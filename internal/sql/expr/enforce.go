package expr

import (
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// requireName is that of the function that lets a column of a table that is NOT NULL be
// written. No statement can call it.
const requireName = "$REQUIRE"

// enforcers are the functions that stand before tables that are written.
func enforcers() []*Function {
	return []*Function{{Name: requireName, Form: Operator, Category: "conversion", Usage: "INSERT INTO t", Doc: "The value, which is written to a column that is NOT NULL; NULL fails.", Nulls: Own, Volatility: PerRow, Views: true,
		Infer: func(s *Site) (types.Type, error) { return s.Args[0].Type().NotNull(), s.Count(2, 2) }, Kernel: requireKernel}}
}

// Require is a value that fails where it is NULL, naming the column that it is written to.
func (r *Registry) Require(s *Session, e Expr, column string) (Expr, error) {
	return r.Call(s, requireName, e.Span(), e, Text(column))
}

func requireKernel(b *Bound) (Kernel, error) {
	copied, err := copyKernel(b)
	if err != nil {
		return nil, err
	}
	column, _ := b.ConstantText(1)
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		err := rows.Each(func(i int) error {
			if args[0].IsNull(i) {
				return AtRow(i, fmt.Errorf("Column '%s' is NOT NULL, however, a null value is being written into it. You can set job configuration 'table.exec.sink.not-null-enforcer'='DROP' to suppress this exception and drop such records silently.", column)) //lint:ignore ST1005 Flink's words
			}
			return nil
		})
		if err != nil {
			return err
		}
		return copied(out, args[:1], rows)
	}, nil
}
