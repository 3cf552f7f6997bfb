package engine

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/bind"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/session"
)

// coreModule is the only one there is: its functions are built in. Those of a query are
// found whether it is loaded or not, as in Flink; SHOW FUNCTIONS lists what is loaded.
const coreModule = "core"

// modules are those that are loaded, in order.
func (st *statement) modules() []string {
	if st.unloaded {
		return nil
	}
	return []string{coreModule}
}

// noModule refuses the name of a module that is not loaded.
func (st *statement) noModule(name ast.Name) error {
	there := "there is none"
	if !st.unloaded {
		there = "there is " + coreModule
	}
	return expr.Refuse(name.Span, "No module with name '%s' exists; %s", name.Text, there)
}

// useModules chooses the modules whose functions are found, in order.
func (st *statement) useModules(u *ast.UseModules) (*session.Result, error) {
	seen := map[string]bool{}
	for _, m := range u.Modules {
		switch {
		case m.Text != coreModule || st.unloaded:
			return nil, st.noModule(m)
		case seen[m.Text]:
			return nil, expr.Refuse(m.Span, "Module '%s' appears more than once", m.Text)
		}
		seen[m.Text] = true
	}
	return done(), nil
}

func (st *statement) loadModule(l *ast.LoadModule) (*session.Result, error) {
	switch {
	case l.Name.Text != coreModule:
		return nil, expr.Refuse(l.Name.Span, "Unable to create module '%s': there is no such module; there is %s", l.Name.Text, coreModule)
	case !st.unloaded:
		return nil, expr.Refuse(l.Name.Span, "A module with name '%s' already exists", coreModule)
	}
	for _, o := range l.Options {
		return nil, expr.Refuse(o.Span, "Unsupported option '%s': module %s has none", o.Key.Value, coreModule)
	}
	st.unloaded = false
	return done(), nil
}

func (st *statement) unloadModule(u *ast.UnloadModule) (*session.Result, error) {
	if u.Name.Text != coreModule || st.unloaded {
		return nil, st.noModule(u.Name)
	}
	st.unloaded = true
	return done(), nil
}

// changed is an UPDATE or a DELETE.
type changed struct {
	table    *ast.ObjectName
	alias    *ast.Name
	assigned []*ast.Assignment
	where    ast.Expr
	what     string
}

// change refuses the statements that change rows in place, after looking at their names
// and types.
func (st *statement) change(c *changed) error {
	path, err := st.qualify(c.table)
	if err != nil {
		return err
	}
	t, err := st.names.Table(path)
	if err != nil {
		return err
	}
	if t == nil {
		return expr.Refuse(c.table.Span, "Object '%s' not found", c.table.Last())
	}
	var assigned []string
	for _, a := range c.assigned {
		name := a.Column.Last()
		if _, _, ok := t.Schema.Column(name); !ok {
			return expr.Refuse(a.Column.Span, "Unknown target column '%s'", name)
		}
		if slices.Contains(assigned, name) {
			return expr.Refuse(a.Column.Span, "Target column '%s' is assigned more than once", name)
		}
		assigned = append(assigned, name)
	}
	if err := bind.Change(st.binding(), c.table, c.alias, c.assigned, c.where); err != nil {
		return err
	}
	return refused(session.ClassRefused, "Can't perform %s operation of the table %s: no connector can change rows in place", c.what, path)
}

// truncate refuses: no connector can empty a table.
func (st *statement) truncate(t *ast.Truncate) error {
	path, err := st.qualify(&t.Table)
	if err != nil {
		return err
	}
	switch there, err := st.names.Table(path); {
	case err != nil:
		return err
	case there == nil:
		return expr.Refuse(t.Table.Span, "Cannot find table '%s' in any of the catalogs %s, nor as a temporary table.", path.Quoted(), st.names.Catalogs())
	case !st.bounded():
		return refused(session.ClassTable, "TRUNCATE TABLE statement is not supported in streaming mode.")
	}
	return refused(session.ClassTable, "TRUNCATE TABLE statement is not supported for the table %s: its connector cannot empty it", path)
}

// other carries out the statements that are about the session, its client and its cluster,
// and refuses those that nothing carries out.
func (st *statement) other(parsed ast.Statement) (*session.Result, error) {
	switch s := parsed.(type) {
	case *ast.UseModules:
		return st.useModules(s)
	case *ast.LoadModule:
		return st.loadModule(s)
	case *ast.UnloadModule:
		return st.unloadModule(s)
	case *ast.Update:
		return nil, st.change(&changed{table: &s.Table, alias: s.Alias, assigned: s.Assignments, where: s.Where, what: "update"})
	case *ast.Delete:
		return nil, st.change(&changed{table: &s.Table, alias: s.Alias, where: s.Where, what: "delete"})
	case *ast.Merge:
		return nil, expr.Refuse(s.Span, "MERGE INTO is not supported: no connector can change rows in place")
	case *ast.Truncate:
		return nil, st.truncate(s)
	case *ast.Analyze:
		return st.analyze(s)
	case *ast.CheckTable:
		return st.checkTable(s)
	case *ast.CallProcedure:
		return nil, expr.Refuse(s.Span, "no catalog has procedures to call")
	case *ast.CompilePlan:
		return st.compilePlan(s)
	case *ast.ExecutePlan:
		return st.executePlan(s.File)
	case *ast.Jar:
		return nil, expr.Refuse(s.Span, "jars are for Java: functions are written in Go and registered with the program")
	case *ast.StopJob:
		return st.stopJob(s)
	case *ast.Command:
		if st.planOnly {
			return done(), nil
		}
		return nil, refused(session.ClassRefused, "%s is for the client, and this session cannot carry it out", firstWords(st.text))
	}
	return nil, refused(session.ClassRefused, "this statement is not supported: %s", firstWords(st.text))
}
