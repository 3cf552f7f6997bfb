package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/sqlrun"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/gofunc"
	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/internal/sql/session"
)

// Execute carries out statements, one after the other, with semicolons between: CREATE,
// INSERT, SET and all others but queries. It returns when the last has had its effect, for
// an INSERT when its job has ended; nil says that it has finished. At the first that fails
// it stops, and the error says where in the text that is and why; those before have had
// their effect. When ctx ends, the job that runs is canceled.
//
// Mistakes of the program, such as functions of types that SQL does not have, are returned
// before anything runs; each names its line.
func (e *Env) Execute(ctx context.Context, statements string) error {
	if err := e.start(ctx); err != nil {
		return err
	}
	pieces := parse.Split(statements)
	for _, p := range pieces {
		if err := e.execute(ctx, p.Text); err != nil {
			if len(pieces) > 1 {
				err = fmt.Errorf("the statement at line %d: %w", ast.Locate(statements, p.Start).Line, err)
			}
			return err
		}
	}
	return nil
}

// execute carries out one statement.
func (e *Env) execute(ctx context.Context, text string) error {
	parsed, _ := parse.Statement(text) // what is wrong with it, the session says
	if _, query := parsed.(*ast.Query); query {
		return errors.New("Execute gives no rows, and this is a query: read its rows with Query")
	}
	result, err := e.carryOut(ctx, text, parsed)
	if result == nil || err != nil {
		return err
	}
	return result.Rows.Close()
}

// carryOut carries out a statement; nil: there is nothing to see of it. In a worker it
// serves the job where it begins, and nothing else matters.
func (e *Env) carryOut(ctx context.Context, text string, parsed ast.Statement) (*session.Result, error) {
	if !inWorker() {
		return e.session.Execute(ctx, text, nil)
	}
	if begins(parsed) {
		return nil, sqlrun.Serve(ctx, e.registry(), e.connectors())
	}
	// Where the job was submitted the statement has done what it does: here only what it
	// says is of use, and that it fails is no mistake.
	result, err := e.session.(*engine.Session).Check(ctx, text)
	if err != nil {
		return nil, nil
	}
	return result, nil
}

// begins reports whether a statement begins a job.
func begins(s ast.Statement) bool {
	switch s := s.(type) {
	case *ast.Insert, *ast.StatementSet, *ast.EndStatementSet, *ast.Query:
		return true
	case *ast.Execute:
		return begins(s.Statement)
	case *ast.CreateTable:
		return s.As != nil
	}
	return false
}

// Query runs a query, or another statement that tells something, such as SHOW TABLES, and
// gives its rows as they come. T is a struct, whose fields are columns by their names,
// whatever their case; the type of the only column; []any or map[string]any, for rows of
// any columns; or []string, for the texts that a client would show. A DECIMAL can be read
// as a string or a float64.
//
// When something fails, the error is the last that is given. A loop that ends early
// cancels the query. On a cluster, where the program is not there any more when the job
// runs, queries are refused.
func (e *Env) Query[T any](ctx context.Context, query string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if err := e.query(ctx, query, func(r *session.Result) error { return give(ctx, r, e.zone(), yield) }); err != nil && err != errEnough {
			yield(none, err)
		}
	}
}

// errEnough ends a query whose rows nobody wants any more.
var errEnough = errors.New("enough")

func (e *Env) query(ctx context.Context, text string, read func(*session.Result) error) error {
	if err := e.start(ctx); err != nil {
		return err
	}
	parsed, _ := parse.Statement(text)
	result, err := e.carryOut(ctx, text, parsed)
	if result == nil || err != nil {
		return err
	}
	err = read(result)
	if closing := result.Rows.Close(); err == nil {
		err = closing
	}
	return err
}

// give yields the rows of a result.
func give[T any](ctx context.Context, r *session.Result, zone *time.Location, yield func(T, error) bool) error {
	read, err := gofunc.Reader[T](r.Schema, zone)
	if err != nil {
		return err
	}
	for {
		b, err := r.Rows.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		for k := range b.Len() {
			row := k
			if b.Sel != nil {
				row = int(b.Sel[k])
			}
			if len(b.Kind) > 0 && b.Kind[row] != batch.Insert {
				return errors.New("the query changes rows that it has given, and Query reads rows that stay: INSERT INTO a table, or run it as a batch")
			}
			v, err := read(b, row)
			if err != nil {
				return err
			}
			if !yield(v, nil) {
				return errEnough
			}
		}
	}
}

// Collect runs a query and gives all its rows, read as Query says.
func (e *Env) Collect[T any](ctx context.Context, query string) ([]T, error) {
	var all []T
	for v, err := range e.Query[T](ctx, query) {
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// zone is the session's time zone.
func (e *Env) zone() *time.Location {
	name := e.session.Settings()[config.TableLocalTimeZone.Key]
	if name == "" || name == "default" {
		return time.Local
	}
	zone, err := time.LoadLocation(name)
	if err != nil { // the statement would not have run
		return time.UTC
	}
	return zone
}
