package functions

import (
	"errors"
	"unicode/utf8"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/javaregex"
	sqltext "github.com/weirstream/weir/internal/sql/text"
	"github.com/weirstream/weir/types"
)

// likes are LIKE and SIMILAR TO: text, pattern, and an escape character
// if there is one.
func likes() []*expr.Function {
	operator := func(name, doc string, compile func(pattern, escape string) (matcher, error)) *expr.Function {
		f := bound(name, "comparison", "s "+name+" pattern [ESCAPE c]", doc, giving("tt?t", as(boolean)), func(b *expr.Bound) (expr.Kernel, error) {
			return likeKernel(b, compile)
		})
		infer := f.Infer
		f.Infer = func(s *expr.Site) (types.Type, error) {
			if len(s.Args) > 2 {
				if escape, ok := s.ConstantText(2); ok && utf8.RuneCountInString(escape) > 1 {
					return types.Type{}, expr.Refuse(s.Args[2].Span(), "Invalid escape character '%s': allowed is a single character", escape)
				}
			}
			return infer(s)
		}
		f.Form = expr.Operator
		return f
	}
	return []*expr.Function{
		operator("LIKE", "Whether the text fits a pattern of % and _.", compileLike),
		operator("SIMILAR TO", "Whether all of the text fits an SQL regular expression.", compileSimilar),
	}
}

var errNoEscape = errors.New("the escape character is empty; allowed is a single character")

// matcher says whether a text fits.
type matcher interface{ Match(s []byte) bool }

type whole struct{ p *javaregex.Pattern }

func (w whole) Match(s []byte) bool { return w.p.Matches(s) }

func compileLike(pattern, escape string) (matcher, error) {
	return sqltext.CompileLike(pattern, escape)
}

func compileSimilar(pattern, escape string) (matcher, error) {
	re, err := sqltext.SimilarToRegex(pattern, escape)
	if err != nil {
		return nil, err
	}
	p, err := javaregex.CompileWhole(re)
	return whole{p}, err
}

// likeKernel compiles constant patterns once, others when they change.
func likeKernel(b *expr.Bound, compile func(pattern, escape string) (matcher, error)) (expr.Kernel, error) {
	pattern, constant := b.ConstantText(1)
	escape := ""
	if len(b.Args) > 2 {
		var ok bool
		escape, ok = b.ConstantText(2)
		constant = constant && ok
	}
	var m matcher
	if constant {
		if len(b.Args) > 2 && escape == "" {
			return nil, errNoEscape
		}
		var err error
		if m, err = compile(pattern, escape); err != nil {
			return nil, err
		}
	}
	return trying(func(r row) (bool, bool, error) {
		if !constant {
			e := ""
			if r.has(2) {
				if e = string(r.bytes(2)); e == "" {
					return false, false, errNoEscape
				}
			}
			if m == nil || pattern != string(r.bytes(1)) || escape != e {
				pattern, escape = string(r.bytes(1)), e
				var err error
				if m, err = compile(pattern, escape); err != nil {
					m = nil
					return false, false, err
				}
			}
		}
		return m.Match(r.bytes(0)), true, nil
	}), nil
}
