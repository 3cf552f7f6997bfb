package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/bind"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/internal/sql/session"
)

// statement is one that is being carried out.
type statement struct {
	*Session
	ctx      context.Context
	text     string
	settings map[string]string
	config   *config.Config
	now      *expr.Session
	// planOnly says that no job begins.
	planOnly bool
	// title is what the job of a query is called: its text with all names in full.
	title string
	// wanted is how many rows a query that runs as a stream gives at most; below 0: any.
	wanted int64
}

// Execute carries out one statement.
func (s *Session) Execute(ctx context.Context, text string, settings map[string]string) (*session.Result, error) {
	return s.carryOut(ctx, text, settings, false)
}

// Check carries out one statement without the jobs that it would begin: queries and
// INSERTs are planned only, those that run as streams as far as streams are.
func (s *Session) Check(ctx context.Context, text string) (*session.Result, error) {
	return s.carryOut(ctx, text, nil, true)
}

func (s *Session) carryOut(ctx context.Context, text string, settings map[string]string, planOnly bool) (result *session.Result, err error) {
	defer func() { // a mistake of the planner must not end the sessions of others
		if v := recover(); v != nil {
			result, err = nil, &session.Error{Class: session.ClassTable, Text: fmt.Sprintf("the planner is broken, please report it with the statement: %v\n%s", v, debug.Stack())}
		}
	}()
	st, parsed, err := s.read(ctx, text, settings)
	if err != nil {
		return nil, err
	}
	st.planOnly = planOnly
	result, err = st.execute(parsed)
	if err != nil {
		return nil, st.refused(err)
	}
	result.Show = st.show
	return result, nil
}

// Configure carries out a statement that prepares the session.
func (s *Session) Configure(ctx context.Context, text string) error {
	st, parsed, err := s.read(ctx, text, nil)
	if err != nil {
		return err
	}
	switch parsed.(type) {
	case *ast.Query, *ast.Insert, *ast.Explain, *ast.Show, *ast.ShowCreate, *ast.ShowPartitions, *ast.Describe, *ast.CheckTable:
		return session.ErrNotConfiguring
	}
	_, err = st.execute(parsed)
	return st.refused(err)
}

// read parses a statement, and settles what holds for it.
func (s *Session) read(ctx context.Context, text string, settings map[string]string) (*statement, ast.Statement, error) {
	all := s.Settings()
	maps.Copy(all, settings)
	st := &statement{Session: s, ctx: ctx, text: text, settings: all, wanted: -1}
	parsed, err := parse.Statement(text)
	if err != nil {
		return nil, nil, &session.Error{Class: session.ClassParse, Text: "SQL parse failed. " + err.Error()}
	}
	if st.config, err = config.New(known(all)); err != nil {
		if !settles(parsed) {
			return nil, nil, &session.Error{Class: session.ClassArgument, Text: err.Error()}
		}
		st.config = nil // the defaults: the statement may put right what is wrong
	}
	zone, err := s.zone(all)
	if err != nil {
		return nil, nil, &session.Error{Class: session.ClassArgument, Text: err.Error()}
	}
	if err := s.names.Refresh(); err != nil {
		return nil, nil, &session.Error{Class: session.ClassCatalog, Text: "the store of catalogs cannot be read", Cause: err}
	}
	_, database := s.names.Current()
	st.now = &expr.Session{Zone: zone, Now: s.o.Now(), Database: database, Streaming: !st.bounded(),
		LegacyCast: config.TableLegacyCast.In(st.config) == "ENABLED"}
	return st, parsed, nil
}

// zone is the session's.
func (s *Session) zone(settings map[string]string) (*time.Location, error) {
	name := settings[config.TableLocalTimeZone.Key]
	if name == "" || name == "default" {
		return time.Local, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("table.local-time-zone: %q is no time zone: %w", name, err)
	}
	return zone, nil
}

// bounded reports whether queries run as batches.
func (st *statement) bounded() bool {
	mode := st.settings[config.ExecutionRuntimeMode.Key]
	return mode == "batch" || mode == "BATCH"
}

// binding is what names are bound with.
func (st *statement) binding() bind.Options {
	return bind.Options{
		Catalog: st.names, Registry: st.o.Registry, Session: st.now,
		Parse: func(text string) (*ast.Query, error) {
			parsed, err := parse.Statement(text)
			if err != nil {
				return nil, err
			}
			q, ok := parsed.(*ast.Query)
			if !ok {
				return nil, errors.New("it is no query")
			}
			return q, nil
		},
		Expression: parse.Expression,
		DropNulls:  config.TableNotNullEnforcer.In(st.config) == "DROP",
		Function:   st.named, FunctionNames: st.functionNames,
		Side: st.side,
	}
}

// refused says where in the statement an error is.
func (st *statement) refused(err error) error {
	var known *session.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	var e *expr.Error
	if !errors.As(err, &e) {
		return &session.Error{Class: session.ClassValidation, Text: err.Error()}
	}
	text := e.Text
	if e.At.End > e.At.Start {
		text = place(st.text, e.At) + text
	}
	return &session.Error{Class: session.ClassValidation, Text: "SQL validation failed. " + text}
}

// place says where a part of a statement is, as people count.
func place(text string, at ast.Span) string {
	from, to := ast.Locate(text, at.Start), ast.Locate(text, at.End)
	to.Column--
	if from == to || to.Column < 1 {
		return fmt.Sprintf("At line %d, column %d: ", from.Line, from.Column)
	}
	return fmt.Sprintf("From line %d, column %d to line %d, column %d: ", from.Line, from.Column, to.Line, to.Column)
}

// execute carries out a statement that was parsed.
func (st *statement) execute(parsed ast.Statement) (*session.Result, error) {
	if err := st.inSet(parsed); err != nil {
		return nil, err
	}
	switch parsed := parsed.(type) {
	case *ast.Query:
		return st.query(parsed)
	case *ast.Insert:
		return st.insert(parsed)
	case *ast.StatementSet:
		return st.statementSet(parsed)
	case *ast.BeginStatementSet:
		return st.beginSet()
	case *ast.EndStatementSet:
		return st.endSet()
	case *ast.Execute:
		return st.execute(parsed.Statement)
	case *ast.Explain:
		return st.explain(parsed)
	case *ast.CreateTable:
		return st.createTable(parsed)
	case *ast.CreateView:
		return st.createView(parsed)
	case *ast.CreateDatabase:
		return st.createDatabase(parsed)
	case *ast.CreateCatalog:
		return st.createCatalog(parsed)
	case *ast.CreateFunction:
		return st.createFunction(parsed)
	case *ast.CreateModel:
		return st.createModel(parsed)
	case *ast.CreateMaterializedTable:
		return st.createMaterialized(parsed)
	case *ast.CreateConnection:
		return nil, st.lacks(parsed.Span, ast.KindConnection)
	case *ast.Alter:
		return st.alter(parsed)
	case *ast.Drop:
		return st.drop(parsed)
	case *ast.Use:
		return st.use(parsed)
	case *ast.Show:
		return st.showList(parsed)
	case *ast.ShowCreate:
		return st.showCreate(parsed)
	case *ast.ShowPartitions:
		return st.showPartitions(parsed)
	case *ast.Describe:
		return st.describe(parsed)
	case *ast.Set:
		return st.set(parsed)
	case *ast.Reset:
		return st.reset(parsed)
	}
	return st.other(parsed)
}

// firstWords are enough of a statement to know it by.
func firstWords(text string) string {
	const most = 60
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
