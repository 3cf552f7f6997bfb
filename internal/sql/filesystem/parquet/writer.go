package parquet

import (
	"encoding/binary"
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// createdBy is the program that files name.
const createdBy = "weir version 1.0.0"

// Writer makes the bytes of one file. They are appended to what its methods are given,
// and the caller writes them.
type Writer struct {
	w       Writing
	schema  []format.SchemaElement
	columns []*column
	fields  []*shredder
	to      compressor

	at     int64 // in the file
	rows   int64 // of the row group
	total  int64
	groups []format.RowGroup
}

// NewWriter makes a writer of files with these columns, whose types CheckTypes lets pass.
func NewWriter(fields []types.Field, w Writing) *Writer {
	f := &Writer{w: w, to: compressor{codec: w.Codec}}
	b := treeWriter{w: &f.w}
	f.schema = append(f.schema, format.SchemaElement{Name: "schema", NumChildren: thrift.New(int32(len(fields)))})
	root := &node{}
	for _, field := range fields {
		f.fields = append(f.fields, b.field(root, field.Name, field.Type))
	}
	f.schema, f.columns = append(f.schema, b.schema...), b.columns
	return f
}

// AppendHeader appends what a file begins with.
func (f *Writer) AppendHeader(dst []byte) []byte {
	f.at += int64(len(magic))
	return append(dst, magic...)
}

// Append writes rows of a batch, and appends the row group that they have made full. Each
// of the columns is that of the field at its place.
func (f *Writer) Append(dst []byte, columns []*batch.Column, rows []int32) ([]byte, error) {
	step := f.step(columns)
	for len(rows) > 0 {
		n := min(len(rows), step)
		for i, s := range f.fields {
			if err := s.rows(columns[i], rows[:n]); err != nil {
				return nil, err
			}
		}
		f.rows += int64(n)
		for _, c := range f.columns {
			if c.full() {
				if err := c.end(&f.to, false); err != nil {
					return nil, fmt.Errorf("column %s: %w", c.n.path, err)
				}
			}
		}
		if f.Buffered() >= f.w.Block {
			var err error
			if dst, err = f.Flush(dst); err != nil {
				return nil, err
			}
		}
		rows = rows[n:]
	}
	return dst, nil
}

// step is how many rows are written before pages are looked at: so few that pages of large
// values end in time.
func (f *Writer) step(columns []*batch.Column) int {
	step := int64(some / 8)
	for _, c := range columns {
		if n := int64(c.Len); n > 0 {
			step = min(step, max(1, f.w.Page*n/max(1, bytesIn(c))))
		}
	}
	return int(step)
}

// bytesIn is how many bytes of texts a column has.
func bytesIn(c *batch.Column) int64 {
	sum := int64(len(c.Data))
	for _, child := range c.Children {
		sum += bytesIn(child)
	}
	return sum
}

// Buffered is about how many bytes the row group has that is being filled.
func (f *Writer) Buffered() (sum int64) {
	for _, c := range f.columns {
		sum += c.size()
	}
	return sum
}

// Flush ends the row group, if it has rows, and appends it.
func (f *Writer) Flush(dst []byte) ([]byte, error) {
	if f.rows == 0 {
		return dst, nil
	}
	g := format.RowGroup{NumRows: f.rows, FileOffset: f.at, Ordinal: int16(len(f.groups))}
	for _, c := range f.columns {
		before := len(dst)
		var chunk format.ColumnChunk
		var err error
		if dst, chunk, err = c.flush(dst, f.at, &f.to); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.n.path, err)
		}
		f.at += int64(len(dst) - before)
		g.Columns = append(g.Columns, chunk)
		g.TotalByteSize += chunk.MetaData.TotalUncompressedSize
		g.TotalCompressedSize += chunk.MetaData.TotalCompressedSize
	}
	f.groups = append(f.groups, g)
	f.total += f.rows
	f.rows = 0
	return dst, nil
}

// AppendEnd ends the row group and appends what a file ends with.
func (f *Writer) AppendEnd(dst []byte) ([]byte, error) {
	dst, err := f.Flush(dst)
	if err != nil {
		return nil, err
	}
	meta := format.FileMetaData{Version: 1, Schema: f.schema, NumRows: f.total, RowGroups: f.groups, CreatedBy: createdBy}
	if f.groups == nil {
		meta.RowGroups = []format.RowGroup{}
	}
	for range f.columns {
		meta.ColumnOrders = append(meta.ColumnOrders, format.ColumnOrder{Value: new(format.TypeDefinedOrder)})
	}
	text, err := encode(&meta)
	if err != nil {
		return nil, fmt.Errorf("write the footer: %w", err)
	}
	dst = binary.LittleEndian.AppendUint32(append(dst, text...), uint32(len(text)))
	return append(dst, magic...), nil
}
