package exec

import (
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/codec/columns"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/spill"
)

// parts is into how many parts rows are cut by the hash of their keys, and maxDepth how
// often a part is cut again: then what is left has one key, or almost.
const parts, partBits, maxDepth = 16, 4, 6

// partOf is the part of a hash at a depth: the upper bits, of which tables use none.
func partOf(hash uint64, depth int) int { return int(hash >> (64 - partBits*(depth+1)) & (parts - 1)) }

// blockBytes is about how many bytes are written and read at once.
const blockBytes = 64 << 10

// disk makes the temporary files of one operator's subtask, and removes those that are
// left when the task ends.
type disk struct {
	c    *operator.Context
	open map[*file]struct{}
}

func newDisk(c *operator.Context) *disk { return &disk{c: c} }

// file has batches in parts: written first, then read, each part as often as one likes.
type file struct {
	disk   *disk
	shape  []*batch.Column
	writer *spill.Writer
	data   *spill.Data
	open   []*batch.Columns // rows gathered, by part
	rows   []int64          // written and gathered, by part
}

// create makes a file of batches with columns as those of shape.
func (d *disk) create(parts int, shape []*batch.Column) *file {
	if d.c.Scratch == nil {
		operator.Abort(fmt.Errorf("%s needs more than %d bytes of memory, and there is no directory for temporary files (io.tmp.dirs)", d.c.Operator, budget(d.c)))
	}
	w, err := spill.NewWriter(d.c.Scratch, fmt.Sprintf("sql-%d", d.c.Subtask), parts, 4*blockBytes)
	d.check(err)
	if d.open == nil {
		d.open = map[*file]struct{}{}
		d.c.Logger.Info("rows are put on disk", "budget", budget(d.c))
		d.c.OnClose(func(bool) {
			for f := range d.open {
				_ = f.writer.Discard() // what cannot be removed now goes with its directory
			}
		})
	}
	f := &file{disk: d, shape: shape, writer: w, open: make([]*batch.Columns, parts), rows: make([]int64, parts)}
	d.open[f] = struct{}{}
	return f
}

func (d *disk) check(err error) {
	if err != nil {
		operator.Abort(fmt.Errorf("the rows of %s on disk: %w", d.c.Operator, err))
	}
}

// add adds rows of b to a part; nil: those that count.
func (f *file) add(part int, b *batch.Columns, rows []int32) {
	if f.open[part] == nil {
		open := &batch.Columns{Cols: make([]*batch.Column, len(f.shape))}
		for i, c := range f.shape {
			open.Cols[i] = c.Empty()
		}
		f.open[part] = open
	}
	open := f.open[part]
	had := open.N
	addRows(open, b, rows)
	f.rows[part] += int64(open.N - had)
	if open.N >= batch.MaxRows || bytesOf(open) >= blockBytes {
		f.flush(part)
	}
}

// split adds rows of b to the parts of their hashes, which are by the row's number among
// those that count.
func (f *file) split(b *batch.Columns, hashes []uint64, depth int, picked *[parts][]int32) {
	for r, h := range hashes {
		row := int32(r)
		if b.Sel != nil {
			row = b.Sel[r]
		}
		part := partOf(h, depth)
		picked[part] = append(picked[part], row)
	}
	for part, rows := range picked {
		if len(rows) > 0 {
			f.add(part, b, rows)
			picked[part] = rows[:0]
		}
	}
}

// flush writes what is gathered of a part.
func (f *file) flush(part int) {
	open := f.open[part]
	if open == nil || open.N == 0 {
		return
	}
	f.disk.c.Signal.Attend()
	dst, err := f.writer.Begin()
	if err == nil {
		err = f.writer.End(part, open.N, columns.Append(dst, open))
	}
	f.disk.check(err)
	clearBatch(open)
}

// finish ends the writing.
func (f *file) finish() {
	for part := range f.open {
		f.flush(part)
	}
	f.open = nil
	var err error
	f.data, err = f.writer.Finish()
	f.disk.check(err)
}

// reader reads a part from its beginning.
func (f *file) reader(part int) *fileReader {
	r, err := f.data.Read(shuffle.One(part), nil)
	f.disk.check(err)
	return &fileReader{f, r}
}

type fileReader struct {
	file   *file
	reader *spill.Reader
}

// next gives the next batch; nil: there is none.
func (r *fileReader) next() *batch.Columns {
	r.file.disk.c.Signal.Attend()
	_, encoded, err := r.reader.Next()
	r.file.disk.check(err)
	if encoded == nil {
		return nil
	}
	b, err := columns.Decode(encoded, r.file.shape)
	r.file.disk.check(err)
	return b
}

// each calls f with all batches of a part.
func (f *file) each(part int, take func(*batch.Columns)) {
	r := f.reader(part)
	for b := r.next(); b != nil; b = r.next() {
		take(b)
	}
}

// discard removes the file.
func (f *file) discard() {
	delete(f.disk.open, f)
	_ = f.writer.Discard() // what cannot be removed now goes with its directory
}
