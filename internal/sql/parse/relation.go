package parse

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/ast"
)

// fromList passes what follows FROM: relations with commas between, which bind
// weaker than JOIN.
func (p *parser) fromList() ast.Relation {
	left := p.joined()
	for p.is(",") {
		p.at++
		p.relationFollows(p.at - 1)
		right := p.joined()
		left = &ast.Join{Span: left.Range().To(right.Range()), Kind: ast.CommaJoin, Left: left, Right: right}
	}
	return left
}

// relationFollows stops the reading at a comma or a word of JOIN, which is at a token, if
// what follows it cannot begin a relation: Flink reports that place.
func (p *parser) relationFollows(at int) {
	t := p.peek()
	switch {
	case t.kind == endOfText || t.kind == wrong || p.at == p.watch || t.isName() || t.word == "(":
	case slices.Contains([]string{"LATERAL", "TABLE", "UNNEST", "VALUES", "VALUE", "SELECT", "WITH"}, t.word):
	default:
		before := p.tokens[p.at-1]
		p.refuse(p.span(at), "expected a table after "+shown(p.text[before.start:before.end])+", but found "+shown(p.text[t.start:t.end]))
	}
}

// joined passes a relation and the joins that follow it.
func (p *parser) joined() ast.Relation {
	p.enter()
	left := p.relation()
	p.leave()
	for {
		natural := p.is("NATURAL")
		if natural {
			p.at++
		}
		kind, words := p.joinKind()
		if kind == "" {
			if natural {
				p.fail()
			}
			return left
		}
		p.at += words
		p.relationFollows(p.at - words)
		left = p.join(left, kind, natural)
	}
}

// joinKind recognises the words of a join, which must be whole: LEFT alone is
// none.
func (p *parser) joinKind() (kind ast.JoinKind, words int) {
	outer := func(k ast.JoinKind) (ast.JoinKind, int) {
		switch {
		case p.ahead(1).word == "JOIN":
			return k, 2
		case p.ahead(1).word == "OUTER" && p.ahead(2).word == "JOIN":
			return k, 3
		}
		return "", 0
	}
	switch {
	case p.is("JOIN"):
		return ast.InnerJoin, 1
	case p.follows("INNER", "JOIN"):
		return ast.InnerJoin, 2
	case p.follows("CROSS", "JOIN"):
		return ast.CrossJoin, 2
	case p.follows("ASOF", "JOIN"):
		return ast.AsofJoin, 2
	case p.is("LEFT"):
		if p.ahead(1).word == "ASOF" && p.ahead(2).word == "JOIN" {
			return ast.LeftAsofJoin, 3
		}
		return outer(ast.LeftJoin)
	case p.is("RIGHT"):
		return outer(ast.RightJoin)
	case p.is("FULL"):
		return outer(ast.FullJoin)
	case p.is("OUTER"):
		if join := p.at + 1; p.tokens[min(join, len(p.tokens)-1)].word == "JOIN" {
			p.refuse(p.span(join), "OUTER stands after LEFT, RIGHT or FULL")
		}
	}
	return "", 0
}

// join passes the right side of a join and its condition.
func (p *parser) join(left ast.Relation, kind ast.JoinKind, natural bool) ast.Relation {
	j := &ast.Join{Kind: kind, Natural: natural, Left: left}
	j.Right = p.relation()
	if kind == ast.AsofJoin || kind == ast.LeftAsofJoin {
		p.expect("MATCH_CONDITION", "(")
		j.Match = p.expression(0)
		p.expect(")")
	}
	if kind == ast.CrossJoin && (p.is("ON") || p.is("USING")) {
		p.refuse(p.span(p.at), "CROSS JOIN takes no condition: leave it out, or write JOIN")
	}
	switch {
	case p.skip("ON"):
		if natural {
			p.refuse(p.span(p.at), "NATURAL JOIN takes no condition: leave it out, or leave NATURAL out")
		}
		j.On = p.expression(0)
	case natural && p.is("USING"):
		p.refuse(p.span(p.at), "NATURAL JOIN takes no condition: leave it out, or leave NATURAL out")
	case p.skip("USING"):
		j.Using = p.nameList(KindColumn)
	}
	j.Span = left.Range().To(p.last())
	return j
}

// relation passes one relation with all that may follow it.
func (p *parser) relation() ast.Relation {
	start := p.start()
	r := p.relationPrimary()
	if p.skip("FOR", "SYSTEM_TIME", "AS", "OF") {
		r = &ast.Snapshot{Relation: r, Time: p.expression(0)}
		r.(*ast.Snapshot).Span = p.from(start)
	}
	if p.is("MATCH_RECOGNIZE") {
		r = p.matchRecognize(r, start)
	}
	if n := p.alias(KindName); n != nil {
		a := &ast.Aliased{Relation: r, Alias: *n}
		if p.is("(") {
			a.Columns = p.nameList(KindName)
		}
		a.Span = p.from(start)
		r = a
	}
	if p.skip("TABLESAMPLE") {
		r = p.sampled(r, start)
	}
	return r
}

func (p *parser) relationPrimary() ast.Relation {
	start := p.start()
	switch {
	case p.skip("LATERAL"):
		switch {
		case p.is("("):
			d, ok := p.parenthesised().(*ast.DerivedTable)
			if !ok {
				p.refuse(p.from(start), "LATERAL must be followed by a query in parentheses or a table function")
			}
			d.Lateral, d.Span = true, p.from(start)
			return d
		case p.is("UNNEST"):
			return p.unnest(start, true)
		case p.skip("TABLE"):
			return p.wrappedCall(start, true)
		}
		c := p.tableFunction()
		return &ast.FunctionTable{Span: p.from(start), Lateral: true, Call: c}
	case p.skip("TABLE"):
		return p.wrappedCall(start, false)
	case p.is("UNNEST"):
		return p.unnest(start, false)
	case p.is("("):
		return p.parenthesised()
	}
	n := p.objectName(KindTable)
	if p.is("(") {
		c := p.call(n)
		return &ast.FunctionTable{Span: p.from(start), Call: c}
	}
	t := &ast.TableName{Name: n, Hints: p.hints()}
	t.Span = p.from(start)
	return t
}

// wrappedCall passes ( f(…) ) after TABLE.
func (p *parser) wrappedCall(start int, lateral bool) *ast.FunctionTable {
	p.expect("(")
	c := p.tableFunction()
	p.expect(")")
	return &ast.FunctionTable{Span: p.from(start), Lateral: lateral, Wrapped: true, Call: c}
}

// tableFunction passes a call that gives a table.
func (p *parser) tableFunction() *ast.Call {
	p.skip("SPECIFIC")
	n := p.objectName(KindFunction)
	if !p.is("(") {
		p.fail()
	}
	return p.call(n)
}

func (p *parser) unnest(start int, lateral bool) *ast.Unnest {
	p.expect("UNNEST", "(")
	u := &ast.Unnest{Lateral: lateral, Args: p.expressions()}
	p.expect(")")
	u.Ordinality = p.skip("WITH", "ORDINALITY")
	u.Span = p.from(start)
	return u
}

// parenthesised passes a query or joined relations in parentheses. Which of them
// it is may show only behind further parentheses: what was read as a relation
// becomes the first operand of a query if the query goes on.
func (p *parser) parenthesised() ast.Relation {
	start := p.start()
	p.expect("(")
	if p.startsQuery() || p.is("TABLE") && p.ahead(1).word != "(" {
		d := &ast.DerivedTable{Query: p.query()}
		p.expect(")")
		d.Span = p.from(start)
		return d
	}
	inner := p.start()
	r := p.fromList()
	if d, ok := r.(*ast.DerivedTable); ok && !d.Lateral {
		if p.is(")") {
			p.at++
			d.Span = p.from(start)
			return d
		}
		q := p.continued(d.Query, inner)
		p.expect(")")
		return &ast.DerivedTable{Span: p.from(start), Query: q}
	}
	p.expect(")")
	return r
}

// continued passes the rest of a query whose first operand stood in parentheses.
func (p *parser) continued(first *ast.Query, start int) *ast.Query {
	q := &ast.Query{Body: p.setOperation(p.intersection(first))}
	p.tail(q, start)
	return q
}

func (p *parser) sampled(r ast.Relation, start int) ast.Relation {
	s := &ast.Sampled{Relation: r, Method: p.oneOf("BERNOULLI", "SYSTEM", "SUBSTITUTE")}
	p.expect("(")
	s.Argument = p.expression(0)
	p.expect(")")
	if p.skip("REPEATABLE") {
		p.expect("(")
		s.Repeatable = p.expression(0)
		p.expect(")")
	}
	s.Span = p.from(start)
	return s
}
