package functions

import (
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// objects are the functions of rows that have the name of a type.
func objects() []*expr.Function {
	of := own(bound("OBJECT_OF", "value", "OBJECT_OF(type, name, value, …)", "A structured value.", inferObjectOf, objectOf))
	update := own(bound("OBJECT_UPDATE", "value", "OBJECT_UPDATE(object, name, value, …)", "A structured value with other fields.", inferObjectUpdate, objectUpdate))
	of.Views, update.Views = true, true
	return []*expr.Function{of, update}
}

func inferObjectOf(s *expr.Site) (types.Type, error) {
	if len(s.Args)%2 == 0 {
		return types.Type{}, s.Refuse("OBJECT_OF takes a type, and names and values by turns")
	}
	class, ok := s.ConstantText(0)
	if !ok {
		return types.Type{}, s.Refuse("the type of OBJECT_OF must be a literal")
	}
	t := types.Type{Kind: types.Structured, Name: class, Nullable: true}
	for k := 1; k < len(s.Args); k += 2 {
		name, ok := s.ConstantText(k)
		if !ok || slices.ContainsFunc(t.Fields, func(f types.Field) bool { return f.Name == name }) {
			return t, s.Refuse("the names of OBJECT_OF must be literals, each once")
		}
		if s.Kind(k+1) == types.Null {
			return t, expr.Refuse(s.Args[k+1].Span(), "a NULL without a type is no value of OBJECT_OF; write CAST(NULL AS …)")
		}
		t.Fields = append(t.Fields, types.Field{Name: name, Type: s.Type(k + 1)})
	}
	return t, nil
}

// objectOf shares the columns of the values.
func objectOf(b *expr.Bound) (expr.Kernel, error) {
	fields := len(b.T.Fields)
	return func(out *batch.Column, args []*batch.Column, _ expr.Rows) error {
		out.Children = make([]*batch.Column, fields)
		for k := range out.Children {
			out.Children[k] = args[2*k+2]
		}
		return nil
	}, nil
}

func inferObjectUpdate(s *expr.Site) (types.Type, error) {
	if len(s.Args) < 3 || len(s.Args)%2 == 0 || s.Kind(0) != types.Structured {
		return types.Type{}, s.Refuse("OBJECT_UPDATE takes a structured value, and names and values by turns")
	}
	t := s.Type(0)
	t.Fields = slices.Clone(t.Fields)
	for k := 1; k < len(s.Args); k += 2 {
		name, ok := s.ConstantText(k)
		at := slices.IndexFunc(t.Fields, func(f types.Field) bool { return f.Name == name })
		if !ok || at < 0 {
			return t, s.Refuse("%q is no field of %s", name, t.Text())
		}
		t.Fields[at].Type = s.Type(k + 1)
	}
	return t, nil
}

func objectUpdate(b *expr.Bound) (expr.Kernel, error) {
	from := make([]int, len(b.T.Fields)) // the argument a field comes from, 0: the object
	for k := 1; k < len(b.Args); k += 2 {
		name, _ := b.ConstantText(k)
		from[slices.IndexFunc(b.T.Fields, func(f types.Field) bool { return f.Name == name })] = k + 1
	}
	return func(out *batch.Column, args []*batch.Column, _ expr.Rows) error {
		out.Children = make([]*batch.Column, len(from))
		for k, arg := range from {
			if arg == 0 {
				out.Children[k] = args[0].Children[k]
			} else {
				out.Children[k] = args[arg]
			}
		}
		if args[0].Valid != nil {
			out.OwnValid(args[0].Valid)
		}
		return nil
	}, nil
}
