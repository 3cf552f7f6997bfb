package expr

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/types"
)

// casts are CAST and TRY_CAST, and the casts that change nothing but the type.
func casts() []*Function {
	return []*Function{
		{Name: castName, Form: Operator, Category: "conversion", Usage: "CAST(a AS type)", Doc: "The value as another type; a value that has none there fails.", Nulls: Strict, Typed: true, Infer: inferTyped,
			Kernel: func(b *Bound) (Kernel, error) { return castKernel(b, b.Session.LegacyCast) }},
		{Name: tryCastName, Form: Operator, Category: "conversion", Usage: "TRY_CAST(a AS type)", Doc: "The value as another type; NULL if it has none there.", Nulls: Strict, Typed: true, Infer: inferTyped,
			Kernel: func(b *Bound) (Kernel, error) { return castKernel(b, true) }},
		{Name: retypeName, Form: Operator, Category: "conversion", Usage: "CAST(a AS type)", Doc: "A CAST to a type of which every value of a is one already.", Nulls: Own, Typed: true, Views: true, Infer: inferTyped, Kernel: copyKernel},
	}
}

// The names of casts.
const (
	castName    = "CAST"
	tryCastName = "TRY_CAST"
	retypeName  = "RETYPE"
)

// inferTyped refuses: calls of casts are made by Registry.Cast, which is told the type.
func inferTyped(s *Site) (types.Type, error) {
	return types.Type{}, s.Refuse("%s needs a type: %s", s.Fn.Name, s.Fn.Usage)
}

// Cast makes a cast without asking whether it may be written. The result is as
// nullable as the expression, or nullable if it is tried.
func (r *Registry) Cast(s *Session, e Expr, t types.Type, try bool, at ast.Span) (Expr, error) {
	from := e.Type()
	result := Resolved(t).WithNull(from.Nullable || try)
	name := castName
	switch {
	case from.Kind == types.Null:
		return Null(result, at), nil
	case from.Equal(result):
		return e, nil
	case retypes(from, result):
		name = retypeName
	case try:
		name = tryCastName
	}
	f, _ := r.Lookup(name)
	call := &Call{Fn: f, Args: []Expr{e}, T: result, At: at}
	if t.Kind.IsInterval() && from.Kind.IsInteger() {
		unit := intervalUnit(t.Resolution)
		call.Args = append(call.Args, Constant(types.Of(types.BigInt), unit))
	}
	return call, nil
}

// ExplicitCast makes a cast that was written, if there is one between the types.
func (r *Registry) ExplicitCast(s *Session, e Expr, t types.Type, try bool, at ast.Span) (Expr, error) {
	from := e.Type()
	if reason := refusal(from, t); reason != "" {
		return nil, Refuse(at, "%s", reason)
	}
	return r.Cast(s, e, t, try, at)
}

// Resolved is the type of values that are declared of t: intervals have months or
// seconds with three digits, and a time of day has three digits at most.
func Resolved(t types.Type) types.Type {
	switch t.Kind {
	case types.IntervalYearMonth:
		t.Resolution, t.Precision, t.Scale = types.Month, 0, 0
	case types.IntervalDayTime:
		t.Resolution, t.Precision, t.Scale = types.Second, 0, 3
	case types.Time:
		t.Precision = min(t.Precision, 3)
	}
	return t
}

// intervalUnit is what a number counts that is cast to an interval of one field.
func intervalUnit(r types.Resolution) int64 {
	switch r {
	case types.Year:
		return 12
	case types.Day:
		return 86_400_000
	case types.Hour:
		return 3_600_000
	case types.Minute:
		return 60_000
	case types.Second:
		return 1000
	}
	return 1
}

// retypes reports whether every value of a type lies in memory as it does in another.
func retypes(from, to types.Type) bool {
	switch {
	case from.EqualButNull(to):
		return true
	case from.Kind.IsText() && to.Kind == types.VarChar, from.Kind.IsBinary() && to.Kind == types.VarBinary:
		return to.Length >= from.Length
	case from.Kind.IsTimestamp() && from.Kind == to.Kind, from.Kind == types.Time && to.Kind == types.Time:
		return to.Precision >= from.Precision
	case from.Kind == types.Decimal && to.Kind == types.Decimal:
		return from.Scale == to.Scale && to.Precision >= from.Precision && isShort(from) == isShort(to)
	case from.Kind.IsInterval() && from.Kind == to.Kind:
		return true
	case from.Kind == to.Kind && (from.Kind.IsCollection() || from.Kind.IsComposite()):
		a, b := Parts(from), Parts(to)
		for i := range a {
			if len(a) != len(b) || !retypes(a[i], b[i]) {
				return false
			}
		}
		return len(a) == len(b)
	}
	return false
}

// refusal says why there is no cast from one type to another; empty if there is one.
func refusal(from, to types.Type) string {
	if from.Kind == types.Null || allowed(from, to) {
		return ""
	}
	reason := "there is no cast from " + from.Text() + " to " + to.Text()
	switch {
	case from.Kind.IsNumeric() && to.Kind == types.Timestamp:
		return reason + "; use TO_TIMESTAMP(FROM_UNIXTIME(number))"
	case from.Kind.IsNumeric() && to.Kind == types.TimestampLTZ:
		return reason + "; use TO_TIMESTAMP_LTZ(number, 0 for seconds or 3 for milliseconds)"
	case from.Kind.IsTimestamp() && to.Kind.IsNumeric():
		return reason + "; use UNIX_TIMESTAMP(CAST(timestamp AS STRING))"
	}
	return reason
}

// allowed is the table of casts that may be written.
func allowed(from, to types.Type) bool {
	f, t := from.Kind, to.Kind
	switch {
	case f == types.Variant || t == types.Variant:
		return false
	case t.IsText():
		return true
	case f.IsText():
		return t == types.Boolean || t.IsNumeric() || t.IsBinary() || t.IsDatetime()
	case f.IsNumeric() && t.IsInterval():
		return f.IsInteger() && oneField(to.Resolution)
	case f == types.Boolean || f.IsNumeric():
		return t == types.Boolean || t.IsNumeric()
	case f.IsBinary():
		return t.IsBinary()
	case f == types.Date:
		return t == types.Date || t.IsTimestamp()
	case f == types.Time:
		return t == types.Time || t.IsTimestamp()
	case f.IsTimestamp():
		return t.IsDatetime()
	case f.IsInterval():
		return f == t
	case f.IsCollection() || f.IsComposite():
		return f == t && allowedParts(from, to)
	}
	return f == t
}

// oneField reports whether an interval has a single field.
func oneField(r types.Resolution) bool {
	switch r {
	case types.Year, types.Month, types.Day, types.Hour, types.Minute, types.Second:
		return true
	}
	return false
}

func allowedParts(from, to types.Type) bool {
	a, b := Parts(from), Parts(to)
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		switch narrows := a[i].Nullable && !b[i].Nullable; {
		case a[i].Kind == types.Null:
		case !allowed(a[i], b[i]), narrows && from.Kind != types.Array:
			return false
		case b[i].Kind == types.Boolean && (a[i].Kind == types.Decimal || a[i].Kind.IsApproximate()):
			return false
		}
	}
	return true
}

// failure is told that value i cannot be converted. It makes the value NULL and gives
// nil, or gives the error that ends the conversion.
type failure func(i int, err error) error

// convert writes the rows of out, none of which is NULL in the column given.
type convert func(out, in *batch.Column, rows Rows, fail failure) error

// castKernel converts, making NULL what fails if it is tried.
func castKernel(b *Bound, try bool) (Kernel, error) {
	c, err := converter(b.Args[0], b.T, b.Session)
	if err != nil {
		return nil, err
	}
	if len(b.Args) > 1 {
		c = times(b.Constants[1].I64[0], b.Args[0], b.T)
	}
	if !try {
		return func(out *batch.Column, args []*batch.Column, rows Rows) error {
			return c(out, args[0], rows, AtRowFailure)
		}, nil
	}
	var into *batch.Column
	null := func(i int, _ error) error {
		into.SetNull(i)
		return nil
	}
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		into = out
		return c(out, args[0], rows, null)
	}, nil
}

// AtRowFailure ends a conversion at the row.
func AtRowFailure(i int, err error) error { return AtRow(i, err) }
