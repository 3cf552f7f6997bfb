package parquet

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/weirstream/weir/batch"
)

// small are files of all types, in all codecs.
func small(t testing.TB) (all [][]byte) {
	fields := everything()
	for i, codec := range []format.CompressionCodec{format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd, format.Lz4, format.Lz4Raw} {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		w := NewWriting()
		w.Codec, w.Int64, w.Dictionary, w.Page = codec, i%2 == 0, i%3 != 0, 100
		f := NewWriter(fields, w)
		file := f.AppendHeader(nil)
		var columns []*batch.Column
		rows := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
		for _, field := range fields {
			c := batch.NewColumn(field.Type)
			for range rows {
				add(r, field.Type, c)
			}
			columns = append(columns, c)
		}
		var err error
		if file, err = f.Append(file, columns, rows); err == nil {
			if file, err = f.Flush(file); err == nil {
				if file, err = f.Append(file, columns, rows[:3]); err == nil {
					file, err = f.AppendEnd(file)
				}
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, file)
	}
	return all
}

// mangled reads a file that may have any bytes. It must end, with columns that are what
// they should be.
func mangled(t testing.TB, text []byte) {
	f, err := Open(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return
	}
	f.unchecked = true
	fields := everything()
	for i := range fields { // one by one: what is wrong with one column hides no other
		r, err := f.Reader(fields[i:i+1], Reading{})
		if err != nil {
			continue
		}
		read := 0
		for g := range f.Groups() {
			if err := r.Begin(g); err != nil {
				break
			}
			for read < 10_000 {
				columns, n, err := r.read(batch.MaxRows)
				if err != nil || n == 0 {
					break
				}
				if columns[0].Len != n {
					t.Fatalf("column %s has %d values of %d", fields[i].Name, columns[0].Len, n)
				}
				row(fields[i:i+1], columns, n-1)
				read += n
			}
		}
		r.Close()
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range small(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) { mangled(t, text) })
}

// Bytes of files are changed, and files end anywhere.
func TestDamaged(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := rand.New(rand.NewPCG(1, 2))
	files := small(t)
	for k, text := range files {
		for at := k; at < len(text); at += 61 {
			damaged := bytes.Clone(text)
			damaged[at] ^= 1 << r.IntN(8)
			mangled(t, damaged)
			damaged[at] = byte(r.IntN(256))
			mangled(t, damaged)
			mangled(t, text[:at])
		}
	}
	runtime.ReadMemStats(&after)
	if grown := after.HeapSys - before.HeapSys; after.HeapSys > before.HeapSys && grown > 1<<30 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
}
