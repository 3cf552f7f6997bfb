package expr

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// conditional are the functions that evaluate only what they choose, and GREATEST and
// LEAST.
func conditional() []*Function {
	function := func(name, usage, doc string, infer func(*Site) (types.Type, error)) *Function {
		return &Function{Name: name, Category: "conditional", Usage: usage, Doc: doc, Infer: infer}
	}
	branches := function("CASE", "CASE WHEN condition THEN value … [ELSE value] END", "The value of the first condition that is TRUE; else that of ELSE, or NULL.", inferCase)
	branches.Form, branches.Lazy = Special, caseKernel
	choice := function("IF", "IF(condition, a, b)", "a if the condition is TRUE, else b.", inferIf)
	choice.Lazy = caseKernel
	coalesce := function("COALESCE", "COALESCE(a, b, …)", "The first value that is not NULL.", inferCoalesce)
	coalesce.Lazy = coalesceKernel
	ifNull := function("IFNULL", "IFNULL(a, b)", "a if it is not NULL, else b.", inferIfNull)
	ifNull.Lazy = coalesceKernel
	nullIf := function("NULLIF", "NULLIF(a, b)", "NULL if a equals b, else a.", inferNullIf)
	nullIf.Lazy = caseKernel
	greatest := function("GREATEST", "GREATEST(a, b, …)", "The greatest value; NULL if one is NULL.", inferExtreme)
	greatest.Kernel = func(b *Bound) (Kernel, error) { return extremeKernel(b, 1), nil }
	least := function("LEAST", "LEAST(a, b, …)", "The least value; NULL if one is NULL.", inferExtreme)
	least.Kernel = func(b *Bound) (Kernel, error) { return extremeKernel(b, -1), nil }
	return []*Function{branches, choice, coalesce, ifNull, nullIf, greatest, least}
}

// inferCase has conditions and values by turns, and the value of ELSE.
func inferCase(s *Site) (types.Type, error) {
	if err := s.Count(3, -1); err != nil {
		return types.Type{}, err
	}
	var values []int
	typed := false
	for i := range s.Args {
		last := i == len(s.Args)-1
		if i%2 == 0 && !last {
			if s.Kind(i) != types.Boolean {
				return types.Type{}, s.Refuse("a condition must be BOOLEAN, and this is %s", s.Type(i).Text())
			}
			continue
		}
		values = append(values, i)
		typed = typed || s.Kind(i) != types.Null
	}
	if !typed {
		return types.Type{}, s.Refuse("all values of this CASE are NULL, and nothing says their type; write CAST(NULL AS type)")
	}
	return s.Unify(values...)
}

// inferIf has the type that both values have in common; but of timestamps, that of the
// first.
func inferIf(s *Site) (types.Type, error) {
	if err := s.Count(3, 3); err != nil {
		return types.Type{}, err
	}
	if s.Kind(0) != types.Boolean {
		return types.Type{}, s.NoMatch("a BOOLEAN and two values of one type")
	}
	if s.Kind(1) == types.Null && s.Kind(2) == types.Null {
		return types.Type{}, s.NoBareNull()
	}
	if a, b := s.Type(1), s.Type(2); a.Kind.IsTimestamp() && b.Kind.IsTimestamp() {
		if err := s.Cast(2, a); err != nil {
			return types.Type{}, err
		}
		return a.WithNull(s.Nullable()), nil
	}
	t, err := s.Unify(1, 2)
	return t.WithNull(t.Nullable || s.Type(0).Nullable), err
}

func inferCoalesce(s *Site) (types.Type, error) {
	if err := s.Count(1, -1); err != nil {
		return types.Type{}, err
	}
	all := make([]int, len(s.Args))
	nullable := true
	for i := range s.Args {
		all[i] = i
		nullable = nullable && s.Type(i).Nullable
	}
	t, err := s.Merge(all...)
	if t.Kind == types.Null {
		return t, s.NoBareNull()
	}
	return t.WithNull(nullable), err
}

func inferIfNull(s *Site) (types.Type, error) {
	if err := s.Count(2, 2); err != nil {
		return types.Type{}, err
	}
	if s.Kind(0) == types.Null && s.Kind(1) == types.Null {
		return types.Type{}, s.NoBareNull()
	}
	first := s.Args[0]
	t, err := s.Merge(0, 1)
	if err == nil && !first.Type().Nullable {
		s.Instead = s.Args[0]
		if t.Kind.IsText() || t.Kind.IsBinary() {
			s.Instead = first
		}
		return s.Instead.Type(), nil
	}
	return t.WithNull(s.Type(1).Nullable), err
}

// inferNullIf makes it CASE WHEN a = b THEN NULL ELSE a END.
func inferNullIf(s *Site) (types.Type, error) {
	if err := s.Count(2, 2); err != nil {
		return types.Type{}, err
	}
	if s.Kind(0) == types.Null {
		return types.Type{}, s.NoBareNull()
	}
	same, err := s.Registry.Call(s.Session, "=", s.At, s.Args...)
	if err != nil {
		return types.Type{}, err
	}
	t := s.Type(0).OrNull()
	s.Args = []Expr{same, Null(t, s.At), s.Args[0]}
	return t, nil
}

func inferExtreme(s *Site) (types.Type, error) {
	if err := s.Count(1, -1); err != nil {
		return types.Type{}, err
	}
	if err := s.NoBareNull(); err != nil {
		return types.Type{}, err
	}
	all := make([]int, len(s.Args))
	nullable := s.Nullable()
	for i := range s.Args {
		all[i] = i
		if a, b := s.Kind(0), s.Kind(i); a.IsDatetime() && a != b && !(a.IsTimestamp() && b.IsTimestamp()) {
			return types.Type{}, s.NoMatch("values of one type")
		}
	}
	t, err := s.Merge(all...)
	if k := t.Kind; err == nil && (k.IsCollection() || k.IsComposite() || k.IsBinary() || k == types.Raw || k == types.Variant || k == types.Bitmap) {
		return t, s.NoMatch("values that can be ordered")
	}
	return t.WithNull(nullable), err
}

// caseKernel has conditions and values by turns, and a last value: rows whose
// condition is TRUE go to the value, the others to what follows.
func caseKernel(*Bound) (LazyKernel, error) {
	var c choices
	var taken []int32
	return func(out *batch.Column, args []*Arg, rows Rows) error {
		c.begin(rows)
		left := rows
		for k := 0; k < len(args) && left.Len() > 0; k += 2 {
			if k == len(args)-1 {
				return c.last(out, args[k], left, rows)
			}
			condition, err := args[k].Eval(left)
			if err != nil {
				return err
			}
			taken = taken[:0]
			rest := c.pending[:0]
			_ = left.Each(func(i int) error {
				if !condition.IsNull(i) && condition.Bool[i] {
					c.of[i] = int32(len(c.columns))
					taken = append(taken, int32(i))
				} else {
					rest = append(rest, int32(i))
				}
				return nil
			})
			c.pending = rest
			if err := c.take(args[k+1], taken, rows.N); err != nil {
				return err
			}
			left = Rows{N: rows.N, Sel: some(rest)}
		}
		c.merge(out, rows)
		return nil
	}, nil
}

// some makes a selection that is not nil, which would be all rows.
func some(sel []int32) []int32 {
	if sel == nil {
		return []int32{}
	}
	return sel
}

// take evaluates a value for the rows that have chosen it.
func (c *choices) take(arg *Arg, rows []int32, n int) error {
	if len(rows) == 0 {
		c.columns = append(c.columns, nil)
		return nil
	}
	v, err := arg.Eval(Rows{N: n, Sel: rows})
	c.columns = append(c.columns, v)
	return err
}

// last evaluates the value of all rows that are left, and merges.
func (c *choices) last(out *batch.Column, arg *Arg, left, rows Rows) error {
	v, err := arg.Eval(left)
	if err != nil {
		return err
	}
	_ = left.Each(func(i int) error { c.of[i] = int32(len(c.columns)); return nil })
	c.columns = append(c.columns, v)
	c.merge(out, rows)
	return nil
}

// coalesceKernel goes on to the next value with the rows that are NULL.
func coalesceKernel(*Bound) (LazyKernel, error) {
	var c choices
	return func(out *batch.Column, args []*Arg, rows Rows) error {
		c.begin(rows)
		left := rows
		for k, arg := range args {
			v, err := arg.Eval(left)
			if err != nil {
				return err
			}
			c.columns = append(c.columns, v)
			rest := c.pending[:0]
			_ = left.Each(func(i int) error {
				c.of[i] = int32(k)
				if v.IsNull(i) {
					rest = append(rest, int32(i))
				}
				return nil
			})
			if c.pending = rest; len(rest) == 0 {
				break
			}
			left = Rows{N: rows.N, Sel: rest}
		}
		c.merge(out, rows)
		return nil
	}, nil
}

// extremeKernel chooses the value that comes last in an order, or first if the sign is
// negative.
func extremeKernel(b *Bound, sign int) Kernel {
	var c choices
	t := b.T
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		c.begin(rows)
		c.columns = append(c.columns, args...)
		_ = rows.Each(func(i int) error {
			best := 0
			for k := 1; k < len(args); k++ {
				if sign*CompareValues(t, args[k], i, args[best], i) > 0 {
					best = k
				}
			}
			c.of[i] = int32(best)
			return nil
		})
		c.merge(out, rows)
		return nil
	}
}
