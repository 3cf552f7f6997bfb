package parse

import (
	"github.com/weirstream/weir/internal/sql/ast"
)

// typeNames gives each type that is one keyword its usual name, and how many
// numbers may follow it in parentheses.
var typeNames = map[string]struct {
	name    string
	numbers int
}{
	"BOOLEAN": {"BOOLEAN", 0}, "TINYINT": {"TINYINT", 0}, "SMALLINT": {"SMALLINT", 0}, "INT": {"INTEGER", 0},
	"INTEGER": {"INTEGER", 0}, "BIGINT": {"BIGINT", 0}, "FLOAT": {"FLOAT", 0}, "REAL": {"FLOAT", 0},
	"DOUBLE": {"DOUBLE", 0}, "DECIMAL": {"DECIMAL", 2}, "DEC": {"DECIMAL", 2}, "NUMERIC": {"DECIMAL", 2},
	"CHAR": {"CHAR", 1}, "CHARACTER": {"CHAR", 1}, "VARCHAR": {"VARCHAR", 1}, "STRING": {"STRING", 0},
	"BINARY": {"BINARY", 1}, "VARBINARY": {"VARBINARY", 1}, "BYTES": {"BYTES", 0},
	"DATE": {"DATE", 0}, "TIME": {"TIME", 1}, "TIMESTAMP": {"TIMESTAMP", 1}, "TIMESTAMP_LTZ": {"TIMESTAMP_LTZ", 1},
	"VARIANT": {"VARIANT", 0}, "BITMAP": {"BITMAP", 0}, "NULL": {"NULL", 0}, "ANY": {"ANY", 0},
	"GEOMETRY": {"GEOMETRY", 0},
}

// typeAdvice is what to write instead of a word that is no whole type.
var typeAdvice = map[string]string{
	"DATETIME":   "there is no type DATETIME; write TIMESTAMP",
	"ARRAY":      "ARRAY needs the type of its elements: ARRAY<INT>",
	"MULTISET":   "MULTISET needs the type of its elements: MULTISET<INT>",
	"ROW":        "ROW needs its fields: ROW<a INT, b STRING>",
	"RAW":        "RAW needs a class and a serializer in parentheses",
	"STRUCTURED": "STRUCTURED needs its class and fields: STRUCTURED<'class', a INT>",
	"INTERVAL":   "an interval cannot be the type of a column or element",
}

// dataType passes a type, without what may be said of NULL behind it.
func (p *parser) dataType() ast.DataType {
	p.enter()
	p.note(KindType)
	start := p.start()
	t := p.typePrimary()
	p.leave()
	for {
		kind := p.maybe("ARRAY", "MULTISET")
		if kind == "" {
			return t
		}
		c := &ast.CollectionType{Kind: kind, Element: t}
		c.Span = p.from(start)
		t = c
	}
}

// nullableType passes a type and NULL or NOT NULL behind it.
func (p *parser) nullableType() ast.DataType {
	t := p.dataType()
	switch {
	case p.skip("NULL"):
		ast.SetNullability(t, ast.Nullable)
	case p.skip("NOT"):
		p.expect("NULL")
		ast.SetNullability(t, ast.NotNull)
	}
	return t
}

func (p *parser) typePrimary() ast.DataType {
	start, at := p.start(), p.at
	t := p.peek()
	if t.kind == word {
		if n, ok := typeNames[t.word]; ok {
			p.at++
			return p.scalarType(n.name, n.numbers, start)
		}
		switch next := p.ahead(1).word; {
		case (t.word == "ARRAY" || t.word == "MULTISET") && next == "<":
			p.at += 2
			c := &ast.CollectionType{Kind: t.word, Element: p.nullableType()}
			p.expect(">")
			c.Span = p.from(start)
			return c
		case t.word == "MAP" && next == "<":
			p.at += 2
			m := &ast.MapType{Key: p.nullableType()}
			p.expect(",")
			m.Value = p.nullableType()
			p.expect(">")
			m.Span = p.from(start)
			return m
		case t.word == "ROW" && (next == "<" || next == "<>" || next == "("):
			r := &ast.RowType{Fields: p.rowFields()}
			r.Span = p.from(start)
			return r
		case t.word == "RAW" && next == "(":
			p.at += 2
			r := &ast.RawType{Class: p.stringLiteral()}
			p.expect(",")
			r.Serializer = p.stringLiteral()
			p.expect(")")
			r.Span = p.from(start)
			return r
		case t.word == "STRUCTURED" && next == "<":
			p.at += 2
			s := &ast.StructuredType{Class: p.stringLiteral()}
			for p.skip(",") {
				s.Fields = append(s.Fields, p.rowField())
			}
			p.expect(">")
			s.Span = p.from(start)
			return s
		}
	}
	if advice := typeAdvice[t.word]; advice != "" {
		p.refuse(p.span(at), advice)
	}
	if !t.isName() {
		p.fail()
	}
	n := &ast.NamedType{Name: p.objectName(KindType)}
	n.Span = p.from(start)
	return n
}

// scalarType passes what follows the keyword of a type.
func (p *parser) scalarType(name string, numbers, start int) ast.DataType {
	s := &ast.ScalarType{Name: name, Precision: -1, Scale: -1}
	switch name {
	case "DOUBLE":
		p.skip("PRECISION")
	case "CHAR", "BINARY":
		if p.skip("VARYING") {
			s.Name = "VAR" + name
		}
	}
	if numbers > 0 && p.skip("(") {
		s.Precision, _ = p.unsigned()
		if numbers > 1 && p.skip(",") {
			s.Scale, _ = p.unsigned()
		}
		p.expect(")")
	}
	if name == "TIME" || name == "TIMESTAMP" {
		switch {
		case p.skip("WITHOUT"):
			p.expect("TIME", "ZONE")
		case p.is("WITH"):
			p.at++
			p.expect("LOCAL", "TIME", "ZONE")
			if name == "TIMESTAMP" {
				s.Name = "TIMESTAMP_LTZ"
			} else {
				s.Zone = "WITH LOCAL TIME ZONE"
			}
		}
	}
	s.Span = p.from(start)
	return s
}

// rowFields passes ROW< … > or ROW( … ).
func (p *parser) rowFields() []*ast.RowField {
	p.expect("ROW")
	if p.skip("<>") {
		return nil
	}
	closing := ">"
	if p.oneOf("<", "(") == "(" {
		closing = ")"
	}
	var list []*ast.RowField
	if !p.is(closing) {
		list = append(list, p.rowField())
		for p.skip(",") {
			list = append(list, p.rowField())
		}
	}
	p.expect(closing)
	return list
}

func (p *parser) rowField() *ast.RowField {
	start := p.start()
	f := &ast.RowField{Name: p.name(KindName), Type: p.nullableType()}
	if p.peek().kind == text {
		f.Comment = p.stringLiteral()
	}
	f.Span = p.from(start)
	return f
}
