package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/connector"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/internal/sql/session"
)

// fixturesName is the file beside a recording of statements that prepares each of its
// sessions.
const fixturesName = "statements-fixtures.sql"

// compareStatements carries out all statements of a file, each after the fixtures in a
// session of its own, and compares what is accepted, where errors are, and what is told.
func compareStatements(path string) (*comparison, error) {
	rows, err := table(path)
	if err != nil {
		return nil, err
	}
	fixtures, err := os.ReadFile(filepath.Join(filepath.Dir(path), fixturesName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read the fixtures: %w", err)
	}
	better, err := statementExceptions()
	if err != nil {
		return nil, err
	}
	c := newComparison()
	c.parts = []*tally{{name: "statements, outputs"}, {name: "statements, places of errors"}}
	for _, row := range rows {
		if err := c.statement(row, string(fixtures), better); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// tally counts something else that was compared.
type tally struct {
	name         string
	equal, whole int
}

func (t *tally) add(equal bool) {
	t.whole++
	if equal {
		t.equal++
	}
}

// outcomeOf is what came of a statement.
type outcomeOf struct {
	output string
	err    error
}

func (c *comparison) statement(row map[string]string, fixtures string, better map[string]string) error {
	text := unescape(row["statement"])
	got, err := carryOut(text, fixtures, row["mode"])
	if err != nil {
		return err
	}
	given := "accepted"
	if got.err != nil {
		given = "refused: " + got.err.Error()
	}
	recorded := row["verdict"] + ": " + unescape(row["error"])
	name := row["id"] + " " + row["group"] + " " + row["mode"]
	accepted, accepts := row["verdict"] == "ok", got.err == nil
	exception, listed := better[row["id"]]
	switch {
	case accepts == accepted:
		c.count(row["group"], equal)
	case listed && (exception == "accepted") == accepts:
		c.count(row["group"], equal)
	case row["mode"] == "streaming" && row["verdict"] == "plan error":
		c.later++ // streams are not planned
	case accepts:
		c.differ(row["group"], differs, name, text, recorded, given)
	default:
		c.differ(row["group"], refused, name, text, recorded, given)
	}
	if !accepted && !accepts && row["line"] != "" && row["line"] != "0" {
		want := fmt.Sprintf("line %s, column %s", row["line"], row["column"])
		here := strings.Contains(got.err.Error(), want)
		c.parts[1].add(here)
		if !here {
			c.notes = append(c.notes, fmt.Sprintf("place of %s\n%s\nrecorded:\n%s\ngiven:\n%s\n", name, text, recorded, given))
		}
	}
	output := unescape(row["output"])
	if accepted && accepts && strings.HasPrefix(output, "columns: ") && !strings.Contains(output, "== Abstract Syntax Tree ==") {
		same := strings.TrimRight(output, "\n") == strings.TrimRight(got.output, "\n")
		c.parts[0].add(same)
		if !same {
			c.notes = append(c.notes, fmt.Sprintf("output of %s\n%s\nrecorded:\n%s\ngiven:\n%s\n", name, text, output, got.output))
		}
	}
	return nil
}

// statementExceptions are the verdicts that are others on purpose, by the row's id.
func statementExceptions() (map[string]string, error) {
	rows, err := readTable(strings.NewReader(statementExceptionsFile))
	if err != nil {
		return nil, fmt.Errorf("read the exceptions: %w", err)
	}
	better := map[string]string{}
	for _, row := range rows {
		better[row["id"]] = row["verdict"]
	}
	return better, nil
}

// carryOut carries out statements after the fixtures; queries and INSERTs are planned.
func carryOut(text, fixtures, mode string) (got outcomeOf, err error) {
	ctx := context.Background()
	m := &memory{registry: builtin.Registry(), rows: map[string][][]any{}, cells: map[string][][]string{}}
	connectors := exec.Connectors{"otest": m,
		"filesystem": declared{connector.Declaration{Source: true, Sink: true, Partitions: true, Overwrite: true, Required: []string{"path"}, Optional: []string{"format", "csv.*", "source.*", "sink.*", "partition.*", "auto-compaction"}}},
		"blackhole":  declared{connector.Declaration{Sink: true}},
		"datagen":    declared{connector.Declaration{Source: true, Optional: []string{"number-of-rows", "rows-per-second", "fields.*"}}},
		"print":      declared{connector.Declaration{Sink: true, Optional: []string{"print-identifier", "standard-error"}}},
	}
	maps.Copy(connectors, builtin.Connectors())
	e := engine.New(engine.Options{Registry: builtin.Registry(), Connectors: connectors, Functions: harnessFunctions, Now: time.Now,
		Settings: map[string]string{"execution.runtime-mode": mode, "table.local-time-zone": "UTC", "parallelism.default": "1"}})
	opened, err := e.Open(ctx, session.Options{})
	if err != nil {
		return got, err
	}
	defer opened.Close()
	s := opened.(*engine.Session)
	for _, part := range parse.Split(fixtures) {
		if strings.TrimSpace(part.Text) == "" {
			continue
		}
		if _, err := s.Check(ctx, part.Text); err != nil {
			return got, fmt.Errorf("fixture %s: %w", part.Text, err)
		}
	}
	defer func() {
		if p := recover(); p != nil {
			got.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	for _, part := range strings.Split(text, " @@ ") {
		r, err := s.Check(ctx, part)
		if err != nil {
			return outcomeOf{err: err}, nil
		}
		if got.output, err = printed(ctx, r); err != nil {
			return got, err
		}
	}
	return got, nil
}

// printed writes a result as the recording does.
func printed(ctx context.Context, r *session.Result) (string, error) {
	defer r.Rows.Close()
	if !r.Content {
		return "SUCCESS", nil
	}
	var out strings.Builder
	out.WriteString("columns: ")
	for _, f := range r.Schema {
		out.WriteString(f.Name + " " + f.Type.String() + ", ")
	}
	out.WriteString("\n")
	for {
		b, err := r.Rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out.String(), nil
		}
		if err != nil {
			return "", err
		}
		b = b.Compact()
		for i := range b.N {
			for k, c := range b.Cols {
				if k > 0 {
					out.WriteString(" | ")
				}
				if c.IsNull(i) {
					out.WriteString("<NULL>")
				} else {
					out.WriteString(r.Show(r.Schema[k].Type, c, i))
				}
			}
			out.WriteString("\n")
		}
	}
}
