package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirstream/weir/internal/cluster/sqlrun"
	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/internal/sql/session"
)

// queryLimit bounds one case.
const queryLimit = 20 * time.Second

// compareQueries runs all cases of a directory, or the one of a file, as batches.
func compareQueries(path string, parallelism int) (*comparison, error) {
	files := []string{path}
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		if files, err = filepath.Glob(filepath.Join(path, "*.case")); err != nil {
			return nil, err
		}
	}
	result := newComparison()
	better, err := queryExceptions()
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		c, err := readCase(file)
		if err != nil {
			return nil, err
		}
		if c.streamOnly || !c.batch.told {
			continue
		}
		result.query(c, parallelism, better)
	}
	return result, nil
}

// queryExceptions are the rows that cases give that are others on purpose, by the case's name.
func queryExceptions() (map[string]string, error) {
	rows, err := readTable(strings.NewReader(queryExceptionsFile))
	if err != nil {
		return nil, fmt.Errorf("read the exceptions: %w", err)
	}
	better := map[string]string{}
	for _, row := range rows {
		better[row["case"]] = row["rows"]
	}
	return better, nil
}

func (r *comparison) query(c *queryCase, parallelism int, better map[string]string) {
	ctx, cancel := context.WithTimeout(context.Background(), queryLimit)
	defer cancel()
	rows, err := c.run(ctx, parallelism)
	slices.Sort(rows)
	group, _, _ := strings.Cut(c.name, "-")
	answer, listed := better[c.name]
	switch {
	case err == nil && listed && strings.Join(rows, rowEnd) == answer:
		r.count(group, equal)
	case err != nil && c.batch.error != "" && !strings.Contains(err.Error(), "the planner is broken"):
		r.count(group, equal)
	case err == nil && c.batch.error != "" && c.final.told && c.final.error == "" && slices.Equal(rows, sorted(c.final.rows)):
		r.count(group, equal) // the recorded program fails as a batch, and not as a stream
	case err != nil:
		r.differ(group, refused, c.name, c.query, strings.Join(c.batch.rows, "\n"), "error: "+err.Error())
	case c.batch.error != "":
		r.differ(group, differs, c.name, c.query, "error: "+c.batch.error, strings.Join(rows, "\n"))
	case !slices.Equal(rows, sorted(c.batch.rows)):
		r.differ(group, differs, c.name, c.query, strings.Join(sorted(c.batch.rows), "\n"), strings.Join(rows, "\n"))
	default:
		r.count(group, equal)
	}
}

func sorted(rows []string) []string {
	rows = slices.Clone(rows)
	slices.Sort(rows)
	return rows
}

// run runs a case and gives its rows, of the query or of the sink.
func (c *queryCase) run(ctx context.Context, parallelism int) ([]string, error) {
	m := &memory{registry: builtin.Registry(), rows: map[string][][]any{}, cells: map[string][][]string{}}
	connectors := exec.Connectors{"otest": m}
	maps.Copy(connectors, builtin.Connectors())
	settings := map[string]string{"execution.runtime-mode": "batch", "table.local-time-zone": "UTC", "table.dml-sync": "true", "parallelism.default": strconv.Itoa(parallelism)}
	maps.Copy(settings, c.settings)
	runner := sqlrun.NewEmbedded(nil, nil)
	defer runner.Close()
	e := engine.New(engine.Options{Registry: builtin.Registry(), Connectors: connectors, Runner: runner, Settings: settings, Now: time.Now})
	s, err := e.Open(ctx, session.Options{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	sink := ""
	for _, t := range c.tables {
		if _, err := execute(ctx, s, t.create()); err != nil {
			return nil, err
		}
		m.rows[t.name] = c.reduced(t)
		if t.sink {
			sink = t.name
		}
	}
	for _, text := range []string{c.pre, c.query} {
		for _, part := range parse.Split(text) {
			if strings.TrimSpace(part.Text) == "" {
				continue
			}
			rows, err := execute(ctx, s, part.Text)
			if err != nil {
				return nil, err
			}
			if text == c.query && sink == "" {
				return rows, nil
			}
		}
	}
	if i := slices.IndexFunc(c.tables, func(t caseTable) bool { return t.name == sink }); i >= 0 {
		return applied(m.cells[sink], c.tables[i].keyColumns()), nil
	}
	return nil, nil
}

// applied are the rows of a sink: with a key, the last of each.
func applied(rows [][]string, key []int) []string {
	var all []string
	at := map[string]int{}
	for _, cells := range rows {
		row := "[" + strings.Join(cells, ", ") + "]"
		var k []string
		for _, i := range key {
			k = append(k, cells[i])
		}
		name := strings.Join(k, "\x00")
		if i, there := at[name]; there && len(key) > 0 {
			all[i] = row
			continue
		}
		at[name] = len(all)
		all = append(all, row)
	}
	return all
}

// execute carries out a statement and gives its rows.
func execute(ctx context.Context, s session.Session, statement string) ([]string, error) {
	r, err := s.Execute(ctx, statement, nil)
	if err != nil {
		return nil, err
	}
	defer r.Rows.Close()
	var rows []string
	for {
		b, err := r.Rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		b = b.Compact()
		for i := range b.N {
			var cells []string
			for k, col := range b.Cols {
				cells = append(cells, cell(r.Schema[k].Type, col, i))
			}
			rows = append(rows, "["+strings.Join(cells, ", ")+"]")
		}
	}
}

// reduced are the rows that a table has when its changes are over.
func (c *queryCase) reduced(t caseTable) [][]any {
	byKey := strings.Contains(t.changelog, "UA") && !strings.Contains(t.changelog, "UB")
	key := t.keyColumns()
	var rows [][]any
	find := func(row []any) int {
		return slices.IndexFunc(rows, func(o []any) bool {
			if byKey && len(key) > 0 {
				return !slices.ContainsFunc(key, func(k int) bool { return fmt.Sprint(o[k]) != fmt.Sprint(row[k]) })
			}
			return fmt.Sprint(o) == fmt.Sprint(row)
		})
	}
	for _, r := range c.input {
		if r.table != t.name {
			continue
		}
		switch at := -1; r.kind {
		case "+I", "+U":
			if byKey {
				at = find(r.cells)
			}
			if at >= 0 {
				rows[at] = r.cells
			} else {
				rows = append(rows, r.cells)
			}
		default:
			if byKey && r.kind == "-U" {
				continue
			}
			if at = find(r.cells); at >= 0 {
				rows = slices.Delete(rows, at, at+1)
			}
		}
	}
	return rows
}

// keyColumns are the places of the primary key among the columns.
func (t caseTable) keyColumns() []int {
	_, list, ok := strings.Cut(t.columns, "PRIMARY KEY (")
	if !ok {
		return nil
	}
	list, _, _ = strings.Cut(list, ")")
	var places []int
	for _, name := range strings.Split(list, ",") {
		for i, column := range strings.Split(t.columns, ",") {
			if fields := strings.Fields(column); len(fields) > 0 && fields[0] == strings.TrimSpace(name) {
				places = append(places, i)
				break
			}
		}
	}
	return places
}
