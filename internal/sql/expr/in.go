package expr

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// inferIn has the value and those it is looked for in. A text among numbers, dates or
// times is read as one where the value is one, and they are written as texts where the
// value is a text.
func inferIn(s *Site) (types.Type, error) {
	if err := s.Count(2, -1); err != nil {
		return types.Type{}, err
	}
	for i := 2; i < len(s.Args); i++ {
		if s.Kind(i).IsNumeric() && s.Kind(i-1).IsText() || s.Kind(i).IsText() && s.Kind(i-1).IsNumeric() {
			return types.Type{}, s.Refuse("IN: Values in expression list must have compatible types, and there are %s and %s", s.Type(i-1).Text(), s.Type(i).Text())
		}
	}
	t := s.Type(0)
	for i := 1; i < len(s.Args); i++ {
		if k := s.Kind(i); t.Kind.IsText() && (k.IsNumeric() || k.IsDatetime() || k.IsInterval() || k == types.Boolean) {
			if err := s.Cast(i, types.String()); err != nil {
				return types.Type{}, err
			}
		}
		u, ok := Common(t, s.Type(i))
		if !ok {
			u, ok = commonWithText(t, s.Type(i))
		}
		if !ok {
			return types.Type{}, s.Refuse("IN mixes values of %s and %s, which cannot be compared", t.Text(), s.Type(i).Text())
		}
		t = u
	}
	if t.Kind == types.Null {
		return t, s.NoBareNull()
	}
	for i := range s.Args {
		if err := s.Cast(i, t); err != nil {
			return types.Type{}, err
		}
	}
	return types.Of(types.Boolean).WithNull(s.Nullable()), nil
}

// commonWithText is the type in which a value and a text are compared: the value's.
func commonWithText(a, text types.Type) (types.Type, bool) {
	fits := text.Kind.IsText() && (a.Kind.IsNumeric() || a.Kind.IsDatetime() || a.Kind == types.Boolean)
	if a.Kind == types.Decimal {
		a = types.DecimalOf(types.MaxPrecision, max(a.Scale, types.MaxShortPrecision))
	}
	return a.WithNull(a.Nullable || text.Nullable), fits
}

func inKernel(b *Bound) (Kernel, error) {
	if set := newConstantSet(b); set != nil {
		return set.kernel, nil
	}
	t := b.Args[0]
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		return rows.Each(func(i int) error {
			out.Bool[i] = false
			null := args[0].IsNull(i)
			for k := 1; k < len(args) && !null && !out.Bool[i]; k++ {
				out.Bool[i] = !args[k].IsNull(i) && SameValue(t, args[0], i, args[k], i)
			}
			if out.Bool[i] {
				return nil
			}
			for k := 0; k < len(args) && !null; k++ {
				null = args[k].IsNull(i)
			}
			if null {
				out.SetNull(i)
			}
			return nil
		})
	}, nil
}

// constantSet are the values of an IN that are all constant.
type constantSet struct {
	numbers map[int64]struct{}
	texts   map[string]struct{}
	null    bool
}

// newConstantSet makes the set of constants, or nil if not all are, or if they are few
// or of a type that has no exact key.
func newConstantSet(b *Bound) *constantSet {
	if len(b.Args) < 5 {
		return nil
	}
	set := &constantSet{}
	switch batch.LayoutOf(b.Args[0]) {
	case batch.Int8s, batch.Int16s, batch.Int32s, batch.Int64s:
		set.numbers = map[int64]struct{}{}
	case batch.ByteSlices:
		set.texts = map[string]struct{}{}
	default:
		return nil
	}
	for _, c := range b.Constants[1:] {
		switch {
		case c == nil:
			return nil
		case c.IsNull(0):
			set.null = true
		case set.numbers != nil:
			set.numbers[whole(c, 0)] = struct{}{}
		default:
			set.texts[string(c.Bytes(0))] = struct{}{}
		}
	}
	return set
}

// whole is value i of a column of whole numbers.
func whole(c *batch.Column, i int) int64 {
	switch c.Layout {
	case batch.Int8s:
		return int64(c.I8[i])
	case batch.Int16s:
		return int64(c.I16[i])
	case batch.Int32s:
		return int64(c.I32[i])
	}
	return c.I64[i]
}

func (s *constantSet) kernel(out *batch.Column, args []*batch.Column, rows Rows) error {
	c := args[0]
	return rows.Each(func(i int) error {
		found := false
		switch {
		case c.IsNull(i):
		case s.numbers != nil:
			_, found = s.numbers[whole(c, i)]
		default:
			_, found = s.texts[string(c.Bytes(i))]
		}
		out.Bool[i] = found
		if !found && (s.null || c.IsNull(i)) {
			out.SetNull(i)
		}
		return nil
	})
}
