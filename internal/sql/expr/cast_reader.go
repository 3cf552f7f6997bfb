package expr

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// TextReader gives what writes the text of a value of a type as value i of a column, as
// CAST does, and reports whether it could. It does not touch what is NULL. nil: texts of
// the type are not read one by one.
func TextReader(to types.Type, s *Session) func(out *batch.Column, i int, text []byte) bool {
	if to.Kind.IsText() || to.Kind.IsBinary() {
		return nil
	}
	return readerOf(to, s)
}
