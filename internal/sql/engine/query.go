package engine

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/bind"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/optimize"
	"github.com/weirstream/weir/internal/sql/physical"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// show writes a value as results show it.
func (st *statement) show(t types.Type, c *batch.Column, i int) string {
	return string(expr.AppendDisplay(nil, st.now.Zone, t, c, i))
}

// planned makes the job of sinks.
func (st *statement) planned(sinks ...*logical.Sink) (*exec.Compiled, error) {
	if !st.bounded() {
		return nil, &session.Error{Class: session.ClassTable, Text: "queries that run as streams are not supported yet: SET 'execution.runtime-mode' = 'batch'"}
	}
	job := &plan.Job{Name: st.name(sinks[0]), Statement: st.text, Batch: true, Settings: st.settings, Session: st.now}
	for _, s := range sinks {
		optimized := optimize.Optimize(&optimize.Context{Registry: st.o.Registry, Session: st.now}, s).(*logical.Sink)
		root, err := physical.Sink(physical.Options{Registry: st.o.Registry, Session: st.now}, optimized)
		if err != nil {
			return nil, err
		}
		job.Sinks = append(job.Sinks, root)
	}
	return exec.Compile(job, st.o.Registry, st.o.Connectors)
}

// name is what a job is called.
func (st *statement) name(s *logical.Sink) string {
	switch name := st.settings["pipeline.name"]; {
	case name != "":
		return name
	case s.Table == nil:
		return "collect"
	}
	return "insert-into_" + s.Path.String()
}

// query begins a query's job, whose rows are the result.
func (st *statement) query(q *ast.Query) (*session.Result, error) {
	bound, err := bind.Query(st.binding(), q)
	if err != nil {
		return nil, err
	}
	schema := bound.Fields()
	compiled, err := st.planned(&logical.Sink{Input: bound})
	if err != nil {
		return nil, err
	}
	job, err := st.o.Runner.Submit(st.ctx, compiled, schema)
	if err != nil {
		return nil, executing(err)
	}
	if !st.keep(job) {
		return nil, errors.Join(errors.New("the session was closed"), job.Cancel())
	}
	return &session.Result{Schema: schema, Content: true, Query: true, Job: job.ID(), Rows: &queryRows{st.Session, job}}, nil
}

func executing(err error) error {
	var known *session.Error
	if errors.As(err, &known) {
		return err
	}
	return &session.Error{Class: session.ClassTable, Text: "Failed to execute sql", Cause: err}
}

// queryRows are those of a query's job.
type queryRows struct {
	s   *Session
	job Job
}

// Next waits for rows.
func (r *queryRows) Next(ctx context.Context) (*batch.Columns, error) {
	rows, err := r.job.Next(ctx)
	if err != nil && ctx.Err() == nil {
		r.s.forget(r.job)
	}
	return rows, err
}

// Close cancels the job if it has not ended.
func (r *queryRows) Close() error {
	r.s.forget(r.job)
	return r.job.Cancel()
}

// insert begins the job of an INSERT, and waits for it if that was asked for.
func (st *statement) insert(i *ast.Insert) (*session.Result, error) {
	sink, err := bind.Insert(st.binding(), i)
	if err != nil {
		return nil, err
	}
	compiled, err := st.planned(sink)
	if err != nil {
		return nil, err
	}
	job, err := st.o.Runner.Submit(st.ctx, compiled, nil)
	if err != nil {
		return nil, executing(err)
	}
	if st.settings["table.dml-sync"] == "true" {
		if err := job.Wait(st.ctx); err != nil {
			if st.ctx.Err() != nil {
				err = errors.Join(err, job.Cancel())
			}
			return nil, executing(err)
		}
	}
	count := batch.NewColumn(types.Of(types.BigInt))
	batch.Append(count, int64(-1)) // how many rows were written is not known
	return &session.Result{
		Schema:  []types.Field{{Name: sink.Path.String(), Type: types.Of(types.BigInt)}},
		Content: true, Job: job.ID(), Rows: &made{block: &batch.Columns{N: 1, Cols: []*batch.Column{count}}},
	}, nil
}

// made are rows that are there.
type made struct{ block *batch.Columns }

// Next gives the rows once.
func (r *made) Next(context.Context) (*batch.Columns, error) {
	if r.block == nil {
		return nil, io.EOF
	}
	b := r.block
	r.block = nil
	return b, nil
}

// Close does nothing.
func (r *made) Close() error { return nil }

// done is the result of a statement that has none.
func done() *session.Result {
	return &session.Result{Schema: []types.Field{{Name: "result", Type: types.String()}}, Rows: &made{texts([]types.Field{{Type: types.String()}}, []any{"OK"})}}
}

// told is a result of texts and truths.
func told(schema []types.Field, rows ...[]any) *session.Result {
	return &session.Result{Schema: schema, Content: true, Rows: &made{texts(schema, rows...)}}
}

// column is a column of a result that tells something.
func column(name string, t types.Type) types.Field { return types.Field{Name: name, Type: t} }

// texts makes rows of strings and booleans; nil is NULL.
func texts(schema []types.Field, rows ...[]any) *batch.Columns {
	b := &batch.Columns{N: len(rows)}
	for i, f := range schema {
		c := batch.NewColumn(f.Type)
		for _, r := range rows {
			switch v := r[i].(type) {
			case string:
				c.AppendBytes([]byte(v))
			case bool:
				batch.Append(c, v)
			default:
				c.AppendNull()
			}
		}
		b.Cols = append(b.Cols, c)
	}
	return b
}

// explain tells how a query would be computed.
func (st *statement) explain(e *ast.Explain) (*session.Result, error) {
	var bound logical.Node
	var err error
	switch s := e.Statement.(type) {
	case *ast.Query:
		bound, err = bind.Query(st.binding(), s)
	case *ast.Insert:
		bound, err = bind.Insert(st.binding(), s)
	default:
		return nil, expr.Refuse(e.Statement.Range(), "EXPLAIN of this statement is not supported yet")
	}
	if err != nil {
		return nil, err
	}
	if slices.Contains(e.Details, "JSON_EXECUTION_PLAN") || slices.Contains(e.Details, "PLAN_ADVICE") {
		return nil, expr.Refuse(e.Span, "EXPLAIN does not support this detail yet; there are ESTIMATED_COST and CHANGELOG_MODE")
	}
	optimized := optimize.Optimize(&optimize.Context{Registry: st.o.Registry, Session: st.now}, bound)
	text := "== Abstract Syntax Tree ==\n" + logical.Text(bound) + "\n== Optimized Plan ==\n" + logical.Text(optimized)
	return told([]types.Field{column("result", types.String())}, []any{text}), nil
}
