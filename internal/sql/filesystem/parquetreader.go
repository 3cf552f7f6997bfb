package filesystem

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/internal/coordinator/files/split"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/filesystem/parquet"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/types"
)

// parquetPart is a part of a file: the row groups that have their middle in it. Rows are
// those at its beginning that have been read.
type parquetPart struct {
	split.File
	Rows int64 `json:"rows,omitzero"`
}

// parquetReader reads the Parquet files of one subtask.
type parquetReader struct {
	splits[parquetPart]
	s       *source
	pruning *expr.Program // over the partition columns; nil: every file is read
	filter  *groupFilter  // nil: every row group is read

	file    *parquetFile // kept for the next part of it; nil: none
	part    *parquetPart // that is being read; nil: none
	group   int          // next row group
	left    int64        // rows of the one that has been begun, not read
	emitted int64        // rows of the part
	row     int64        // number in the file of the next row
	origin  int64        // number of the batch that is being emitted
	given   int64        // rows
	located *parquetRow
}

// parquetRow is the row that was being emitted when the task failed.
type parquetRow struct {
	number int64
	value  string
}

// parquetFile is an open file.
type parquetFile struct {
	in *os.File
	*parquet.File
	reader *parquet.Reader
	// places are those of the scan's columns in the reader; -1: it has none.
	places []int
	// constants are the values of the partition columns, by the scan's fields.
	constants []*batch.Column
}

// Poll emits a batch.
func (r *parquetReader) Poll() (connector.Progress, error) {
	for r.part == nil {
		part, wait, ok := r.nextPart()
		if !ok {
			return wait, nil
		}
		if err := r.begin(&part); err != nil {
			return connector.Done, r.s.failed(part.Path, err)
		}
	}
	r.out.Room()
	b, err := r.next(batch.MaxRows)
	if err != nil {
		return connector.Done, r.s.failed(r.file.in.Name(), err)
	}
	if b == nil {
		return connector.More, nil
	}
	r.out.Count(b.N)
	r.emit(b)
	r.row += int64(b.N)
	r.emitted += int64(b.N)
	if r.given += int64(b.N); r.s.scan.Limit >= 0 && r.given >= r.s.scan.Limit {
		return connector.Done, nil // nobody wants more
	}
	return connector.More, nil
}

// failed says which table and file cannot be read.
func (s *source) failed(path string, err error) error {
	if pathed, ok := errors.AsType[*fs.PathError](err); ok && pathed.Path == path {
		return fmt.Errorf("table %s: %w", s.table, maybeReplaced(path, err))
	}
	return fmt.Errorf("table %s: read %s: %w", s.table, path, err)
}

// begin begins a part of a file.
func (r *parquetReader) begin(part *parquetPart) error {
	if r.file == nil || r.file.in.Name() != part.Path {
		if err := r.openFile(part.Path); err != nil {
			return err
		}
	}
	if r.file.File == nil {
		return nil // no row of it passes the filter
	}
	r.part, r.group, r.left, r.row, r.emitted = part, 0, 0, 0, part.Rows
	for skip := part.Rows; skip > 0; {
		b, err := r.next(int(min(skip, batch.MaxRows)))
		if err != nil || r.part == nil {
			return err
		}
		if b != nil {
			skip -= int64(b.N)
			r.row += int64(b.N)
		}
	}
	return nil
}

// openFile opens a file and reads what it says of itself.
func (r *parquetReader) openFile(path string) error {
	if err := r.Close(); err != nil {
		return err
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	r.file = &parquetFile{in: in}
	if wanted, err := r.partition(path); err != nil || !wanted {
		return err
	}
	info, err := in.Stat()
	if err != nil {
		return err
	}
	file, err := parquet.Open(in, info.Size())
	if err != nil {
		return err
	}
	var stored []types.Field
	for _, field := range r.s.scan.Fields {
		place := -1
		if !r.s.partitions.of[field] {
			place = len(stored)
			stored = append(stored, r.s.scan.Columns[field])
		}
		r.file.places = append(r.file.places, place)
	}
	r.file.reader, err = file.Reader(stored, parquet.Reading{Zone: r.s.format.parquet.zone()})
	r.file.File = file
	return err
}

// next reads a batch; nil: there is none yet, or the part has ended.
func (r *parquetReader) next(most int) (*batch.Columns, error) {
	for r.left == 0 {
		if r.group == r.file.Groups() {
			r.part = nil
			return nil, nil
		}
		g := r.group
		r.group++
		if at := r.file.Middle(g); at < r.part.Offset || at >= r.part.Offset+r.part.Length ||
			r.filter != nil && !r.filter.wanted(r.file.reader, g, r.file.places) {
			r.row += r.file.Rows(g)
			continue
		}
		if err := r.file.reader.Begin(g); err != nil {
			return nil, err
		}
		r.left = r.file.Rows(g)
	}
	r.c.Metrics.Pending(r.left)
	columns, n, err := r.file.reader.Read(most)
	if err != nil {
		return nil, err
	}
	r.left -= int64(n)
	b := &batch.Columns{N: n}
	for i, place := range r.file.places {
		if place < 0 {
			b.Cols = append(b.Cols, r.file.constants[i].Head(n))
		} else {
			b.Cols = append(b.Cols, columns[place])
		}
	}
	return b, nil
}

// emit passes a batch on.
func (r *parquetReader) emit(b *batch.Columns) {
	r.origin++
	b.Origin = r.origin
	defer func() { // a failure further on knows the row if it has seen the batch as it is
		if v := recover(); v != nil {
			if failure, ok := v.(error); ok {
				if at, ok := errors.AsType[*exec.OriginError](failure); ok && at.Origin == r.origin {
					r.located = &parquetRow{r.row + int64(at.Row) + 1, r.text(b, at.Row)}
				}
			}
			panic(v)
		}
	}()
	r.to.Emit(b, batch.NoTimestamp)
}

// text are the values of a row, cut to what is shown.
func (r *parquetReader) text(b *batch.Columns, row int) string {
	var text []byte
	for i, field := range r.s.scan.Fields {
		if len(text) > 0 {
			text = append(text, ", "...)
		}
		c := r.s.scan.Columns[field]
		text = append(append(text, c.Name...), '=')
		text = expr.AppendDisplay(text, r.s.session.Zone, c.Type, b.Cols[i], row)
		if len(text) > status.MaxRecordValue {
			return string(text[:status.MaxRecordValue])
		}
	}
	return string(text)
}

// partition makes the values of partition columns from the name of a file; wanted is
// false if no row of it passes the filter.
func (r *parquetReader) partition(path string) (wanted bool, err error) {
	if len(r.s.scan.PartitionKeys) == 0 {
		return true, nil
	}
	one := &batch.Columns{N: 1}
	for _, field := range r.s.scan.Fields {
		c := batch.NewColumn(r.s.scan.Columns[field].Type)
		if r.s.partitions.of[field] {
			if c, err = r.constant(r.s.scan.Columns[field], path); err != nil {
				return false, err
			}
		} else {
			c.AppendNull()
		}
		one.Cols = append(one.Cols, c)
	}
	if r.pruning != nil {
		passed, err := r.pruning.Eval(one)
		for _, c := range passed {
			if err == nil && (c.IsNull(0) || !c.Bool[0]) { // a filter that fails does so in the rows that it is asked for
				return false, nil
			}
		}
	}
	r.file.constants = make([]*batch.Column, len(one.Cols))
	for i, field := range r.s.scan.Fields {
		if r.s.partitions.of[field] {
			r.file.constants[i] = repeated(r.s.scan.Columns[field].Type, one.Cols[i])
		}
	}
	return true, nil
}

// constant is the value of a partition column in a file.
func (r *parquetReader) constant(column types.Field, path string) (*batch.Column, error) {
	text, null, err := r.s.value(column.Name, path)
	if err != nil {
		return nil, err
	}
	conversion, err := r.s.conversion(column)
	if err != nil {
		return nil, err
	}
	c, err := conversion.single([]byte(text), null)
	if err != nil {
		return nil, fmt.Errorf("partition column %s: '%s' is no %s: %w", column.Name, shown([]byte(text)), column.Type.Text(), err)
	}
	return c, nil
}

// Locate tells which row was being emitted when the task failed.
func (r *parquetReader) Locate() (origin, value string, ok bool) {
	if r.located == nil {
		return "", "", false
	}
	return fmt.Sprintf("table %s, %s, row %d", r.s.table, r.file.in.Name(), r.located.number), r.located.value, true
}

// Splits gives the splits that the subtask owns, as far as they are not read.
func (r *parquetReader) Splits() (all [][]byte, err error) {
	if r.part != nil {
		return r.rest(parquetPart{r.part.File, r.emitted})
	}
	return r.rest()
}

// Close closes the file.
func (r *parquetReader) Close() error {
	f := r.file
	if f == nil {
		return nil
	}
	r.file = nil
	if f.reader != nil {
		f.reader.Close()
	}
	return f.in.Close()
}
