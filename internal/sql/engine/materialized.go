package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/bind"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/internal/sql/session"
)

// createMaterialized makes a table that a query fills, and begins to fill it.
func (st *statement) createMaterialized(c *ast.CreateMaterializedTable) (*session.Result, error) {
	path, err := st.qualify(&c.Name)
	if err != nil {
		return nil, err
	}
	old, err := st.names.Table(path)
	if err != nil {
		return nil, err
	}
	if old != nil && c.OrAlter {
		if old.Kind != catalog.MaterializedTable {
			return nil, expr.Refuse(c.Name.Span, "%s is a %s, and CREATE OR ALTER MATERIALIZED TABLE alters materialized tables", path, strings.ToLower(old.Kind.String()))
		}
		return st.alterDefinition(path, old, c.As)
	}
	if in, err := st.names.Catalog(path.Catalog); err == nil {
		if _, memory := in.(*catalog.Memory); !memory {
			return nil, expr.Refuse(c.Name.Span, "materialized tables live as long as their session, and catalog %s keeps its tables for longer: make it in a catalog in memory", path.Catalog)
		}
	}
	t, err := st.materialized(c)
	if err != nil {
		return nil, err
	}
	var ready func() error
	if old == nil && !st.planOnly { // before the table is there
		if ready, err = st.filling(path, t); err != nil {
			return nil, err
		}
	}
	created, err := st.names.CreateTable(path, t, c.IfNotExists)
	if err != nil {
		return nil, err
	}
	if created && ready != nil {
		if err := ready(); err != nil {
			return nil, st.unmade(path, err)
		}
	}
	return done(), nil
}

// unmade takes a table back that cannot be filled.
func (st *statement) unmade(path catalog.Path, why error) error {
	if err := st.names.DropTable(path, catalog.MaterializedTable, false, true); err != nil {
		return fmt.Errorf("%w (and the table is still there: %w)", why, err)
	}
	return why
}

// materialized makes what a catalog keeps of a materialized table.
func (st *statement) materialized(c *ast.CreateMaterializedTable) (*catalog.Table, error) {
	refresh, err := st.refresh(c)
	if err != nil {
		return nil, err
	}
	original := c.As.Range().Text(st.text)
	bound, expanded, err := bind.View(st.binding(), c.As)
	if err != nil {
		return nil, err
	}
	t, err := st.shaped(&ast.CreateTable{Span: c.Span, Name: c.Name, Elements: c.Elements, Comment: c.Comment, Distribution: c.Distribution,
		PartitionBy: c.PartitionBy, Options: c.Options}, bind.Unique(bound).Fields())
	if err != nil {
		return nil, err
	}
	t.Kind, t.Query, t.Original, t.Refresh = catalog.MaterializedTable, expanded, original, refresh
	return t, partitionFormats(t, c.Options)
}

// partitionFormats refuses options that say how a partition's time is written where the
// column is none of text that the table is partitioned by.
func partitionFormats(t *catalog.Table, options []*ast.Option) error {
	for _, o := range options {
		name, ok := strings.CutPrefix(o.Key.Value, "partition.fields.")
		if !ok {
			continue
		}
		if name, ok = strings.CutSuffix(name, ".date-formatter"); !ok {
			continue
		}
		c, _, _ := t.Schema.Column(name)
		switch {
		case !slices.Contains(t.Partitions, name):
			return expr.Refuse(o.Span, "Column '%s' referenced by materialized table option '%s' isn't a partition column. Available partition columns: [%s].",
				name, o.Key.Value, quotedNames(t.Partitions))
		case !c.Type.Kind.IsText():
			return expr.Refuse(o.Span, "Materialized table option '%s' only supports referring to char, varchar and string type partition column. Column %s type is %s.",
				o.Key.Value, name, c.Type)
		}
	}
	return nil
}

func quotedNames(names []string) string {
	var all []string
	for _, n := range names {
		all = append(all, "'"+n+"'")
	}
	return strings.Join(all, ", ")
}

// as gives a statement of its own text, with settings above those that hold.
func (st *statement) as(text string, settings map[string]string) (*statement, error) {
	sub := *st
	sub.text = text
	sub.settings = maps.Clone(st.settings)
	maps.Copy(sub.settings, settings)
	var err error
	if sub.config, err = config.New(known(sub.settings)); err != nil {
		return nil, &session.Error{Class: session.ClassArgument, Text: err.Error()}
	}
	now := *st.now
	now.Streaming = !sub.bounded()
	sub.now = &now
	return &sub, nil
}

// filling plans how a table is filled, and gives what begins it: a stream, or what writes it
// anew.
func (st *statement) filling(path catalog.Path, t *catalog.Table) (begin func() error, err error) {
	settings := map[string]string{config.ExecutionRuntimeMode.Key: "streaming"}
	if t.Refresh.Full {
		settings[config.ExecutionRuntimeMode.Key] = "batch"
	} else {
		if config.CheckpointInterval.In(st.config) == 0 {
			settings[config.CheckpointInterval.Key] = every(t.Refresh).String()
		}
		if t.Refresh.Savepoint != "" {
			settings[config.RecoveryPath.Key] = t.Refresh.Savepoint
		}
	}
	sub, err := st.as(t.Query, settings)
	if err != nil {
		return nil, err
	}
	sink, err := sub.filled(path, t)
	if err != nil {
		return nil, sub.refused(err)
	}
	if t.Refresh.Full {
		job, err := sub.job(sink)
		if err != nil {
			return nil, sub.refused(err)
		}
		return func() error { st.fillAnew(path, t, job); return nil }, nil
	}
	compiled, err := sub.planned(sink)
	if err != nil {
		return nil, sub.refused(err)
	}
	return func() error {
		job, err := st.o.Runner.Submit(st.ctx, compiled, nil)
		if err != nil {
			return executing(err)
		}
		t.Refresh.Job = job.ID()
		return st.names.ReplaceTable(path, t)
	}, nil
}

// filled binds the query of a table as what is written to it.
func (st *statement) filled(path catalog.Path, t *catalog.Table) (*logical.Sink, error) {
	parsed, err := parse.Statement(t.Query)
	if err != nil {
		return nil, err
	}
	q, ok := parsed.(*ast.Query)
	if !ok {
		return nil, fmt.Errorf("the definition of %s is no query", path)
	}
	bound, err := bind.Query(st.binding(), q)
	if err != nil {
		return nil, err
	}
	input, err := bind.Into(st.binding(), bind.Unique(bound), t.Schema.Persisted(), path, q.Span)
	return &logical.Sink{Path: path, Table: t, Input: input, Overwrite: t.Refresh.Full, Static: map[string]string{}}, err
}

// fillAnew begins to write a table anew, or is ready to if it is suspended.
func (st *statement) fillAnew(path catalog.Path, t *catalog.Table, job *plan.Job) {
	f := newFiller(st.o, job)
	st.setFiller(path, f)
	if !t.Refresh.Suspended {
		f.resume(every(t.Refresh))
	}
}

// dropMaterialized ends the filling of a table and removes it.
func (st *statement) dropMaterialized(d *ast.Drop) error {
	path, err := st.qualify(&d.Name)
	if err != nil {
		return err
	}
	t, err := st.names.Table(path)
	if err != nil {
		return err
	}
	if t != nil && t.Kind == catalog.MaterializedTable {
		if err := st.unfill(path, t); err != nil {
			return err
		}
	}
	return st.names.DropTable(path, catalog.MaterializedTable, d.Temporary, d.IfExists)
}

// unfill ends the filling of a table for good.
func (st *statement) unfill(path catalog.Path, t *catalog.Table) error {
	st.setFiller(path, nil)
	if t.Refresh.Job == "" || t.Refresh.Suspended {
		return nil
	}
	running, err := st.running(t)
	if err != nil || !running {
		return err
	}
	jobs, err := st.jobs()
	if err != nil {
		return err
	}
	if err := jobs.Stop(st.ctx, t.Refresh.Job); err != nil {
		if running, broken := st.running(t); broken != nil || running {
			return err
		} // it has ended meanwhile
	}
	return nil
}

// running reports whether the stream runs that fills a table.
func (st *statement) running(t *catalog.Table) (bool, error) {
	all, err := st.list()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(all, func(j JobInfo) bool {
		return j.ID == t.Refresh.Job && !slices.Contains([]string{"FINISHED", "CANCELED", "FAILED"}, j.State)
	}), nil
}

// materializedText writes a materialized table as the statement that makes it.
func (st *statement) materializedText(name *ast.ObjectName) (string, error) {
	path, err := st.qualify(name)
	if err != nil {
		return "", err
	}
	t, err := st.names.Table(path)
	switch {
	case err != nil:
		return "", err
	case t == nil:
		return "", refused(session.ClassValidation, "Could not execute SHOW CREATE MATERIALIZED TABLE. Materialized table with identifier %s does not exist.", path.Quoted())
	case t.Kind != catalog.MaterializedTable:
		what := t.Kind.String()
		return "", refused(session.ClassTable, "SHOW CREATE MATERIALIZED TABLE is only supported for materialized tables, but %s is a %s. Please use SHOW CREATE %s instead.",
			path.Quoted(), strings.ToLower(what), strings.ToUpper(what))
	}
	mode := "CONTINUOUS"
	if t.Refresh.Full {
		mode = "FULL"
	}
	return tableText(path, t) + fmt.Sprintf("FRESHNESS = INTERVAL '%d' %s\nREFRESH_MODE = %s\nAS %s\n", t.Refresh.Every, t.Refresh.Unit, mode, t.Query), nil
}
