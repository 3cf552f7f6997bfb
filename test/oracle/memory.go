package main

import (
	"fmt"
	"sync"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
)

// memory is a connector of tables that are in this process, known by the option 'id'.
type memory struct {
	registry *expr.Registry
	mu       sync.Mutex // guards cells
	rows     map[string][][]any
	cells    map[string][][]string // written, by table
}

// Source reads a table.
func (m *memory) Source(s *plan.Scan, _ *expr.Session) (exec.End, error) {
	return exec.End{MaxAllowed: 1, Operator: operator.SourceFunc(func(c *operator.Context, out any) operator.Source {
		receiver := operator.Output[*batch.Columns](out)
		block := &batch.Columns{}
		for _, f := range s.Schema {
			block.Cols = append(block.Cols, batch.NewColumn(f.Type))
		}
		for _, row := range m.rows[s.Options["id"]] {
			for i, field := range s.Fields {
				var v any
				if field < len(row) {
					v = row[field]
				}
				operator.Check(appendCell(m.registry, block.Cols[i], s.Schema[i].Type, v))
			}
			block.N++
		}
		sent := c.Subtask > 0
		return poll(func() operator.Progress {
			if sent {
				return operator.Done
			}
			sent = true
			receiver.Push(block, batch.NoTimestamp)
			return operator.More
		})
	})}, nil
}

type poll func() operator.Progress

func (f poll) Poll() operator.Progress { return f() }

// Sink writes a table.
func (m *memory) Sink(w *plan.Write, _ *expr.Session) (exec.End, error) {
	return exec.End{MaxAllowed: 1, Operator: operator.FactoryFunc(func(_ *operator.Context, _ any) any {
		return &operator.Receiver[*batch.Columns]{
			Push: func(b *batch.Columns, _ int64) {
				b = b.Compact()
				m.mu.Lock()
				defer m.mu.Unlock()
				for i := range b.N {
					var cells []string
					for k, c := range b.Cols {
						cells = append(cells, cell(w.Columns[k].Type, c, i))
					}
					m.cells[w.Options["id"]] = append(m.cells[w.Options["id"]], cells)
				}
			},
			Watermark: func(int64) {}, Idle: func(bool) {}, Finish: func() {},
		}
	})}, nil
}

// create is the statement that makes a table of the connector.
func (t caseTable) create() string {
	return fmt.Sprintf("CREATE TABLE %s (%s) WITH ('connector'='otest','id'='%s')", t.name, t.columns, t.name)
}
