// Package printing is the connector of tables whose rows are printed by the processes
// that run the job, as Flink prints them: +I[1, a].
//
// It promises that the lines of several subtasks never mix. It never keeps a row for
// longer than the buffer time-out.
package printing

import (
	"fmt"
	"os"
	"strconv"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/connector"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
)

// Connector is the connector.
type Connector struct{}

// Declaration says what the connector can do.
func (Connector) Declaration() connector.Declaration {
	return connector.Declaration{
		Optional: []string{"print-identifier", "standard-error"}, Sink: true, Partitions: true,
		Changes: func(map[string]string) string { return "I,UB,UA,D" },
	}
}

// Source refuses: there is nothing to read.
func (Connector) Source(s *plan.Scan, _ *expr.Session) (exec.End, error) {
	return exec.End{}, fmt.Errorf("table %s: connector 'print' writes only", s.Table)
}

// Sink prints rows.
func (Connector) Sink(w *plan.Write, _ *expr.Session) (exec.End, error) {
	errors := false
	if text, ok := w.Options["standard-error"]; ok {
		var err error
		if errors, err = strconv.ParseBool(text); err != nil {
			return exec.End{}, fmt.Errorf("table %s: option 'standard-error' is '%s', neither true nor false", w.Table, text)
		}
	}
	return exec.End{Operator: operator.Sink(func(c *operator.Context) (func(*batch.Columns) error, func() error, error) {
		p := &printer{to: os.Stdout, write: w, prefix: prefix(w.Options["print-identifier"], c.Subtask, c.Parallelism)}
		if errors {
			p.to = os.Stderr
		}
		return p.print, p.flush, nil
	})}, nil
}

// prefix is what begins a subtask's lines.
func prefix(identifier string, subtask, parallelism int) string {
	if parallelism > 1 {
		if identifier != "" {
			identifier += ":"
		}
		identifier += strconv.Itoa(subtask + 1)
	}
	if identifier != "" {
		identifier += "> "
	}
	return identifier
}

// flushAt is how much text is collected before it is written.
const flushAt = 32 << 10

// printer prints the rows of one subtask.
type printer struct {
	to     *os.File
	prefix string
	write  *plan.Write
	text   []byte
}

func (p *printer) print(b *batch.Columns) error {
	for i := range b.Len() {
		row := i
		if b.Sel != nil {
			row = int(b.Sel[i])
		}
		kind := batch.Insert
		if len(b.Kind) > 0 {
			kind = b.Kind[row]
		}
		p.text = append(p.text, p.prefix...)
		p.text = appendRow(p.text, kind, p.write.Columns, b.Cols, row)
		p.text = append(p.text, '\n')
		if len(p.text) >= flushAt {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *printer) flush() error {
	if len(p.text) == 0 {
		return nil
	}
	_, err := p.to.Write(p.text)
	p.text = p.text[:0]
	if err != nil {
		return fmt.Errorf("print rows of table %s: %w", p.write.Table, err)
	}
	return nil
}
