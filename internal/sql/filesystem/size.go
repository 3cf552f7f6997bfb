package filesystem

import (
	"github.com/weirstream/weir/internal/coordinator/files/glob"
	"github.com/weirstream/weir/internal/sql/exec"
)

// Size adds up the sizes of the files of a table; how many rows they have is not known.
func (c Connector) Size(options map[string]string) (exec.Size, bool) {
	pattern, err := local(options["path"])
	if err != nil || pattern == "" {
		return exec.Size{}, false
	}
	found, err := glob.List(pattern)
	if err != nil {
		return exec.Size{}, false
	}
	all := exec.Size{Rows: -1}
	for _, f := range found {
		all.Bytes += f.Size
	}
	return all, true
}
