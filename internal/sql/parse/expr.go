package parse

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/ast"
)

// simple are the operators that are one word or mark.
var simple = func() map[string]ast.BinaryOp {
	m := map[string]ast.BinaryOp{}
	for _, op := range []ast.BinaryOp{
		ast.Or, ast.And, ast.Equals, ast.NotEquals, ast.Less, ast.LessOrEqual, ast.Greater, ast.GreaterOrEqual,
		ast.Add, ast.Subtract, ast.Multiply, ast.Divide, ast.Modulo, ast.Concat,
		ast.Overlaps, ast.Contains, ast.PeriodEquals, ast.Precedes, ast.Succeeds,
	} {
		m[string(op)] = op
	}
	return m
}()

// expressions passes a list of expressions, one at least.
func (p *parser) expressions() []ast.Expr {
	list := []ast.Expr{p.expression(0)}
	for p.skip(",") {
		list = append(list, p.expression(0))
	}
	return list
}

// expression passes an expression whose operators bind at least as strongly as
// given.
func (p *parser) expression(bind int) ast.Expr {
	p.enter()
	e := p.binary(p.prefix(), bind)
	p.leave()
	return e
}

// prefix passes an operator before its operand, or an operand.
func (p *parser) prefix() ast.Expr {
	p.note(KindExpression)
	start := p.start()
	op := ast.UnaryOp("")
	switch p.peek().word {
	case "NOT":
		op = ast.Not
	case "-":
		op = ast.Negate
	case "+":
		op = ast.Plus
	case "FINAL", "RUNNING":
		if p.inMatch {
			op = ast.UnaryOp(p.peek().word)
		}
	}
	if op == "" {
		return p.postfix(p.primary())
	}
	at := p.at
	p.at++
	if t := p.peek(); t.kind == symbol && !t.startsOperand() {
		p.refuse(p.span(p.at), "expected an expression after "+p.text[p.tokens[at].start:p.tokens[at].end]+", but found "+shown(t.word))
	}
	p.operandFollows(at)
	e := &ast.Unary{Op: op, Operand: p.expression(op.Bind())}
	e.Span = p.from(start)
	return e
}

// operandFollows stops the reading at the operator if no operand can start behind
// it: Flink reports the operator's place.
func (p *parser) operandFollows(operator int) {
	t := p.peek()
	if t.startsOperand() || p.inMatch && matchFunctions[t.word] {
		return
	}
	op := p.tokens[operator]
	if t.kind == endOfText {
		message := "expected an expression after " + p.text[op.start:op.end] + ", but found the end of the statement"
		if op.word == "NOT" { // which can be more than one operator: Flink reports the end
			e := p.unexpected()
			e.Message = message
			panic(e)
		}
		p.refuse(ast.Span{Start: op.start, End: op.end}, message)
	}
	found := shown(p.text[t.start:t.end])
	p.refuse(ast.Span{Start: op.start, End: op.end}, "expected an expression after "+p.text[op.start:op.end]+", but found "+found)
}

// matchFunctions are the reserved words that are functions in MATCH_RECOGNIZE.
var matchFunctions = map[string]bool{"PREV": true, "NEXT": true, "CLASSIFIER": true, "MATCH_NUMBER": true}

// startsOperand says whether an expression may start with a token.
func (t token) startsOperand() bool {
	switch {
	case t.kind == endOfText || t.kind == wrong:
		return false
	case t.kind == symbol:
		return t.word == "(" || t.word == "?" || t.word == "+" || t.word == "-" || t.word == "{"
	case t.kind != word || t.key.IsName() || t.key.IsFunction() || t.key.IsNiladic():
		return true
	}
	_, special := specialForms[t.word]
	return special || t.word == "NOT" || t.word == "RUNNING"
}

// operators are the words and marks that an operator starts with.
var operators = []string{
	"=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "||", "AND", "OR", "IS", "IN", "BETWEEN", "LIKE",
	"SIMILAR", "NOT", "OVERLAPS", "CONTAINS", "EQUALS", "PRECEDES", "SUCCEEDS", "IMMEDIATELY", "MULTISET", "MEMBER",
	"SUBMULTISET", "ILIKE", "RLIKE",
}

// binary passes the operators behind an operand that bind strongly enough.
func (p *parser) binary(left ast.Expr, bind int) ast.Expr {
	for {
		t := p.peek()
		if p.at == p.watch {
			p.note(KindOperator)
			for _, w := range operators {
				p.noteWord(w)
			}
		}
		if t.word == "" {
			return left
		}
		if o, ok := simple[t.word]; ok {
			if o.Bind() < bind {
				return left
			}
			p.at++
			left = p.operation(left, o, p.at-1)
			continue
		}
		next := p.predicate(left, t, bind)
		if next == nil {
			return left
		}
		left = next
	}
}

// operation passes the right operand of an operator already passed, whose first
// word is at a token.
func (p *parser) operation(left ast.Expr, op ast.BinaryOp, operator int) ast.Expr {
	at := ast.Span{Start: p.tokens[operator].start, End: p.tokens[p.at-1].end}
	if op.Bind() == ast.BindCompare {
		if q := p.quantified(left, op); q != nil {
			return q
		}
	}
	p.operandFollows(operator)
	right := p.expression(op.Bind() + 1)
	return &ast.Binary{Span: left.Range().To(p.last()), Op: op, OpSpan: at, Left: left, Right: right}
}

// quantified passes SOME, ANY or ALL and its list or query behind a comparison.
func (p *parser) quantified(left ast.Expr, op ast.BinaryOp) ast.Expr {
	if w := p.peek().word; w != "SOME" && w != "ANY" && w != "ALL" || p.ahead(1).word != "(" {
		return nil
	}
	q := &ast.Quantified{Operand: left, Op: op, All: p.is("ALL")}
	p.at++
	q.List, q.Query = p.listOrQuery()
	q.Span = left.Range().To(p.last())
	return q
}

// predicate passes an operator of several words, or gives nil if there is none
// that binds strongly enough.
func (p *parser) predicate(left ast.Expr, t token, bind int) ast.Expr {
	at := p.at
	switch t.word {
	case "IS":
		return p.test(left, bind)
	case "NOT", "BETWEEN", "IN", "LIKE", "SIMILAR", "ILIKE", "RLIKE":
		if bind > ast.BindBetween {
			return nil
		}
		return p.match(left)
	case "!=":
		p.refuse(p.span(p.at), `!= is no operator; write <> for "not equal"`)
	case "MULTISET":
		return p.multiset(left, bind)
	case "MEMBER", "SUBMULTISET", "IMMEDIATELY":
		if bind > ast.BindCompare {
			return nil
		}
		switch {
		case p.skip("MEMBER"):
			p.skip("OF")
			return p.operation(left, ast.MemberOf, at)
		case p.skip("SUBMULTISET"):
			p.skip("OF")
			return p.operation(left, ast.SubmultisetOf, at)
		case p.skip("IMMEDIATELY", "PRECEDES"):
			return p.operation(left, ast.ImmediatelyPrecedes, at)
		case p.skip("IMMEDIATELY", "SUCCEEDS"):
			return p.operation(left, ast.ImmediatelySucceeds, at)
		}
	}
	return nil
}

// test passes IS and what follows it.
func (p *parser) test(left ast.Expr, bind int) ast.Expr {
	at := p.at
	p.at++
	not := p.skip("NOT")
	if p.skip("DISTINCT") {
		p.expect("FROM")
		if bind > ast.BindCompare {
			p.at = at
			return nil
		}
		op := ast.IsDistinctFrom
		if not {
			op = ast.IsNotDistinctFrom
		}
		return p.operation(left, op, at)
	}
	if bind > ast.BindIs {
		p.at = at
		return nil
	}
	e := &ast.Is{Operand: left, Not: not}
	switch t := p.peek(); {
	case t.kind == endOfText || p.at == p.watch:
	case slices.Contains([]string{"A", "JSON", "NULL", "TRUE", "FALSE", "UNKNOWN", "EMPTY"}, t.word):
	default:
		p.refuse(p.span(at), "IS cannot stand before "+shown(p.text[t.start:t.end])+": IS [NOT] NULL, TRUE, FALSE and UNKNOWN can stand here; values are compared with =")
	}
	switch {
	case p.skip("A"):
		p.expect("SET")
		e.Test = "A SET"
	case p.skip("JSON"):
		e.Test = "JSON"
		if k := p.maybe("VALUE", "OBJECT", "ARRAY", "SCALAR"); k != "" {
			e.Test += " " + k
		}
	default:
		e.Test = p.oneOf("NULL", "TRUE", "FALSE", "UNKNOWN", "EMPTY")
	}
	e.Span = left.Range().To(p.last())
	return e
}

// match passes [NOT] BETWEEN, IN, LIKE and their like.
func (p *parser) match(left ast.Expr) ast.Expr {
	operator := p.at
	not := p.skip("NOT")
	switch {
	case p.skip("BETWEEN"):
		e := &ast.Between{Operand: left, Not: not, Symmetric: p.maybe("SYMMETRIC", "ASYMMETRIC") == "SYMMETRIC"}
		p.operandFollows(operator)
		e.Low = p.expression(ast.BindBetween + 1)
		p.expect("AND")
		e.High = p.expression(ast.BindBetween + 1)
		e.Span = left.Range().To(p.last())
		return e
	case p.skip("IN"):
		e := &ast.In{Operand: left, Not: not}
		e.List, e.Query = p.listOrQuery()
		e.Span = left.Range().To(p.last())
		return e
	case not && p.skip("SUBMULTISET"):
		p.skip("OF")
		return p.operation(left, ast.NotSubmultisetOf, operator)
	}
	if t := p.peek(); not && t.kind != endOfText && p.at != p.watch && !slices.Contains([]string{"LIKE", "SIMILAR", "ILIKE", "RLIKE"}, t.word) {
		p.refuse(p.span(operator), "NOT cannot stand before "+shown(p.text[t.start:t.end])+": NOT BETWEEN, IN, LIKE and SIMILAR TO can stand here; values are compared with <>")
	}
	e := &ast.Like{Operand: left, Not: not, Kind: p.oneOf("LIKE", "SIMILAR", "ILIKE", "RLIKE")}
	if e.Kind == "SIMILAR" {
		p.expect("TO")
		e.Kind = "SIMILAR TO"
	}
	p.operandFollows(operator)
	e.Pattern = p.expression(ast.BindBetween + 1)
	if p.skip("ESCAPE") {
		e.Escape = p.expression(ast.BindBetween + 1)
	}
	e.Span = left.Range().To(p.last())
	return e
}

// multiset passes MULTISET UNION and its like.
func (p *parser) multiset(left ast.Expr, bind int) ast.Expr {
	at := p.at
	kind := p.ahead(1).word
	if kind != "UNION" && kind != "EXCEPT" && kind != "INTERSECT" || ast.BinaryOp("MULTISET "+kind+" ALL").Bind() < bind {
		return nil
	}
	p.at += 2
	q := "ALL"
	if w := p.maybe("ALL", "DISTINCT"); w != "" {
		q = w
	}
	return p.operation(left, ast.BinaryOp("MULTISET "+kind+" "+q), at)
}

// listOrQuery passes ( expressions ) or ( query ).
func (p *parser) listOrQuery() ([]ast.Expr, *ast.Query) {
	p.expect("(")
	if p.startsQuery() {
		q := p.query()
		p.expect(")")
		return nil, q
	}
	start := p.start()
	list := p.expressions()
	if s, ok := list[0].(*ast.Subquery); ok && len(list) == 1 {
		q := s.Query
		if !p.is(")") {
			q = p.continued(q, start)
		}
		p.expect(")")
		return nil, q
	}
	p.expect(")")
	return list, nil
}

// postfix passes indices and fields behind an operand.
func (p *parser) postfix(e ast.Expr) ast.Expr {
	for {
		switch {
		case p.is("["):
			p.at++
			x := &ast.Index{Operand: e}
			if w := p.peek().word; (w == "OFFSET" || w == "ORDINAL" || w == "SAFE_OFFSET" || w == "SAFE_ORDINAL") && p.ahead(1).word == "(" {
				p.at += 2
				x.Mode, x.Index = w, p.expression(0)
				p.expect(")")
			} else {
				x.Index = p.expression(0)
			}
			p.expect("]")
			x.Span = e.Range().To(p.last())
			e = x
		case p.is(".") && !isStar(e):
			p.at++
			f := &ast.Field{Operand: e, Name: p.name(KindName)}
			f.Span = e.Range().To(p.last())
			e = f
		default:
			return e
		}
	}
}

func isStar(e ast.Expr) bool {
	_, ok := e.(*ast.Star)
	return ok
}

// parens passes an expression, a row or a query in parentheses.
func (p *parser) parens() ast.Expr {
	start := p.start()
	p.expect("(")
	if p.startsQuery() {
		s := &ast.Subquery{Query: p.query()}
		p.expect(")")
		s.Span = p.from(start)
		return s
	}
	inner := p.start()
	e := p.expression(0)
	if s, ok := e.(*ast.Subquery); ok && !p.is(")") && !p.is(",") {
		q := p.continued(s.Query, inner)
		p.expect(")")
		return &ast.Subquery{Span: p.from(start), Query: q}
	}
	if !p.is(",") {
		p.expect(")")
		return p.difference(e, start)
	}
	r := &ast.Row{Elements: []ast.Expr{e}}
	for p.skip(",") {
		r.Elements = append(r.Elements, p.expression(0))
	}
	p.expect(")")
	r.Span = p.from(start)
	return r
}

// difference passes the unit behind (a - b), which makes it an interval.
func (p *parser) difference(e ast.Expr, start int) ast.Expr {
	b, ok := e.(*ast.Binary)
	if !ok || b.Op != ast.Subtract {
		return e
	}
	switch p.peek().word {
	case "YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND":
		d := &ast.Difference{Left: b.Left, Right: b.Right, Qualifier: p.intervalQualifier()}
		d.Span = p.from(start)
		return d
	}
	return e
}

// primary passes an operand.
func (p *parser) primary() ast.Expr {
	t := p.peek()
	at := ast.Span{Start: t.start, End: t.end}
	switch t.kind {
	case number, approximate:
		p.at++
		return &ast.NumberLiteral{Span: at, Text: p.text[t.start:t.end], Approximate: t.kind == approximate}
	case text:
		return p.stringLiteral()
	case binary:
		p.at++
		return &ast.BinaryLiteral{Span: at, Hex: p.text[t.start+2 : t.end-1]}
	case quoted:
		return p.path()
	case symbol:
		switch t.word {
		case "(":
			return p.parens()
		case "?":
			p.at++
			p.parameters++
			return &ast.Parameter{Span: at, Index: p.parameters - 1}
		case "{":
			return p.braces()
		}
	case word:
		if read, ok := specialForms[t.word]; ok {
			if e := read(p); e != nil {
				return e
			}
		}
		switch {
		case t.key.IsNiladic() && p.ahead(1).word != "(":
			p.at++
			n := ast.ObjectName{Span: at, Parts: []ast.Name{{Span: at, Text: p.text[t.start:t.end]}}}
			return &ast.Call{Span: at, Name: n}
		case (t.key.IsFunction() || t.key.IsNiladic()) && p.ahead(1).word == "(",
			p.inMatch && matchFunctions[t.word]:
			p.at++
			n := ast.ObjectName{Span: at, Parts: []ast.Name{{Span: at, Text: p.text[t.start:t.end]}}}
			return p.call(n)
		case t.isName():
			return p.path()
		}
	}
	panic(p.unexpected())
}

// path passes a name with dots: a column, a call, or t.*.
func (p *parser) path() ast.Expr {
	start := p.start()
	p.note(KindFunction)
	parts := []ast.Name{p.name(KindColumn)}
	for p.is(".") {
		if p.ahead(1).word == "*" {
			p.at += 2
			return &ast.Star{Span: p.from(start), Qualifier: parts}
		}
		p.nameFollows()
		parts = append(parts, p.name(KindColumn))
	}
	if p.is("(") {
		return p.call(ast.ObjectName{Span: p.from(start), Parts: parts})
	}
	return &ast.Identifier{Span: p.from(start), Parts: parts}
}

// braces passes {d '…'}, {t '…'} and {ts '…'}, which other systems write for
// DATE, TIME and TIMESTAMP.
func (p *parser) braces() ast.Expr {
	start := p.start()
	t := p.ahead(1)
	kinds := map[string]string{"d": "DATE", "t": "TIME", "ts": "TIMESTAMP", "D": "DATE", "T": "TIME", "TS": "TIMESTAMP"}
	kind := kinds[p.text[t.start:t.end]]
	if t.kind != word || kind == "" || p.ahead(2).kind != text {
		p.fail()
	}
	p.at += 2
	d := &ast.DateTimeLiteral{Kind: kind, Value: p.stringLiteral()}
	p.expect("}")
	d.Span = p.from(start)
	return d
}
