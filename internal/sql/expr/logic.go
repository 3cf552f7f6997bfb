package expr

import (
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// logic are the connectives of three-valued logic, and the tests of a value.
func logic() []*Function {
	connective := func(name, doc string, neutral bool) *Function {
		return &Function{
			Name: name, Form: Operator, Category: "logic", Usage: "a " + name + " b", Doc: doc, Infer: inferConnective,
			Lazy: func(*Bound) (LazyKernel, error) { return connectiveKernel(neutral), nil },
		}
	}
	test := func(name, doc string, onNull bool, answers [2]bool) *Function {
		return &Function{
			Name: name, Form: Operator, Category: "logic", Usage: "a " + name, Doc: doc, Nulls: Own,
			Infer:  inferTruthTest,
			Kernel: func(*Bound) (Kernel, error) { return truthTest(onNull, answers), nil },
		}
	}
	not := &Function{Name: "NOT", Form: Operator, Category: "logic", Usage: "NOT a", Doc: "The opposite; NULL of NULL.", Infer: inferConnective, Nulls: Total,
		Kernel: func(*Bound) (Kernel, error) { return Unary(func(v bool) bool { return !v }), nil }}
	isNull := func(name, doc string, null bool) *Function {
		return &Function{Name: name, Form: Operator, Category: "logic", Usage: "a " + name, Doc: doc, Nulls: Own, Infer: inferNullTest,
			Kernel: func(*Bound) (Kernel, error) { return nullTest(null), nil }}
	}
	return []*Function{
		connective("AND", "TRUE if all are; FALSE if one is. What follows a FALSE is not evaluated.", true),
		connective("OR", "TRUE if one is; FALSE if all are. What follows a TRUE is not evaluated.", false),
		not,
		test("IS TRUE", "Whether a is TRUE.", false, [2]bool{false, true}),
		test("IS NOT TRUE", "Whether a is FALSE or NULL.", true, [2]bool{true, false}),
		test("IS FALSE", "Whether a is FALSE.", false, [2]bool{true, false}),
		test("IS NOT FALSE", "Whether a is TRUE or NULL.", true, [2]bool{false, true}),
		test("IS UNKNOWN", "Whether a is NULL.", true, [2]bool{false, false}),
		test("IS NOT UNKNOWN", "Whether a is not NULL.", false, [2]bool{true, true}),
		isNull("IS NULL", "Whether a is NULL.", true),
		isNull("IS NOT NULL", "Whether a is not NULL.", false),
	}
}

func inferConnective(s *Site) (types.Type, error) {
	least, most := 2, -1
	if s.Fn.Name == "NOT" {
		least, most = 1, 1
	}
	if err := s.Count(least, most); err != nil {
		return types.Type{}, err
	}
	if err := s.NoBareNull(); err != nil {
		return types.Type{}, err
	}
	for i := range s.Args {
		if s.Kind(i) != types.Boolean {
			return types.Type{}, s.NoMatch("BOOLEAN")
		}
	}
	return types.Of(types.Boolean).WithNull(s.Nullable()), nil
}

func inferTruthTest(s *Site) (types.Type, error) {
	if err := s.Count(1, 1); err != nil {
		return types.Type{}, err
	}
	if k := s.Kind(0); k != types.Boolean && k != types.Null {
		return types.Type{}, s.NoMatch("BOOLEAN")
	}
	return types.Of(types.Boolean).NotNull(), nil
}

func inferNullTest(s *Site) (types.Type, error) {
	return types.Of(types.Boolean).NotNull(), s.Count(1, 1)
}

// connectiveKernel is AND, whose neutral value is TRUE, and OR, whose is FALSE: rows for
// which a part gives the other value are done, the others go on to the next part.
func connectiveKernel(neutral bool) LazyKernel {
	var pending []int32
	return func(out *batch.Column, args []*Arg, rows Rows) error {
		if rows.Sel == nil {
			for i := range out.Bool {
				out.Bool[i] = neutral
			}
		} else {
			for _, i := range rows.Sel {
				out.Bool[i] = neutral
			}
		}
		for _, arg := range args {
			c, err := arg.Eval(rows)
			if err != nil {
				return err
			}
			pending = undecided(out, c, rows, pending[:0], neutral)
			if len(pending) == 0 {
				return nil
			}
			rows = Rows{N: rows.N, Sel: pending}
		}
		return nil
	}
}

// undecided notes what a part gives, and appends the rows that it does not decide.
// Without NULLs, what it gives is the result so far, and no branch depends on a row.
// The rows may be selected by pending itself, whose end never overtakes them.
func undecided(out, c *batch.Column, rows Rows, pending []int32, neutral bool) []int32 {
	if c.Valid == nil && (rows.Sel == nil || out.Valid == nil) {
		pending = slices.Grow(pending, rows.Len())[:rows.Len()]
		n := 0
		if rows.Sel == nil {
			copy(out.Bool, c.Bool[:rows.N])
			for i, v := range c.Bool[:rows.N] {
				pending[n] = int32(i)
				n += one(v == neutral)
			}
			return pending[:n]
		}
		for _, i := range rows.Sel {
			v := c.Bool[i]
			out.Bool[i] = v
			pending[n] = i
			n += one(v == neutral)
		}
		return pending[:n]
	}
	for k := range rows.Len() {
		i := rows.At(k)
		switch {
		case c.IsNull(i):
			out.Bool[i] = false
			out.SetNull(i)
		case c.Bool[i] != neutral:
			out.Bool[i] = !neutral
			out.SetValid(i)
			continue
		}
		pending = append(pending, int32(i))
	}
	return pending
}

// one is 1 for true.
func one(v bool) int {
	if v {
		return 1
	}
	return 0
}

func truthTest(onNull bool, answers [2]bool) Kernel {
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		c := args[0]
		return rows.Each(func(i int) error {
			switch {
			case c.IsNull(i):
				out.Bool[i] = onNull
			case c.Bool[i]:
				out.Bool[i] = answers[1]
			default:
				out.Bool[i] = answers[0]
			}
			return nil
		})
	}
}

func nullTest(null bool) Kernel {
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		c := args[0]
		return rows.Each(func(i int) error {
			out.Bool[i] = c.IsNull(i) == null
			return nil
		})
	}
}
