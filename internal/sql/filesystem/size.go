package filesystem

import (
	"io/fs"
	"os"
	"strings"

	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/filesystem/parquet"
)

// maxCounted is of how many files at most the rows are counted while a statement is
// planned.
const maxCounted = 64

// Size adds up the sizes of the files of a table, and of Parquet the rows that they note,
// unless there are many files; of other formats it is not known how many rows they have.
// Nor is the size for a path with wildcards, or of rejected rows.
func (c Connector) Size(options map[string]string) (exec.Size, bool) {
	pattern, err := local(options["path"])
	if err != nil || pattern == "" || strings.ContainsAny(pattern, wildcards) || options[rejectsOption] != "" {
		return exec.Size{}, false
	}
	all := exec.Size{Rows: -1}
	var paths []string
	err = walk(pattern, func(path string, e fs.DirEntry) error {
		info, err := e.Info()
		if err == nil {
			all.Bytes += info.Size()
			paths = append(paths, path)
		}
		return err
	})
	if err == nil && options["format"] == "parquet" && len(paths) <= maxCounted {
		all.Rows = rowsOf(paths)
	}
	return all, err == nil
}

// rowsOf adds up the rows of Parquet files; below 0: one of them is none, as reading it
// will tell.
func rowsOf(paths []string) (rows int64) {
	for _, path := range paths {
		n, err := parquetRowsOf(path)
		if err != nil {
			return -1
		}
		rows += n
	}
	return rows
}

func parquetRowsOf(path string) (rows int64, err error) {
	in, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return 0, err
	}
	f, err := parquet.Open(in, info.Size())
	if err != nil {
		return 0, err
	}
	for g := range f.Groups() {
		rows += f.Rows(g)
	}
	return rows, nil
}
