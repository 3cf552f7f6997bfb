package parse

import (
	"github.com/weirstream/weir/internal/sql/ast"
)

// jsonPath passes ( input [FORMAT JSON], path, which three functions start with.
func (p *parser) jsonPath() (input, path ast.Expr) {
	p.at++
	p.expect("(")
	input = p.expression(0)
	p.skip("FORMAT", "JSON")
	p.expect(",")
	return input, p.expression(0)
}

func (p *parser) jsonExists() ast.Expr {
	start := p.start()
	e := &ast.JSONExists{}
	e.Input, e.Path = p.jsonPath()
	if from := p.start(); !p.is(")") {
		if k := p.maybe("TRUE", "FALSE", "UNKNOWN", "ERROR"); k != "" {
			p.expect("ON", "ERROR")
			e.OnError = &ast.JSONBehaviour{Span: p.from(from), Kind: k}
		}
	}
	p.expect(")")
	e.Span = p.from(start)
	return e
}

func (p *parser) jsonValue() ast.Expr {
	start := p.start()
	e := &ast.JSONValue{}
	e.Input, e.Path = p.jsonPath()
	if p.skip("RETURNING") {
		e.Returning = p.dataType()
	}
	for from := p.start(); ; from = p.start() {
		b := &ast.JSONBehaviour{Kind: p.maybe("ERROR", "NULL", "DEFAULT")}
		if b.Kind == "" {
			break
		}
		if b.Kind == "DEFAULT" {
			b.Default = p.expression(0)
		}
		p.behaviour(b, from, &e.OnEmpty, &e.OnError)
	}
	p.expect(")")
	e.Span = p.from(start)
	return e
}

// behaviour passes ON EMPTY or ON ERROR, and puts the behaviour where it belongs.
func (p *parser) behaviour(b *ast.JSONBehaviour, start int, empty, failed **ast.JSONBehaviour) {
	p.expect("ON")
	to := empty
	if p.oneOf("EMPTY", "ERROR") == "ERROR" {
		to = failed
	}
	b.Span = p.from(start)
	if *to != nil {
		p.refuse(b.Span, "ON EMPTY and ON ERROR can be given once each")
	}
	*to = b
}

func (p *parser) jsonQuery() ast.Expr {
	start := p.start()
	e := &ast.JSONQuery{}
	e.Input, e.Path = p.jsonPath()
	if p.skip("RETURNING") {
		e.Returning = p.dataType()
	}
	switch p.maybe("WITHOUT", "WITH") {
	case "WITHOUT":
		e.Wrapper = "WITHOUT ARRAY"
		p.skip("ARRAY")
		p.expect("WRAPPER")
	case "WITH":
		e.Wrapper = "WITH UNCONDITIONAL ARRAY"
		if p.maybe("CONDITIONAL", "UNCONDITIONAL") == "CONDITIONAL" {
			e.Wrapper = "WITH CONDITIONAL ARRAY"
		}
		p.skip("ARRAY")
		p.expect("WRAPPER")
	}
	for from := p.start(); ; from = p.start() {
		b := &ast.JSONBehaviour{Kind: p.maybe("ERROR", "NULL", "EMPTY")}
		if b.Kind == "" {
			break
		}
		if b.Kind == "EMPTY" {
			b.Kind += " " + p.oneOf("ARRAY", "OBJECT")
		}
		p.behaviour(b, from, &e.OnEmpty, &e.OnError)
	}
	p.expect(")")
	e.Span = p.from(start)
	return e
}

// onNull passes NULL ON NULL or ABSENT ON NULL, or nothing.
func (p *parser) onNull() string {
	for _, w := range []string{"NULL", "ABSENT"} {
		if p.skip(w, "ON", "NULL") {
			return w
		}
	}
	return ""
}

func (p *parser) jsonObject() ast.Expr {
	start := p.start()
	o := &ast.JSONObject{Aggregate: p.is("JSON_OBJECTAGG")}
	p.at++
	p.expect("(")
	if o.Aggregate || !p.is(")") && !p.follows("NULL", "ON", "NULL") && !p.follows("ABSENT", "ON", "NULL") {
		o.Entries = append(o.Entries, p.jsonEntry())
		for !o.Aggregate && p.skip(",") {
			o.Entries = append(o.Entries, p.jsonEntry())
		}
	}
	o.OnNull = p.onNull()
	p.expect(")")
	if o.Aggregate {
		p.aggregation(&o.Aggregation)
	}
	o.Span = p.from(start)
	return o
}

// jsonEntry passes [KEY] k VALUE v or k : v. Flink reports a missing VALUE where
// the entry starts.
func (p *parser) jsonEntry() *ast.JSONEntry {
	start, at := p.start(), p.at
	e := &ast.JSONEntry{}
	if w := p.ahead(1).word; p.is("KEY") && w != "VALUE" && w != ":" && w != "." {
		p.at++
	}
	e.Key = p.expression(0)
	if p.maybe("VALUE", ":") == "" {
		if w := p.peek().word; w == "," || w == ")" {
			p.refuse(p.span(at), "a key must be followed by VALUE and a value: JSON_OBJECT(KEY 'a' VALUE 1)")
		}
		p.fail()
	}
	e.Value = p.expression(0)
	e.Format = p.skip("FORMAT", "JSON")
	e.Span = p.from(start)
	return e
}

func (p *parser) jsonArray() ast.Expr {
	start := p.start()
	a := &ast.JSONArray{Aggregate: p.is("JSON_ARRAYAGG")}
	p.at++
	p.expect("(")
	if a.Aggregate || !p.is(")") && !p.follows("NULL", "ON", "NULL") && !p.follows("ABSENT", "ON", "NULL") {
		a.Elements = append(a.Elements, p.jsonElement())
		for !a.Aggregate && p.skip(",") {
			a.Elements = append(a.Elements, p.jsonElement())
		}
	}
	if a.Aggregate && p.skip("ORDER") {
		p.expect("BY")
		a.OrderBy = p.orderItems()
	}
	a.OnNull = p.onNull()
	p.expect(")")
	if a.Aggregate {
		p.aggregation(&a.Aggregation)
	}
	a.Span = p.from(start)
	return a
}

func (p *parser) jsonElement() *ast.JSONElement {
	start := p.start()
	e := &ast.JSONElement{Value: p.expression(0)}
	e.Format = p.skip("FORMAT", "JSON")
	e.Span = p.from(start)
	return e
}
