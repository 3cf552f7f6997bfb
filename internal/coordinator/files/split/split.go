// Package split holds the messages between the reader of files in a task and
// its coordinator, which hands out the splits.
//
// It promises that both sides agree on the JSON. It never opens a file.
package split

import (
	"path"
	"slices"
	"strings"
)

// Spec configures the coordinator of one file source.
type Spec struct {
	// Patterns are globs, `**` crossing directories. A pattern without a
	// wildcard that names a directory means all files below it.
	Patterns []string `json:"patterns"`
	// SplitBytes is how many bytes of files a split holds, about; 0 means
	// DefaultBytes.
	SplitBytes int64 `json:"splitBytes,omitzero"`
	// Empty says that a directory without files is one that there is nothing to read of;
	// otherwise it is an error.
	Empty bool `json:"empty,omitzero"`
	// Missing says that so is a path that does not exist.
	Missing bool `json:"missing,omitzero"`
	// Whole says that files are not cut: a record may hold line ends, so that nobody can
	// tell in the middle of a file where one begins.
	Whole bool `json:"whole,omitzero"`
	// Hollow says that files of no bytes are given out too: they are not what they should
	// be, and the reader says so.
	Hollow bool `json:"hollow,omitzero"`
	// MonitorMillis is the time from one look for new files to the next; 0: files are
	// found once, and reading ends with them.
	MonitorMillis int64 `json:"monitorMillis,omitzero"`
}

// DefaultBytes is a split's size where the Spec names none: 4 MiB.
const DefaultBytes = 4 << 20

// Request asks for the next split.
type Request struct {
	// Sequence counts a reader's requests from 1. A request with the number of
	// the one before is its repetition and gets the same answer, so that a lost
	// answer loses no split; one with a lower number is late and refused. 0 is
	// always a new request.
	Sequence int64 `json:"sequence,omitzero"`
}

// Response answers a Request: a split, the news that none is left, or that there is
// none now, and the reader is to ask again.
type Response struct {
	Split *Split `json:"split,omitempty"`
	Done  bool   `json:"done,omitzero"`
	Later bool   `json:"later,omitzero"`
}

// Split is a share of the input: whole small files, or a part of a large one.
type Split struct {
	ID    int    `json:"id"` // counts from 0
	Files []File `json:"files"`
}

// Bytes is how much the split holds.
func (s *Split) Bytes() int64 {
	var sum int64
	for _, f := range s.Files {
		sum += f.Length
	}
	return sum
}

// File is the part of one file that begins at Offset and is Length bytes long;
// Size is that of the whole file. Records that begin inside the part belong to
// it.
type File struct {
	Path   string `json:"path"`
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
	Size   int64  `json:"size"`
	// Exact says that a record begins just at Offset: the part is what was left of
	// another when a checkpoint was taken.
	Exact bool `json:"exact,omitzero"`
}

// packed are the endings of the names of files that are compressed as a whole.
var packed = []string{"gz", "gzip", "deflate", "bz2", "xz", "zst", "zstd"}

// Packed gives the ending of a file's name, in lower case, if it says that the file is
// compressed as a whole, so that it cannot be cut; empty: it does not.
func Packed(name string) (ending string) {
	ending = strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	if !slices.Contains(packed, ending) {
		return ""
	}
	return ending
}
