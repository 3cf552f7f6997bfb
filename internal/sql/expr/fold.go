package expr

import (
	"slices"

	"github.com/weirstream/weir/batch"
)

// Fold replaces what is constant in an expression by its value, which is that of a row
// with the same arguments. A part that fails stays as it is: it fails when, and if, a
// row comes to it.
func Fold(e Expr, s *Session) Expr { return fold(e, s, Stable) }

// fold is Fold for calls up to a volatility.
func fold(e Expr, s *Session, most Volatility) Expr {
	return Rewrite(e, func(e Expr) Expr {
		c, ok := e.(*Call)
		if !ok || c.Fn.Volatility > most || c.Fn.Kernel == nil && c.Fn.Lazy == nil {
			return e
		}
		if slices.ContainsFunc(c.Args, func(a Expr) bool { _, constant := a.(*Literal); return !constant }) {
			return e
		}
		if v, err := once(c, s); err == nil {
			return &Literal{T: c.T, Value: v, At: c.At}
		}
		return e
	})
}

// once evaluates a call of literals over one row.
func once(c *Call, s *Session) (*batch.Column, error) {
	p := &Program{results: make([]*batch.Column, 1)}
	p.root.shared = map[int]*node{}
	n, err := p.compile(s, &p.root, c)
	if err != nil {
		return nil, err
	}
	p.root.roots = []*node{n}
	if _, err := p.Eval(&batch.Columns{N: 1}); err != nil {
		return nil, err
	}
	return p.Take(0), nil
}
