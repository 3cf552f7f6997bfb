package parse

import (
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
)

// lists are what SHOW shows: which of FROM and IN may follow, and which patterns.
var lists = []struct {
	what        string
	preposition bool
	kind        Kind
	not         bool
	like        string
}{
	{"TABLES", true, KindDatabase, true, "LIKE"},
	{"VIEWS", true, KindDatabase, true, "LIKE"},
	{"MATERIALIZED TABLES", true, KindDatabase, true, "LIKE"},
	{"DATABASES", true, KindCatalog, true, "LIKE ILIKE"},
	{"CATALOGS", false, "", true, "LIKE ILIKE"},
	{"COLUMNS", true, KindTable, true, "LIKE"},
	{"FUNCTIONS", true, KindDatabase, true, "LIKE ILIKE"},
	{"USER FUNCTIONS", true, KindDatabase, true, "LIKE ILIKE"},
	{"PROCEDURES", true, KindDatabase, true, "LIKE ILIKE"},
	{"MODELS", true, KindDatabase, true, "LIKE"},
	{"CONNECTIONS", true, KindDatabase, true, "LIKE"},
	{"MODULES", false, "", false, ""},
	{"FULL MODULES", false, "", false, ""},
	{"JARS", false, "", false, ""},
	{"JOBS", false, "", false, ""},
	{"CURRENT CATALOG", false, "", false, ""},
	{"CURRENT DATABASE", false, "", false, ""},
}

func (p *parser) show() ast.Statement {
	start, at := p.start(), p.at
	p.expect("SHOW")
	switch {
	case p.skip("CREATE"):
		s := &ast.ShowCreate{}
		if p.skip("MATERIALIZED") {
			p.expect("TABLE")
			s.Kind = ast.KindMaterializedTable
		} else {
			s.Kind = ast.ObjectKind(p.oneOf("CATALOG", "CONNECTION", "MODEL", "TABLE", "VIEW"))
		}
		s.Name = p.objectName(objectKinds[s.Kind])
		s.Span = p.from(start)
		return s
	case p.skip("PARTITIONS"):
		s := &ast.ShowPartitions{Table: p.objectName(KindTable)}
		if p.is("PARTITION") {
			s.Partition = p.partitionOf(true)
		}
		s.Span = p.from(start)
		return s
	}
	if p.skip("FULL") {
		p.expect("MODULES")
		return &ast.Show{Span: p.from(start), What: "FULL MODULES"}
	}
	if p.skip("CURRENT") {
		s := &ast.Show{What: "CURRENT " + p.oneOf("CATALOG", "DATABASE")}
		s.Span = p.from(start)
		return s
	}
	for _, l := range lists {
		if !p.skip(strings.Fields(l.what)...) {
			continue
		}
		s := &ast.Show{What: l.what}
		if l.what == "COLUMNS" {
			s.Preposition = p.oneOf("FROM", "IN")
		} else if l.preposition {
			s.Preposition = p.maybe("FROM", "IN")
		}
		if s.Preposition != "" {
			n := p.objectName(l.kind)
			s.In = &n
		}
		if l.like != "" {
			s.NotLike = l.not && p.skip("NOT")
			kinds := strings.Fields(l.like)
			if s.NotLike {
				s.LikeKind = p.oneOf(kinds...)
			} else {
				s.LikeKind = p.maybe(kinds...)
			}
			if s.LikeKind != "" {
				s.Like = p.stringLiteral()
			}
		}
		s.Span = p.from(start)
		return s
	}
	p.refuse(p.span(at), p.cannotShow())
	return nil
}

// cannotShow says what SHOW can show.
func (p *parser) cannotShow() string {
	var words []string
	for _, l := range lists {
		words = append(words, l.what)
	}
	message := "SHOW must be followed by " + strings.Join(append(words, "PARTITIONS"), ", ") + " or CREATE"
	t := p.peek()
	if t.kind == endOfText {
		return message
	}
	w := p.text[t.start:t.end]
	message += ", but found " + shown(w)
	if n := nearest(w, words); n != "" {
		message += ". Did you mean " + n + "?"
	}
	return message
}

func (p *parser) describe() ast.Statement {
	start := p.start()
	p.oneOf("DESCRIBE", "DESC")
	d := &ast.Describe{Kind: ast.KindTable}
	switch {
	case p.is("SELECT"), p.is("VALUES"), p.is("WITH"), p.is("("):
		d.Query = p.query()
		d.Span = p.from(start)
		return d
	case p.is("JOB") && p.ahead(1).kind == text:
		p.at++
		d.Kind, d.Job = ast.KindJob, p.stringLiteral()
		d.Span = p.from(start)
		return d
	}
	for _, k := range []ast.ObjectKind{ast.KindCatalog, ast.KindDatabase, ast.KindFunction, ast.KindModel, ast.KindConnection} {
		// These words are names too: DESCRIBE model describes a table.
		if p.is(string(k)) && (p.ahead(1).isName() || p.ahead(1).word == "EXTENDED" || p.at+1 == p.watch) {
			p.at++
			d.Kind = k
			break
		}
	}
	if table := p.at; d.Kind == ast.KindTable && p.skip("TABLE") {
		p.refuse(p.span(p.at), "DESCRIBE is followed by the table's name: leave "+p.span(table).Text(p.text)+" out")
	}
	d.Extended = p.skip("EXTENDED")
	d.Name = p.objectName(objectKinds[d.Kind])
	d.Span = p.from(start)
	return d
}
