package bind

import (
	"math"
	"slices"
	"strconv"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
)

// order binds ORDER BY over the list: an item is a place in it, an alias, an expression
// of it, or any other over the same rows, which becomes a column that nobody sees.
func (s *selecting) order(items []*ast.OrderItem, distinct bool) ([]logical.SortKey, error) {
	var keys []logical.SortKey
	visible := len(s.exprs)
	for _, item := range items {
		column, err := s.ordered(item.Expr, visible)
		if err != nil {
			return nil, err
		}
		if column >= visible && distinct {
			return nil, expr.Refuse(item.Expr.Range(), "with SELECT DISTINCT, ORDER BY can only use what is in the list")
		}
		keys = append(keys, sortKey(column, item))
	}
	return keys, nil
}

// sortKey is a column with its order: NULL is less than all values, unless it is said
// otherwise.
func sortKey(column int, item *ast.OrderItem) logical.SortKey {
	k := logical.SortKey{Column: column, Descending: item.Descending, NullsLast: item.Descending}
	if item.Nulls != "" {
		k.NullsLast = item.Nulls == "LAST"
	}
	return k
}

func (s *selecting) ordered(e ast.Expr, visible int) (int, error) {
	if column, ok, err := ordinal(e, visible); ok || err != nil {
		return column, err
	}
	if name, ok := e.(*ast.Identifier); ok && len(name.Parts) == 1 {
		if i := slices.Index(s.names[:visible], name.Parts[0].Text); i >= 0 {
			return i, nil
		}
	}
	bound, err := s.b.expression(e, &aliased{s, visible})
	if err != nil {
		return 0, err
	}
	for i, other := range s.exprs {
		if other.String() == bound.String() {
			return i, nil
		}
	}
	s.exprs, s.names = append(s.exprs, bound), append(s.names, s.unused("$order"+strconv.Itoa(len(s.exprs))))
	return len(s.exprs) - 1, nil
}

// ordinal is the column that a whole number stands for; ok is false if e is none.
func ordinal(e ast.Expr, columns int) (column int, ok bool, err error) {
	n, is := e.(*ast.NumberLiteral)
	if !is {
		return 0, false, nil
	}
	i, err := strconv.Atoi(n.Text)
	if err != nil || i < 1 || i > columns {
		return 0, false, expr.Refuse(n.Span, "Ordinal out of range: there are %d columns", columns)
	}
	return i - 1, true, nil
}

// aliased is the scope of ORDER BY: the aliases of the list come before columns.
type aliased struct {
	*selecting
	visible int
}

// Column resolves an alias or a column.
func (s *aliased) Column(parts []ast.Name) (expr.Expr, int, error) {
	if i := slices.Index(s.names[:s.visible], parts[0].Text); i >= 0 {
		return s.exprs[i], 1, nil
	}
	return s.selecting.Column(parts)
}

// orderResult orders and limits the result of a query that is no SELECT by itself.
func (b *binder) orderResult(plan logical.Node, q *ast.Query, ctes *commonTables) (logical.Node, error) {
	if len(q.OrderBy) == 0 && q.Offset == nil && q.Fetch == nil {
		return plan, nil
	}
	from := &scope{b: b, ctes: ctes}
	from.add(nil, plan.Fields())
	s := &selecting{b: b, from: from, plan: plan, exprs: all(plan.Fields()), names: fieldNames(plan.Fields())}
	s.over = &windows{b: b, s: s}
	visible := len(s.exprs)
	keys, err := s.order(q.OrderBy, false)
	if err != nil {
		return nil, err
	}
	if plan, err = limit(project(plan, s.exprs, s.names), keys, q); err != nil || len(s.exprs) == visible {
		return plan, err
	}
	fields := plan.Fields()[:visible]
	return &logical.Project{Input: plan, Exprs: all(fields), Names: fieldNames(fields)}, nil
}

// limit orders a plan, and leaves rows out as OFFSET and FETCH say.
func limit(plan logical.Node, keys []logical.SortKey, q *ast.Query) (logical.Node, error) {
	offset, err := count(q.Offset)
	if err != nil {
		return nil, err
	}
	fetch, err := count(q.Fetch)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 && offset <= 0 && fetch < 0 {
		return plan, nil
	}
	return &logical.Sort{Input: plan, Keys: keys, Offset: max(0, offset), Fetch: fetch}, nil
}

// count is a number of rows; -1: it is not said.
func count(e ast.Expr) (int64, error) {
	if e == nil {
		return -1, nil
	}
	n, ok := e.(*ast.NumberLiteral)
	if !ok {
		return 0, expr.Refuse(e.Range(), "a number of rows must be a whole number")
	}
	i, err := strconv.ParseInt(n.Text, 10, 64)
	if err != nil || i > math.MaxInt32 {
		return 0, expr.Refuse(e.Range(), "a number of rows must be a whole number up to %d, and this is %s", math.MaxInt32, n.Text)
	}
	return i, nil
}
