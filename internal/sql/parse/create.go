package parse

import (
	"github.com/weirstream/weir/internal/sql/ast"
)

// create passes CREATE of anything.
func (p *parser) create() ast.Statement {
	start := p.start()
	p.expect("CREATE")
	replace := false
	if p.skip("OR") {
		if p.skip("ALTER") {
			if !p.skip("MATERIALIZED") {
				p.fail()
			}
			return p.createMaterializedTable(start, true)
		}
		p.expect("REPLACE")
		replace = true
	}
	at := p.at
	temporary := p.skip("TEMPORARY")
	system := temporary && p.skip("SYSTEM")
	if system {
		if p.skip("CONNECTION") {
			return p.createConnection(start, temporary, system)
		}
		p.expect("FUNCTION")
		return p.createFunction(start, temporary, system)
	}
	if temporary {
		at++
	}
	if !replace && !temporary {
		switch {
		case p.skip("CATALOG"):
			return p.createCatalog(start)
		case p.skip("DATABASE"):
			return p.createDatabase(start)
		case p.skip("MATERIALIZED"):
			return p.createMaterializedTable(start, false)
		}
	}
	switch {
	case p.skip("TABLE"):
		return p.createTable(start, &ast.CreateTable{OrReplace: replace, Temporary: temporary})
	case p.skip("VIEW"):
		return p.createView(start, replace, temporary)
	case replace:
	case p.skip("FUNCTION"):
		if t := p.peek(); temporary && t.kind == word && t.key.IsReserved() {
			p.refuse(p.span(at), p.text[t.start:t.end]+" is a reserved word; write `"+p.text[t.start:t.end]+"` if a function shall have that name")
		}
		return p.createFunction(start, temporary, false)
	case p.skip("MODEL"):
		return p.createModel(start, temporary)
	case p.skip("CONNECTION"):
		return p.createConnection(start, temporary, false)
	}
	panic(p.unexpected())
}

func (p *parser) ifNotExists() bool { return p.skip("IF", "NOT", "EXISTS") }
func (p *parser) ifExists() bool    { return p.skip("IF", "EXISTS") }

// comment passes COMMENT 'text', or nothing.
func (p *parser) comment() *ast.StringLiteral {
	if p.skip("COMMENT") {
		return p.stringLiteral()
	}
	return nil
}

// with passes WITH (options), or nothing.
func (p *parser) with() (options []*ast.Option, written bool) {
	if !p.skip("WITH") {
		return nil, false
	}
	return p.options(), true
}

// options passes ('k' = 'v', …).
func (p *parser) options() []*ast.Option {
	p.expect("(")
	var list []*ast.Option
	if !p.is(")") {
		list = append(list, p.option())
		for p.skip(",") {
			list = append(list, p.option())
		}
	}
	p.expect(")")
	return list
}

func (p *parser) option() *ast.Option {
	start := p.start()
	o := &ast.Option{Key: p.key()}
	p.expect("=")
	o.Value = p.stringLiteral()
	o.Span = p.from(start)
	return o
}

// createTable passes what follows TABLE.
func (p *parser) createTable(start int, c *ast.CreateTable) ast.Statement {
	c.IfNotExists = !c.Replace && p.ifNotExists()
	c.Name = p.objectName(KindTable)
	reference := -1
	if p.is("(") {
		c.Parens = true
		c.Elements, reference = p.tableElements()
	}
	c.Comment = p.comment()
	c.Distribution = p.distributed()
	c.PartitionBy = p.partitionedBy()
	c.Options, c.With = p.with()
	switch {
	case !c.Replace && p.is("LIKE"):
		c.Like = p.tableLike()
	case c.Replace:
		p.expect("AS")
		c.As = p.query()
	case p.skip("AS"):
		c.As = p.query()
	}
	if reference >= 0 && c.As == nil {
		p.at = reference
		p.note(KindType)
		p.fail()
	}
	c.Span = p.from(start)
	return c
}

// tableElements passes ( columns, watermark, constraints ). reference is the token
// behind the first column without a type, or -1.
func (p *parser) tableElements() (list []ast.TableElement, reference int) {
	reference = -1
	watermark := false
	p.expect("(")
	for {
		at := p.at
		e := p.tableElement(false)
		if _, ok := e.(*ast.Watermark); ok {
			if watermark {
				p.refuse(p.span(at), "a table can have one WATERMARK only")
			}
			watermark = true
		}
		if c, ok := e.(*ast.Column); ok && c.Kind == ast.ColumnReference && reference < 0 {
			reference = p.at
		}
		list = append(list, e)
		if !p.skip(",") {
			break
		}
	}
	p.expect(")")
	return list, reference
}

// tableElement passes a column, watermark or constraint. In ALTER TABLE a column
// may have a place.
func (p *parser) tableElement(alter bool) ast.TableElement {
	start := p.start()
	switch {
	case p.is("WATERMARK"):
		p.at++
		p.expect("FOR")
		w := &ast.Watermark{Column: p.objectName(KindColumn)}
		p.expect("AS")
		w.Expr = p.columnExpression()
		w.Span = p.from(start)
		return w
	case p.is("CONSTRAINT"), p.is("PRIMARY"), p.is("UNIQUE"):
		return p.constraint(false)
	}
	c := &ast.Column{Kind: ast.PhysicalColumn, Name: p.objectName(KindColumn)}
	switch {
	case p.skip("AS"):
		c.Kind, c.Expr = ast.ComputedColumn, p.columnExpression()
	case !alter && (p.is(",") || p.is(")")):
		c.Kind = ast.ColumnReference
		c.Span = p.from(start)
		return c
	default:
		c.Type = p.nullableType()
		if p.is("CONSTRAINT") || p.is("PRIMARY") || p.is("UNIQUE") {
			c.Constraint = p.constraint(true)
		}
		if p.skip("METADATA") {
			c.Kind = ast.MetadataColumn
			if p.skip("FROM") {
				c.MetadataKey = p.stringLiteral()
			}
			c.Virtual = p.skip("VIRTUAL")
		}
	}
	c.Comment = p.comment()
	if alter {
		c.Position = p.columnPosition()
	}
	c.Span = p.from(start)
	return c
}

// columnExpression passes the expression of a computed column or watermark, which
// holds no query.
func (p *parser) columnExpression() ast.Expr {
	e := p.expression(0)
	ast.Walk(e, func(n ast.Node) bool {
		if q, ok := n.(*ast.Query); ok {
			p.refuse(q.Span, "a column's expression cannot hold a query")
		}
		return true
	})
	return e
}

func (p *parser) columnPosition() *ast.ColumnPosition {
	start := p.start()
	switch {
	case p.skip("FIRST"):
		return &ast.ColumnPosition{Span: p.from(start)}
	case p.skip("AFTER"):
		n := p.objectName(KindColumn)
		return &ast.ColumnPosition{Span: p.from(start), After: &n}
	}
	return nil
}

// constraint passes a constraint of a table, or of the column it is written at.
func (p *parser) constraint(ofColumn bool) *ast.Constraint {
	start := p.start()
	c := &ast.Constraint{}
	if p.skip("CONSTRAINT") {
		n := p.name(KindName)
		c.Name = &n
	}
	if p.oneOf("PRIMARY", "UNIQUE") == "PRIMARY" {
		p.expect("KEY")
	} else {
		c.Unique = true
	}
	if !ofColumn {
		c.Columns = p.nameList(KindColumn)
	}
	switch {
	case p.skip("ENFORCED"):
		enforced := true
		c.Enforced = &enforced
	case p.skip("NOT", "ENFORCED"):
		enforced := false
		c.Enforced = &enforced
	}
	c.Span = p.from(start)
	return c
}

// distributed passes DISTRIBUTED …, or nothing.
func (p *parser) distributed() *ast.Distribution {
	if !p.skip("DISTRIBUTED") {
		return nil
	}
	return p.distribution()
}

// distribution passes what follows DISTRIBUTED or DISTRIBUTION.
func (p *parser) distribution() *ast.Distribution {
	start := p.tokens[p.at-1].start
	d := &ast.Distribution{}
	if p.skip("BY") {
		if !p.is("(") {
			d.Kind = p.oneOf("RANGE", "HASH")
		}
		d.Columns = p.nameList(KindColumn)
		if p.skip("INTO") {
			_, d.Buckets = p.unsigned()
			p.expect("BUCKETS")
		}
	} else {
		p.expect("INTO")
		_, d.Buckets = p.unsigned()
		p.expect("BUCKETS")
	}
	d.Span = p.from(start)
	return d
}

func (p *parser) partitionedBy() []ast.Name {
	if !p.skip("PARTITIONED") {
		return nil
	}
	p.expect("BY")
	return p.nameList(KindColumn)
}

// likeFeatures are what LIKE can include and leave out; not all can be
// overwritten, which the catalog says.
var likeFeatures = []string{"ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS"}

func (p *parser) tableLike() *ast.TableLike {
	start := p.start()
	p.expect("LIKE")
	l := &ast.TableLike{Table: p.objectName(KindTable)}
	if p.skip("(") {
		for ok := true; ok; ok = !p.is(")") {
			from := p.start()
			o := &ast.LikeOption{Strategy: p.oneOf("INCLUDING", "EXCLUDING", "OVERWRITING")}
			o.Feature = p.oneOf(likeFeatures...)
			o.Span = p.from(from)
			l.Options = append(l.Options, o)
		}
		p.expect(")")
	}
	l.Span = p.from(start)
	return l
}

func (p *parser) createView(start int, replace, temporary bool) ast.Statement {
	v := &ast.CreateView{OrReplace: replace, Temporary: temporary, IfNotExists: p.ifNotExists()}
	v.Name = p.objectName(KindView)
	if p.is("(") {
		v.Columns = p.nameList(KindName)
	}
	v.Comment = p.comment()
	p.expect("AS")
	v.Query = p.query()
	v.Span = p.from(start)
	return v
}

func (p *parser) createCatalog(start int) ast.Statement {
	c := &ast.CreateCatalog{IfNotExists: p.ifNotExists(), Name: p.name(KindCatalog)}
	c.Comment = p.comment()
	c.Options, c.With = p.with()
	c.Span = p.from(start)
	return c
}

func (p *parser) createDatabase(start int) ast.Statement {
	d := &ast.CreateDatabase{IfNotExists: p.ifNotExists(), Name: p.objectName(KindDatabase)}
	d.Comment = p.comment()
	d.Options, d.With = p.with()
	d.Span = p.from(start)
	return d
}

// createFunction passes what follows FUNCTION in CREATE and ALTER.
func (p *parser) createFunction(start int, temporary, system bool) ast.Statement {
	f := &ast.CreateFunction{Temporary: temporary, System: system, IfNotExists: p.ifNotExists()}
	p.functionBody(f)
	f.Span = p.from(start)
	return f
}

func (p *parser) functionBody(f *ast.CreateFunction) {
	f.Name = p.objectName(KindFunction)
	p.expect("AS")
	f.Class = p.stringLiteral()
	if p.skip("LANGUAGE") {
		f.Language = p.oneOf("JAVA", "SCALA", "SQL", "PYTHON", "GO")
	}
	if p.skip("USING") {
		f.Using = append(f.Using, p.functionResource())
		for p.skip(",") {
			f.Using = append(f.Using, p.functionResource())
		}
	}
	f.Options, f.With = p.with()
}

func (p *parser) functionResource() *ast.FunctionResource {
	start := p.start()
	r := &ast.FunctionResource{Kind: p.maybe("JAR")}
	if r.Kind == "" {
		p.noteWord("ARTIFACT")
		if t := p.peek(); t.kind != word || !equalFold(p.text[t.start:t.end], "ARTIFACT") {
			p.fail()
		}
		p.at++
		r.Kind = "ARTIFACT"
	}
	r.Path = p.stringLiteral()
	r.Span = p.from(start)
	return r
}

func (p *parser) createModel(start int, temporary bool) ast.Statement {
	m := &ast.CreateModel{Temporary: temporary, IfNotExists: p.ifNotExists(), Name: p.objectName(KindModel)}
	if p.skip("INPUT") {
		m.Input = p.modelColumns()
	}
	if p.skip("OUTPUT") {
		m.Output = p.modelColumns()
	}
	m.Comment = p.comment()
	m.Options, m.With = p.with()
	if p.skip("AS") {
		m.As = p.query()
	}
	m.Span = p.from(start)
	return m
}

func (p *parser) modelColumns() []*ast.Column {
	p.expect("(")
	var list []*ast.Column
	for ok := true; ok; ok = p.skip(",") {
		start := p.start()
		c := &ast.Column{Kind: ast.PhysicalColumn, Name: p.objectName(KindColumn), Type: p.nullableType()}
		c.Comment = p.comment()
		c.Span = p.from(start)
		list = append(list, c)
	}
	p.expect(")")
	return list
}

func (p *parser) createConnection(start int, temporary, system bool) ast.Statement {
	c := &ast.CreateConnection{Temporary: temporary, System: system, IfNotExists: p.ifNotExists()}
	c.Name = p.objectName(KindConnection)
	c.Comment = p.comment()
	p.expect("WITH")
	c.Options = p.options()
	c.Span = p.from(start)
	return c
}

// createMaterializedTable passes what follows MATERIALIZED.
func (p *parser) createMaterializedTable(start int, orAlter bool) ast.Statement {
	p.expect("TABLE")
	m := &ast.CreateMaterializedTable{OrAlter: orAlter, IfNotExists: p.ifNotExists(), Name: p.objectName(KindTable)}
	if p.is("(") {
		m.Parens = true
		m.Elements, _ = p.tableElements()
	}
	m.Comment = p.comment()
	m.Distribution = p.distributed()
	m.PartitionBy = p.partitionedBy()
	m.Options, m.With = p.with()
	if p.skip("FRESHNESS") {
		p.expect("=")
		m.Freshness = p.freshness()
	}
	if p.skip("REFRESH_MODE") {
		p.expect("=")
		m.RefreshMode = p.oneOf("FULL", "CONTINUOUS")
	}
	p.expect("AS")
	m.As = p.query()
	m.Span = p.from(start)
	return m
}

// freshness passes an interval.
func (p *parser) freshness() ast.Expr {
	if !p.is("INTERVAL") {
		p.fail()
	}
	return p.interval()
}
