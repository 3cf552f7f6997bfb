package parse

import (
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
)

// specialForms are the operands that start with a keyword and have a syntax of
// their own. A form that gives nil was none: the word is read as a name.
var specialForms map[string]func(*parser) ast.Expr

func init() {
	boolean := func(v ast.Truth) func(*parser) ast.Expr {
		return func(p *parser) ast.Expr {
			p.at++
			return &ast.BooleanLiteral{Span: p.span(p.at - 1), Value: v}
		}
	}
	specialForms = map[string]func(*parser) ast.Expr{
		"NULL": func(p *parser) ast.Expr {
			p.at++
			return &ast.NullLiteral{Span: p.span(p.at - 1)}
		},
		"TRUE": boolean(ast.True), "FALSE": boolean(ast.False), "UNKNOWN": boolean(ast.Unknown),
		"DATE": (*parser).dateTime, "TIME": (*parser).dateTime, "TIMESTAMP": (*parser).dateTime,
		"INTERVAL": (*parser).interval, "CASE": (*parser).caseForm,
		"CAST": (*parser).cast, "TRY_CAST": (*parser).cast,
		"EXISTS": (*parser).exists,
		"ARRAY":  (*parser).collection, "MULTISET": (*parser).collection, "MAP": (*parser).mapForm,
		"ROW": (*parser).row, "PERIOD": (*parser).row,
		"EXTRACT": (*parser).extract, "POSITION": (*parser).position, "OVERLAY": (*parser).overlay,
		"SUBSTRING": (*parser).substring, "TRIM": (*parser).trim,
		"FLOOR": (*parser).floor, "CEIL": (*parser).floor, "CEILING": (*parser).floor,
		"TRANSLATE": (*parser).translate, "CONVERT": (*parser).translate,
		"TIMESTAMPADD": (*parser).timestampAdd, "TIMESTAMPDIFF": (*parser).timestampAdd,
		"DESCRIPTOR":  (*parser).descriptor,
		"JSON_EXISTS": (*parser).jsonExists, "JSON_VALUE": (*parser).jsonValue, "JSON_QUERY": (*parser).jsonQuery,
		"JSON_OBJECT": (*parser).jsonObject, "JSON_OBJECTAGG": (*parser).jsonObject,
		"JSON_ARRAY": (*parser).jsonArray, "JSON_ARRAYAGG": (*parser).jsonArray,
	}
	for w := range specialForms {
		startsExpression[w] = true
	}
	for _, w := range []string{"NOT", "+", "-", "(", "?"} {
		startsExpression[w] = true
	}
}

// form starts a call of one keyword: it passes the keyword and the parenthesis.
func (p *parser) form() *ast.Call {
	t := p.peek()
	at := ast.Span{Start: t.start, End: t.end}
	p.at++
	p.expect("(")
	return &ast.Call{Span: at, Name: ast.ObjectName{Span: at, Parts: []ast.Name{{Span: at, Text: p.text[t.start:t.end]}}}}
}

// formEnd passes the parenthesis at the end of a call of one keyword.
func (p *parser) formEnd(c *ast.Call) ast.Expr {
	p.expect(")")
	c.Span = p.from(c.Span.Start)
	return c
}

func (p *parser) dateTime() ast.Expr {
	start := p.start()
	if p.ahead(1).kind != text {
		return nil
	}
	d := &ast.DateTimeLiteral{Kind: p.peek().word}
	p.at++
	d.Value = p.stringLiteral()
	d.Span = p.from(start)
	return d
}

func (p *parser) interval() ast.Expr {
	start := p.start()
	p.expect("INTERVAL")
	sign := p.maybe("-", "+")
	if p.peek().kind == text {
		i := &ast.IntervalLiteral{Negative: sign == "-", Value: p.stringLiteral()}
		if strings.TrimSpace(i.Value.Value) == "" {
			p.refuse(p.from(start), "an interval needs a value: INTERVAL '1' DAY")
		}
		i.Qualifier = p.intervalQualifier()
		i.Span = p.from(start)
		return i
	}
	i := &ast.IntervalOf{}
	operand := p.start()
	e := p.primary()
	if sign == "-" {
		e = &ast.Unary{Span: ast.Span{Start: operand - 1}.To(e.Range()), Op: ast.Negate, Operand: e}
	}
	i.Operand, i.Qualifier = e, p.intervalQualifier()
	i.Span = p.from(start)
	return i
}

func (p *parser) caseForm() ast.Expr {
	start := p.start()
	p.expect("CASE")
	c := &ast.Case{}
	if !p.is("WHEN") {
		c.Operand = p.expression(0)
	}
	for p.is("WHEN") || len(c.Whens) == 0 {
		w := &ast.When{}
		from := p.start()
		p.expect("WHEN")
		w.Conditions = []ast.Expr{p.expression(0)}
		for c.Operand != nil && p.skip(",") {
			w.Conditions = append(w.Conditions, p.expression(0))
		}
		p.expect("THEN")
		w.Result = p.expression(0)
		w.Span = p.from(from)
		c.Whens = append(c.Whens, w)
	}
	if p.skip("ELSE") {
		c.Else = p.expression(0)
	}
	p.expect("END")
	c.Span = p.from(start)
	return c
}

func (p *parser) cast() ast.Expr {
	start := p.start()
	c := &ast.Cast{Try: p.is("TRY_CAST")}
	p.at++
	p.expect("(")
	c.Operand = p.expression(0)
	p.expect("AS")
	if at := p.start(); p.skip("INTERVAL") {
		t := &ast.IntervalType{Qualifier: p.intervalQualifier()}
		t.Span = p.from(at)
		c.Type = t
	} else {
		c.Type = p.dataType()
	}
	if p.skip("FORMAT") {
		c.Format = p.stringLiteral()
	}
	p.expect(")")
	c.Span = p.from(start)
	return c
}

func (p *parser) exists() ast.Expr {
	start := p.start()
	p.expect("EXISTS", "(")
	e := &ast.Exists{Query: p.query()}
	p.expect(")")
	e.Span = p.from(start)
	return e
}

func (p *parser) collection() ast.Expr {
	start := p.start()
	c := &ast.Collection{Kind: p.peek().word}
	p.at++
	switch {
	case p.skip("("):
		c.Query = p.query()
		p.expect(")")
	case p.skip("["):
		if !p.is("]") {
			c.Elements = []ast.Expr{p.expression(0)}
			for p.elementFollows() {
				c.Elements = append(c.Elements, p.expression(0))
			}
		}
		p.expect("]")
	default:
		p.fail()
	}
	c.Span = p.from(start)
	return c
}

func (p *parser) mapForm() ast.Expr {
	start := p.start()
	m := &ast.Map{}
	switch p.ahead(1).word {
	case "[":
		p.at += 2
		if !p.is("]") {
			m.Entries = p.expressions()
		}
		p.expect("]")
	case "(":
		p.at += 2
		m.Query = p.query()
		p.expect(")")
	default:
		return nil // a name
	}
	m.Span = p.from(start)
	return m
}

func (p *parser) row() ast.Expr {
	start := p.start()
	r := &ast.Row{Explicit: p.is("ROW"), Period: p.is("PERIOD")}
	p.at++
	p.expect("(")
	r.Elements = p.expressions()
	p.expect(")")
	r.Span = p.from(start)
	return r
}

func (p *parser) extract() ast.Expr {
	c := p.form()
	c.Args = append(c.Args, p.timeUnit())
	p.expect("FROM")
	c.Args = append(c.Args, p.expression(0))
	return p.formEnd(c)
}

func (p *parser) position() ast.Expr {
	c := p.form()
	c.Args = append(c.Args, p.expression(ast.BindBetween+1))
	p.expect("IN")
	c.Args = append(c.Args, p.expression(0))
	if p.skip("FROM") {
		c.Args = append(c.Args, p.expression(0))
	}
	return p.formEnd(c)
}

func (p *parser) overlay() ast.Expr {
	c := p.form()
	c.Args = append(c.Args, p.expression(0))
	p.expect("PLACING")
	c.Args = append(c.Args, p.expression(0))
	p.expect("FROM")
	c.Args = append(c.Args, p.expression(0))
	if p.skip("FOR") {
		c.Args = append(c.Args, p.expression(0))
	}
	return p.formEnd(c)
}

func (p *parser) substring() ast.Expr {
	c := p.form()
	c.Args = append(c.Args, p.expression(0))
	last := "FOR"
	if !p.skip("FROM") {
		p.expect(",")
		last = ","
	}
	c.Args = append(c.Args, p.expression(0))
	if p.skip(last) {
		c.Args = append(c.Args, p.expression(0))
	}
	return p.formEnd(c)
}

// trim passes TRIM in all its forms, and fills in what was left out.
func (p *parser) trim() ast.Expr {
	c := p.form()
	side := &ast.Symbol{Word: "BOTH"}
	if w := p.maybe("BOTH", "LEADING", "TRAILING"); w != "" {
		side.Word, side.Span = w, p.span(p.at-1)
		if p.skip("FROM") {
			c.Args = []ast.Expr{side, &ast.StringLiteral{Value: " "}, p.expression(0)}
			return p.formEnd(c)
		}
		c.Args = []ast.Expr{side, p.expression(0)}
		p.expect("FROM")
		c.Args = append(c.Args, p.expression(0))
		return p.formEnd(c)
	}
	e := p.expression(0)
	if p.skip("FROM") {
		c.Args = []ast.Expr{side, e, p.expression(0)}
	} else {
		c.Args = []ast.Expr{side, &ast.StringLiteral{Value: " "}, e}
	}
	return p.formEnd(c)
}

func (p *parser) floor() ast.Expr {
	c := p.form()
	c.Args = append(c.Args, p.expression(0))
	if p.skip("TO") {
		c.Args = append(c.Args, p.timeUnit())
	}
	return p.formEnd(c)
}

// translate passes TRANSLATE and CONVERT, with commas or with USING.
func (p *parser) translate() ast.Expr {
	c := p.form()
	c.Args = append(c.Args, p.expression(0))
	if p.skip("USING") {
		n := p.objectName(KindName)
		c.Args = append(c.Args, &ast.Symbol{Span: n.Span, Word: strings.Join(n.Strings(), ".")})
		return p.formEnd(c)
	}
	for p.skip(",") {
		c.Args = append(c.Args, p.expression(0))
	}
	return p.formEnd(c)
}

func (p *parser) timestampAdd() ast.Expr {
	if p.ahead(1).word != "(" {
		return nil
	}
	c := p.form()
	c.Args = append(c.Args, p.timeUnit())
	p.expect(",")
	c.Args = append(c.Args, p.expression(0))
	p.expect(",")
	c.Args = append(c.Args, p.expression(0))
	return p.formEnd(c)
}

func (p *parser) descriptor() ast.Expr {
	if p.ahead(1).word != "(" {
		return nil
	}
	start := p.start()
	p.at++
	d := &ast.Descriptor{Columns: p.nameList(KindColumn)}
	d.Span = p.from(start)
	return d
}
