package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	weirfs "github.com/weirstream/weir/internal/fs"
)

// Somebody who was given up long ago may write into a directory while it is deleted: that
// keeps nothing of what was there before.
func TestDeleteTreeWhileOthersWrite(t *testing.T) {
	root := t.TempDir()
	for round := range 100 {
		dir := filepath.Join(root, fmt.Sprint(round))
		at := weirfs.Location("file:" + filepath.ToSlash(dir))
		begun, written := make(chan struct{}), make(chan error)
		go func() {
			var failed error
			for i := range mostTries/2 - 1 { // so often at most, each with a directory and a file, it is in the way
				err := os.MkdirAll(filepath.Join(dir, "chk"), 0o777)
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, "chk", fmt.Sprint(i)), nil, 0o666)
				}
				if !errors.Is(err, os.ErrNotExist) {
					failed = errors.Join(failed, err)
				}
				if i == 0 {
					close(begun)
				}
			}
			written <- failed
		}()
		<-begun
		if err := (FileSystem{}).DeleteTree(t.Context(), at); err != nil {
			t.Error(err)
		}
		if err := <-written; err != nil {
			t.Fatal(err)
		}
	}
}
