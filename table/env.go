package table

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/sqlrun"
	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/internal/worker/assignment"
)

// Env is a session: the tables, functions and settings that statements see. It is not safe
// for concurrent use.
type Env struct {
	problems []error
	settings map[string]string
	logger   *slog.Logger

	functions map[string]*expr.Function // by name in lower case
	rows      values
	fresh     []string // the statements that make what is registered known to the session

	runner  engine.Runner
	session session.Session // nil: nothing was executed
	closed  bool
}

// Option sets something of an Env. A value that is not allowed is an error that Execute
// and Query return, with the line that called NewEnv.
type Option func(*Env)

// Set sets a configuration key, as the statement SET does. What the program sets wins over
// what it is started with.
func Set(key, value string) Option { return func(e *Env) { e.settings[key] = value } }

// Logger sets where an embedded run logs. The default logs warnings to standard error.
func Logger(l *slog.Logger) Option {
	return func(e *Env) {
		if l == nil {
			e.problem(callSite(), "Logger: nil: to log nothing, give one with slog.DiscardHandler")
			return
		}
		e.logger = l
	}
}

// NewEnv begins a session with an empty catalog in memory. Settings that the program was
// started with, such as `weir run -D`, apply before opts. Queries run as batches unless
// execution.runtime-mode says otherwise.
func NewEnv(opts ...Option) *Env {
	e := &Env{settings: map[string]string{}, functions: map[string]*expr.Function{}, rows: values{}}
	e.logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if text := os.Getenv(assignment.SettingsVariable); text != "" {
		if err := json.Unmarshal([]byte(text), &e.settings); err != nil {
			e.problem("environment variable "+assignment.SettingsVariable, "%w", err)
		}
	}
	for _, o := range opts {
		o(e)
	}
	defaults := map[string]string{config.ExecutionRuntimeMode.Key: "batch", config.TableDMLSync.Key: "true"}
	maps.Copy(defaults, e.settings)
	e.settings = defaults
	return e
}

// Close ends the session and the jobs that still run. It may be called more than once.
func (e *Env) Close() error {
	if e.closed {
		return nil
	}
	e.closed = true
	var err error
	if e.session != nil {
		err = e.session.Close()
	}
	if r, embedded := e.runner.(*sqlrun.Embedded); embedded {
		r.Close()
	}
	return err
}

// start opens the session, if need be, and makes functions known to it.
func (e *Env) start(ctx context.Context) error {
	if e.closed {
		return errors.New("the environment was closed")
	}
	if err := errors.Join(e.problems...); err != nil {
		return err
	}
	if e.session == nil {
		if err := e.open(ctx); err != nil {
			return err
		}
	}
	for _, statement := range e.fresh {
		if err := e.session.Configure(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	e.fresh = nil
	return nil
}

func (e *Env) open(ctx context.Context) error {
	known := maps.Clone(e.settings)
	maps.DeleteFunc(known, func(key, _ string) bool { _, err := config.Explain(key); return err != nil })
	cfg, err := config.New(known)
	if err != nil {
		return err
	}
	if e.runner = (sqlrun.Describe{}); os.Getenv(assignment.PlanVariable) == "" {
		e.runner = sqlrun.NewEmbedded(cfg, e.logger)
	}
	e.session, err = engine.New(engine.Options{
		Registry: builtin.Registry(), Connectors: e.connectors(), Runner: e.runner, Settings: e.settings, Now: time.Now, Functions: e.function,
		Rehearsal: inWorker(),
	}).Open(ctx, session.Options{})
	return err
}

// inWorker reports whether the process was started as a worker.
func inWorker() bool { return os.Getenv(assignment.WorkerVariable) != "" }

// connectors are those of tables.
func (e *Env) connectors() exec.Connectors {
	all := builtin.Connectors()
	all[rowsConnector] = e.rows
	return all
}

// function finds a function by the name that it was registered under.
func (e *Env) function(name string) (*expr.Function, bool) {
	f, ok := e.functions[strings.ToLower(name)]
	return f, ok
}

// registry has all functions that plans may call.
func (e *Env) registry() *expr.Registry {
	var all []*expr.Function
	for _, f := range e.functions {
		all = append(all, f)
	}
	return builtin.Registry().With(all...)
}

// problem records an error of the program at the line that made it, for the next statement
// to return.
func (e *Env) problem(site, format string, args ...any) {
	e.problems = append(e.problems, fmt.Errorf("%s: %w", site, fmt.Errorf(format, args...)))
}

const packagePath = "github.com/weirstream/weir/table"

// callSite is the file:line outside this package that called into it.
func callSite() string {
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, packagePath+".") || strings.HasSuffix(f.File, "_test.go") {
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		if !more {
			return "unknown position"
		}
	}
}
