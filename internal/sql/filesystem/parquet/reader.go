package parquet

import (
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// aimed is how many bytes of one column a batch has, about, where its values are large.
const aimed = 16 << 20

// Reader reads columns of a file.
type Reader struct {
	file    *File
	vectors []*vector
	leaves  []*leaf
	columns []*batch.Column

	left int64 // rows of the row group
	most int   // rows of a batch
}

// Reader finds a table's columns in the file by their names; one that the file does not
// have is NULL.
func (f *File) Reader(fields []types.Field, reading Reading) (*Reader, error) {
	m := matcher{reading: reading, scratch: &scratch{}}
	r := &Reader{file: f}
	for _, field := range fields {
		v, err := m.field(field.Type, f.root, field.Name, 0)
		if err != nil {
			return nil, err
		}
		if v.levels == nil && !field.Type.Nullable {
			return nil, fmt.Errorf("column %s is not in the file, and NOT NULL in the table", field.Name)
		}
		r.vectors, r.columns = append(r.vectors, v), append(r.columns, v.to)
	}
	r.leaves = m.leaves
	return r, nil
}

// Begin begins a row group.
func (r *Reader) Begin(group int) error {
	r.left, r.most = r.file.groups[group].NumRows, batch.MaxRows
	for _, l := range r.leaves {
		if err := l.start(r.file, group); err != nil {
			return err
		}
		if l.meta.NumValues > 0 {
			if each := l.meta.TotalUncompressedSize / l.meta.NumValues; each > aimed/batch.MaxRows {
				r.most = min(r.most, int(max(1, aimed/each)))
			}
		}
	}
	return nil
}

// Read reads the next rows of the row group, as many as fit into a batch but at most so
// many; 0: there are no more. The columns are the reader's again with the next call.
func (r *Reader) Read(most int) (columns []*batch.Column, n int, err error) {
	defer recovered(&err) // whatever a file has, it costs its job only
	return r.read(most)
}

func (r *Reader) read(most int) ([]*batch.Column, int, error) {
	n := int(min(r.left, int64(min(r.most, most))))
	if n == 0 {
		return nil, 0, nil
	}
	for _, l := range r.leaves {
		if err := l.read(n); err != nil {
			return nil, 0, err
		}
	}
	for _, v := range r.vectors {
		if err := v.assemble(n); err != nil {
			if v.levels != nil {
				err = v.levels.failed(err)
			}
			return nil, 0, err
		}
	}
	r.left -= int64(n)
	return r.columns, n, nil
}

// Bytes is how much has been read of the file's columns.
func (r *Reader) Bytes() (sum int64) {
	for _, l := range r.leaves {
		sum += l.total
	}
	return sum
}

// Close ends what the reader runs. It does not close the file.
func (r *Reader) Close() {
	for _, l := range r.leaves {
		l.codecs.close()
	}
}
