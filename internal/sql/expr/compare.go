package expr

import (
	"github.com/weirstream/weir/types"
)

// comparison are the operators that compare two values.
func comparison() []*Function {
	operator := func(name, usage, doc string, test Order, nulls Nulls) *Function {
		f := &Function{Name: name, Form: Operator, Category: "comparison", Usage: usage, Doc: doc, Nulls: nulls}
		f.Infer = func(s *Site) (types.Type, error) {
			if err := s.Count(2, 2); err != nil {
				return types.Type{}, err
			}
			if err := s.comparable(test); err != nil {
				return types.Type{}, err
			}
			return types.Of(types.Boolean).WithNull(nulls != Own && s.Nullable()), nil
		}
		f.Kernel = func(b *Bound) (Kernel, error) { return comparisonKernel(b, test, nulls == Own) }
		return f
	}
	return []*Function{
		operator("=", "a = b", "Whether the values are equal; NULL if one is NULL.", Equal, Strict),
		operator("<>", "a <> b", "Whether the values differ; NULL if one is NULL.", Unequal, Strict),
		operator("<", "a < b", "Whether a is less than b.", Less, Strict),
		operator("<=", "a <= b", "Whether a is not greater than b.", LessOrEqual, Strict),
		operator(">", "a > b", "Whether a is greater than b.", Greater, Strict),
		operator(">=", "a >= b", "Whether a is not less than b.", GreaterOrEqual, Strict),
		operator("IS DISTINCT FROM", "a IS DISTINCT FROM b", "Whether the values differ, where NULL is a value like others.", Unequal, Own),
		operator("IS NOT DISTINCT FROM", "a IS NOT DISTINCT FROM b", "Whether the values are equal, where NULL is a value like others.", Equal, Own),
	}
}

// Order is what a comparison asks: a set of outcomes.
type Order uint8

// The questions.
const (
	Less           Order = 1
	Equal          Order = 2
	Greater        Order = 4
	LessOrEqual          = Less | Equal
	GreaterOrEqual       = Greater | Equal
	// Unequal is also the answer where values have no order, as NaN has none.
	Unequal = Less | Greater
)

// isEquality reports whether the question is only whether values are equal.
func (o Order) isEquality() bool { return o == Equal || o == Unequal }

// comparable converts the two arguments to one type in which they can be compared.
// Decimals keep their own scales.
func (s *Site) comparable(test Order) error {
	a, b := s.Type(0), s.Type(1)
	switch {
	case a.Kind == types.Null && b.Kind == types.Null:
		boolean := types.Of(types.Boolean)
		return s.castBoth(boolean, boolean)
	case a.Kind == types.Null:
		return s.Cast(0, b)
	case b.Kind == types.Null:
		return s.Cast(1, a)
	case a.Kind.IsNumeric() && b.Kind.IsNumeric():
		return s.comparableNumbers(a, b)
	case a.Kind.IsText() && b.Kind.IsText(), a.Kind.IsBinary() && b.Kind.IsBinary(), a.Kind.IsTimestamp() && a.Kind == b.Kind, a.Kind == b.Kind && a.Kind.IsInterval():
		return nil
	case a.Kind.IsText():
		return s.comparableText(0, 1, test)
	case b.Kind.IsText():
		return s.comparableText(1, 0, test)
	case a.Kind.IsTimestamp() && b.Kind.IsTimestamp():
		return s.castBoth(types.TimestampLTZOf(a.Precision), types.TimestampLTZOf(b.Precision))
	case a.Kind == b.Kind && (a.Kind.IsCollection() || a.Kind.IsComposite()):
		return s.comparableParts(a, b, test)
	case a.Kind == b.Kind && a.Kind != types.Raw && (a.Kind != types.Variant && a.Kind != types.Bitmap || test.isEquality()):
		return nil
	}
	return s.NoMatch("two values that can be compared")
}

func (s *Site) comparableNumbers(a, b types.Type) error {
	if !a.Kind.IsApproximate() && !b.Kind.IsApproximate() && (a.Kind == types.Decimal || b.Kind == types.Decimal) {
		return s.castBoth(AsDecimal(a), AsDecimal(b))
	}
	t := commonNumber(a, b)
	return s.castBoth(t, t)
}

// comparableText converts a text and another value. Equality is that of texts, of
// which numbers have none; but a constant text that can be read as a date or time
// is one. An order is that of the other value's type.
func (s *Site) comparableText(text, other int, test Order) error {
	t := s.Type(other)
	switch {
	case t.Kind.IsBinary() || !t.Kind.IsNumeric() && !t.Kind.IsDatetime() && t.Kind != types.Boolean:
		return s.NoMatch("two values that can be compared")
	case t.Kind == types.Decimal:
		t = types.DecimalOf(types.MaxPrecision, types.MaxShortPrecision)
	}
	if !test.isEquality() {
		return s.Cast(text, t)
	}
	if t.Kind.IsNumeric() {
		return s.Refuse("%s cannot compare %s with %s: cast one of them", s.Fn.Name, s.Type(0).Text(), s.Type(1).Text())
	}
	if _, constant := s.Constant(text); constant && t.Kind.IsDatetime() {
		if read, ok := s.readAs(text, t); ok {
			s.Args[text] = read
			return nil
		}
	}
	return s.Cast(other, types.String())
}

// readAs is the value of a constant text as another type, if it can be read as one.
func (s *Site) readAs(arg int, t types.Type) (Expr, bool) {
	e, err := s.Registry.implicit(s.Session, s.Args[arg], t)
	if err != nil {
		return nil, false
	}
	l, ok := Fold(e, s.Session).(*Literal)
	return l, ok
}

// comparableParts converts two collections or rows: their parts must be comparable,
// and only for equality.
func (s *Site) comparableParts(a, b types.Type, test Order) error {
	if !test.isEquality() {
		return s.NoMatch("= and <> for collections and rows")
	}
	t, ok := Common(a, b)
	if !ok {
		return s.NoMatch("two values that can be compared")
	}
	return s.castBoth(t, t)
}
