package expr

import (
	"slices"

	"github.com/weirstream/weir/types"
)

// Common is the type that values of both types are converted to where a value may be
// either: branches of CASE, elements of ARRAY, rows of UNION. ok is false if there is
// none.
func Common(a, b types.Type) (t types.Type, ok bool) {
	nullable := a.Nullable || b.Nullable
	switch {
	case a.Kind == types.Null:
		return b.OrNull(), true
	case b.Kind == types.Null:
		return a.OrNull(), true
	case a.EqualButNull(b):
		t, ok = a, true
	case a.Kind.IsNumeric() && b.Kind.IsNumeric():
		t, ok = commonNumber(a, b), true
	case a.Kind.IsText() && b.Kind.IsText():
		t, ok = commonLength(a, b, types.Char, types.VarCharOf), true
	case a.Kind.IsBinary() && b.Kind.IsBinary():
		t, ok = commonLength(a, b, types.Binary, types.VarBinaryOf), true
	case a.Kind == b.Kind && a.Kind.IsDatetime():
		t, ok = a, true
		t.Precision = max(a.Precision, b.Precision)
	case a.Kind.IsTimestamp() && b.Kind.IsTimestamp():
		t, ok = commonTimestamp(a, b), true
	case a.Kind == b.Kind && a.Kind.IsInterval():
		t, ok = a, true
	case a.Kind == b.Kind:
		t, ok = commonParts(a, b)
	}
	return t.WithNull(nullable), ok
}

// commonTimestamp is the type of timestamps of which one has a zone: that of the second,
// unless both have the same precision.
func commonTimestamp(a, b types.Type) types.Type {
	t := a
	if a.Precision != b.Precision {
		t = b
	}
	t.Precision = max(a.Precision, b.Precision)
	return t
}

// Merged is the type that values of both types are converted to by functions that take
// several of one type, such as COALESCE and ARRAY_UNION: as Common, but a timestamp among
// dates or times of day gives up what they do not have, and the zone is kept where one of
// two timestamps has it.
func Merged(a, b types.Type) (t types.Type, ok bool) {
	nullable := a.Nullable || b.Nullable
	switch {
	case a.Kind == types.Array && b.Kind == types.Array:
		elem, ok := Merged(*a.Elem, *b.Elem)
		return types.ArrayOf(elem).WithNull(nullable), ok
	case a.Kind.IsTimestamp() && b.Kind.IsTimestamp() && a.Kind != b.Kind:
		t, ok = types.TimestampLTZOf(max(a.Precision, b.Precision)), true
	case a.Kind == types.Timestamp && (b.Kind == types.Date || b.Kind == types.Time):
		t, ok = b, true
	case b.Kind == types.Timestamp && (a.Kind == types.Date || a.Kind == types.Time):
		t, ok = a, true
	default:
		return Common(a, b)
	}
	return t.WithNull(nullable), ok
}

// commonLength is the type of texts or bytes of either length: of fixed length if both
// are of the same.
func commonLength(a, b types.Type, fixed types.Kind, variable func(int) types.Type) types.Type {
	if a.Kind == fixed && b.Kind == fixed && a.Length == b.Length {
		return a
	}
	return variable(max(a.Length, b.Length))
}

func commonParts(a, b types.Type) (t types.Type, ok bool) {
	t = a
	common := func(x, y *types.Type) *types.Type {
		if x == nil || y == nil {
			return nil
		}
		c, fits := Common(*x, *y)
		ok = ok && fits
		return &c
	}
	ok = true
	switch a.Kind {
	case types.Array, types.Multiset, types.Map:
		t.Key, t.Elem = common(a.Key, b.Key), common(a.Elem, b.Elem)
	case types.Row, types.Structured:
		if len(a.Fields) != len(b.Fields) || a.Name != b.Name {
			return t, false
		}
		t.Fields = slices.Clone(a.Fields)
		for i := range t.Fields {
			t.Fields[i].Type = *common(&a.Fields[i].Type, &b.Fields[i].Type)
		}
	default:
		return t, false
	}
	return t, ok
}

// CommonOf is Common of many types.
func CommonOf(all ...types.Type) (t types.Type, ok bool) {
	t = all[0]
	for _, u := range all[1:] {
		if t, ok = Common(t, u); !ok {
			return t, false
		}
	}
	return t, true
}

// unify converts arguments to the type that a rule gives them.
func (s *Site) unify(args []int, rule func(a, b types.Type) (types.Type, bool)) (types.Type, error) {
	t := s.Type(args[0])
	for _, i := range args[1:] {
		u, ok := rule(t, s.Type(i))
		if !ok {
			return t, s.Refuse("%s mixes values of %s and %s, which have no type in common", s.Fn.Name, t.Text(), s.Type(i).Text())
		}
		t = u
	}
	for _, i := range args {
		if err := s.Cast(i, t); err != nil {
			return t, err
		}
	}
	return t, nil
}

// Unify converts the arguments given to the type they have in common, or refuses.
func (s *Site) Unify(args ...int) (types.Type, error) { return s.unify(args, Common) }

// Merge converts the arguments given to the type that Merged gives them, or refuses.
func (s *Site) Merge(args ...int) (types.Type, error) { return s.unify(args, Merged) }
