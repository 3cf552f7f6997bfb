package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	magic          = "PAR1"
	magicEncrypted = "PARE"
	// maxFooter bounds what a file says of itself, in bytes.
	maxFooter = 64 << 20
	// tail is how much of a file's end is read at once.
	tail = 32 << 10
)

// File is a Parquet file whose footer has been read.
type File struct {
	in   io.ReaderAt
	size int64
	// data is where the data ends and the footer begins.
	data   int64
	groups []format.RowGroup
	// middles are those of groups.
	middles []int64
	root    *node
	leaves  []*node
	// unchecked leaves checksums alone, for tests of what is behind them.
	unchecked bool
}

// Open reads the footer of a file of so many bytes.
func Open(in io.ReaderAt, size int64) (*File, error) {
	text, err := footer(in, size)
	if err != nil {
		return nil, err
	}
	begin := size - int64(len(text)) - 8
	meta := &format.FileMetaData{}
	if err := decode(text, meta); err != nil {
		return nil, fmt.Errorf("byte %d: the footer cannot be read: %w", begin, err)
	}
	f := &File{in: in, size: size, data: begin, groups: meta.RowGroups}
	if f.root, f.leaves, err = schema(meta.Schema); err != nil {
		return nil, fmt.Errorf("byte %d: the footer's schema: %w", begin, err)
	}
	for i := range f.groups {
		if err := f.check(&f.groups[i]); err != nil {
			return nil, fmt.Errorf("byte %d: the footer: row group %d: %w", begin, i, err)
		}
		f.middles = append(f.middles, f.middle(&f.groups[i]))
	}
	return f, nil
}

// footer gives the text of the footer.
func footer(in io.ReaderAt, size int64) ([]byte, error) {
	if size < int64(2*len(magic)+4) {
		return nil, fmt.Errorf("it has %d bytes, and a Parquet file has 12 at least", size)
	}
	last := make([]byte, min(size, tail))
	if _, err := in.ReadAt(last, size-int64(len(last))); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	mark := last[len(last)-4:]
	switch {
	case string(mark) == magicEncrypted:
		return nil, fmt.Errorf("byte %d: it is encrypted, which is not read", size-4)
	case string(mark) != magic:
		return nil, fmt.Errorf("byte %d: it ends with %q, and a Parquet file with %q: it is another kind of file, or the end of it is missing", size-4, mark, magic)
	}
	n := int64(binary.LittleEndian.Uint32(last[len(last)-8:]))
	if n > size-12 {
		return nil, fmt.Errorf("byte %d: its footer is said to have %d bytes, and the whole file has %d", size-8, n, size)
	}
	if n > maxFooter {
		return nil, fmt.Errorf("byte %d: its footer has %d bytes, and %d are read at most", size-8, n, maxFooter)
	}
	if n <= int64(len(last)-8) {
		return last[len(last)-8-int(n) : len(last)-8], nil
	}
	text := make([]byte, n)
	if _, err := in.ReadAt(text, size-8-n); err != nil {
		return nil, err
	}
	return text, nil
}

// decode reads a structure that is the whole of a text, as far as guard lets it.
func decode(text []byte, v any) (err error) {
	n, err := measure(text)
	if err != nil {
		return err
	}
	defer recovered(&err)
	var p thrift.CompactProtocol
	return thrift.NewDecoder(p.NewReaderFromBytes(text[:n])).Decode(v)
}

// recovered makes an error of a library's panic about bytes that it cannot read.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%v", v)
	}
}

// check refuses what a row group cannot be.
func (f *File) check(g *format.RowGroup) error {
	if g.NumRows < 0 {
		return fmt.Errorf("it has %d rows", g.NumRows)
	}
	if len(g.Columns) != len(f.leaves) {
		return fmt.Errorf("it has %d columns, and the schema %d", len(g.Columns), len(f.leaves))
	}
	for i := range g.Columns {
		c := &g.Columns[i].MetaData
		if c.Type != f.leaves[i].physical {
			return fmt.Errorf("column %s is %s, and %s in the schema", f.leaves[i].path, c.Type, f.leaves[i].physical)
		}
		if c.NumValues < g.NumRows {
			return fmt.Errorf("column %s has %d values, and the row group %d rows", f.leaves[i].path, c.NumValues, g.NumRows)
		}
	}
	return nil
}

// Groups is how many row groups the file has.
func (f *File) Groups() int { return len(f.groups) }

// Rows is how many rows a row group has.
func (f *File) Rows(group int) int64 { return f.groups[group].NumRows }

// Middle is the byte in the middle of a row group: whoever reads a part of the file reads
// those groups whose middle is in it.
func (f *File) Middle(group int) int64 { return f.middles[group] }

func (f *File) middle(g *format.RowGroup) int64 {
	begin, length := f.data, int64(0)
	for i := range g.Columns {
		at, n := extent(&g.Columns[i].MetaData)
		begin, length = min(begin, at), length+min(max(n, 0), f.size)
	}
	return max(0, min(begin+length/2, f.size-1))
}

// extent is where a column chunk begins and how long it is.
func extent(c *format.ColumnMetaData) (at, length int64) {
	at = c.DataPageOffset
	if d := c.DictionaryPageOffset; d > 0 && d < at {
		at = d
	}
	return at, c.TotalCompressedSize
}
