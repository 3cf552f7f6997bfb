package expr

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// system are the functions that tell about the expression or the session.
func system() []*Function {
	return []*Function{
		{Name: "TYPEOF", Category: "conversion", Usage: "TYPEOF(a), TYPEOF(a, only_serializable)", Doc: "The type of a; NULL if it must be one that can be written, and cannot.", Nulls: Own,
			Infer: inferTypeOf, Kernel: typeOfKernel},
		{Name: "CURRENT_DATABASE", Form: Niladic, Category: "system", Usage: "CURRENT_DATABASE()", Doc: "The name of the current database.", Nulls: Own, Volatility: PerQuery,
			Infer:  func(s *Site) (types.Type, error) { return types.String().NotNull(), s.Count(0, 0) },
			Kernel: func(b *Bound) (Kernel, error) { return sameText(b.Session.Database), nil }},
	}
}

func inferTypeOf(s *Site) (types.Type, error) {
	if err := s.Count(1, 2); err != nil {
		return types.Type{}, err
	}
	if len(s.Args) == 2 {
		if _, constant := s.Constant(1); !constant || s.Kind(1) != types.Boolean {
			return types.Type{}, s.NoMatch("a value, and TRUE or FALSE")
		}
	}
	return types.String(), nil
}

func typeOfKernel(b *Bound) (Kernel, error) {
	if b.Args[0].Kind == types.Null {
		return sameText("NULL"), nil
	}
	short, full := b.Args[0].String(), b.Args[0].Serializable()
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		text := short
		if len(args) > 1 && rows.Len() > 0 && args[1].Bool[rows.At(0)] {
			text = full
		}
		return sameText(text)(out, args, rows)
	}, nil
}

// sameText is one text for all rows.
func sameText(text string) Kernel {
	return func(out *batch.Column, _ []*batch.Column, rows Rows) error {
		w := NewBytes(out)
		defer w.Close()
		return rows.Each(func(i int) error {
			w.Row(i)
			w.Data = append(w.Data, text...)
			return nil
		})
	}
}
