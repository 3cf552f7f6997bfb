package exec

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// distinct knows which arguments each group of one call has had, so that equal ones
// count once.
type distinct struct {
	keys   *keyer
	table  *table
	groups []int32 // of each pair there is
	values []*batch.Column

	keptGroups, keptRows []int32 // scratch
}

func newDistinct(args []types.Type) *distinct {
	schema := append([]types.Type{types.Of(types.Int).NotNull()}, args...)
	columns := make([]int, len(schema))
	for i := range columns {
		columns[i] = i
	}
	d := &distinct{keys: newKeyer(columns, schema, grouping, nil)}
	d.table = newTable(d.keys)
	for _, t := range args {
		d.values = append(d.values, batch.NewColumn(t))
	}
	return d
}

// fresh gives those of the pairs of group and row whose arguments the group has not had.
func (d *distinct) fresh(groups []int32, args []*batch.Column, rows []int32) ([]int32, []int32) {
	if len(groups) == 0 {
		return groups, rows
	}
	// The keys are made over columns in which the group stands beside its row.
	n := args[0].Len
	ids := &batch.Column{Layout: batch.Int32s, Len: n, I32: make([]int32, n)}
	for r, g := range groups {
		ids.I32[at(rows, r)] = g
	}
	b := &batch.Columns{N: n, Sel: rows, Cols: append([]*batch.Column{ids}, args...)}
	d.keys.of(b)
	d.keptGroups, d.keptRows = d.keptGroups[:0], d.keptRows[:0]
	for r, g := range groups {
		if _, created := d.table.add(d.keys, r); created {
			d.keptGroups = append(d.keptGroups, g)
			d.keptRows = append(d.keptRows, int32(at(rows, r)))
		}
	}
	if len(d.keptRows) == 0 {
		return nil, nil
	}
	d.groups = append(d.groups, d.keptGroups...)
	for i, v := range d.values {
		v.AppendRows(args[i], d.keptRows)
	}
	return d.keptGroups, d.keptRows
}

func (d *distinct) size() int {
	n := d.table.size() + 4*cap(d.groups)
	for _, v := range d.values {
		n += columnBytes(v)
	}
	return n
}

func (d *distinct) clear() {
	d.table.reset()
	d.groups = nil
	for i, v := range d.values {
		d.values[i] = v.Empty()
	}
}
