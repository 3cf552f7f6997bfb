package expr

import (
	"strconv"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// Display writes value i of a column as results show it.
func Display(t types.Type, c *batch.Column, i int) string {
	return strconv.FormatInt(c.I64[i], 10)
}

// characters is how many characters a text has.
func characters(s string) int { return len([]rune(s)) }
