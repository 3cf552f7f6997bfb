package parse

import (
	"github.com/weirstream/weir/internal/sql/ast"
)

// insert passes INSERT or UPSERT.
func (p *parser) insert() *ast.Insert {
	start := p.start()
	i := &ast.Insert{}
	if p.skip("UPSERT") {
		i.Upsert = true
		p.expect("INTO")
	} else {
		p.expect("INSERT")
		i.Overwrite = p.oneOf("INTO", "OVERWRITE") == "OVERWRITE"
	}
	i.Table = p.objectName(KindTable)
	i.Hints = p.hints()
	if p.is("PARTITION") {
		i.Partition = p.partition()
	}
	if p.is("(") && p.ahead(1).isName() && (p.ahead(2).word == "," || p.ahead(2).word == ")") {
		i.Columns = p.nameList(KindColumn)
	}
	if p.is("(") && p.at+1 == p.watch { // columns are read only if they are there
		p.at++
		p.note(KindColumn)
		p.at--
	}
	i.Query = p.query()
	if p.skip("ON") {
		p.local("CONFLICT")
		p.local("DO")
		i.OnConflict = p.local("NOTHING", "ERROR", "DEDUPLICATE")
	}
	i.Span = p.from(start)
	return i
}

// local passes one of some words that are keywords in this place alone, and gives
// it.
func (p *parser) local(words ...string) string {
	t := p.peek()
	for _, w := range words {
		if t.kind == word && equalFold(p.text[t.start:t.end], w) {
			p.at++
			return w
		}
		p.noteWord(w)
	}
	panic(p.unexpected())
}

// assignments passes column = value, ….
func (p *parser) assignments() []*ast.Assignment {
	var list []*ast.Assignment
	for ok := true; ok; ok = p.skip(",") {
		start := p.start()
		a := &ast.Assignment{Column: p.objectName(KindColumn)}
		p.expect("=")
		a.Value = p.valueOrDefault()
		a.Span = p.from(start)
		list = append(list, a)
	}
	return list
}

func (p *parser) update() ast.Statement {
	start := p.start()
	p.expect("UPDATE")
	u := &ast.Update{Table: p.objectName(KindTable), Hints: p.hints()}
	u.Alias = p.alias(KindName)
	p.expect("SET")
	u.Assignments = p.assignments()
	if p.skip("WHERE") {
		u.Where = p.expression(0)
	}
	u.Span = p.from(start)
	return u
}

func (p *parser) deletion() ast.Statement {
	start := p.start()
	p.expect("DELETE", "FROM")
	d := &ast.Delete{Table: p.objectName(KindTable), Hints: p.hints()}
	d.Alias = p.alias(KindName)
	if p.skip("WHERE") {
		d.Where = p.expression(0)
	}
	d.Span = p.from(start)
	return d
}

func (p *parser) merge() ast.Statement {
	start := p.start()
	p.expect("MERGE", "INTO")
	m := &ast.Merge{Table: p.objectName(KindTable)}
	m.Alias = p.alias(KindName)
	p.expect("USING")
	m.Source = p.relation()
	p.expect("ON")
	m.Condition = p.expression(0)
	if !p.is("WHEN") {
		p.fail()
	}
	if p.skip("WHEN", "MATCHED") {
		p.expect("THEN", "UPDATE", "SET")
		m.Update = p.assignments()
	}
	if p.skip("WHEN") {
		p.expect("NOT", "MATCHED", "THEN", "INSERT")
		if p.is("(") {
			m.InsertColumns = p.nameList(KindColumn)
		}
		p.expect("VALUES", "(")
		m.InsertValues = append(m.InsertValues, p.valueOrDefault())
		for p.skip(",") {
			m.InsertValues = append(m.InsertValues, p.valueOrDefault())
		}
		p.expect(")")
	}
	m.Span = p.from(start)
	return m
}

// statementSet passes STATEMENT SET BEGIN …; END.
func (p *parser) statementSet() *ast.StatementSet {
	start := p.start()
	p.expect("STATEMENT", "SET", "BEGIN")
	s := &ast.StatementSet{}
	for ok := true; ok; ok = !p.is("END") {
		if !p.is("INSERT") && !p.is("UPSERT") {
			p.fail()
		}
		s.Inserts = append(s.Inserts, p.insert())
		p.expect(";")
	}
	p.expect("END")
	s.Span = p.from(start)
	return s
}

// execute passes EXECUTE and what follows it.
func (p *parser) execute() ast.Statement {
	start, at := p.start(), p.at
	p.expect("EXECUTE")
	if p.skip("PLAN") {
		e := &ast.ExecutePlan{File: p.stringLiteral()}
		e.Span = p.from(start)
		return e
	}
	e := &ast.Execute{}
	switch {
	case p.is("STATEMENT"):
		e.Statement = p.statementSet()
	case p.is("INSERT"), p.is("UPSERT"):
		e.Statement = p.insert()
	case p.startsQuery(), p.is("("), p.is("TABLE"):
		e.Statement = p.query()
	default:
		p.refuse(p.span(at), "EXECUTE must be followed by a query, INSERT, STATEMENT SET or PLAN")
	}
	e.Span = p.from(start)
	return e
}

// compile passes COMPILE [AND EXECUTE] PLAN.
func (p *parser) compile() ast.Statement {
	start := p.start()
	p.expect("COMPILE")
	c := &ast.CompilePlan{}
	if p.skip("AND") {
		p.expect("EXECUTE")
		c.Execute = true
	}
	p.expect("PLAN")
	c.File = p.stringLiteral()
	c.IfNotExists = !c.Execute && p.ifNotExists()
	p.expect("FOR")
	switch {
	case p.is("STATEMENT"):
		c.Statement = p.statementSet()
	case p.is("INSERT"), p.is("UPSERT"):
		c.Statement = p.insert()
	default:
		p.fail()
	}
	c.Span = p.from(start)
	return c
}

func (p *parser) truncate() ast.Statement {
	start, at := p.start(), p.at
	p.expect("TRUNCATE")
	if !p.skip("TABLE") {
		p.refuse(p.span(at), "TRUNCATE must be followed by TABLE: TRUNCATE TABLE t")
	}
	t := &ast.Truncate{Table: p.objectName(KindTable)}
	t.Span = p.from(start)
	return t
}

func (p *parser) analyze() ast.Statement {
	start := p.start()
	p.expect("ANALYZE", "TABLE")
	a := &ast.Analyze{Table: p.objectName(KindTable)}
	if p.is("PARTITION") {
		a.Partition = p.partitionOf(true)
	}
	p.expect("COMPUTE", "STATISTICS")
	if p.skip("FOR") {
		if p.skip("ALL") {
			p.expect("COLUMNS")
			a.AllColumns = true
		} else {
			p.expect("COLUMNS")
			a.Columns = append(a.Columns, p.name(KindColumn))
			for p.skip(",") {
				a.Columns = append(a.Columns, p.name(KindColumn))
			}
		}
	}
	a.Span = p.from(start)
	return a
}

// callProcedure passes CALL procedure(arguments).
func (p *parser) callProcedure() ast.Statement {
	start := p.start()
	p.expect("CALL")
	n := p.objectName(KindFunction)
	if !p.is("(") {
		p.fail()
	}
	c := &ast.CallProcedure{Call: p.call(n)}
	c.Span = p.from(start)
	return c
}
