//go:build linux || darwin

package local

import (
	"errors"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// free is how many bytes may still be written where path is or would be; -1: not
// known.
func free(path string) int64 {
	for {
		var s unix.Statfs_t
		err := unix.Statfs(path, &s)
		if err == nil {
			return int64(s.Bavail) * int64(s.Bsize)
		}
		parent := filepath.Dir(path)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) || parent == path {
			return -1
		}
		path = parent
	}
}
