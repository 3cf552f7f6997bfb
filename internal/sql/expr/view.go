package expr

import (
	"github.com/weirstream/weir/batch"
)

// copyKernel gives the argument itself, as a column that shares its memory. The
// function must be one that Views.
func copyKernel(*Bound) (Kernel, error) {
	return func(out *batch.Column, args []*batch.Column, _ Rows) error {
		share(out, args[0])
		return nil
	}, nil
}

// share makes out a column that shares the memory of c. What out held of its own is
// given up.
func share(out, c *batch.Column) { *out = *c }
