package expr

import (
	"github.com/weirstream/weir/types"
)

// arithmetic are the operators on numbers; + - * / are those on dates, times and
// intervals as well.
func arithmetic() []*Function {
	operator := func(name, usage, doc string, nulls Nulls, infer func(*Site) (types.Type, error), kernel func(*Bound) (Kernel, error)) *Function {
		return &Function{Name: name, Form: Operator, Category: "arithmetic", Usage: usage, Doc: doc, Infer: infer, Nulls: nulls, Kernel: kernel}
	}
	mod := operator("%", "a % b", "What a / b leaves, with the sign of a.", Strict, inferRemainder, remainderKernel)
	mod.Aliases = []string{"MOD"}
	return []*Function{
		operator("+", "a + b", "The sum. Integers wrap around; a DECIMAL of too many digits is NULL.", Total, inferSum, sumKernel),
		operator("-", "a - b", "The difference.", Total, inferDifference, differenceKernel),
		operator("*", "a * b", "The product.", Total, inferProduct, productKernel),
		operator("/", "a / b", "The quotient; that of integers is cut to a whole number.", Strict, inferQuotient, quotientKernel),
		mod,
		operator("NEGATE", "-a", "The number with the other sign.", Total, inferSigned, negateKernel),
		operator("PLUS", "+a", "The number itself.", Total, inferPlus, negateKernel),
	}
}

// numbers converts two numbers to what they are computed in, and gives the result's
// type; decimals keep their own scales, and combine says the result's.
func (s *Site) numbers(combine func(a, b types.Type) types.Type) (types.Type, error) {
	a, b := s.Type(0), s.Type(1)
	if !a.Kind.IsNumeric() || !b.Kind.IsNumeric() {
		return types.Type{}, s.NoMatch("two numbers")
	}
	t := types.Of(max(a.Kind, b.Kind))
	switch {
	case a.Kind.IsApproximate() || b.Kind.IsApproximate():
		t = approximate(a, b)
	case a.Kind == types.Decimal || b.Kind == types.Decimal:
		a, b = AsDecimal(a), AsDecimal(b)
		if err := s.castBoth(a, b); err != nil {
			return types.Type{}, err
		}
		return combine(a, b).WithNull(s.Nullable()), nil
	}
	return t.WithNull(s.Nullable()), s.castBoth(t, t)
}

// approximate is the type of a result one of whose operands is a floating-point
// number: the left one's if both are, DOUBLE with a DECIMAL.
func approximate(a, b types.Type) types.Type {
	switch {
	case a.Kind == types.Decimal || b.Kind == types.Decimal:
		return types.Of(types.Double)
	case a.Kind.IsApproximate():
		return types.Of(a.Kind)
	}
	return types.Of(b.Kind)
}

func (s *Site) castBoth(a, b types.Type) error {
	if err := s.Cast(0, a); err != nil {
		return err
	}
	return s.Cast(1, b)
}

// operands refuses a call whose number of operands is wrong, or one of which is a
// NULL without a type.
func (s *Site) operands(n int) error {
	if err := s.Count(n, n); err != nil {
		return err
	}
	return s.NoBareNull()
}

// NoBareNull refuses a NULL whose type nothing says.
func (s *Site) NoBareNull() error {
	for i := range s.Args {
		if s.Kind(i) == types.Null {
			return Refuse(s.Args[i].Span(), "illegal use of NULL: nothing here says its type; write CAST(NULL AS type)")
		}
	}
	return nil
}

func inferSum(s *Site) (types.Type, error) {
	if err := s.operands(2); err != nil {
		return types.Type{}, err
	}
	if s.temporal() {
		return s.temporalSum()
	}
	return s.numbers(sumType)
}

func inferDifference(s *Site) (types.Type, error) {
	if err := s.operands(2); err != nil {
		return types.Type{}, err
	}
	if s.temporal() {
		return s.temporalDifference()
	}
	return s.numbers(sumType)
}

func inferProduct(s *Site) (types.Type, error) {
	if err := s.operands(2); err != nil {
		return types.Type{}, err
	}
	if s.temporal() {
		return s.temporalProduct()
	}
	return s.numbers(productType)
}

func inferQuotient(s *Site) (types.Type, error) {
	if err := s.operands(2); err != nil {
		return types.Type{}, err
	}
	if s.Kind(0).IsInterval() {
		return s.temporalQuotient()
	}
	return s.numbers(quotientType)
}

// inferRemainder gives the right operand's type for whole numbers.
func inferRemainder(s *Site) (types.Type, error) {
	if err := s.operands(2); err != nil {
		return types.Type{}, err
	}
	if !s.Kind(0).IsExact() || !s.Kind(1).IsExact() {
		return types.Type{}, s.NoMatch("two exact numbers")
	}
	left, right := AsDecimal(s.Type(0)), s.Type(1)
	t, err := s.numbers(remainderType)
	if left.Scale == 0 && AsDecimal(right).Scale == 0 {
		t = right.WithNull(t.Nullable)
	}
	return t, err
}

func inferSigned(s *Site) (types.Type, error) {
	if err := s.operands(1); err != nil {
		return types.Type{}, err
	}
	if k := s.Kind(0); !k.IsNumeric() && !k.IsInterval() {
		return types.Type{}, s.NoMatch("a number or an interval")
	}
	return s.Type(0), nil
}

func inferPlus(s *Site) (types.Type, error) {
	t, err := inferSigned(s)
	if err == nil {
		s.Instead = s.Args[0]
	}
	return t, err
}
