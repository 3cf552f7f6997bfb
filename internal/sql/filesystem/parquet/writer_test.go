package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	other "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// everything are columns of all types.
func everything() []types.Field {
	i32, text := types.Of(types.Int), types.String()
	f := func(name string, t types.Type) types.Field { return types.Field{Name: name, Type: t} }
	return []types.Field{
		f("b", types.Of(types.Boolean)), f("i8", types.Of(types.TinyInt)), f("i16", types.Of(types.SmallInt)), f("i32", i32), f("i64", types.Of(types.BigInt)),
		f("must", types.Of(types.BigInt).NotNull()), f("f", types.Of(types.Float)), f("d", types.Of(types.Double)), f("d9", types.DecimalOf(9, 2)),
		f("d18", types.DecimalOf(18, 0)), f("d38", types.DecimalOf(38, 10)), f("d19", types.DecimalOf(19, 0)), f("c", types.CharOf(3)), f("s", text), f("bin", types.Bytes()),
		f("dt", types.Of(types.Date)), f("tm", types.TimeOf(3)), f("t3", types.TimestampOf(3)), f("t6", types.TimestampOf(6)), f("z", types.TimestampLTZOf(6)),
		f("a", types.ArrayOf(i32)), f("m", types.MapOf(text, types.DecimalOf(9, 2))), f("ms", types.MultisetOf(text)),
		f("r", types.RowOf(f("x", i32), f("y", types.ArrayOf(types.RowOf(f("z", text), f("n", types.Of(types.BigInt).NotNull())))))), f("aa", types.ArrayOf(types.ArrayOf(text))),
		f("rn", types.RowOf(f("x", i32), f("y", types.RowOf(f("n", types.Of(types.BigInt).NotNull())).NotNull())).NotNull()), f("an", types.ArrayOf(i32.NotNull()).NotNull()),
	}
}

// add appends a random value; few of them differ from each other.
func add(r *rand.Rand, t types.Type, c *batch.Column) {
	if t.Nullable && r.IntN(5) == 0 {
		c.AppendNull()
		return
	}
	n := r.IntN(200) - 100
	switch c.Layout {
	case batch.Bools:
		batch.Append(c, n > 0)
	case batch.Int8s:
		batch.Append(c, int8(n))
	case batch.Int16s:
		batch.Append(c, int16(n*300))
	case batch.Int32s:
		if t.Kind == types.Time {
			n = (n + 100) * 400_001
		}
		batch.Append(c, int32(n*1000))
		if t.Kind == types.Time {
			c.I32[c.Len-1] = int32(n)
		}
	case batch.Int64s:
		if t.Kind == types.Decimal && t.Precision > 9 {
			n *= 1_000_000_000_000
		}
		batch.Append(c, int64(n)*1_000)
	case batch.Int128s:
		batch.Append(c, batch.Int128{Hi: int64(n) >> 63, Lo: uint64(n) * 1_000_003})
	case batch.Float32s:
		batch.Append(c, float32(n)/8)
	case batch.Float64s:
		batch.Append(c, float64(n)/8)
	case batch.Moments:
		nanos := int32(0)
		if t.Precision > 3 {
			nanos = int32(n+100) * 1000
		}
		c.AppendMoment(int64(n)*10_000_000_019, nanos)
	case batch.ByteSlices:
		if t.Kind == types.Char {
			c.AppendBytes(fmt.Appendf(nil, "%03d", n+100))
		} else {
			c.AppendBytes(bytes.Repeat([]byte{'a' + byte((n+100)%26)}, (n+100)%40))
		}
	case batch.Lists, batch.Maps:
		for k := range r.IntN(4) {
			for i, child := range c.Children {
				e := *t.Elem
				switch {
				case t.Kind == types.Multiset && i == 1:
					e = types.Of(types.Int).NotNull()
				case i == 0 && (t.Kind == types.Map || t.Kind == types.Multiset):
					child.AppendBytes(fmt.Appendf(nil, "k%d", k))
					continue
				}
				add(r, e, child)
			}
		}
		c.EndCollection()
	case batch.Structs:
		for i, f := range t.Fields {
			add(r, f.Type, c.Children[i])
		}
		c.EndRow()
	}
}

// What is written is read again, by us and by another program.
func TestWritten(t *testing.T) {
	fields := everything()
	seed := rand.Uint64()
	for name, w := range map[string]Writing{
		"as Flink":      NewWriting(),
		"small":         {Codec: format.Uncompressed, Block: 40_000, Page: 300, DictionaryPage: 200, Dictionary: true, Int64: true, Unit: Micros},
		"no dictionary": {Codec: format.Zstd, Block: 1 << 20, Page: 4000, Unit: Micros},
		"gzip":          {Codec: format.Gzip, Block: 300_000, Page: 1000, DictionaryPage: 1 << 20, Dictionary: true, Int64: true, Unit: Nanos},
		"brotli":        {Codec: format.Brotli, Block: 1 << 20, Page: 10_000, DictionaryPage: 1 << 20, Dictionary: true},
		"lz4_raw":       {Codec: format.Lz4Raw, Block: 1 << 20, Page: 10_000, DictionaryPage: 1 << 20, Dictionary: true},
	} {
		r := rand.New(rand.NewPCG(seed, 1))
		f := NewWriter(fields, w)
		file := f.AppendHeader(nil)
		var want []string
		for range 5 {
			var columns []*batch.Column
			for _, field := range fields {
				c := batch.NewColumn(field.Type)
				for range 700 {
					add(r, field.Type, c)
				}
				columns = append(columns, c)
			}
			var rows []int32
			for i := range 700 {
				if i%10 != 7 {
					rows, want = append(rows, int32(i)), append(want, row(fields, columns, i))
				}
			}
			var err error
			if file, err = f.Append(file, columns, rows); err != nil {
				t.Fatalf("%s, seed %d: %v", name, seed, err)
			}
		}
		file, err := f.AppendEnd(file)
		if err != nil {
			t.Fatalf("%s, seed %d: %v", name, seed, err)
		}
		got, err := shown(file, fields, batch.MaxRows)
		if err != nil {
			t.Errorf("%s, seed %d: %v", name, seed, err)
		}
		same(t, fmt.Sprintf("%s, seed %d", name, seed), got, want)
		if w.Codec == format.Lz4Raw { // which parquet-go does not read where it makes a third of the bytes
			continue
		}
		if n, err := rowsOfOther(file); err != nil || n != len(want) {
			t.Errorf("%s, seed %d: another program reads %d rows of %d: %v", name, seed, n, len(want), err)
		}
	}
}

// rowsOfOther reads all values of a file by parquet-go, and gives how many rows it has.
func rowsOfOther(text []byte) (n int, err error) {
	f, err := other.OpenFile(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return 0, err
	}
	for _, g := range f.RowGroups() {
		rows := g.Rows()
		buffer := make([]other.Row, 100)
		for {
			m, err := rows.ReadRows(buffer)
			n += m
			if err == io.EOF {
				break
			}
			if err != nil {
				return n, err
			}
		}
		if err := rows.Close(); err != nil {
			return n, err
		}
	}
	return n, nil
}

func TestWrittenStatistics(t *testing.T) {
	fields := []types.Field{{Name: "n", Type: types.Of(types.Int)}, {Name: "s", Type: types.String()}, {Name: "d", Type: types.DecimalOf(20, 0)}, {Name: "f", Type: types.Of(types.Double)}}
	n, s, d, f := batch.NewColumn(fields[0].Type), batch.NewColumn(fields[1].Type), batch.NewColumn(fields[2].Type), batch.NewColumn(fields[3].Type)
	zero := 0.0
	for i, text := range []string{"b", "é", "a"} {
		batch.Append(n, int32(5-i))
		s.AppendBytes([]byte(text))
		batch.Append(d, batch.Int128{Hi: int64(-i % 2), Lo: uint64(7 - 2*i*4)})
		batch.Append(f, []float64{zero / zero, 0, 2}[i])
	}
	n.AppendNull()
	s.AppendNull()
	d.AppendNull()
	f.AppendNull()
	w := NewWriter(fields, NewWriting())
	file := w.AppendHeader(nil)
	file, err := w.Append(file, []*batch.Column{n, s, d, f}, []int32{0, 1, 2, 3})
	if err == nil {
		file, err = w.AppendEnd(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	o, err := other.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for i := range fields {
		s := o.Metadata().RowGroups[0].Columns[i].MetaData.Statistics
		got += fmt.Sprintf("%x %x %d\n", s.MinValue, s.MaxValue, s.NullCount)
	}
	want := "03000000 05000000 1\n61 c3a9 1\nffffffffffffffffff 00fffffffffffffff7 1\n0000000000000080 0000000000000040 1\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestNotWritten(t *testing.T) {
	must := types.Of(types.Int).NotNull()
	c := batch.NewColumn(must)
	c.AppendNull()
	w := NewWriter([]types.Field{{Name: "a", Type: must}}, NewWriting())
	if _, err := w.Append(nil, []*batch.Column{c}, []int32{0}); err == nil || err.Error() != "column a: a value is NULL that must not be" {
		t.Error(err)
	}
	far := batch.NewColumn(types.TimestampOf(3))
	far.AppendMoment(253_402_300_799_000, 0) // the year 9999
	w = NewWriter([]types.Field{{Name: "a", Type: types.TimestampOf(3)}}, Writing{Int64: true, Unit: Nanos})
	if _, err := w.Append(nil, []*batch.Column{far}, []int32{0}); err == nil {
		t.Error("a year that nanoseconds do not have is written")
	}
	if err := CheckTypes([]types.Field{{Name: "a", Type: types.ArrayOf(types.Of(types.IntervalDayTime))}}); err == nil || err.Error() != "column a: format 'parquet' has no values of type "+types.Of(types.IntervalDayTime).Text() {
		t.Error(err)
	}
}

// recoded writes the footer of a file anew.
func recoded(t *testing.T, text []byte, change func(*format.FileMetaData)) []byte {
	t.Helper()
	n := int(binary.LittleEndian.Uint32(text[len(text)-8:]))
	meta := &format.FileMetaData{}
	if err := decode(text[len(text)-8-n:len(text)-8], meta); err != nil {
		t.Fatal(err)
	}
	change(meta)
	footer, err := encode(meta)
	if err != nil {
		t.Fatal(err)
	}
	text = append(bytes.Clone(text[:len(text)-8-n]), footer...)
	return append(binary.LittleEndian.AppendUint32(text, uint32(len(footer))), magic...)
}

func TestFootersThatLie(t *testing.T) {
	fields := []types.Field{{Name: "a", Type: types.Of(types.Int)}}
	c := batch.NewColumn(fields[0].Type)
	batch.Append(c, int32(7))
	w := NewWriter(fields, NewWriting())
	file, err := w.Append(w.AppendHeader(nil), []*batch.Column{c}, []int32{0})
	if err == nil {
		file, err = w.AppendEnd(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	column := func(m *format.FileMetaData) *format.ColumnMetaData { return &m.RowGroups[0].Columns[0].MetaData }
	for want, change := range map[string]func(*format.FileMetaData){
		"it is compressed by codec LZO (3), and there are none, snappy": func(m *format.FileMetaData) { column(m).Codec = format.LZO },
		"it is compressed by codec CompressionCodec(?) (99)":            func(m *format.FileMetaData) { column(m).Codec = 99 },
		"its values are in another file, b.parquet":                     func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].FilePath = "b.parquet" },
		"column a has 1 values, and the row group 9 rows":               func(m *format.FileMetaData) { m.RowGroups[0].NumRows = 9 },
		"the column has fewer values than the row group has rows":       func(m *format.FileMetaData) { m.RowGroups[0].NumRows, column(m).NumValues = 9, 9 },
		"it has -1 rows":                                   func(m *format.FileMetaData) { m.RowGroups[0].NumRows = -1 },
		"it has 0 columns, and the schema 1":               func(m *format.FileMetaData) { m.RowGroups[0].Columns = m.RowGroups[0].Columns[:0] },
		"column a is INT64, and INT32 in the schema":       func(m *format.FileMetaData) { column(m).Type = format.Int64 },
		"are not between the file's head and its footer":   func(m *format.FileMetaData) { column(m).DataPageOffset = 1 << 40 },
		"it is empty":                                      func(m *format.FileMetaData) { m.Schema = m.Schema[:0] },
		"fields belong to nothing":                         func(m *format.FileMetaData) { m.Schema = append(m.Schema, m.Schema[1]) },
		"has 5 fields, and 1 are left":                     func(m *format.FileMetaData) { m.Schema[0].NumChildren.V = 5 },
		"field a is of physical type 17, which is not kn":  func(m *format.FileMetaData) { m.Schema[1].Type.V = 17 },
		"field a is repeated in way 9, which is not known": func(m *format.FileMetaData) { m.Schema[1].RepetitionType.V = 9 },
	} {
		_, err := shown(recoded(t, file, change), fields, 10)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	// A list of a billion structures, of which none is there.
	if _, err := measure([]byte{0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x03, 0}); !errors.Is(err, errShort) {
		t.Error(err)
	}
	if _, err := measure(bytes.Repeat([]byte{0x1c}, 100)); err == nil || errors.Is(err, errShort) {
		t.Error("a hundred structures in each other:", err)
	}
}

// TestDictionaries counts the pages with a dictionary: it is kept where values repeat, even
// if not within a page, and given up where it saves nothing.
func TestDictionaries(t *testing.T) {
	for _, test := range []struct{ rows, distinct, indexed, plain int }{
		{10, 10, 0, 1}, {10, 2, 1, 0}, {200_000, 50_000, 10, 0}, {200_000, 200_000, trialPages, 10 - trialPages}, {15_000, 15_000, 0, 1},
	} {
		fields := []types.Field{{Name: "n", Type: types.Of(types.BigInt)}}
		n, rows := batch.NewColumn(fields[0].Type), make([]int32, test.rows)
		for i := range rows {
			rows[i] = int32(i)
			batch.Append(n, int64(i%test.distinct))
		}
		w := NewWriter(fields, NewWriting())
		file, err := w.Append(w.AppendHeader(nil), []*batch.Column{n}, rows)
		if err == nil {
			file, err = w.AppendEnd(file)
		}
		if err != nil {
			t.Fatal(err)
		}
		o, err := other.OpenFile(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		indexed, plain := 0, 0
		for _, s := range o.Metadata().RowGroups[0].Columns[0].MetaData.EncodingStats {
			switch {
			case s.PageType == format.DataPage && s.Encoding == format.RLEDictionary:
				indexed = int(s.Count)
			case s.PageType == format.DataPage:
				plain = int(s.Count)
			}
		}
		if indexed != test.indexed || plain != test.plain {
			t.Errorf("%d of %d values: %d pages with a dictionary and %d without; want %d and %d", test.distinct, test.rows, indexed, plain, test.indexed, test.plain)
		}
	}
}
