package files

import (
	"cmp"
	"slices"

	"github.com/weirstream/weir/internal/coordinator/files/split"
)

// Found is a file that a pattern names.
type Found struct {
	Path string
	Size int64
}

// List gives the regular files a pattern names, in any order. It may block, and
// runs beside the loop.
type List func(pattern string) ([]Found, error)

// pack makes the splits of some files: sorted by path, each once. Files smaller
// than a split share one as long as they fit; a file larger than one and a half
// splits is cut into parts of one split, the last of which may be half as large
// again, unless files stay whole; one that is compressed does. Empty files hold no record and are left out, unless
// they are asked for.
func pack(found []Found, spec split.Spec) []*split.Split {
	splitBytes := cmp.Or(spec.SplitBytes, split.DefaultBytes)
	found = slices.Clone(found)
	slices.SortFunc(found, func(a, b Found) int { return cmp.Compare(a.Path, b.Path) })
	found = slices.CompactFunc(found, func(a, b Found) bool { return a.Path == b.Path })
	var splits []*split.Split
	var open *split.Split // has room
	add := func(f split.File) {
		if open == nil || open.Bytes()+f.Length > splitBytes {
			open = &split.Split{ID: len(splits)}
			splits = append(splits, open)
		}
		open.Files = append(open.Files, f)
	}
	for _, f := range found {
		if f.Size == 0 && !spec.Hollow {
			continue
		}
		offset := int64(0)
		for !spec.Whole && split.Packed(f.Path) == "" && f.Size-offset > splitBytes+splitBytes/2 {
			add(split.File{Path: f.Path, Offset: offset, Length: splitBytes, Size: f.Size})
			offset += splitBytes
		}
		add(split.File{Path: f.Path, Offset: offset, Length: f.Size - offset, Size: f.Size})
	}
	return splits
}
