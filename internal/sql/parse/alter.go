package parse

import (
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
)

func equalFold(a, b string) bool { return strings.EqualFold(a, b) }

// alter passes ALTER of anything.
func (p *parser) alter() ast.Statement {
	start := p.start()
	p.expect("ALTER")
	if p.skip("TEMPORARY") {
		system := p.skip("SYSTEM")
		if p.skip("CONNECTION") {
			return p.alterObject(start, &ast.Alter{Kind: ast.KindConnection, Temporary: true, System: system})
		}
		p.expect("FUNCTION")
		return p.alterFunction(start, true, system)
	}
	switch {
	case p.skip("FUNCTION"):
		return p.alterFunction(start, false, false)
	case p.skip("MATERIALIZED"):
		p.expect("TABLE")
		return p.alterObject(start, &ast.Alter{Kind: ast.KindMaterializedTable})
	}
	kind := p.oneOf("TABLE", "VIEW", "CATALOG", "DATABASE", "MODEL", "CONNECTION")
	return p.alterObject(start, &ast.Alter{Kind: ast.ObjectKind(kind)})
}

func (p *parser) alterFunction(start int, temporary, system bool) ast.Statement {
	f := &ast.CreateFunction{Alter: true, Temporary: temporary, System: system, IfExists: p.ifExists()}
	p.functionBody(f)
	f.Span = p.from(start)
	return f
}

func (p *parser) alterObject(start int, a *ast.Alter) ast.Statement {
	switch a.Kind {
	case ast.KindTable, ast.KindModel, ast.KindConnection:
		a.IfExists = p.ifExists()
	}
	a.Name = p.objectName(objectKinds[a.Kind])
	from := p.start()
	switch a.Kind {
	case ast.KindTable:
		a.Action = p.alterTable(from)
	case ast.KindMaterializedTable:
		a.Action = p.alterMaterialized(from)
	case ast.KindView:
		a.Action = p.alterView(from)
	case ast.KindModel, ast.KindConnection:
		a.Action = p.alterOptions(from, true, true)
	case ast.KindCatalog:
		a.Action = p.alterCatalog(from)
	default:
		a.Action = p.alterOptions(from, false, false)
	}
	a.Span = p.from(start)
	return a
}

// objectKinds are the kinds of names behind the words of statements.
var objectKinds = map[ast.ObjectKind]Kind{
	ast.KindTable: KindTable, ast.KindView: KindView, ast.KindMaterializedTable: KindTable, ast.KindCatalog: KindCatalog,
	ast.KindDatabase: KindDatabase, ast.KindFunction: KindFunction, ast.KindModel: KindModel,
	ast.KindConnection: KindConnection, ast.KindModule: KindModule,
}

// alterOptions passes SET (…), and RESET (…) and RENAME TO where allowed.
func (p *parser) alterOptions(start int, reset, rename bool) ast.AlterAction {
	switch {
	case p.skip("SET"):
		options := p.options()
		return &ast.SetOptions{Span: p.from(start), Options: options}
	case reset && p.skip("RESET"):
		keys := p.keys()
		return &ast.ResetOptions{Span: p.from(start), Keys: keys}
	case rename && p.skip("RENAME"):
		p.expect("TO")
		r := &ast.RenameTo{Name: p.objectName(KindName)}
		r.Span = p.from(start)
		return r
	}
	panic(p.unexpected())
}

// keys passes ('k', …), or nothing in the parentheses.
func (p *parser) keys() []*ast.StringLiteral {
	p.expect("(")
	var list []*ast.StringLiteral
	if !p.is(")") {
		list = append(list, p.stringLiteral())
		for p.skip(",") {
			list = append(list, p.stringLiteral())
		}
	}
	p.expect(")")
	return list
}

func (p *parser) alterCatalog(start int) ast.AlterAction {
	if p.is("COMMENT") {
		c := &ast.SetComment{Comment: p.comment()}
		c.Span = p.from(start)
		return c
	}
	return p.alterOptions(start, true, false)
}

func (p *parser) alterView(start int) ast.AlterAction {
	if p.skip("AS") {
		q := &ast.AlterQuery{Query: p.query()}
		q.Span = p.from(start)
		return q
	}
	if !p.is("RENAME") {
		p.fail()
	}
	return p.alterOptions(start, false, true)
}

func (p *parser) alterTable(start int) ast.AlterAction {
	switch {
	case p.skip("RENAME"):
		if p.skip("TO") {
			r := &ast.RenameTo{Name: p.objectName(KindName)}
			r.Span = p.from(start)
			return r
		}
		r := &ast.RenameColumn{From: p.objectName(KindColumn)}
		p.expect("TO")
		r.To = p.objectName(KindName)
		r.Span = p.from(start)
		return r
	case p.skip("ADD"):
		return p.alterAdd(start)
	case p.skip("MODIFY"):
		return p.alterModify(start)
	case p.skip("DROP"):
		return p.alterDrop(start)
	}
	return p.alterOptions(start, true, false)
}

func (p *parser) alterAdd(start int) ast.AlterAction {
	if ifNotExists := p.ifNotExists(); ifNotExists || p.is("PARTITION") {
		a := &ast.AddPartitions{IfNotExists: ifNotExists}
		for ok := true; ok; ok = p.is("PARTITION") {
			v := p.partition()
			v.Options, v.With = p.with()
			v.Span = p.from(v.Start)
			a.Partitions = append(a.Partitions, v)
		}
		a.Span = p.from(start)
		return a
	}
	if p.skip("DISTRIBUTION") {
		d := &ast.AddDistribution{Distribution: p.distribution()}
		d.Span = p.from(start)
		return d
	}
	at := p.at
	if p.skip("COLUMN") && p.is("(") {
		p.refuse(p.span(at), "COLUMN is followed by one column: write ADD (a INT, b INT) for several")
	}
	return p.alterElements(start, false)
}

func (p *parser) alterModify(start int) ast.AlterAction {
	if p.skip("DISTRIBUTION") {
		d := &ast.AddDistribution{Modify: true, Distribution: p.distribution()}
		d.Span = p.from(start)
		return d
	}
	return p.alterElements(start, true)
}

// alterElements passes one element of a table, or several in parentheses.
func (p *parser) alterElements(start int, modify bool) ast.AlterAction {
	a := &ast.AddElements{Modify: modify}
	if p.skip("(") {
		a.Parens = true
		for ok := true; ok; ok = p.skip(",") {
			a.Elements = append(a.Elements, p.tableElement(true))
		}
		p.expect(")")
	} else {
		a.Elements = []ast.TableElement{p.tableElement(true)}
	}
	a.Span = p.from(start)
	return a
}

func (p *parser) alterDrop(start int) ast.AlterAction {
	if ifExists := p.ifExists(); ifExists || p.is("PARTITION") {
		d := &ast.DropPartitions{IfExists: ifExists}
		for ok := true; ok; ok = p.skip(",") || p.is("PARTITION") {
			d.Partitions = append(d.Partitions, p.partition())
		}
		d.Span = p.from(start)
		return d
	}
	switch part := p.maybe("WATERMARK", "DISTRIBUTION", "CONSTRAINT", "PRIMARY"); part {
	case "PRIMARY":
		p.expect("KEY")
		return &ast.DropPart{Span: p.from(start), Part: "PRIMARY KEY"}
	case "CONSTRAINT":
		n := p.name(KindName)
		return &ast.DropPart{Span: p.from(start), Part: part, Name: &n}
	case "":
	default:
		return &ast.DropPart{Span: p.from(start), Part: part}
	}
	d := &ast.DropColumns{}
	column := func() {
		n := p.objectName(KindColumn)
		d.Columns = append(d.Columns, &n)
	}
	if p.skip("(") {
		d.Parens = true
		column()
		for p.skip(",") {
			column()
		}
		p.expect(")")
	} else {
		column()
	}
	d.Span = p.from(start)
	return d
}

// partition passes PARTITION (column = literal, …).
func (p *parser) partition() *ast.Partition {
	return p.partitionOf(false)
}

// partitionOf passes PARTITION (…), where a column may be alone if allowed.
func (p *parser) partitionOf(alone bool) *ast.Partition {
	start := p.start()
	p.expect("PARTITION", "(")
	v := &ast.Partition{}
	for ok := true; ok; ok = p.skip(",") {
		from := p.start()
		x := &ast.PartitionValue{Column: p.name(KindColumn)}
		if !alone || p.is("=") {
			p.expect("=")
			x.Value = p.literal()
		}
		x.Span = p.from(from)
		v.Values = append(v.Values, x)
	}
	p.expect(")")
	v.Span = p.from(start)
	return v
}

// literal passes a literal, perhaps with a sign.
func (p *parser) literal() ast.Expr {
	start := p.start()
	sign := p.maybe("-", "+")
	t := p.peek()
	ok := t.kind == number || t.kind == approximate
	if sign == "" {
		switch t.word {
		case "NULL", "TRUE", "FALSE", "UNKNOWN", "DATE", "TIME", "TIMESTAMP", "INTERVAL":
			ok = true
		}
		ok = ok || t.kind == text || t.kind == binary
	}
	if !ok {
		p.note(KindString)
		p.note(KindNumber)
		p.fail()
	}
	e := p.primary()
	if sign == "" {
		return e
	}
	return &ast.Unary{Span: p.from(start), Op: ast.UnaryOp(sign), Operand: e}
}

func (p *parser) alterMaterialized(start int) ast.AlterAction {
	r := &ast.AlterRefresh{Action: p.maybe("SUSPEND", "RESUME", "REFRESH")}
	switch {
	case r.Action == "RESUME":
		r.Options, r.With = p.with()
	case r.Action == "REFRESH" && p.is("PARTITION"):
		r.Partition = p.partition()
	case r.Action != "":
	case p.skip("SET", "FRESHNESS"):
		p.expect("=")
		r.Action, r.Freshness = "FRESHNESS", p.freshness()
	case p.skip("SET", "REFRESH_MODE"):
		p.expect("=")
		r.Action, r.Mode = "REFRESH_MODE", p.oneOf("FULL", "CONTINUOUS")
	case p.follows("RESET", "FRESHNESS"), p.follows("RESET", "REFRESH_MODE"):
		p.at++
		r.Action = "RESET " + p.oneOf("FRESHNESS", "REFRESH_MODE")
	case p.skip("AS"):
		q := &ast.AlterQuery{Query: p.query()}
		q.Span = p.from(start)
		return q
	default:
		return p.alterTable(start)
	}
	r.Span = p.from(start)
	return r
}
