package filesystem

import (
	"io/fs"
	"strings"

	"github.com/weirstream/weir/internal/sql/exec"
)

// Size adds up the sizes of the files of a table; how many rows they have is not known. Nor
// is the size for a path with wildcards.
func (c Connector) Size(options map[string]string) (exec.Size, bool) {
	pattern, err := local(options["path"])
	if err != nil || pattern == "" || strings.ContainsAny(pattern, wildcards) {
		return exec.Size{}, false
	}
	all := exec.Size{Rows: -1}
	err = walk(pattern, func(_ string, e fs.DirEntry) error {
		info, err := e.Info()
		if err == nil {
			all.Bytes += info.Size()
		}
		return err
	})
	return all, err == nil
}
