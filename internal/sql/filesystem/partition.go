package filesystem

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// defaultPartition is the value of a partition column that is NULL or an empty text.
const defaultPartition = "__DEFAULT_PARTITION__"

// escaped writes a name or value as a part of a directory's name, as Flink does.
func escaped(dst []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == 0x7f || strings.IndexByte("\"#%'*/:=?\\{[]^", c) >= 0 {
			dst = fmt.Appendf(dst, "%%%02X", c)
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// unescaped reads what escaped writes; a percent sign that begins nothing is itself.
func unescaped(text string) string {
	if strings.IndexByte(text, '%') < 0 {
		return text
	}
	var dst []byte
	for i := 0; i < len(text); i++ {
		var c byte
		if text[i] == '%' && i+2 < len(text) {
			if n, err := fmt.Sscanf(text[i+1:i+3], "%02X", &c); n == 1 && err == nil {
				dst = append(dst, c)
				i += 2
				continue
			}
		}
		dst = append(dst, text[i])
	}
	return string(dst)
}

// partitions are the columns of a scan whose values are in the names of directories.
type partitions struct {
	// of says of each column of the table whether it is one.
	of []bool
	// stored are the other columns, which are in the files.
	stored []int
}

func newPartitions(columns []types.Field, keys []string) partitions {
	p := partitions{of: make([]bool, len(columns))}
	for i, c := range columns {
		if p.of[i] = slices.Contains(keys, c.Name); !p.of[i] {
			p.stored = append(p.stored, i)
		}
	}
	return p
}

// fields are the columns that are in the files.
func (p *partitions) fields(columns []types.Field) (all []types.Field) {
	for _, i := range p.stored {
		all = append(all, columns[i])
	}
	return all
}

// value gives the value of a partition column for the records of a file.
func (s *source) value(column, path string) (text string, null bool, err error) {
	for part := range strings.SplitSeq(path, "/") {
		if key, value, ok := strings.Cut(part, "="); ok && unescaped(key) == column {
			text, null = unescaped(value), value == s.format.partition
			return text, null, nil
		}
	}
	return "", false, fmt.Errorf("read %s: it is in no directory %s=…, and the table is partitioned by %s", path, escaped(nil, column), column)
}

// pruning are the conditions of the scan's filter that need the partition columns only;
// nil: there is none.
func (s *source) pruning() (*expr.Program, error) {
	var all []expr.Expr
	for _, e := range conditions(s.scan.Filter) {
		only, some := true, false
		expr.Walk(e, func(e expr.Expr) bool {
			if in, ok := e.(*expr.Input); ok {
				some, only = true, only && s.partitions.of[s.scan.Fields[in.Index]]
			}
			return true
		})
		if only && some {
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return expr.Compile(s.session, all...)
}

// conditions are the parts of a filter that all must hold.
func conditions(e expr.Expr) []expr.Expr {
	call, ok := e.(*expr.Call)
	switch {
	case e == nil:
		return nil
	case !ok || call.Fn.Name != "AND":
		return []expr.Expr{e}
	}
	var all []expr.Expr
	for _, a := range call.Args {
		all = append(all, conditions(a)...)
	}
	return all
}

// partition takes the values of partition columns from the name of a file that is about
// to be read; wanted is false if no row of it passes the filter.
func (r *reader) partition(path string) (wanted bool, err error) {
	one := &batch.Columns{N: 1}
	for i, field := range r.s.scan.Fields {
		column := r.s.scan.Columns[field]
		value := batch.NewColumn(column.Type)
		if !r.s.partitions.of[field] {
			value.AppendNull()
		} else {
			text, null, err := r.s.value(column.Name, path)
			if err != nil {
				return false, err
			}
			if value, err = r.conversions[i].single([]byte(text), null); err != nil {
				return false, fmt.Errorf("read %s: partition column %s: '%s' is no %s: %w", path, column.Name, shown([]byte(text)), column.Type.Text(), err)
			}
			r.constants[i] = repeated(column.Type, value)
		}
		one.Cols = append(one.Cols, value)
	}
	if r.pruning == nil {
		return true, nil
	}
	passed, err := r.pruning.Eval(one)
	if err != nil {
		return true, nil // the filter itself fails, in the rows that it is asked for
	}
	for _, c := range passed {
		if c.IsNull(0) || !c.Bool[0] {
			return false, nil
		}
	}
	return true, nil
}

// repeated is a column that has a value in each row that a batch may have.
func repeated(t types.Type, value *batch.Column) *batch.Column {
	c := batch.NewColumn(t)
	for range batch.MaxRows {
		c.AppendFrom(value, 0)
	}
	return c
}
