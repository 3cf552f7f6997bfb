package filesystem

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/coordinator/files/split"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/status"
)

// sample reads the first rows of a file. What cannot be read is the last.
func (r *parquetReader) sample(path string, most int) (all []exec.Sampled, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	r.part = nil
	err = r.begin(&parquetPart{File: split.File{Path: path, Length: info.Size(), Size: info.Size()}})
	defer func() { err = errors.Join(err, r.Close()) }()
	for err == nil && r.part != nil && len(all) < most {
		var b *batch.Columns
		if b, err = r.next(most - len(all)); b == nil {
			continue
		}
		for row := range b.N {
			all = append(all, r.sampled(b, row))
		}
	}
	if err != nil {
		all = append(all, exec.Sampled{Err: fmt.Errorf("read %s: %w", path, err)})
	}
	return all, nil
}

// sampled are the values of a row, each in a column of its own.
func (r *parquetReader) sampled(b *batch.Columns, row int) exec.Sampled {
	var s exec.Sampled
	for i, field := range r.s.scan.Fields {
		t := r.s.scan.Columns[field].Type
		f := exec.SampledField{Null: b.Cols[i].IsNull(row), Value: batch.NewColumn(t)}
		if !f.Null {
			text := expr.AppendDisplay(nil, r.s.session.Zone, t, b.Cols[i], row)
			f.Text = strings.ToValidUTF8(string(text[:min(len(text), status.MaxRecordValue)]), "\ufffd")
		}
		f.Value.AppendFrom(b.Cols[i], row)
		s.Fields = append(s.Fields, f)
	}
	return s
}
