package parse

import (
	"github.com/weirstream/weir/internal/sql/ast"
)

// startsQuery says whether a query starts at the next token, without counting
// parentheses before it.
func (p *parser) startsQuery() bool {
	return p.is("SELECT") || p.is("WITH") || p.is("VALUES") || p.peek().word == "VALUE" && p.ahead(1).word == "("
}

// query passes a query with its WITH, ORDER BY and limit.
func (p *parser) query() *ast.Query {
	p.enter()
	start := p.start()
	q := &ast.Query{}
	if p.skip("WITH") {
		q.Recursive = p.skip("RECURSIVE")
		q.With = append(q.With, p.commonTable())
		for p.skip(",") {
			q.With = append(q.With, p.commonTable())
		}
	}
	q.Body = p.setOperation(p.intersection(p.term()))
	p.tail(q, start)
	p.leave()
	return q
}

// tail passes what follows the body of a query.
func (p *parser) tail(q *ast.Query, start int) {
	if p.skip("ORDER") {
		p.expect("BY")
		q.OrderBy = p.orderItems()
	}
	if p.skip("LIMIT") {
		if !p.skip("ALL") {
			q.Fetch = p.count()
		}
		if p.is(",") {
			p.refuse(p.span(p.at), "LIMIT takes one number; write LIMIT n OFFSET m to leave rows out first")
		}
	}
	if p.skip("OFFSET") {
		q.Offset = p.count()
		p.maybe("ROWS", "ROW")
	}
	if q.Fetch == nil && p.skip("FETCH") {
		p.oneOf("FIRST", "NEXT")
		q.Fetch = p.count()
		p.oneOf("ROWS", "ROW")
		p.expect("ONLY")
	}
	q.Span = p.from(start)
}

// count passes a number of rows.
func (p *parser) count() ast.Expr {
	if p.skip("?") {
		p.parameters++
		return &ast.Parameter{Span: p.span(p.at - 1), Index: p.parameters - 1}
	}
	_, n := p.unsigned()
	return n
}

func (p *parser) commonTable() *ast.CommonTable {
	start := p.start()
	c := &ast.CommonTable{Name: p.name(KindName)}
	if p.is("(") {
		c.Columns = p.nameList(KindName)
	}
	p.expect("AS", "(")
	c.Query = p.query()
	p.expect(")")
	c.Span = p.from(start)
	return c
}

// setOperation passes UNION and EXCEPT, which bind weaker than INTERSECT.
func (p *parser) setOperation(left ast.QueryBody) ast.QueryBody {
	for {
		if p.peek().word == "MINUS" {
			p.refuse(p.span(p.at), "MINUS is not used here; write EXCEPT")
		}
		kind := p.maybe("UNION", "EXCEPT")
		if kind == "" {
			return left
		}
		q := p.quantifier()
		right := p.intersection(p.term())
		left = &ast.SetOperation{Span: left.Range().To(p.last()), Kind: kind, Quantifier: q, Left: left, Right: right}
	}
}

// intersection passes INTERSECT.
func (p *parser) intersection(left ast.QueryBody) ast.QueryBody {
	for p.skip("INTERSECT") {
		q := p.quantifier()
		right := p.term()
		left = &ast.SetOperation{Span: left.Range().To(right.Range()), Kind: "INTERSECT", Quantifier: q, Left: left, Right: right}
	}
	return left
}

func (p *parser) quantifier() ast.Quantifier {
	return ast.Quantifier(p.maybe("ALL", "DISTINCT"))
}

// term passes one operand of a set operation.
func (p *parser) term() ast.QueryBody {
	start := p.start()
	switch {
	case p.is("SELECT"):
		return p.selection()
	case p.skip("VALUES"), p.peek().word == "VALUE" && p.skip("VALUE"):
		v := &ast.Values{Rows: []*ast.Row{p.valuesRow()}}
		for p.skip(",") {
			v.Rows = append(v.Rows, p.valuesRow())
		}
		v.Span = p.from(start)
		return v
	case p.skip("TABLE"):
		t := &ast.ExplicitTable{Name: p.objectName(KindTable)}
		t.Span = p.from(start)
		return t
	case p.skip("("):
		q := p.query()
		p.expect(")")
		return q
	}
	panic(p.unexpected())
}

// valuesRow passes a row of VALUES, in which DEFAULT may stand. An expression
// without parentheses is a row of one.
func (p *parser) valuesRow() *ast.Row {
	start := p.start()
	r := &ast.Row{Explicit: p.is("ROW") && p.ahead(1).word == "("}
	if r.Explicit {
		p.at++
	}
	if p.skip("(") {
		r.Elements = append(r.Elements, p.valueOrDefault())
		for p.skip(",") {
			r.Elements = append(r.Elements, p.valueOrDefault())
		}
		p.expect(")")
	} else {
		r.Elements = append(r.Elements, p.expression(0))
	}
	r.Span = p.from(start)
	return r
}

func (p *parser) valueOrDefault() ast.Expr {
	if p.skip("DEFAULT") {
		return &ast.Default{Span: p.span(p.at - 1)}
	}
	if start := p.start(); p.startsQuery() {
		q := p.query()
		return &ast.Subquery{Span: p.from(start), Query: q}
	}
	return p.expression(0)
}

// selection passes SELECT and its clauses.
func (p *parser) selection() *ast.Select {
	start := p.start()
	p.expect("SELECT")
	s := &ast.Select{Hints: p.hints()}
	s.Stream = p.skip("STREAM")
	s.Quantifier = p.quantifier()
	s.Items = append(s.Items, p.selectItem())
	for p.skip(",") {
		s.Items = append(s.Items, p.selectItem())
	}
	if !p.skip("FROM") {
		s.Span = p.from(start)
		return s
	}
	s.From = p.fromList()
	if p.skip("WHERE") {
		s.Where = p.expression(0)
	}
	if p.is("GROUP") {
		s.GroupBy = p.groupBy()
	}
	if p.skip("HAVING") {
		s.Having = p.expression(0)
	}
	if p.skip("WINDOW") {
		s.Windows = append(s.Windows, p.namedWindow())
		for p.skip(",") {
			s.Windows = append(s.Windows, p.namedWindow())
		}
	}
	if p.skip("QUALIFY") {
		s.Qualify = p.expression(0)
	}
	s.Span = p.from(start)
	return s
}

// selectItem passes an expression or star, and its alias.
func (p *parser) selectItem() *ast.SelectItem {
	start := p.start()
	item := &ast.SelectItem{}
	if p.skip("*") {
		item.Expr = &ast.Star{Span: p.span(p.at - 1)}
		if p.is("EXCEPT") && p.ahead(1).word == "(" && p.ahead(2).word != "SELECT" {
			p.refuse(p.span(p.at), "* EXCEPT (…) is not supported; name the columns that are wanted")
		}
	} else {
		item.Expr = p.expression(0)
	}
	item.Alias = p.alias(KindName)
	item.Span = p.from(start)
	return item
}

// alias passes [AS] name, or nothing.
func (p *parser) alias(k Kind) *ast.Name {
	if p.skip("AS") || p.peek().isName() {
		n := p.name(k)
		return &n
	}
	return nil
}

func (p *parser) groupBy() *ast.GroupBy {
	start := p.start()
	p.expect("GROUP", "BY")
	g := &ast.GroupBy{Quantifier: p.quantifier()}
	g.Items = p.groupingElements()
	g.Span = p.from(start)
	return g
}

func (p *parser) groupingElements() []ast.GroupingElement {
	list := []ast.GroupingElement{p.groupingElement()}
	for p.elementFollows() {
		list = append(list, p.groupingElement())
	}
	return list
}

func (p *parser) groupingElement() ast.GroupingElement {
	start := p.start()
	kind := p.maybe("ROLLUP", "CUBE")
	if kind == "" && p.skip("GROUPING", "SETS") {
		kind = "GROUPING SETS"
	}
	switch {
	case kind != "":
		p.enter()
		p.expect("(")
		s := &ast.GroupingSets{Kind: kind, Items: p.groupingElements()}
		p.leave()
		p.expect(")")
		s.Span = p.from(start)
		return s
	case p.skip("(", ")"):
		return &ast.GroupingKey{Span: p.from(start), Set: true}
	}
	e := p.expression(0)
	k := &ast.GroupingKey{Exprs: []ast.Expr{e}}
	if r, ok := e.(*ast.Row); ok && !r.Explicit && !r.Period {
		k.Exprs, k.Set = r.Elements, true
	}
	k.Span = p.from(start)
	return k
}

func (p *parser) orderItems() []*ast.OrderItem {
	list := []*ast.OrderItem{p.orderItem()}
	for p.skip(",") {
		list = append(list, p.orderItem())
	}
	return list
}

func (p *parser) orderItem() *ast.OrderItem {
	start := p.start()
	o := &ast.OrderItem{Expr: p.expression(0)}
	o.Descending = p.maybe("ASC", "DESC") == "DESC"
	if p.skip("NULLS") {
		o.Nulls = p.oneOf("FIRST", "LAST")
	}
	o.Span = p.from(start)
	return o
}

func (p *parser) namedWindow() *ast.NamedWindow {
	start := p.start()
	w := &ast.NamedWindow{Name: p.name(KindName)}
	p.expect("AS")
	w.Window = p.windowSpecification()
	w.Span = p.from(start)
	return w
}

// window passes what follows OVER.
func (p *parser) window() *ast.Window {
	if p.is("(") {
		return p.windowSpecification()
	}
	n := p.name(KindWindow)
	return &ast.Window{Span: n.Span, Reference: &n}
}

func (p *parser) windowSpecification() *ast.Window {
	start := p.start()
	p.expect("(")
	w := &ast.Window{Inline: true}
	if !p.is("PARTITION") && !p.is("ORDER") && p.peek().isName() {
		n := p.name(KindWindow)
		w.Reference = &n
	}
	if p.skip("PARTITION") {
		p.expect("BY")
		w.PartitionBy = p.expressions()
	}
	if p.skip("ORDER") {
		p.expect("BY")
		w.OrderBy = p.orderItems()
	}
	if p.is("ROWS") || p.is("RANGE") {
		w.Frame = p.frame()
	}
	if kind := p.maybe("ALLOW", "DISALLOW"); kind != "" {
		p.expect("PARTIAL")
		allow := kind == "ALLOW"
		w.AllowPartial = &allow
	}
	p.expect(")")
	w.Span = p.from(start)
	return w
}

func (p *parser) frame() *ast.Frame {
	start := p.start()
	f := &ast.Frame{Unit: p.oneOf("ROWS", "RANGE")}
	if p.skip("BETWEEN") {
		f.Start = p.frameBound()
		p.expect("AND")
		f.End = p.frameBound()
	} else {
		f.Start = p.frameBound()
	}
	if p.skip("EXCLUDE") {
		switch {
		case p.skip("CURRENT"):
			p.expect("ROW")
			f.Exclude = "CURRENT ROW"
		case p.skip("NO"):
			p.expect("OTHERS")
			f.Exclude = "NO OTHERS"
		default:
			f.Exclude = p.oneOf("GROUP", "TIES")
		}
	}
	f.Span = p.from(start)
	return f
}

func (p *parser) frameBound() *ast.FrameBound {
	start := p.start()
	b := &ast.FrameBound{}
	switch {
	case p.skip("UNBOUNDED"):
		b.Kind = ast.UnboundedPreceding
		if p.oneOf("PRECEDING", "FOLLOWING") == "FOLLOWING" {
			b.Kind = ast.UnboundedFollowing
		}
	case p.skip("CURRENT", "ROW"):
		b.Kind = ast.CurrentRow
	default:
		// AND belongs to BETWEEN.
		b.Offset = p.expression(ast.BindAnd + 1)
		b.Kind = ast.FrameBoundKind(p.oneOf("PRECEDING", "FOLLOWING"))
	}
	b.Span = p.from(start)
	return b
}

// hints passes /*+ … */, or nothing.
func (p *parser) hints() []*ast.Hint {
	if p.peek().kind != hintStart {
		return nil
	}
	p.at++
	list := []*ast.Hint{p.hint()}
	for {
		p.skip(",")
		if p.peek().kind == hintEnd {
			p.at++
			return list
		}
		if !p.peek().isName() {
			p.expect("*/")
		}
		list = append(list, p.hint())
	}
}

func (p *parser) hint() *ast.Hint {
	start := p.start()
	h := &ast.Hint{Name: p.name(KindHint)}
	if p.skip("(") {
		h.Parens = true
		if !p.is(")") {
			p.hintArgument(h)
			for p.skip(",") {
				p.hintArgument(h)
			}
		}
		p.expect(")")
	}
	h.Span = p.from(start)
	return h
}

// hintArgument passes 'k' = 'v', a word, a text or a number. Options and others
// do not mix.
func (p *parser) hintArgument(h *ast.Hint) {
	start := p.start()
	if k := p.peek().kind; (k == text || k == word) && p.ahead(1).word == "=" && len(h.Words) == 0 {
		o := &ast.Option{}
		if k == text {
			o.Key = p.stringLiteral()
		} else {
			n := p.name(KindName)
			o.Key = &ast.StringLiteral{Span: n.Span, Value: n.Text}
		}
		p.expect("=")
		o.Value = p.stringLiteral()
		o.Span = p.from(start)
		h.Options = append(h.Options, o)
		return
	}
	if len(h.Options) > 0 {
		p.note(KindString)
		p.fail()
	}
	w := &ast.HintWord{}
	switch t := p.peek(); t.kind {
	case text:
		s := p.stringLiteral()
		w.Text, w.Literal = s.Value, s
	case number:
		p.at++
		n := &ast.NumberLiteral{Span: p.span(p.at - 1), Text: p.text[t.start:t.end]}
		w.Text, w.Literal = n.Text, n
	default:
		n := p.objectName(KindTable)
		for i, part := range n.Parts {
			if i > 0 {
				w.Text += "."
			}
			w.Text += part.Text
		}
		w.Names = n.Parts
	}
	w.Span = p.from(start)
	h.Words = append(h.Words, w)
}
