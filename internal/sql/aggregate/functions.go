package aggregate

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// Functions are all of them, for a registry.
func Functions() []*expr.Function {
	return slices.Concat(numbers(), values(), collections(), bitmaps(), ranks())
}

// Valued reports whether an aggregate of no rows has a value; that of the others is NULL.
func Valued(f *expr.Function) bool {
	switch f.Name {
	case "COUNT", "APPROX_COUNT_DISTINCT", "COLLECT", "$SUM0", "JSON_OBJECTAGG_NULL_ON_NULL", "JSON_OBJECTAGG_ABSENT_ON_NULL", "JSON_ARRAYAGG_NULL_ON_NULL", "JSON_ARRAYAGG_ABSENT_ON_NULL":
		return true
	}
	return f.Aggregate != nil // what it makes of no rows, its result of nothing says
}

// MayBeNull reports whether the result is declared nullable where a group may have no row.
// That of ARRAY_AGG is not, as in Flink, though such a group's is NULL.
func MayBeNull(f *expr.Function) bool { return !Valued(f) && f.Name != "ARRAY_AGG" }

// OnlyOver reports whether a function needs OVER.
func OnlyOver(f *expr.Function) bool { return f.Category == ranking }

const (
	aggregate = "aggregate"
	ranking   = "window"
)

// function makes an entry.
func function(name, category, usage, doc string, infer func(s *expr.Site) (types.Type, error), aliases ...string) *expr.Function {
	return &expr.Function{Name: name, Aliases: aliases, Category: category, Usage: usage, Doc: doc, Infer: infer}
}

var bigint = types.Of(types.BigInt).NotNull()

// is gives a type whatever the arguments, of which there are so many.
func is(t types.Type, least, most int) func(*expr.Site) (types.Type, error) {
	return func(s *expr.Site) (types.Type, error) { return t, s.Count(least, most) }
}

// number demands one number, and gives a type of it.
func number(of func(types.Type) types.Type) func(*expr.Site) (types.Type, error) {
	return func(s *expr.Site) (types.Type, error) {
		if err := s.Count(1, 1); err != nil {
			return types.Type{}, err
		}
		if !s.Kind(0).IsNumeric() {
			return types.Type{}, s.Refuse("Cannot apply '%s' to arguments of type '%s(<%s>)'. Supported form(s): '%s(<NUMERIC>)'", s.Fn.Name, s.Fn.Name, s.Type(0).Text(), s.Fn.Name)
		}
		return of(s.Type(0)).WithNull(s.Type(0).Nullable), nil
	}
}

// total is a DECIMAL with room for a sum.
func total(t types.Type) types.Type {
	if t.Kind == types.Decimal {
		return types.DecimalOf(types.MaxPrecision, t.Scale)
	}
	return t
}

// mean is a DECIMAL with at least six digits behind the point.
func mean(t types.Type) types.Type {
	if t.Kind == types.Decimal {
		return types.DecimalOf(types.MaxPrecision, max(6, t.Scale))
	}
	return t
}

func numbers() []*expr.Function {
	return []*expr.Function{
		function("COUNT", aggregate, "COUNT(*) | COUNT([DISTINCT] x, …)", "How many rows there are, or how many with no NULL among the arguments.", func(s *expr.Site) (types.Type, error) { return bigint, s.NoBareNull() }),
		function("APPROX_COUNT_DISTINCT", aggregate, "APPROX_COUNT_DISTINCT(x)", "About how many different values there are.", different),
		function("SUM", aggregate, "SUM([DISTINCT] n)", "The sum of the values that are not NULL.", number(total)),
		function("$SUM0", aggregate, "$SUM0(n)", "The sum, and 0 where there is no value.", number(total)),
		function("AVG", aggregate, "AVG([DISTINCT] n)", "The mean, of the type of the values.", number(mean)),
		function("STDDEV_POP", aggregate, "STDDEV_POP(n)", "The standard deviation of a population.", number(mean)),
		function("STDDEV_SAMP", aggregate, "STDDEV_SAMP(n)", "The standard deviation of a sample.", number(mean), "STDDEV"),
		function("VAR_POP", aggregate, "VAR_POP(n)", "The variance of a population.", number(mean)),
		function("VAR_SAMP", aggregate, "VAR_SAMP(n)", "The variance of a sample.", number(mean), "VARIANCE"),
		function("PERCENTILE", aggregate, "PERCENTILE(n, share [, frequency])", "The value that such a share of the values is not above, between two of them if need be.", percentile),
	}
}

// different demands a value of a type that APPROX_COUNT_DISTINCT knows.
func different(s *expr.Site) (types.Type, error) {
	if err := s.Count(1, 1); err != nil {
		return bigint, err
	}
	if k := s.Kind(0); !k.IsNumeric() && !k.IsText() && !k.IsDatetime() {
		return bigint, s.Refuse("APPROX_COUNT_DISTINCT does not support type %s", s.Type(0).Text())
	}
	return bigint, nil
}

func percentile(s *expr.Site) (types.Type, error) {
	if err := s.Count(2, 3); err != nil {
		return types.Type{}, err
	}
	double := types.Of(types.Double)
	share := s.Type(1)
	many := share.Kind == types.Array
	if many {
		share = *share.Elem
	}
	if !s.Kind(0).IsNumeric() || !share.Kind.IsNumeric() || len(s.Args) == 3 && !s.Kind(2).IsInteger() {
		return double, s.NoMatch("PERCENTILE(<NUMERIC>, <NUMERIC> | ARRAY<NUMERIC> [, <INTEGER>])")
	}
	if err := s.Cast(0, double); err != nil {
		return double, err
	}
	if len(s.Args) == 3 {
		if err := s.Cast(2, types.Of(types.BigInt)); err != nil {
			return double, err
		}
	}
	for _, p := range constantShares(s) {
		if !(0 <= p && p <= 1) {
			return double, s.Refuse("PERCENTILE: the share %v is not between 0 and 1", p)
		}
	}
	if many {
		return types.ArrayOf(double), s.Cast(1, types.ArrayOf(double))
	}
	return double, s.Cast(1, double)
}

// constantShares are the shares that a call of PERCENTILE asks for, if they are constant.
func constantShares(s *expr.Site) []float64 {
	t := types.Of(types.Double)
	if s.Kind(1) == types.Array {
		t = types.ArrayOf(t)
	}
	e, err := s.Registry.Cast(s.Session, s.Args[1], t, false, s.At)
	if err != nil {
		return nil
	}
	l, ok := expr.Fold(e, s.Session).(*expr.Literal)
	switch {
	case !ok || l.IsNull():
		return nil
	case t.Kind == types.Array:
		from, to := l.Value.Span(0)
		return l.Value.Children[0].F64[from:to]
	}
	return l.Value.F64[:1]
}

// ordered demands one value of a type that has an order.
func ordered(s *expr.Site) (types.Type, error) {
	if err := s.Count(1, 1); err != nil {
		return types.Type{}, err
	}
	if k := s.Kind(0); k.IsCollection() || k.IsComposite() || k.IsInterval() || k == types.Bitmap || k == types.Variant || k == types.Raw {
		return types.Type{}, s.Refuse("%s does not support type %s", s.Fn.Name, s.Type(0).Text())
	}
	return s.Type(0), nil
}

// any takes one value.
func anyValue(s *expr.Site) (types.Type, error) {
	if err := s.Count(1, 1); err != nil {
		return types.Type{}, err
	}
	return s.Type(0), nil
}

func values() []*expr.Function {
	return []*expr.Function{
		function("MIN", aggregate, "MIN(x)", "The least value.", ordered),
		function("MAX", aggregate, "MAX(x)", "The greatest value.", ordered),
		function("FIRST_VALUE", aggregate, "FIRST_VALUE(x)", "The first value that is not NULL.", anyValue),
		function("LAST_VALUE", aggregate, "LAST_VALUE(x)", "The last value that is not NULL.", anyValue),
		function("SINGLE_VALUE", aggregate, "SINGLE_VALUE(x)", "The only value; more than one is an error.", func(s *expr.Site) (types.Type, error) {
			t, err := anyValue(s)
			return t.OrNull(), err
		}),
	}
}

func collections() []*expr.Function {
	text := types.VarCharOf(2000).NotNull()
	array := func(s *expr.Site) (types.Type, error) {
		if err := s.Count(1, 1); err != nil {
			return text, err
		}
		return text, document(s, 0)
	}
	return []*expr.Function{
		function("COLLECT", aggregate, "COLLECT([DISTINCT] x)", "The values as a MULTISET.", func(s *expr.Site) (types.Type, error) {
			t, err := anyValue(s)
			return types.MultisetOf(t).NotNull(), err
		}),
		function("ARRAY_AGG", aggregate, "ARRAY_AGG([DISTINCT] x [ORDER BY …])", "The values as an ARRAY.", func(s *expr.Site) (types.Type, error) {
			t, err := anyValue(s)
			return types.ArrayOf(t).WithNull(t.Nullable), err
		}),
		function("LISTAGG", aggregate, "LISTAGG(text [, separator])", "The texts one after the other, with a separator, which is a comma if it is not said.", listagg),
		function("JSON_OBJECTAGG_NULL_ON_NULL", aggregate, "JSON_OBJECTAGG(KEY k VALUE v NULL ON NULL)", "A JSON object with a member for each row.", object(text, true)),
		function("JSON_OBJECTAGG_ABSENT_ON_NULL", aggregate, "JSON_OBJECTAGG(KEY k VALUE v ABSENT ON NULL)", "A JSON object with a member for each row whose value is not NULL.", object(text, false)),
		function("JSON_ARRAYAGG_NULL_ON_NULL", aggregate, "JSON_ARRAYAGG(x NULL ON NULL)", "A JSON array with an element for each row.", array),
		function("JSON_ARRAYAGG_ABSENT_ON_NULL", aggregate, "JSON_ARRAYAGG(x ABSENT ON NULL)", "A JSON array with an element for each row whose value is not NULL.", array),
	}
}

// document makes an argument the JSON that it is written as. A TIMESTAMP, which JSON has
// not, is a text of the ISO form.
func document(s *expr.Site, arg int) error {
	e, err := s.Registry.Call(s.Session, "JSON_STRING", s.Args[arg].Span(), s.Args[arg])
	if err != nil {
		return err
	}
	s.Args[arg] = e
	return nil
}

// object makes the key and the value one text, the member; null says that a value of NULL
// is written.
func object(text types.Type, null bool) func(*expr.Site) (types.Type, error) {
	return func(s *expr.Site) (types.Type, error) {
		if err := s.Count(2, 2); err != nil {
			return text, err
		}
		if !s.Kind(0).IsText() {
			return text, s.Refuse("the key of JSON_OBJECTAGG is %s, and must be a text", s.Type(0).Text())
		}
		for i := range s.Args {
			if err := document(s, i); err != nil {
				return text, err
			}
		}
		value, err := s.Args[1], error(nil)
		if null {
			if value, err = s.Registry.Call(s.Session, "COALESCE", s.At, value, expr.Text("null")); err != nil {
				return text, err
			}
		}
		key, err := s.Registry.Call(s.Session, "||", s.At, s.Args[0], expr.Text(":"))
		if err != nil {
			return text, err
		}
		member, err := s.Registry.Call(s.Session, "||", s.At, key, value)
		s.Args = []expr.Expr{member}
		return text, err
	}
}

// bitmaps are those that combine sets of numbers.
func bitmaps() []*expr.Function {
	of := func(kind types.Kind, result types.Type) func(*expr.Site) (types.Type, error) {
		return func(s *expr.Site) (types.Type, error) {
			if err := s.Count(1, 1); err != nil {
				return result, err
			}
			switch k := s.Kind(0); {
			case kind == types.Int && k.IsInteger() && k != types.BigInt:
				return result, s.Cast(0, types.Of(types.Int))
			case k != kind:
				return result, s.NoMatch(s.Fn.Usage)
			}
			return result, nil
		}
	}
	set, count := types.Of(types.Bitmap), types.Of(types.BigInt)
	var all []*expr.Function
	for _, f := range []struct {
		name, doc string
		kind      types.Kind
	}{
		{"BITMAP_BUILD", "the values", types.Int}, {"BITMAP_AND", "the numbers that are in all sets", types.Bitmap},
		{"BITMAP_OR", "the numbers that are in a set", types.Bitmap}, {"BITMAP_XOR", "the numbers that are in an odd number of sets", types.Bitmap},
	} {
		all = append(all,
			function(f.name+"_AGG", aggregate, f.name+"_AGG(x)", "A set of "+f.doc+".", of(f.kind, set)),
			function(f.name+"_CARDINALITY_AGG", aggregate, f.name+"_CARDINALITY_AGG(x)", "How many they are, "+f.doc+".", of(f.kind, count)))
	}
	return all
}

func listagg(s *expr.Site) (types.Type, error) {
	if err := s.Count(1, 2); err != nil {
		return types.Type{}, err
	}
	for i := range s.Args {
		if !s.Kind(i).IsText() {
			return types.Type{}, s.NoMatch("LISTAGG(<CHARACTER>) | LISTAGG(<CHARACTER>, <CHARACTER>)")
		}
	}
	if len(s.Args) == 2 {
		if _, constant := s.ConstantText(1); !constant {
			return types.Type{}, s.Refuse("the separator of LISTAGG must be a constant")
		}
	}
	return types.String().WithNull(s.Type(0).Nullable), nil
}

func ranks() []*expr.Function {
	double := types.Of(types.Double).NotNull()
	return []*expr.Function{
		function("ROW_NUMBER", ranking, "ROW_NUMBER() OVER (… ORDER BY …)", "The row's number within its partition, from 1.", is(bigint, 0, 0)),
		function("RANK", ranking, "RANK() OVER (… ORDER BY …)", "One more than the rows before those of equal order.", is(bigint, 0, 0)),
		function("DENSE_RANK", ranking, "DENSE_RANK() OVER (… ORDER BY …)", "The number of the row's order among the different ones, from 1.", is(bigint, 0, 0)),
		function("PERCENT_RANK", ranking, "PERCENT_RANK() OVER (… ORDER BY …)", "RANK less one, for each row but one.", is(double, 0, 0)),
		function("CUME_DIST", ranking, "CUME_DIST() OVER (… ORDER BY …)", "The share of rows up to those of equal order.", is(double, 0, 0)),
		function("NTILE", ranking, "NTILE(n) OVER (… ORDER BY …)", "The number of the row's part, when the partition is cut into n.", func(s *expr.Site) (types.Type, error) {
			if err := s.Count(1, 1); err != nil {
				return types.Type{}, err
			}
			if n, ok := s.ConstantInt(0); !ok || n <= 0 {
				return types.Type{}, s.Refuse("NTILE takes a constant whole number above 0")
			}
			return bigint, nil
		}),
		function("LEAD", ranking, "LEAD(x [, n [, default]]) OVER (… ORDER BY …)", "The value n rows further on.", neighbour),
		function("LAG", ranking, "LAG(x [, n [, default]]) OVER (… ORDER BY …)", "The value n rows before.", neighbour),
		function("NTH_VALUE", ranking, "NTH_VALUE(x, n) OVER (…)", "The value of the frame's row number n.", func(s *expr.Site) (types.Type, error) {
			if err := s.Count(2, 2); err != nil {
				return types.Type{}, err
			}
			return s.Type(0).OrNull(), nil
		}),
	}
}

// neighbour is the type of LEAD and LAG: that of the value, which may be NULL unless there
// is a default.
func neighbour(s *expr.Site) (types.Type, error) {
	if err := s.Count(1, 3); err != nil {
		return types.Type{}, err
	}
	t := s.Type(0)
	if len(s.Args) > 1 && !s.Kind(1).IsInteger() {
		return t, s.Refuse("%s takes a whole number of rows, and this is of type %s", s.Fn.Name, s.Type(1).Text())
	}
	if len(s.Args) < 3 {
		return t.OrNull(), nil
	}
	if _, err := s.Unify(0, 2); err != nil {
		return t, err
	}
	return s.Type(0).WithNull(s.Type(0).Nullable || s.Type(2).Nullable), nil
}
