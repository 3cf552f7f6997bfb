package parse

import (
	"github.com/weirstream/weir/internal/sql/ast"
)

// Statement reads one statement. Semicolons may follow it.
func Statement(source string) (ast.Statement, error) {
	return try(source, func(p *parser) ast.Statement {
		s := p.statement()
		for p.skip(";") {
		}
		p.finish()
		return s
	})
}

// Statements reads statements with semicolons between them, one at least.
func Statements(source string) ([]ast.Statement, error) {
	return try(source, func(p *parser) (list []ast.Statement) {
		for {
			list = append(list, p.statement())
			if !p.is(";") {
				p.finish()
			}
			for p.skip(";") {
			}
			if p.peek().kind == endOfText {
				return list
			}
		}
	})
}

// Expression reads one expression.
func Expression(source string) (ast.Expr, error) {
	return try(source, func(p *parser) ast.Expr {
		e := p.expression(0)
		p.finish()
		return e
	})
}

// Type reads one type, perhaps with NULL or NOT NULL behind it.
func Type(source string) (ast.DataType, error) {
	return try(source, func(p *parser) ast.DataType {
		var t ast.DataType
		if start := p.start(); p.skip("INTERVAL") {
			i := &ast.IntervalType{Qualifier: p.intervalQualifier()}
			i.Span = p.from(start)
			t = i
			switch {
			case p.skip("NULL"):
				i.Null = ast.Nullable
			case p.skip("NOT", "NULL"):
				i.Null = ast.NotNull
			}
		} else {
			t = p.nullableType()
		}
		p.finish()
		return t
	})
}

// finish stops the reading unless the text ends here.
func (p *parser) finish() {
	p.note(KindEnd)
	if p.peek().kind != endOfText {
		p.fail()
	}
}
