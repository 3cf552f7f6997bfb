package exec

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// store keeps rows in the order in which they came: in memory as long as they are less
// than budget, then all on disk. They can be read as often as one likes.
type store struct {
	disk   *disk
	schema []types.Type
	budget int
	held   []*batch.Columns
	size   int
	rows   int64
	file   *file
	whole  bool // the file is finished
}

func newStore(d *disk, schema []types.Type, budget int) *store {
	return &store{disk: d, schema: schema, budget: budget}
}

// add keeps the rows of a batch.
func (s *store) add(b *batch.Columns) {
	s.rows += int64(b.Len())
	if s.file != nil {
		s.file.add(0, b, nil)
		return
	}
	last := len(s.held) - 1
	if last < 0 || s.held[last].N >= batch.MaxRows {
		if last >= 0 {
			s.size += bytesOf(s.held[last])
		}
		s.held = append(s.held, newBatch(s.schema))
		last++
	}
	addRows(s.held[last], b, nil)
	if s.size+bytesOf(s.held[last]) > s.budget {
		s.file = s.disk.create(1, shape(s.schema))
		for _, h := range s.held {
			s.file.add(0, h, nil)
		}
		s.held, s.size = nil, 0
	}
}

// reader gives the rows from the first; none are added any more.
func (s *store) reader() iterator {
	if s.file == nil {
		return &heldBatches{s.held}
	}
	if !s.whole {
		s.whole = true
		s.file.finish()
	}
	return s.file.reader(0)
}

// discard forgets the rows.
func (s *store) discard() {
	if s.file != nil {
		s.file.discard()
	}
	s.held, s.file, s.rows, s.size, s.whole = nil, nil, 0, 0, false
}

type heldBatches struct{ left []*batch.Columns }

func (h *heldBatches) next() *batch.Columns {
	if len(h.left) == 0 {
		return nil
	}
	b := h.left[0]
	h.left = h.left[1:]
	return b
}
