package expr

import (
	"strconv"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// constructors make arrays, maps and rows, and take them apart.
func constructors() []*Function {
	operator := func(name, usage, doc string, infer func(*Site) (types.Type, error), kernel func(*Bound) (Kernel, error)) *Function {
		return &Function{Name: name, Form: Operator, Category: "collection", Usage: usage, Doc: doc, Infer: infer, Nulls: Own, Kernel: kernel}
	}
	row := operator("ROW", "ROW(a, b, …)", "A row of the values.", inferRow, rowKernel)
	row.Views, row.Typed = true, true
	field := operator("FIELD", "row.name", "A field of a row.", inferField, fieldKernel)
	field.Views = true
	item := operator("ITEM", "array[index], map[key]", "The element at an index from 1, or the value of a key; NULL if there is none.", inferItem, itemKernel)
	item.Nulls = Strict
	in := operator("IN", "a IN (b, c, …)", "Whether a equals one of the values; NULL if not, and one of all is NULL.", inferIn, inKernel)
	in.Category = "comparison"
	return []*Function{
		operator("ARRAY", "ARRAY[a, b, …]", "An array of the values.", inferArray, arrayKernel),
		operator("MAP", "MAP[key, value, …]", "A map; of equal keys the last counts.", inferMap, mapKernel),
		row, field, item, in,
	}
}

func inferArray(s *Site) (types.Type, error) {
	if len(s.Args) == 0 {
		return types.Type{}, s.Refuse("an ARRAY needs at least one element: nothing says the type of none")
	}
	if err := s.typed(0, 1); err != nil {
		return types.Type{}, err
	}
	elem, err := s.Unify(every(0, 1, len(s.Args))...)
	return types.ArrayOf(elem).NotNull(), err
}

func inferMap(s *Site) (types.Type, error) {
	if len(s.Args) == 0 || len(s.Args)%2 != 0 {
		return types.Type{}, s.Refuse("MAP needs keys and values by turns, and has %d", len(s.Args))
	}
	if err := s.typed(0, 2); err != nil {
		return types.Type{}, err
	}
	key, err := s.Unify(every(0, 2, len(s.Args))...)
	if err != nil {
		return types.Type{}, err
	}
	if s.typed(1, 2) != nil {
		// Values that are all NULL have the keys' type, which nothing contradicts.
		s.Args[1] = Null(key, s.Args[1].Span())
	}
	value, err := s.Unify(every(1, 2, len(s.Args))...)
	return types.MapOf(key, value).NotNull(), err
}

// every are the numbers from, from+step, … below to.
func every(from, step, to int) []int {
	var n []int
	for ; from < to; from += step {
		n = append(n, from)
	}
	return n
}

// typed refuses arguments of which none has a type.
func (s *Site) typed(from, step int) error {
	for _, i := range every(from, step, len(s.Args)) {
		if s.Kind(i) != types.Null {
			return nil
		}
	}
	return s.NoBareNull()
}

func inferRow(s *Site) (types.Type, error) {
	if len(s.Args) == 0 {
		return types.Type{}, s.Refuse("a ROW needs at least one field")
	}
	if err := s.NoBareNull(); err != nil {
		return types.Type{}, err
	}
	fields := make([]types.Field, len(s.Args))
	for i := range s.Args {
		fields[i] = types.Field{Name: "EXPR$" + strconv.Itoa(i), Type: s.Type(i)}
	}
	return types.RowOf(fields...).NotNull(), nil
}

func arrayKernel(*Bound) (Kernel, error) {
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		w := NewCollections(out)
		defer w.Close()
		return rows.Each(func(i int) error {
			w.Row(i)
			for _, a := range args {
				out.Children[0].AppendFrom(a, i)
			}
			return nil
		})
	}, nil
}

func mapKernel(b *Bound) (Kernel, error) {
	key := *b.T.Key
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		w := NewCollections(out)
		defer w.Close()
		return rows.Each(func(i int) error {
			w.Row(i)
			for k := 0; k < len(args); k += 2 {
				last := k
				for l := k + 2; l < len(args); l += 2 {
					if samePart(key, args[k], i, args[l], i) {
						last = l
					}
				}
				if !earlier(key, args, k, i) {
					out.Children[0].AppendFrom(args[k], i)
					out.Children[1].AppendFrom(args[last+1], i)
				}
			}
			return nil
		})
	}, nil
}

// earlier reports whether a key occurs before place k.
func earlier(key types.Type, args []*batch.Column, k, i int) bool {
	for l := 0; l < k; l += 2 {
		if samePart(key, args[l], i, args[k], i) {
			return true
		}
	}
	return false
}

func rowKernel(*Bound) (Kernel, error) {
	return func(out *batch.Column, args []*batch.Column, _ Rows) error {
		out.Children = append([]*batch.Column(nil), args...)
		return nil
	}, nil
}

// inferField has the row and the number of the field, a constant INT.
func inferField(s *Site) (types.Type, error) {
	n, ok := s.ConstantInt(1)
	if t := s.Type(0); ok && t.Kind.IsComposite() && n < len(t.Fields) {
		f := t.Fields[n].Type
		return f.WithNull(f.Nullable || t.Nullable), nil
	}
	return types.Type{}, s.NoMatch("a row")
}

func fieldKernel(b *Bound) (Kernel, error) {
	n := int(b.Constants[1].I32[0])
	return func(out *batch.Column, args []*batch.Column, _ Rows) error {
		row := args[0]
		share(out, row.Children[n])
		if row.Valid != nil {
			out.Valid = out.Valid.And(row.Valid)
		}
		return nil
	}, nil
}

func inferItem(s *Site) (types.Type, error) {
	t := s.Type(0)
	switch t.Kind {
	case types.Array:
		if k := s.Kind(1); k != types.Int && k != types.SmallInt && k != types.TinyInt {
			return types.Type{}, s.NoMatch("ARRAY[INT] and MAP[key]")
		}
		if n, constant := s.ConstantInt(1); constant && n < 1 {
			return types.Type{}, Refuse(s.Args[1].Span(), "the index of an array begins at 1, and this is %d", n)
		}
		return t.Elem.OrNull(), s.Cast(1, types.Of(types.Int))
	case types.Map:
		if common, ok := Common(*t.Key, s.Type(1)); !ok || !common.Kind.IsText() && common.Kind != t.Key.Kind {
			return types.Type{}, s.NoMatch("ARRAY[INT] and MAP[key]")
		} else if !common.Kind.IsText() && !common.Kind.IsBinary() {
			return t.Elem.OrNull(), s.Cast(1, t.Key.WithNull(true))
		}
		return t.Elem.OrNull(), nil
	case types.Variant:
		e, err := s.Registry.Call(s.Session, "VARIANT ITEM", s.At, s.Args...)
		if err != nil {
			return types.Type{}, err
		}
		s.Instead = e
		return e.Type(), nil
	case types.Row, types.Structured:
		if n, ok := s.ConstantInt(1); ok && s.Kind(1).IsInteger() && n >= 1 && n <= len(t.Fields) {
			e, err := s.Registry.Call(s.Session, "FIELD", s.At, s.Args[0], Constant(types.Of(types.Int), int32(n-1)))
			if err != nil {
				return types.Type{}, err
			}
			s.Instead = e
			return e.Type(), nil
		}
	}
	return types.Type{}, s.NoMatch("ARRAY[INT] and MAP[key]")
}

func itemKernel(b *Bound) (Kernel, error) {
	var c choices
	isMap := b.Args[0].Kind == types.Map
	var key types.Type
	if isMap {
		key = *b.Args[0].Key
	}
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		coll, index := args[0], args[1]
		c.begin(rows)
		_ = rows.Each(func(i int) error {
			from, to := coll.Span(i)
			c.of[i] = -1
			if !isMap {
				if n := int(index.I32[i]); n >= 1 && n <= to-from {
					c.of[i] = int32(from + n - 1)
				}
				return nil
			}
			for j := from; j < to; j++ {
				if !coll.Children[0].IsNull(j) && SameValue(key, coll.Children[0], j, index, i) {
					c.of[i] = int32(j)
				}
			}
			return nil
		})
		pick(out, coll.Children[len(coll.Children)-1], c.of, rows)
		return nil
	}, nil
}

// pick writes each row of out from a place of a column; NULL for a place below 0.
func pick(out, from *batch.Column, places []int32, rows Rows) {
	_ = rows.Each(func(i int) error {
		if p := places[i]; p < 0 || from.IsNull(int(p)) {
			places[i] = -1
			out.SetNull(i)
		}
		return nil
	})
	switch out.Layout {
	case batch.Bools:
		pickFixed[bool](out, from, places, rows)
	case batch.Int8s:
		pickFixed[int8](out, from, places, rows)
	case batch.Int16s:
		pickFixed[int16](out, from, places, rows)
	case batch.Int32s:
		pickFixed[int32](out, from, places, rows)
	case batch.Int64s:
		pickFixed[int64](out, from, places, rows)
	case batch.Int128s:
		pickFixed[batch.Int128](out, from, places, rows)
	case batch.Float32s:
		pickFixed[float32](out, from, places, rows)
	case batch.Float64s:
		pickFixed[float64](out, from, places, rows)
	case batch.Moments:
		pickFixed[int64](out, from, places, rows)
		if out.I32 != nil && from.I32 != nil {
			pickFixed[int32](out, from, places, rows)
		}
	case batch.ByteSlices:
		w := NewBytes(out)
		_ = rows.Each(func(i int) error {
			w.Row(i)
			if p := places[i]; p >= 0 {
				w.Data = append(w.Data, from.Bytes(int(p))...)
			}
			return nil
		})
		w.Close()
	case batch.Lists, batch.Maps:
		w := NewCollections(out)
		_ = rows.Each(func(i int) error {
			w.Row(i)
			if p := places[i]; p >= 0 {
				appendElements(out, from, int(p))
			}
			return nil
		})
		w.Close()
	case batch.Structs:
		for k, child := range out.Children {
			pick(child, from.Children[k], append([]int32(nil), places...), rows)
		}
	}
}

func pickFixed[T batch.Fixed](out, from *batch.Column, places []int32, rows Rows) {
	r, v := batch.Values[T](out), batch.Values[T](from)
	_ = rows.Each(func(i int) error {
		if p := places[i]; p >= 0 {
			r[i] = v[p]
		}
		return nil
	})
}
