package engine

import (
	"slices"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/bind"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// alterMaterialized changes a materialized table, or whether it is filled.
func (st *statement) alterMaterialized(a *ast.Alter) (*session.Result, error) {
	path, err := st.qualify(&a.Name)
	if err != nil {
		return nil, err
	}
	refresh, filling := a.Action.(*ast.AlterRefresh)
	if filling && st.planOnly {
		return done(), nil
	}
	t, err := st.names.Table(path)
	switch {
	case err != nil:
		return nil, err
	case t == nil && a.IfExists:
		return done(), nil
	case t == nil:
		return nil, refused(session.ClassValidation, "Materialized table %s doesn't exist.", path.Quoted())
	case t.Kind != catalog.MaterializedTable:
		return nil, refused(session.ClassValidation, "Only materialized table support this operation, and %s is none.", path.Quoted())
	}
	if query, ok := a.Action.(*ast.AlterQuery); ok {
		return st.alterDefinition(path, t, query.Query)
	}
	if !filling {
		return nil, expr.Refuse(a.Action.Range(), "of a materialized table, the query can be changed with AS, and it can SUSPEND, RESUME and REFRESH")
	}
	switch refresh.Action {
	case "SUSPEND":
		return st.suspendFilling(path, t.Clone())
	case "RESUME":
		return st.resumeFilling(path, t.Clone(), refresh)
	case "REFRESH":
		return st.refreshNow(path, t, refresh)
	}
	return nil, expr.Refuse(refresh.Span, "how a materialized table is filled is said when it is made: DROP it and CREATE it anew")
}

// suspending is for how long a suspension goes on that nobody waits for any more.
const suspending = 30 * time.Second

// suspendFilling ends the filling of a table until it is resumed.
func (st *statement) suspendFilling(path catalog.Path, t *catalog.Table) (*session.Result, error) {
	if t.Refresh.Suspended {
		return nil, refused(session.ClassExecution, "Materialized table %s is suspended already.", path.Quoted())
	}
	if f := st.filler(path); f != nil {
		f.suspend()
	} else {
		directory := config.SavepointDirectory.In(st.config)
		if directory == "" {
			return nil, refused(session.ClassValidation, "Savepoint directory is not configured, can't stop job with savepoint: set '%s'.", config.SavepointDirectory.Key)
		}
		jobs, err := st.jobs()
		if err != nil {
			return nil, err
		}
		// Who gives up meanwhile must not lose the savepoint of a job that has stopped: the
		// next one would begin anew, and fill the table twice.
		ctx, done := session.Beyond(st.ctx, suspending)
		defer done()
		if t.Refresh.Savepoint, err = jobs.StopWithSavepoint(ctx, t.Refresh.Job, directory, false); err != nil {
			return nil, &session.Error{Class: session.ClassExecution, Text: "Failed to suspend the job of materialized table " + path.Quoted() + ".", Cause: err}
		}
	}
	t.Refresh.Suspended = true
	return done(), st.names.ReplaceTable(path, t)
}

// resumeFilling goes on with the filling of a table, with options of its own if there are.
func (st *statement) resumeFilling(path catalog.Path, t *catalog.Table, r *ast.AlterRefresh) (*session.Result, error) {
	if !t.Refresh.Suspended {
		running, err := t.Refresh.Full, error(nil)
		if !running {
			running, err = st.running(t)
		}
		switch {
		case err != nil:
			return nil, err
		case running:
			return nil, refused(session.ClassExecution, "Materialized table %s is being filled already.", path.Quoted())
		}
	}
	with := t
	if len(r.Options) > 0 {
		with = t.Clone()
		with.Options = withHints(t.Options, pairs(r.Options))
	}
	with.Refresh.Suspended = false
	begin, err := st.filling(path, with)
	if err == nil {
		err = begin()
	}
	if err != nil {
		return nil, err
	}
	t.Refresh.Suspended, t.Refresh.Job = false, with.Refresh.Job
	return done(), st.names.ReplaceTable(path, t)
}

// refreshNow writes a table anew once, and waits for it.
func (st *statement) refreshNow(path catalog.Path, t *catalog.Table, r *ast.AlterRefresh) (*session.Result, error) {
	f := st.filler(path)
	switch {
	case r.Partition != nil:
		return nil, expr.Refuse(r.Partition.Span, "single partitions of a materialized table cannot be refreshed: leave PARTITION out")
	case f == nil:
		return nil, refused(session.ClassRefused, "Materialized table %s is filled by job %s as rows come: only one of REFRESH_MODE = FULL is written anew.", path.Quoted(), t.Refresh.Job)
	}
	job, err := f.write(st.ctx)
	if err != nil {
		return nil, executing(err)
	}
	return told([]types.Field{column("job id", types.String())}, []any{job}), nil
}

// alterDefinition gives a table another query, whose columns are those of the table and may
// be more.
func (st *statement) alterDefinition(path catalog.Path, old *catalog.Table, q *ast.Query) (*session.Result, error) {
	t := old.Clone()
	t.Original = q.Range().Text(st.text)
	bound, expanded, err := bind.View(st.binding(), q)
	if err != nil {
		return nil, err
	}
	t.Query = expanded
	fields := bind.Unique(bound).Fields()
	persisted := t.Schema.Persisted()
	for i, f := range fields {
		plain := f.Type
		plain.Time = types.NoTime
		switch {
		case i >= len(persisted):
			t.Schema.Columns = append(t.Schema.Columns, catalog.Column{Name: f.Name, Type: plain.OrNull()})
		case f.Name != persisted[i].Name || !plain.EqualButNull(persisted[i].Type):
			return nil, refused(session.ClassValidation, "When modifying the query of a materialized table, currently only support appending columns at the end of original schema, dropping, renaming, and reordering columns are not supported.\nColumn mismatch at position %d: Original column is [`%s` %s], but new column is [`%s` %s].",
				i, persisted[i].Name, persisted[i].Type, f.Name, plain)
		}
	}
	if len(fields) < len(persisted) {
		var dropped []string
		for _, c := range persisted[len(fields):] {
			dropped = append(dropped, c.Name)
		}
		slices.Sort(dropped)
		return nil, refused(session.ClassValidation, "Failed to modify query because drop column is unsupported. When modifying a query, you can only append new columns at the end of original schema. The query has no column %s.", quotedNames(dropped))
	}
	t.Refresh.Savepoint = ""
	if st.planOnly {
		return done(), st.names.ReplaceTable(path, t)
	}
	begin, err := st.filling(path, t)
	if err != nil {
		return nil, err
	}
	if err := st.unfill(path, old); err != nil {
		return nil, err
	}
	if err := st.names.ReplaceTable(path, t); err != nil {
		return nil, err
	}
	if t.Refresh.Full || !t.Refresh.Suspended {
		err = begin()
	}
	return done(), err
}
