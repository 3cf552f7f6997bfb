package wire

import (
	"slices"

	"github.com/weirstream/weir/batch"
)

var rowKinds = []string{batch.Insert: "INSERT", batch.UpdateBefore: "UPDATE_BEFORE", batch.UpdateAfter: "UPDATE_AFTER", batch.Delete: "DELETE"}

// RowKind names a row kind.
func RowKind(k batch.RowKind) string { return rowKinds[k] }

// ParseRowKind reads the name of a row kind.
func ParseRowKind(name string) (batch.RowKind, bool) {
	i := slices.Index(rowKinds, name)
	return batch.RowKind(max(i, 0)), i >= 0
}
