package parse

import (
	"github.com/weirstream/weir/internal/sql/ast"
	"slices"
)

// starters are the statements by their first word.
var starters map[string]func(*parser) ast.Statement

// starterOrder are the first words in the order in which a message lists them.
var starterOrder = []string{
	"SELECT", "INSERT", "CREATE", "WITH", "VALUES", "EXPLAIN", "SHOW", "DESCRIBE", "DESC", "DROP", "ALTER", "SET", "RESET",
	"USE", "EXECUTE", "BEGIN", "END", "UPDATE", "DELETE", "TRUNCATE", "ANALYZE", "CALL", "COMPILE", "REPLACE", "MERGE",
	"UPSERT", "ADD", "REMOVE", "LOAD", "UNLOAD", "STOP", "CHECK", "TABLE", "HELP", "CLEAR", "QUIT", "EXIT", "SOURCE",
}

func init() {
	query := func(p *parser) ast.Statement { return p.query() }
	insert := func(p *parser) ast.Statement { return p.insert() }
	command := (*parser).command
	starters = map[string]func(*parser) ast.Statement{
		"SELECT": query, "WITH": query, "VALUES": query, "VALUE": query, "TABLE": query, "(": query,
		"INSERT": insert, "UPSERT": insert, "UPDATE": (*parser).update, "DELETE": (*parser).deletion, "MERGE": (*parser).merge,
		"CREATE": (*parser).create, "REPLACE": (*parser).replace, "ALTER": (*parser).alter, "DROP": (*parser).drop,
		"EXECUTE": (*parser).execute, "COMPILE": (*parser).compile, "BEGIN": (*parser).begin, "END": (*parser).end,
		"TRUNCATE": (*parser).truncate, "ANALYZE": (*parser).analyze, "CALL": (*parser).callProcedure,
		"EXPLAIN": (*parser).explain, "SHOW": (*parser).show, "DESCRIBE": (*parser).describe, "DESC": (*parser).describe,
		"USE": (*parser).use, "SET": (*parser).set, "RESET": (*parser).reset, "ADD": (*parser).jar, "REMOVE": (*parser).jar,
		"LOAD": (*parser).module, "UNLOAD": (*parser).module, "STOP": (*parser).stopJob, "CHECK": (*parser).checkTable,
		"HELP": command, "CLEAR": command, "QUIT": command, "EXIT": command, "SOURCE": command,
	}
}

// statement passes one statement.
func (p *parser) statement() ast.Statement {
	if read, ok := starters[p.peek().word]; ok {
		return read(p)
	}
	for _, w := range starterOrder {
		p.noteWord(w)
	}
	panic(p.unexpected())
}

func (p *parser) begin() ast.Statement {
	start, at := p.start(), p.at
	p.expect("BEGIN")
	if !p.skip("STATEMENT") {
		p.refuse(p.span(at), "BEGIN must be followed by STATEMENT SET")
	}
	p.expect("SET")
	return &ast.BeginStatementSet{Span: p.from(start)}
}

func (p *parser) end() ast.Statement {
	start := p.start()
	p.expect("END")
	return &ast.EndStatementSet{Span: p.from(start)}
}

// replace passes REPLACE TABLE … AS.
func (p *parser) replace() ast.Statement {
	start := p.start()
	p.expect("REPLACE", "TABLE")
	return p.createTable(start, &ast.CreateTable{Replace: true})
}

// drop passes DROP of anything.
func (p *parser) drop() ast.Statement {
	start := p.start()
	p.expect("DROP")
	d := &ast.Drop{Temporary: p.skip("TEMPORARY")}
	d.System = d.Temporary && p.skip("SYSTEM")
	switch {
	case d.System:
		d.Kind = ast.ObjectKind(p.oneOf("FUNCTION", "CONNECTION"))
	case !d.Temporary && p.skip("MATERIALIZED"):
		p.expect("TABLE")
		d.Kind = ast.KindMaterializedTable
	case d.Temporary:
		d.Kind = ast.ObjectKind(p.oneOf("TABLE", "VIEW", "FUNCTION", "MODEL", "CONNECTION"))
	default:
		d.Kind = ast.ObjectKind(p.oneOf("TABLE", "VIEW", "FUNCTION", "DATABASE", "CATALOG", "MODEL", "CONNECTION"))
	}
	d.IfExists = p.ifExists()
	d.Name = p.objectName(objectKinds[d.Kind])
	if d.Kind == ast.KindDatabase {
		d.Behavior = p.maybe("RESTRICT", "CASCADE")
	}
	d.Span = p.from(start)
	return d
}

// explainDetails are what EXPLAIN can add.
var explainDetails = []string{"ESTIMATED_COST", "CHANGELOG_MODE", "PLAN_ADVICE", "JSON_EXECUTION_PLAN"}

func (p *parser) explain() ast.Statement {
	start := p.start()
	p.expect("EXPLAIN")
	e := &ast.Explain{PlanFor: p.skip("PLAN", "FOR")}
	if !e.PlanFor {
		if d := p.maybe(explainDetails...); d != "" {
			e.Details = append(e.Details, d)
			for p.skip(",") {
				from := p.start()
				d := p.oneOf(explainDetails...)
				if slices.Contains(e.Details, d) {
					p.refuse(p.from(from), "Duplicate EXPLAIN DETAIL is not allowed: "+d)
				}
				e.Details = append(e.Details, d)
			}
		}
	}
	switch {
	case p.is("STATEMENT"):
		e.Statement = p.statementSet()
	case p.is("EXECUTE"):
		e.Statement = p.execute()
	case p.is("INSERT"), p.is("UPSERT"):
		e.Statement = p.insert()
	case p.is("UPDATE"):
		e.Statement = p.update()
	case p.is("DELETE"):
		e.Statement = p.deletion()
	case p.is("CREATE"):
		e.Statement = p.create()
	case p.is("REPLACE"):
		e.Statement = p.replace()
	case p.startsQuery(), p.is("("), p.is("TABLE"):
		e.Statement = p.query()
	default:
		p.fail()
	}
	e.Span = p.from(start)
	return e
}

func (p *parser) checkTable() ast.Statement {
	start := p.start()
	p.expect("CHECK", "TABLE")
	c := &ast.CheckTable{Table: p.objectName(KindTable)}
	c.Span = p.from(start)
	return c
}
