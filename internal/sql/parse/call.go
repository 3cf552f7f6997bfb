package parse

import (
	"github.com/weirstream/weir/internal/sql/ast"
)

// call passes the arguments of a function whose name has been passed, and what
// may follow an aggregate.
func (p *parser) call(name ast.ObjectName) *ast.Call {
	p.enter()
	c := &ast.Call{Name: name}
	p.expect("(")
	c.Quantifier = p.quantifier()
	switch {
	case c.Quantifier == "" && p.is(")"):
	case c.Quantifier == "" && p.is("*"):
		p.at++
		c.Args = []ast.Expr{&ast.Star{Span: p.span(p.at - 1)}}
	default:
		c.Args = append(c.Args, p.argument())
		for p.skip(",") {
			c.Args = append(c.Args, p.argument())
		}
	}
	if p.skip("ORDER") {
		p.expect("BY")
		c.OrderBy = p.orderItems()
	}
	p.nullTreatment(&c.Aggregation)
	p.expect(")")
	p.aggregation(&c.Aggregation)
	p.leave()
	c.Span = ast.Span{Start: name.Start}.To(p.last())
	return c
}

// nullTreatment passes IGNORE NULLS or RESPECT NULLS, or nothing.
func (p *parser) nullTreatment(a *ast.Aggregation) {
	for _, w := range []string{"IGNORE", "RESPECT"} {
		if p.skip(w, "NULLS") {
			a.Nulls = w + " NULLS"
		}
	}
}

// aggregation passes what may follow the parenthesis of an aggregate.
func (p *parser) aggregation(a *ast.Aggregation) {
	p.nullTreatment(a)
	if p.skip("WITHIN", "DISTINCT") {
		p.expect("(")
		a.WithinDistinct = p.expressions()
		p.expect(")")
	}
	if p.skip("WITHIN", "GROUP") {
		p.expect("(", "ORDER", "BY")
		a.WithinGroup = p.orderItems()
		p.expect(")")
	}
	if p.skip("FILTER") {
		p.expect("(", "WHERE")
		a.Filter = p.expression(0)
		p.expect(")")
	}
	if a.Nulls == "" {
		p.nullTreatment(a)
	}
	if p.skip("OVER") {
		a.Over = p.window()
	}
}

// argument passes one argument of a call.
func (p *parser) argument() ast.Expr {
	start := p.start()
	t := p.peek()
	if t.isName() && p.ahead(1).word == "=>" {
		n := &ast.NamedArgument{Name: p.name(KindName)}
		p.at++
		if !p.skip("DEFAULT") {
			n.Value = p.argumentValue()
		}
		n.Span = p.from(start)
		return n
	}
	return p.argumentValue()
}

func (p *parser) argumentValue() ast.Expr {
	start := p.start()
	switch {
	case p.is("DEFAULT"):
		p.at++
		return &ast.Default{Span: p.span(p.at - 1)}
	case p.is("TABLE"):
		return p.tableArgument()
	case p.is("MODEL") && p.ahead(1).isName():
		p.at++
		m := &ast.ModelArgument{Name: p.objectName(KindModel)}
		m.Span = p.from(start)
		return m
	case p.startsQuery():
		q := p.query()
		return &ast.Subquery{Span: p.from(start), Query: q}
	}
	e := p.expression(0)
	if s, ok := e.(*ast.Subquery); ok && (p.is("PARTITION") || p.is("ORDER") && p.tokens[p.at-1].word == ")") {
		return p.partitioned(&ast.TableArgument{Table: &ast.DerivedTable{Span: s.Span, Query: s.Query}}, start)
	}
	return e
}

// tableArgument passes TABLE t or TABLE(f(…)) with its partitioning.
func (p *parser) tableArgument() ast.Expr {
	start := p.start()
	p.expect("TABLE")
	a := &ast.TableArgument{}
	if p.is("(") {
		a.Table = p.wrappedCall(start, false)
	} else {
		from := p.start()
		t := &ast.TableName{Name: p.objectName(KindTable), Hints: p.hints()}
		t.Span = p.from(from)
		a.Table = t
	}
	if n := p.alias(KindName); n != nil {
		a.Table = &ast.Aliased{Span: a.Table.Range().To(n.Span), Relation: a.Table, Alias: *n}
	}
	return p.partitioned(a, start)
}

// partitioned passes PARTITION BY and ORDER BY of a table argument: one key, or
// several in parentheses.
func (p *parser) partitioned(a *ast.TableArgument, start int) ast.Expr {
	if p.skip("PARTITION") {
		p.expect("BY")
		e := p.expression(0)
		a.PartitionBy = []ast.Expr{e}
		if r, ok := e.(*ast.Row); ok && !r.Explicit && !r.Period {
			a.PartitionBy = r.Elements
		}
	}
	if p.skip("ORDER") {
		p.expect("BY")
		if p.skip("(") {
			a.OrderBy = p.orderItems()
			p.expect(")")
		} else {
			a.OrderBy = []*ast.OrderItem{p.orderItem()}
		}
	}
	a.Span = p.from(start)
	return a
}
