package expr

import (
	"cmp"
	"slices"

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

// comparableText converts a text and another value. An order is that of the other
// value's type. Equality is that of dates and times where the other value is one: a text
// that cannot be read so is equal to none. Intervals and BOOLEANs are equal to no text,
// and numbers cannot be asked.
func (s *Site) comparableText(text, other int, test Order) error {
	t := s.Type(other)
	switch {
	case (t.Kind.IsInterval() || t.Kind == types.Boolean) && test.isEquality():
		return s.never()
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
	return s.readAs(text, t)
}

// readAs tries to read a text as a date or time. Where it cannot be read the answer is
// NULL, but FALSE for a constant text and a value that is never NULL. Where NULL is a value
// like others, a text that is none of the values is distinct from those that may be NULL.
func (s *Site) readAs(text int, t types.Type) error {
	given, nullable := s.Args, s.Nullable()
	read, err := s.Registry.Cast(s.Session, given[text], t, true, given[text].Span())
	if err != nil {
		return err
	}
	l, constant := Fold(read, s.Session).(*Literal)
	if constant && !l.Value.IsNull(0) {
		read = &Literal{T: t.NotNull(), Value: l.Value, At: given[text].Span()}
	}
	s.Args = slices.Clone(given)
	s.Args[text] = read
	strict := map[string]string{"IS DISTINCT FROM": "<>", "IS NOT DISTINCT FROM": "="}[s.Fn.Name]
	if !read.Type().Nullable || strict == "" && (nullable || !constant) {
		return nil
	}
	b := builder{site: s}
	s.Instead = b.call("COALESCE", b.call(cmp.Or(strict, s.Fn.Name), s.Args...), Constant(types.Of(types.Boolean), nullable && strict == "<>"))
	if nullable {
		x, y := b.call("IS NULL", given[0]), b.call("IS NULL", given[1])
		s.Instead = b.call("CASE", b.call("OR", x, y), b.call(strict, x, y), s.Instead)
	}
	return b.err
}

// never compares two values that are never equal: only whether they are NULL counts.
func (s *Site) never() error {
	b := builder{site: s}
	for i, text := range []string{"a", "b"} {
		known := Text(text)
		if !s.Type(i).Nullable {
			s.Args[i] = known
			continue
		}
		s.Args[i] = b.call("CASE", b.call("IS NULL", s.Args[i]), Null(known.Type().OrNull(), s.At), known)
	}
	return b.err
}

// builder makes calls at the place of a site until one is refused.
type builder struct {
	site *Site
	err  error
}

func (b *builder) call(name string, args ...Expr) Expr {
	if b.err != nil {
		return nil
	}
	var e Expr
	e, b.err = b.site.Registry.Call(b.site.Session, name, b.site.At, args...)
	return e
}

// comparableParts converts two collections or rows, only for equality. Arrays of what has
// nothing in common are never equal if one could be cast to the other; else such are
// refused.
func (s *Site) comparableParts(a, b types.Type, test Order) error {
	if !test.isEquality() {
		return s.NoMatch("= and <> for collections and rows")
	}
	t, ok := Common(a, b)
	switch {
	case !ok && a.Kind == types.Array && refusal(b, a) == "":
		return s.never()
	case !ok:
		return s.NoMatch("two values that can be compared")
	}
	return s.castBoth(t, t)
}
