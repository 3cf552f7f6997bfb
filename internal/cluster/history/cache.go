package history

import (
	"slices"

	"github.com/weirstream/weir/internal/cluster/archive"
	"github.com/weirstream/weir/internal/ident"
)

// cacheBytes bounds the archives that are kept in memory, by the length of their
// files. The one used last is kept whatever it takes.
const cacheBytes = 64 << 20

// cache holds the archives that were read last, the latest one at the end.
//
// Invariant: bytes is the sum of the sizes.
type cache struct {
	all   []cached
	bytes int64
}

type cached struct {
	entry   *entry
	archive *archive.Archive
}

// get gives the archive of an entry, which becomes the latest; nil: it is not here.
func (c *cache) get(e *entry) *archive.Archive {
	i := slices.IndexFunc(c.all, func(x cached) bool { return x.entry == e })
	if i < 0 {
		return nil
	}
	x := c.all[i]
	c.all = append(slices.Delete(c.all, i, i+1), x)
	return x.archive
}

func (c *cache) put(e *entry, a *archive.Archive) {
	if c.get(e) != nil {
		return
	}
	c.all = append(c.all, cached{e, a})
	c.bytes += a.Size
	for c.bytes > cacheBytes && len(c.all) > 1 {
		c.bytes -= c.all[0].archive.Size
		c.all = slices.Delete(c.all, 0, 1)
	}
}

// keep drops the archives of entries that are not among known.
func (c *cache) keep(known map[ident.JobID]*entry) {
	c.all = slices.DeleteFunc(c.all, func(x cached) bool {
		gone := known[x.entry.job] != x.entry
		if gone {
			c.bytes -= x.archive.Size
		}
		return gone
	})
}
