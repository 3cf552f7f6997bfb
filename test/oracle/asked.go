package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/cluster/sqlrun"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/session"
)

// asked is an engine that is asked what expressions alone cannot say: aggregates, whose whole query
// is recorded, and sub-queries. One engine serves all rows.
type asked struct {
	engine *engine.Engine
	runner *sqlrun.Embedded
}

func newAsked() *asked {
	runner := sqlrun.NewEmbedded(nil, nil)
	settings := map[string]string{"execution.runtime-mode": "batch", "parallelism.default": "1"}
	return &asked{runner: runner, engine: engine.New(engine.Options{Registry: builtin.Registry(), Connectors: exec.Connectors{}, Runner: runner, Settings: settings, Now: time.Now})}
}

func (q *asked) close() { q.runner.Close() }

// answer is the type of the query's first column, and its rows joined by ;; and columns
// by |, sorted as recordings have them.
func (q *asked) answer(query, opts string) answer {
	ctx, cancel := context.WithTimeout(context.Background(), queryLimit)
	defer cancel()
	settings := map[string]string{"table.local-time-zone": "UTC"}
	for _, o := range strings.Fields(opts) {
		switch key, value, _ := strings.Cut(o, "="); key {
		case "tz":
			settings["table.local-time-zone"] = value
		case "nondet", "":
		default:
			settings[key] = value
		}
	}
	s, err := q.engine.Open(ctx, session.Options{Settings: settings})
	if err != nil {
		return answer{kind: "refused", text: err.Error()}
	}
	defer s.Close()
	r, err := s.Execute(ctx, query, nil)
	if err != nil {
		return answer{kind: "refused", text: err.Error()}
	}
	defer r.Rows.Close()
	var rows []string
	for {
		b, err := r.Rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return answer{kind: "failed", text: err.Error()}
		}
		rows = append(rows, rowsOf(r, b)...)
	}
	slices.Sort(rows)
	a := answer{kind: "value", typ: r.Schema[0].Type.String(), value: strings.Join(rows, rowEnd)}
	if len(rows) == 0 {
		a.value = noRow
	}
	return a
}

// How recordings separate the rows and columns of a query, and say that there are none.
const (
	rowEnd    = " ;; "
	columnEnd = " | "
	noRow     = "<no row>"
)

// rowsOf writes the rows of a batch.
func rowsOf(r *session.Result, b *batch.Columns) []string {
	b = b.Compact()
	var rows []string
	for i := range b.N {
		var cells []string
		for k, col := range b.Cols {
			if col.IsNull(i) {
				cells = append(cells, null)
			} else {
				cells = append(cells, r.Show(r.Schema[k].Type, col, i))
			}
		}
		rows = append(rows, strings.Join(cells, columnEnd))
	}
	return rows
}

// isQuery reports whether an expression needs an engine.
func isQuery(tree ast.Expr) bool {
	found := false
	ast.Walk(tree, func(n ast.Node) bool {
		_, query := n.(*ast.Query)
		found = found || query
		return !found
	})
	return found
}

// recordedRows is the recorded answer to a query: of a batch, where it is not that of a
// stream. Where only the order of rows or of elements differs, both are right, and other
// is the stream's.
func recordedRows(row map[string]string) (want, other answer) {
	stream := recorded(row)
	stream.value = sortedRows(stream.value)
	if row["col_status"] != "batch-differs" {
		return stream, stream
	}
	want = stream
	want.kind, want.typ, want.value = "value", row["result_type"], row["col_result"]
	if row["col_type"] != "" {
		want.typ = row["col_type"]
	}
	if text, failed := strings.CutPrefix(want.value, "ERR "); failed {
		return answer{kind: "failed", text: text}, stream
	}
	if want.value != null {
		want.value = sortedRows(unescape(want.value))
	}
	if stream.kind != "value" || stream.value == noRow {
		return want, want
	}
	return want, stream
}

func sortedRows(text string) string {
	rows := strings.Split(text, rowEnd)
	slices.Sort(rows)
	return strings.Join(rows, rowEnd)
}

// sameRows compares answers to a query. What is put together of rows whose order nothing
// says may be in any.
func sameRows(query string, want, got answer) bool {
	if want.kind != "value" || got.kind != "value" {
		return (want.kind == "value") == (got.kind == "value")
	}
	if want.typ != got.typ || want.value == got.value {
		return want.typ == got.typ
	}
	for _, f := range []string{"COLLECT(", "ARRAY_AGG(", "ARRAYAGG(", "LISTAGG(", "OBJECTAGG("} {
		if strings.Contains(query, f) && !strings.Contains(query, "ORDER BY") {
			return shuffled(want.value) == shuffled(got.value)
		}
	}
	return false
}

// shuffled is a text with its characters sorted.
func shuffled(text string) string {
	r := []rune(text)
	slices.Sort(r)
	return string(r)
}
