package expr

import (
	"github.com/weirstream/weir/types"
)

// AsDecimal is the DECIMAL that holds every value of an exact number.
func AsDecimal(t types.Type) types.Type {
	digits := 0
	switch t.Kind {
	case types.TinyInt:
		digits = 3
	case types.SmallInt:
		digits = 5
	case types.Int:
		digits = 10
	case types.BigInt:
		digits = 19
	default:
		return t
	}
	return types.DecimalOf(digits, 0).WithNull(t.Nullable)
}

// adjusted brings a precision and a scale to 38 digits at most: the scale gives way,
// down to 6 digits or what it had.
func adjusted(precision, scale int) types.Type {
	if precision <= types.MaxPrecision {
		return types.DecimalOf(precision, scale)
	}
	whole := precision - scale
	return types.DecimalOf(types.MaxPrecision, max(types.MaxPrecision-whole, min(scale, 6)))
}

// sumType is the type of a + b and a - b.
func sumType(a, b types.Type) types.Type {
	scale := max(a.Scale, b.Scale)
	return adjusted(max(a.Precision-a.Scale, b.Precision-b.Scale)+scale+1, scale)
}

// productType is the type of a * b.
func productType(a, b types.Type) types.Type {
	return adjusted(a.Precision+b.Precision+1, a.Scale+b.Scale)
}

// quotientType is the type of a / b.
func quotientType(a, b types.Type) types.Type {
	scale := max(6, a.Scale+b.Precision+1)
	return adjusted(a.Precision-a.Scale+b.Scale+scale, scale)
}

// remainderType is the type of a % b.
func remainderType(a, b types.Type) types.Type {
	scale := max(a.Scale, b.Scale)
	return adjusted(min(a.Precision-a.Scale, b.Precision-b.Scale)+scale, scale)
}

// commonNumber is the type that both numbers are converted to where a value may be
// either: in CASE, in comparisons, in collections.
func commonNumber(a, b types.Type) types.Type {
	switch {
	case a.Kind == b.Kind && a.Kind != types.Decimal:
		return a
	case a.Kind.IsApproximate() || b.Kind.IsApproximate():
		if a.Kind == types.Float && b.Kind.IsInteger() || b.Kind == types.Float && a.Kind.IsInteger() {
			return types.Of(types.Float)
		}
		return types.Of(types.Double)
	case a.Kind.IsInteger() && b.Kind.IsInteger():
		return types.Of(max(a.Kind, b.Kind))
	}
	a, b = AsDecimal(a), AsDecimal(b)
	scale := max(a.Scale, b.Scale)
	whole := max(a.Precision-a.Scale, b.Precision-b.Scale)
	if whole+scale > types.MaxPrecision {
		scale = max(types.MaxPrecision-whole, 0)
	}
	return types.DecimalOf(min(whole+scale, types.MaxPrecision), scale)
}
