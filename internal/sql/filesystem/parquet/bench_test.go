package parquet

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// BenchmarkRead reads four numbers, a date and a text to the row, a third of one column NULL.
func BenchmarkRead(b *testing.B) {
	fields := []types.Field{{Name: "id", Type: types.Of(types.BigInt)}, {Name: "qty", Type: types.Of(types.Int)}, {Name: "price", Type: types.Of(types.Double)},
		{Name: "money", Type: types.DecimalOf(15, 2)}, {Name: "day", Type: types.Of(types.Date)}, {Name: "city", Type: types.String()}}
	const rows = 512 << 10
	for _, codec := range []format.CompressionCodec{format.Uncompressed, format.Snappy, format.Zstd} {
		w := NewWriting()
		w.Codec = codec
		f := NewWriter(fields, w)
		file := f.AppendHeader(nil)
		var all []int32
		for i := range int32(batch.MaxRows) {
			all = append(all, i)
		}
		seed := uint64(1)
		for at := 0; at < rows; at += batch.MaxRows {
			var columns []*batch.Column
			for _, field := range fields {
				columns = append(columns, batch.NewColumn(field.Type))
			}
			for i := range batch.MaxRows {
				seed = seed*6364136223846793005 + 1442695040888963407
				batch.Append(columns[0], int64(at+i))
				batch.Append(columns[1], int32(seed>>33%50))
				if seed>>40%3 == 0 {
					columns[2].AppendNull()
				} else {
					batch.Append(columns[2], float64(seed>>20))
				}
				batch.Append(columns[3], int64(seed>>44))
				batch.Append(columns[4], int32(seed>>35%2500))
				columns[5].AppendBytes(fmt.Appendf(nil, "city number %d", seed>>50%200))
			}
			file, _ = f.Append(file, columns, all)
		}
		file, err := f.AppendEnd(file)
		if err != nil {
			b.Fatal(err)
		}
		for _, part := range [][]types.Field{fields[:5], fields} {
			b.Run(fmt.Sprintf("%s/%d", codec, len(part)), func(b *testing.B) {
				bytesOf := int64(0)
				for b.Loop() {
					bytesOf = read(b, file, part)
				}
				b.SetBytes(bytesOf)
			})
		}
	}
}

// read gives how many bytes the columns of a file have in memory.
func read(b *testing.B, file []byte, fields []types.Field) (sum int64) {
	f, err := Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		b.Fatal(err)
	}
	r, err := f.Reader(fields, Reading{})
	if err != nil {
		b.Fatal(err)
	}
	for g := range f.Groups() {
		if err := r.Begin(g); err != nil {
			b.Fatal(err)
		}
		for {
			columns, n, err := r.Read(batch.MaxRows)
			if err != nil {
				b.Fatal(err)
			}
			if n == 0 {
				break
			}
			for _, c := range columns {
				sum += int64(4*len(c.I32) + 8*len(c.I64) + 8*len(c.F64) + 4*len(c.Offsets) + len(c.Data) + 8*len(c.Valid))
			}
		}
	}
	r.Close()
	return sum
}
