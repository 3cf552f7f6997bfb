package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/weirstream/weir/internal/cluster/sqlrun"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/internal/sql/session"
)

// compareStatements asks for each recorded statement whether it is accepted. The tables
// that statements name are made by statements-fixtures.sql beside the file. Queries and
// INSERTs are explained, which does all but run them.
func compareStatements(path string) (*comparison, error) {
	rows, err := table(path)
	if err != nil {
		return nil, err
	}
	fixtures, err := statementsOf(filepath.Join(filepath.Dir(path), "statements-fixtures.sql"))
	if err != nil {
		return nil, err
	}
	better, err := exceptions()
	if err != nil {
		return nil, err
	}
	runner := sqlrun.NewEmbedded(nil, nil)
	defer runner.Close()
	result := newComparison()
	for _, row := range rows {
		given := verdictOn(runner, fixtures, row["mode"], unescape(row["statement"]))
		accepted := row["verdict"] == "ok"
		if _, listed := better[row["id"]]; listed || accepted == (given == nil) {
			result.count(row["group"], equal)
			continue
		}
		v, answer := differs, "accepted"
		if given != nil {
			v, answer = refused, given.Error()
		}
		result.differ(row["group"], v, row["id"]+" "+row["mode"], row["statement"], row["verdict"]+" "+row["error"], answer)
	}
	return result, nil
}

// statementsOf reads the statements of a file.
func statementsOf(path string) ([]string, error) {
	text, err := readAll(path)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, part := range parse.Split(text) {
		if strings.TrimSpace(part.Text) != "" {
			all = append(all, part.Text)
		}
	}
	return all, nil
}

// verdictOn carries statements out one after the other in a session of their own, and
// gives the first refusal.
func verdictOn(runner *sqlrun.Embedded, fixtures []string, mode, text string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), queryLimit)
	defer cancel()
	connectors := exec.Connectors{"otest": &memory{registry: builtin.Registry(), rows: map[string][][]any{}, written: map[string][]string{}}}
	for name, c := range builtin.Connectors() {
		connectors[name] = c
	}
	settings := map[string]string{"execution.runtime-mode": mode, "table.local-time-zone": "UTC", "parallelism.default": strconv.Itoa(1)}
	s, err := engine.New(engine.Options{Registry: builtin.Registry(), Connectors: connectors, Runner: runner, Settings: settings, Now: time.Now}).Open(ctx, session.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	for _, f := range fixtures {
		_ = ask(ctx, s, f) // what cannot be made is missed by those who name it
	}
	for _, statement := range strings.Split(text, " @@ ") {
		if err := ask(ctx, s, statement); err != nil {
			return err
		}
	}
	return nil
}

// ask carries a statement out and reads its rows; a query or an INSERT it explains.
func ask(ctx context.Context, s session.Session, statement string) error {
	tree, err := parse.Statement(statement)
	if err != nil {
		return err
	}
	switch tree.(type) {
	case *ast.Query, *ast.Insert:
		statement = "EXPLAIN PLAN FOR " + statement
	}
	r, err := s.Execute(ctx, statement, nil)
	if err != nil {
		return err
	}
	defer r.Rows.Close()
	for {
		switch _, err := r.Rows.Next(ctx); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
