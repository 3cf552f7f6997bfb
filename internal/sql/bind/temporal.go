package bind

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

// snapshotOf gives a relation that is read as it was FOR SYSTEM_TIME AS OF a time, without
// that, and with the alias that it has; nil: it is none.
func snapshotOf(r ast.Relation) (*ast.Snapshot, ast.Relation) {
	switch r := r.(type) {
	case *ast.Snapshot:
		return r, r.Relation
	case *ast.Aliased:
		if s, ok := r.Relation.(*ast.Snapshot); ok {
			plain := *r
			plain.Relation = s.Relation
			return s, &plain
		}
	}
	return nil, r
}

// asOf binds the time of a snapshot, which is a time attribute of the left side.
func (b *binder) asOf(snap *ast.Snapshot, kind logical.JoinKind, left *scope) (types.TimeAttribute, error) {
	if kind != logical.Inner && kind != logical.Left {
		return 0, expr.Refuse(snap.Span, "a table as of a time can be on the right of an INNER or LEFT join only")
	}
	e, err := b.expression(snap.Time, left)
	if err != nil {
		return 0, err
	}
	if t := e.Type(); !t.Kind.IsTimestamp() {
		return 0, expr.Refuse(snap.Time.Range(), "The system time period specification expects Timestamp type but is '%s'", t.Text())
	}
	if _, column := e.(*expr.Input); !column {
		return 0, expr.Refuse(snap.Time.Range(), "no catalog keeps the versions of its tables: FOR SYSTEM_TIME AS OF takes a time attribute of the left table")
	}
	switch a := e.Type().Time; a {
	case types.Proctime:
		return a, nil
	case types.Rowtime:
		if !b.Session.Streaming {
			return a, expr.Refuse(snap.Span, "a join with the versions of a table runs as a stream only: as a batch it is a join with the table as it is, without FOR SYSTEM_TIME AS OF")
		}
		return a, nil
	}
	return 0, expr.Refuse(snap.Time.Range(), "FOR SYSTEM_TIME AS OF takes a time attribute of the left table, and this column is none")
}

// versioned refuses a join with the versions of a table that is not by its primary key.
func (b *binder) versioned(r ast.Relation, condition expr.Expr, leftWidth int) error {
	if a, ok := r.(*ast.Aliased); ok {
		r = a.Relation
	}
	name, ok := r.(*ast.TableName)
	if !ok {
		return nil
	}
	path, err := b.Catalog.Qualify(name.Name.Strings())
	if err != nil {
		return expr.Refuse(name.Span, "%v", err)
	}
	t, err := b.Catalog.Table(path)
	if err != nil || t == nil || t.Kind == catalog.View {
		return err
	}
	equal := equated(condition)
	key := t.Schema.PrimaryKey
	covered := key != nil
	for i, c := range t.Schema.Columns {
		covered = covered && (!slices.Contains(key.Columns, c.Name) || slices.Contains(equal, leftWidth+i))
	}
	if !covered {
		return expr.Refuse(name.Span, "Temporal Table Join requires the primary key of the versioned table among the columns that are equal, and table %s has none, or others", path)
	}
	return nil
}

// equated are the columns that a condition says are equal to something.
func equated(condition expr.Expr) (columns []int) {
	call, ok := condition.(*expr.Call)
	switch {
	case ok && call.Fn.Name == "AND":
		for _, a := range call.Args {
			columns = append(columns, equated(a)...)
		}
	case ok && call.Fn.Name == "=":
		columns = places(call.Args...)
	}
	return columns
}
