package parse

import (
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
)

func (p *parser) use() ast.Statement {
	start, at := p.start(), p.at
	p.expect("USE")
	if t := p.peek(); p.at != p.watch && !t.isName() && t.word != "MODULES" && t.word != "CATALOG" && t.kind != wrong {
		p.refuse(p.span(at), "USE must be followed by the name of a database, CATALOG or MODULES")
	}
	if p.skip("MODULES") {
		u := &ast.UseModules{Modules: []ast.Name{p.name(KindModule)}}
		for p.skip(",") {
			u.Modules = append(u.Modules, p.name(KindModule))
		}
		u.Span = p.from(start)
		return u
	}
	u := &ast.Use{Kind: ast.KindDatabase}
	if p.is("CATALOG") && (p.ahead(1).isName() || p.at+1 == p.watch) {
		p.at++
		u.Kind = ast.KindCatalog
	}
	u.Name = p.objectName(objectKinds[u.Kind])
	u.Span = p.from(start)
	return u
}

// set passes SET. The key and value may be without quotes, as the client of old
// wrote them: then they reach to = and to the end of the statement. After a key in
// quotes the value is in quotes too.
func (p *parser) set() ast.Statement {
	start := p.start()
	p.expect("SET")
	s := &ast.Set{}
	if p.atEnd() {
		s.Span = p.from(start)
		return s
	}
	quoted := p.peek().kind == text
	s.Key = p.bareOr("=")
	p.expect("=")
	if quoted {
		s.Value = p.stringLiteral()
	} else {
		s.Value = p.bareOr("")
	}
	s.Span = p.from(start)
	return s
}

func (p *parser) reset() ast.Statement {
	start := p.start()
	p.expect("RESET")
	r := &ast.Reset{}
	if !p.atEnd() {
		if p.peek().kind == symbol {
			p.fail()
		}
		r.Key = p.bareOr("")
	}
	r.Span = p.from(start)
	return r
}

// atEnd says whether the statement ends here.
func (p *parser) atEnd() bool {
	return p.peek().kind == endOfText || p.is(";")
}

// bareOr passes a text in quotes, or the tokens up to a mark or the statement's
// end as they stand.
func (p *parser) bareOr(mark string) *ast.StringLiteral {
	if p.peek().kind == text {
		return p.key()
	}
	start := p.start()
	p.note(KindString)
	for !p.atEnd() && p.peek().word != "=" && p.peek().kind != wrong {
		p.at++
	}
	at := p.from(start)
	if at.End == at.Start || mark != "" && p.peek().word != mark {
		p.fail()
	}
	return &ast.StringLiteral{Span: at, Value: strings.TrimSpace(at.Text(p.text))}
}

// jar passes ADD JAR and REMOVE JAR.
func (p *parser) jar() ast.Statement {
	start := p.start()
	j := &ast.Jar{Remove: p.oneOf("ADD", "REMOVE") == "REMOVE"}
	p.expect("JAR")
	j.Path = p.stringLiteral()
	j.Span = p.from(start)
	return j
}

// module passes LOAD MODULE and UNLOAD MODULE.
func (p *parser) module() ast.Statement {
	start := p.start()
	if p.skip("UNLOAD") {
		p.expect("MODULE")
		u := &ast.UnloadModule{Name: p.name(KindModule)}
		u.Span = p.from(start)
		return u
	}
	p.expect("LOAD", "MODULE")
	l := &ast.LoadModule{Name: p.name(KindModule)}
	l.Options, l.With = p.with()
	l.Span = p.from(start)
	return l
}

func (p *parser) stopJob() ast.Statement {
	start := p.start()
	p.expect("STOP", "JOB")
	s := &ast.StopJob{Job: p.stringLiteral()}
	at := p.at
	s.Savepoint = p.skip("WITH", "SAVEPOINT")
	s.Drain = p.skip("WITH", "DRAIN")
	if s.Drain && !s.Savepoint {
		p.refuse(p.span(at), "WITH DRAIN can only follow WITH SAVEPOINT")
	}
	s.Span = p.from(start)
	return s
}

// command passes a word of the client.
func (p *parser) command() ast.Statement {
	start := p.start()
	c := &ast.Command{Word: p.oneOf("HELP", "CLEAR", "QUIT", "EXIT", "SOURCE")}
	switch c.Word {
	case "EXIT":
		c.Word = "QUIT"
	case "SOURCE":
		c.Argument = p.bareOr("")
	}
	c.Span = p.from(start)
	return c
}
