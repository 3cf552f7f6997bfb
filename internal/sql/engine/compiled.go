package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// maxPlan bounds the file of a plan, in bytes.
const maxPlan = 256 << 20

// planFile is the path of a plan's file, which lies where the session does.
func planFile(name *ast.StringLiteral) (fs.Location, error) {
	at, err := onDisk(name.Value)
	if err != nil {
		return "", expr.Refuse(name.Span, "a plan is kept on the disk of the SQL session: %v", err)
	}
	return at, nil
}

// compilePlan writes the plan of INSERT statements into a file, and executes it if that was
// asked for.
func (st *statement) compilePlan(c *ast.CompilePlan) (*session.Result, error) {
	path, err := planFile(c.File)
	if err != nil {
		return nil, err
	}
	again := config.TablePlanForceRecompile.In(st.config)
	if !again && st.hasPlan(st.ctx, path) {
		switch {
		case c.Execute:
			return st.executePlan(c.File)
		case c.IfNotExists:
			return done(), nil
		}
		return nil, refused(session.ClassTable, "Cannot overwrite the plan file '%s'. Either manually remove the file or, if you're debugging your job, set the option '%s' to true.",
			path.Path(), config.TablePlanForceRecompile.Key)
	}
	sinks, err := st.explained(c.Statement)
	if err != nil {
		return nil, err
	}
	job, err := st.job(sinks...)
	if err != nil {
		return nil, err
	}
	if st.planOnly {
		st.compiled[path] = true
		return done(), nil
	}
	if _, err := exec.Compile(job, st.o.Registry, st.o.Connectors); err != nil {
		return nil, err
	}
	text, err := job.Text(tablesOf(sinks))
	if err == nil {
		err = st.keepPlan(st.ctx, path, text, again)
	}
	if err != nil {
		return nil, &session.Error{Class: session.ClassTable, Text: fmt.Sprintf("Cannot write the plan file '%s'.", path.Path()), Cause: err}
	}
	if c.Execute {
		return st.executePlan(c.File)
	}
	return done(), nil
}

// hasPlan reports whether there is a file, or would be if this session kept plans.
func (st *statement) hasPlan(ctx context.Context, path fs.Location) bool {
	_, err := st.o.Files.Stat(ctx, path)
	return err == nil || st.compiled[path]
}

// keepPlan writes a file.
func (st *statement) keepPlan(ctx context.Context, path fs.Location, text []byte, replace bool) error {
	if replace {
		if err := st.o.Files.Delete(ctx, path); err != nil {
			return err
		}
	}
	return fs.WriteFile(ctx, st.o.Files, path, text)
}

// tablesOf are the tables that sinks read and write, each once.
func tablesOf(sinks []*logical.Sink) []plan.Table {
	var all []plan.Table
	add := func(path catalog.Path, t *catalog.Table) {
		name := [3]string{path.Catalog, path.Database, path.Object}
		if !slices.ContainsFunc(all, func(t plan.Table) bool { return t.Name == name }) {
			all = append(all, plan.Table{Name: name, Options: t.Options})
		}
	}
	var visit func(n logical.Node)
	visit = func(n logical.Node) {
		if scan, ok := n.(*logical.Scan); ok {
			add(scan.Path, scan.Table)
		}
		for _, e := range logical.Exprs(n) {
			expr.Walk(e, func(e expr.Expr) bool {
				if q, ok := e.(*logical.Subquery); ok {
					visit(q.Plan)
				}
				return true
			})
		}
		for _, in := range n.Inputs() {
			visit(in)
		}
	}
	for _, s := range sinks {
		add(s.Path, s.Table)
		visit(s.Input)
	}
	return all
}

// executePlan begins the job of a plan that was compiled. It runs with the settings and at
// the time of this session.
func (st *statement) executePlan(name *ast.StringLiteral) (*session.Result, error) {
	path, err := planFile(name)
	if err != nil {
		return nil, err
	}
	if st.planOnly && st.compiled[path] {
		return done(), nil
	}
	text, err := fs.ReadFile(st.ctx, st.o.Files, path, maxPlan)
	if errors.Is(err, fs.ErrNotExist) {
		err = refused(session.ClassFile, "file resource [%s] not found.", name.Value)
	}
	var job *plan.Job
	var tables []plan.Table
	if err == nil {
		job, tables, err = plan.Read(text, st.o.Registry)
	}
	if err == nil {
		err = st.restore(job, tables)
	}
	if err != nil {
		return nil, &session.Error{Class: session.ClassTable, Text: fmt.Sprintf("Failed to execute EXECUTE PLAN '%s' statement.", name.Value), Cause: err}
	}
	if st.planOnly {
		return done(), nil
	}
	compiled, err := exec.Compile(job, st.o.Registry, st.o.Connectors)
	if err != nil {
		return nil, err
	}
	var written []string
	for _, s := range job.Sinks {
		written = append(written, s.(*plan.Write).Table)
	}
	return st.submit(compiled, numberedNames(written))
}

// restore makes a plan that was read one of this session: its tables, where the catalog
// has them still, must have the columns that the plan has, and their options are those
// that they have now.
func (st *statement) restore(job *plan.Job, tables []plan.Table) error {
	if job.Batch != st.bounded() {
		mode := "streaming"
		if job.Batch {
			mode = "batch"
		}
		return fmt.Errorf("the plan was compiled for another mode: SET '%s' = '%s'", config.ExecutionRuntimeMode.Key, mode)
	}
	for _, s := range job.Sinks {
		if _, ok := s.(*plan.Write); !ok {
			return fmt.Errorf("the plan has a %T, and a plan in a file writes tables only", s)
		}
	}
	nodes, _ := numbered(job.Sinks)
	for _, t := range tables {
		path := catalog.Path{Catalog: t.Name[0], Database: t.Name[1], Object: t.Name[2]}
		now, err := st.names.Table(path)
		if err != nil || now == nil {
			continue // the plan has all that is needed
		}
		for _, n := range nodes {
			if err := restoreTable(n, path, t.Options, now); err != nil {
				return err
			}
		}
	}
	job.Settings, job.Session.Now = st.config.JobSettings(), st.now.Now
	if name := st.settings["pipeline.name"]; name != "" {
		job.Name = name
	}
	return nil
}

// restoreTable gives a node that reads or writes a table the options that have changed
// since the plan was made, but for those that a hint has set.
func restoreTable(n plan.Node, path catalog.Path, then map[string]string, now *catalog.Table) error {
	var options map[string]string
	var connector *string
	var had, has []types.Field
	var keys []string
	switch n := n.(type) {
	case *plan.Scan:
		if n.Table != path.String() {
			return nil
		}
		options, connector, had, has, keys = n.Options, &n.Connector, n.Columns, now.Schema.Stored(), n.PartitionKeys
	case *plan.Write:
		if n.Table != path.String() {
			return nil
		}
		options, connector, had, has, keys = n.Options, &n.Connector, n.Columns, now.Schema.Persisted(), n.PartitionKeys
	default:
		return nil
	}
	same := func(a, b types.Field) bool { return a.Name == b.Name && a.Type.String() == b.Type.String() }
	if now.Kind == catalog.View || !slices.EqualFunc(had, has, same) || !slices.Equal(keys, now.Partitions) {
		return fmt.Errorf("table %s has other columns or partitions than when the plan was compiled", path)
	}
	for k, v := range then {
		if options[k] != v {
			continue
		}
		if changed, there := now.Options[k]; there {
			options[k] = changed
		} else {
			delete(options, k)
		}
	}
	for k, v := range now.Options {
		if _, there := options[k]; !there {
			options[k] = v
		}
	}
	*connector = options["connector"]
	return nil
}
