package functions

import (
	"strings"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/datetime"
	"github.com/weirstream/weir/internal/sql/expr"
	sqltext "github.com/weirstream/weir/internal/sql/text"
	"github.com/weirstream/weir/types"
)

// misc are the functions of no family.
func misc() []*expr.Function {
	return []*expr.Function{
		own(bound("PRINTF", "string", "PRINTF(format, x, …)", "The values printed by a format of Java's.", func(s *expr.Site) (types.Type, error) {
			if err := s.Count(1, -1); err != nil {
				return types.Type{}, err
			}
			for i := range s.Args {
				if s.Kind(i) == types.Null {
					s.Args[i] = expr.Null(text, s.Args[i].Span())
				}
			}
			if !s.Kind(0).IsText() {
				return types.Type{}, s.NoMatch("(text, any value, …)")
			}
			return text, nil
		}, printf)),
	}
}

// printf compiles a constant format once, others when they change.
func printf(b *expr.Bound) (expr.Kernel, error) {
	format, known := b.ConstantText(0)
	compiled, ok := sqltext.ParseFormat(format)
	args := make([]sqltext.Arg, len(b.Args)-1)
	return appending(func(dst []byte, r row) ([]byte, bool) {
		if r.null(0) {
			return dst, false
		}
		if !known || format != string(r.bytes(0)) {
			format, known = string(r.bytes(0)), true
			compiled, ok = sqltext.ParseFormat(format)
		}
		if !ok {
			return dst, false
		}
		for k := range args {
			args[k] = printed(b.Args[k+1], r.args[k+1], r.i, args[k].Text[:0])
		}
		return compiled.Append(dst, args)
	}), nil
}

// printed is a value as an argument of a format; text is memory for its text.
func printed(t types.Type, c *batch.Column, i int, text []byte) sqltext.Arg {
	if c.IsNull(i) {
		return sqltext.Arg{Text: text}
	}
	a := sqltext.Arg{Kind: sqltext.TextArg, Text: text}
	switch {
	case t.Kind == types.Boolean:
		a.Kind = sqltext.BoolArg
		if c.Bool[i] {
			a.Int = 1
		}
		a.Text = append(text, strings.ToLower(expr.Display(t, c, i))...)
		return a
	case t.Kind.IsInteger(), t.Kind == types.Date, t.Kind == types.Time, t.Kind.IsInterval():
		a.Kind, a.Int, a.Bits = sqltext.IntArg, intAt(c, i), bits(t.Kind)
		a.Text = append(text, formatInt(a.Int)...)
		return a
	case t.Kind.IsApproximate():
		a.Kind, a.Float = sqltext.FloatArg, floatAt(t, c, i)
	case t.Kind == types.Decimal:
		a.Kind = sqltext.DecimalArg
	case t.Kind.IsTimestamp():
		a.Text = appendShortISO(text, c.I64[i], c.Nanos(i))
		return a
	}
	a.Text = append(text, expr.Display(t, c, i)...)
	return a
}

func bits(k types.Kind) int {
	switch k {
	case types.TinyInt:
		return 8
	case types.SmallInt:
		return 16
	case types.BigInt, types.IntervalDayTime:
		return 64
	}
	return 32
}

// appendShortISO is appendISO without seconds that are 0.
func appendShortISO(dst []byte, ms int64, nanos int32) []byte {
	dst = appendISO(dst, ms, nanos)
	if floorMod(ms, datetime.Minute) == 0 && nanos == 0 {
		dst = dst[:len(dst)-len(":00")]
	}
	return dst
}
