package optimize

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
)

// asked tells the connector of a table the conditions that let it leave out rows without
// reading them: those that need nothing but the partition columns, and all where files say
// of themselves which values they have. They stay above the scan too.
func asked(n *logical.Scan, conditions []expr.Expr) *logical.Scan {
	scan := *n
	for _, condition := range conditions {
		if partitioned(n, condition) || bounded(n, condition) {
			scan.Filters = append(slices.Clone(scan.Filters), condition)
		}
	}
	return &scan
}

// partitioned reports whether a condition can be decided by the partition alone.
func partitioned(n *logical.Scan, condition expr.Expr) bool {
	if len(n.Table.Partitions) == 0 || volatile(condition) {
		return false
	}
	some, only := false, true
	expr.Walk(condition, func(e expr.Expr) bool {
		switch e := e.(type) {
		case *expr.Input:
			some = true
			only = only && slices.Contains(n.Table.Partitions, n.Table.Schema.Columns[n.Columns[e.Index]].Name)
		case *expr.Call, *expr.Literal:
		default:
			only = false
		}
		return only
	})
	return some && only
}

// bounded reports whether a table's files note the least and greatest values of their
// parts, as those of Parquet, and a condition can be held against them.
func bounded(n *logical.Scan, condition expr.Expr) bool {
	if n.Table.Options["format"] != "parquet" || volatile(condition) {
		return false
	}
	some, only := false, true
	expr.Walk(condition, func(e expr.Expr) bool {
		switch e.(type) {
		case *expr.Input:
			some = true
		case *expr.Call, *expr.Literal:
		default:
			only = false
		}
		return only
	})
	return some && only
}
