package functions

import (
	"errors"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/javaregex"
	sqltext "github.com/weirstream/weir/internal/sql/text"
	"github.com/weirstream/weir/types"
)

// regexps are the functions that look for regular expressions, which stand in argument 1.
// A text that is no expression gives no answer; one that needs what the matcher has not is
// an error.
func regexps() []*expr.Function {
	answer := func(name, usage, doc, signature string, result func(*expr.Site) types.Type, kernel func(compile) expr.Kernel) *expr.Function {
		return bound(name, "string", usage, doc, giving(signature, result), func(b *expr.Bound) (expr.Kernel, error) {
			c, err := newCompile(b, 1)
			return kernel(c), err
		})
	}
	return []*expr.Function{
		answer("REGEXP", "REGEXP(s, pattern)", "Whether the pattern is found; an empty one never is.", "tt", as(boolean), regexpFound),
		answer("REGEXP_REPLACE", "REGEXP_REPLACE(s, pattern, text)", "The text with what the pattern finds replaced.", "ttt", perhaps(text), regexpReplace),
		answer("REGEXP_EXTRACT", "REGEXP_EXTRACT(s, pattern[, group])", "What a group of the pattern finds first; group 0 is the whole.", "tt?I", always(text), regexpExtract),
		answer("REGEXP_SUBSTR", "REGEXP_SUBSTR(s, pattern)", "What the pattern finds first.", "tt!", always(text), regexpExtract),
		answer("REGEXP_COUNT", "REGEXP_COUNT(s, pattern)", "How often the pattern is found.", "tt!", always(integer), regexpCount),
		answer("REGEXP_INSTR", "REGEXP_INSTR(s, pattern)", "Where the pattern is found first, from 1; 0 if nowhere.", "tt!", always(integer), regexpInstr),
		answer("REGEXP_EXTRACT_ALL", "REGEXP_EXTRACT_ALL(s, pattern[, group])", "All that a group of the pattern finds; group 1 if none is given.", "tt?I!", always(types.ArrayOf(text)), regexpAll),
	}
}

// compile gives the expression of a row; nil if the text is none.
type compile func(r row) (*javaregex.Pattern, error)

// newCompile makes the compile of an argument: a constant is compiled once.
func newCompile(b *expr.Bound, arg int) (compile, error) {
	var cache javaregex.Cache
	if s, ok := b.ConstantText(arg); ok {
		p, err := known(javaregex.Compile(s))
		return func(row) (*javaregex.Pattern, error) { return p, nil }, err
	}
	return func(r row) (*javaregex.Pattern, error) { return known(cache.Get(r.bytes(arg))) }, nil
}

// known turns a text that is no expression into no answer.
func known(p *javaregex.Pattern, err error) (*javaregex.Pattern, error) {
	var bad *javaregex.SyntaxError
	if errors.As(err, &bad) {
		return nil, nil
	}
	return p, err
}

func regexpFound(c compile) expr.Kernel {
	return trying(func(r row) (bool, bool, error) {
		if len(r.bytes(1)) == 0 {
			return false, true, nil
		}
		p, err := c(r)
		return p != nil && p.Find(r.bytes(0)), true, err
	})
}

func regexpReplace(c compile) expr.Kernel {
	return failing(func(dst []byte, r row) ([]byte, bool, error) {
		p, err := c(r)
		if p == nil {
			return dst, false, err
		}
		return p.Replace(dst, r.bytes(0), r.bytes(2)), true, nil
	})
}

func regexpExtract(c compile) expr.Kernel {
	var m []int
	return failing(func(dst []byte, r row) ([]byte, bool, error) {
		group := int64(0)
		if r.has(2) {
			group = r.int(2)
		}
		p, err := c(r)
		if p == nil || group < 0 || group > int64(p.Groups()) {
			return dst, false, err
		}
		if m = p.First(m[:0], r.bytes(0)); len(m) == 0 || m[2*group] < 0 {
			return dst, false, nil
		}
		return append(dst, r.bytes(0)[m[2*group]:m[2*group+1]]...), true, nil
	})
}

func regexpCount(c compile) expr.Kernel {
	return trying(func(r row) (int32, bool, error) {
		p, err := c(r)
		if p == nil {
			return 0, false, err
		}
		n := int32(0)
		p.Each(r.bytes(0), func([]int) bool { n++; return true })
		return n, true, nil
	})
}

func regexpInstr(c compile) expr.Kernel {
	var m []int
	return trying(func(r row) (int32, bool, error) {
		p, err := c(r)
		if p == nil {
			return 0, false, err
		}
		if m = p.First(m[:0], r.bytes(0)); len(m) == 0 {
			return 0, true, nil
		}
		return int32(sqltext.Length(r.bytes(0)[:m[0]])) + 1, true, nil
	})
}

func regexpAll(c compile) expr.Kernel {
	return func(out *batch.Column, args []*batch.Column, rows expr.Rows) error {
		w := expr.NewCollections(out)
		defer w.Close()
		return rows.Each(func(i int) error {
			w.Row(i)
			r := row{args, i}
			group := int64(1)
			if r.has(2) {
				group = r.int(2)
			}
			p, err := c(r)
			if err != nil {
				return expr.AtRow(i, err)
			}
			if p == nil || group < 0 || group > int64(p.Groups()) {
				out.SetNull(i)
				return nil
			}
			p.Each(r.bytes(0), func(m []int) bool {
				if m[2*group] < 0 {
					out.Children[0].AppendNull()
				} else {
					out.Children[0].AppendBytes(r.bytes(0)[m[2*group]:m[2*group+1]])
				}
				return true
			})
			return nil
		})
	}
}
