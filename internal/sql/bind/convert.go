package bind

import (
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// unify gives expressions the type that they have in common, each with its own
// nullability.
func (b *binder) unify(list []expr.Expr, at ast.Span) error {
	all := make([]types.Type, len(list))
	for i, e := range list {
		all[i] = e.Type()
	}
	common, ok := expr.CommonOf(all...)
	if !ok {
		return expr.Refuse(at, "values of %s have no type in common", typeList(all))
	}
	for i, e := range list {
		cast, err := b.Registry.Cast(b.Session, e, common, false, e.Span())
		if err != nil {
			return err
		}
		list[i] = cast
	}
	return nil
}

func typeList(all []types.Type) string {
	text := ""
	for i, t := range all {
		switch {
		case i == 0:
		case i == len(all)-1:
			text += " and "
		default:
			text += ", "
		}
		text += t.Text()
	}
	return text
}

// assign converts a value to the type of the column that it is written to, if values of
// its type may be written there.
func (b *binder) assign(e expr.Expr, t types.Type) (expr.Expr, error) {
	if from := e.Type(); !assignable(from, t) {
		return nil, expr.Refuse(e.Span(), "a value of type %s cannot be written to a column of type %s", from.Text(), t.Text())
	}
	return b.Registry.Cast(b.Session, e, t, false, e.Span())
}

// assignable reports whether values of a type may be written to a column of another
// without a cast: within texts, bytes, numbers and times.
func assignable(from, to types.Type) bool {
	f, t := from.Kind, to.Kind
	switch {
	case f == types.Null:
		return true
	case f == types.Array && t == types.Array, f == types.Multiset && t == types.Multiset:
		return assignable(*from.Elem, *to.Elem)
	case f == types.Map && t == types.Map:
		return assignable(*from.Key, *to.Key) && assignable(*from.Elem, *to.Elem)
	case f.IsComposite() && t.IsComposite():
		if len(from.Fields) != len(to.Fields) {
			return false
		}
		for i := range from.Fields {
			if !assignable(from.Fields[i].Type, to.Fields[i].Type) {
				return false
			}
		}
		return true
	}
	if f == types.VarChar && t == types.Char { // a length that is not known is not cut
		return false
	}
	return f == t || f.IsNumeric() && t.IsNumeric() && (f < t || t == types.Decimal || f == types.Decimal && t.IsApproximate()) || f.IsText() && t.IsText() || f.IsBinary() && t.IsBinary() ||
		f.IsTimestamp() && t.IsTimestamp() || f == types.Timestamp && (t == types.Date || t == types.Time)
}
