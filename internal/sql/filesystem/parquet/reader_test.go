package parquet

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	other "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// shown reads a whole file and gives its rows as results show them.
func shown(text []byte, fields []types.Field, most int) (rows []string, err error) {
	f, err := Open(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, err
	}
	r, err := f.Reader(fields, Reading{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for g := range f.Groups() {
		if err := r.Begin(g); err != nil {
			return rows, err
		}
		for {
			columns, n, err := r.Read(most)
			if err != nil || n == 0 {
				if err != nil {
					return rows, err
				}
				break
			}
			for i := range n {
				rows = append(rows, row(fields, columns, i))
			}
		}
	}
	return rows, nil
}

func row(fields []types.Field, columns []*batch.Column, i int) string {
	var line []byte
	for c, f := range fields {
		if c > 0 {
			line = append(line, " | "...)
		}
		line = expr.AppendDisplay(line, time.UTC, f.Type, columns[c], i)
	}
	return string(line)
}

// written writes a file of one column by parquet-go, NULL where the value has no kind.
func written(t *testing.T, node other.Node, values []other.Value, options ...other.WriterOption) []byte {
	t.Helper()
	var out bytes.Buffer
	w := other.NewWriter(&out, append([]other.WriterOption{other.NewSchema("rows", other.Group{"a": node})}, options...)...)
	for i, v := range values {
		level := 0
		if node.Optional() && !v.IsNull() {
			level = 1
		}
		if _, err := w.WriteRows([]other.Row{{v.Level(0, level, 0)}}); err != nil {
			t.Fatal(err)
		}
		if i == len(values)*2/3 { // the next row group
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var codecsOfOthers = map[string]compress.Codec{"none": &other.Uncompressed, "snappy": &other.Snappy, "gzip": &other.Gzip, "brotli": &other.Brotli, "lz4_raw": &other.Lz4Raw, "zstd": &other.Zstd}

// Every physical type in every encoding and in pages of both versions, with and without
// NULL, as another program writes them.
func TestEncodings(t *testing.T) {
	type kind struct {
		leaf  other.Node
		t     types.Type
		value func(i int) (other.Value, string)
		in    []encoding.Encoding
	}
	number := []encoding.Encoding{&other.Plain, &other.RLEDictionary, &other.DeltaBinaryPacked, &other.ByteStreamSplit}
	float := []encoding.Encoding{&other.Plain, &other.RLEDictionary, &other.ByteStreamSplit}
	text := []encoding.Encoding{&other.Plain, &other.RLEDictionary, &other.DeltaLengthByteArray, &other.DeltaByteArray}
	short := func(i int) string { return strings.Repeat("x", i%23) + fmt.Sprint(i/7) }
	for name, k := range map[string]kind{
		"boolean": {other.Leaf(other.BooleanType), types.Of(types.Boolean), func(i int) (other.Value, string) {
			return other.ValueOf(i%5 < 2), strings.ToUpper(fmt.Sprint(i%5 < 2))
		}, []encoding.Encoding{&other.Plain, &other.RLE}},
		"int32": {other.Leaf(other.Int32Type), types.Of(types.Int), func(i int) (other.Value, string) {
			v := int32(i*i*31) * (1 - int32(i%2)*2)
			return other.ValueOf(v), fmt.Sprint(v)
		}, number},
		"int64": {other.Leaf(other.Int64Type), types.Of(types.BigInt), func(i int) (other.Value, string) {
			v := int64(i) << (i % 50) * (1 - int64(i%2)*2)
			return other.ValueOf(v), fmt.Sprint(v)
		}, number},
		"int32 as BIGINT": {other.Leaf(other.Int32Type), types.Of(types.BigInt), func(i int) (other.Value, string) { return other.ValueOf(int32(-i)), fmt.Sprint(-i) }, number},
		"float":           {other.Leaf(other.FloatType), types.Of(types.Float), func(i int) (other.Value, string) { return other.ValueOf(float32(i) / 4), float64Text(float64(i) / 4) }, float},
		"float as DOUBLE": {other.Leaf(other.FloatType), types.Of(types.Double), func(i int) (other.Value, string) { return other.ValueOf(float32(i) / 4), float64Text(float64(i) / 4) }, float},
		"double":          {other.Leaf(other.DoubleType), types.Of(types.Double), func(i int) (other.Value, string) { return other.ValueOf(float64(i) / 4), float64Text(float64(i) / 4) }, float},
		"text":            {other.String(), types.String(), func(i int) (other.Value, string) { return other.ValueOf(short(i)), short(i) }, text},
		"fixed": {other.Leaf(other.FixedLenByteArrayType(3)), types.BinaryOf(3), func(i int) (other.Value, string) {
			return other.FixedLenByteArrayValue([]byte{byte(i), byte(i >> 8), 7}), fmt.Sprintf("x'%02x%02x07'", byte(i), byte(i>>8))
		}, []encoding.Encoding{&other.Plain, &other.RLEDictionary, &other.DeltaByteArray, &other.ByteStreamSplit}},
		"decimal of int32": {other.Decimal(2, 9, other.Int32Type), types.DecimalOf(9, 2), func(i int) (other.Value, string) {
			return other.ValueOf(int32(i)), fmt.Sprintf("%d.%02d", i/100, i%100)
		}, number},
		"decimal of int64": {other.Decimal(2, 18, other.Int64Type), types.DecimalOf(20, 2), func(i int) (other.Value, string) {
			return other.ValueOf(int64(i)), fmt.Sprintf("%d.%02d", i/100, i%100)
		}, number},
		"decimal of bytes": {other.Decimal(1, 30, other.FixedLenByteArrayType(13)), types.DecimalOf(30, 1), func(i int) (other.Value, string) {
			v := bytes.Repeat([]byte{255}, 13)
			v[11], v[12] = byte(^i>>8), byte(^i)
			return other.FixedLenByteArrayValue(v), fmt.Sprintf("-%d.%d", (i+1)/10, (i+1)%10)
		}, []encoding.Encoding{&other.Plain, &other.RLEDictionary}},
		"date": {other.Date(), types.Of(types.Date), func(i int) (other.Value, string) {
			return other.ValueOf(int32(i)), time.UnixMilli(int64(i) * 86_400_000).UTC().Format(time.DateOnly)
		}, number},
		"millis": {other.Timestamp(other.Millisecond), types.TimestampOf(3), func(i int) (other.Value, string) {
			return other.ValueOf(int64(i * 999)), time.UnixMilli(int64(i * 999)).UTC().Format("2006-01-02 15:04:05.000")
		}, number},
		"micros": {other.Timestamp(other.Microsecond), types.TimestampLTZOf(6), func(i int) (other.Value, string) {
			return other.ValueOf(int64(-i * 999)), time.UnixMicro(int64(-i * 999)).UTC().Format("2006-01-02 15:04:05.000000")
		}, number},
		"nanos cut": {other.Timestamp(other.Nanosecond), types.TimestampOf(7), func(i int) (other.Value, string) {
			return other.ValueOf(int64(i * 123456789)), time.Unix(0, int64(i*123456789)).UTC().Truncate(100).Format("2006-01-02 15:04:05.0000000")
		}, number},
		"int96": {other.Leaf(other.Int96Type), types.TimestampOf(9), func(i int) (other.Value, string) {
			return other.ValueOf(deprecated.Int96{uint32(i * 1000), 0, julianEpoch + 1}), time.Unix(86_400, int64(i*1000)).UTC().Format("2006-01-02 15:04:05.000000000")
		}, []encoding.Encoding{&other.Plain, &other.RLEDictionary}},
		"time": {other.Time(other.Microsecond), types.TimeOf(3), func(i int) (other.Value, string) {
			text := strings.TrimRight(time.UnixMilli(int64(i)).UTC().Format("15:04:05.000"), "0")
			if strings.HasSuffix(text, ".") {
				text += "0"
			}
			if i == 0 {
				text = "00:00:00.0"
			}
			return other.ValueOf(int64(i * 1000)), text
		}, number},
	} {
		for _, in := range k.in {
			for _, optional := range []bool{true, false} {
				for _, version := range []int{1, 2} {
					node := other.Encoded(k.leaf, in)
					if optional {
						node = other.Optional(node)
					}
					var values []other.Value
					var want []string
					for i := range 2500 {
						v, text := k.value(i % 1300)
						if optional && (i%7 == 3 || i/300 == 2) {
							v, text = other.Value{}, "NULL"
						}
						values, want = append(values, v), append(want, text)
					}
					file := written(t, node, values, other.DataPageVersion(version), other.PageBufferSize(3000))
					got, err := shown(file, []types.Field{{Name: "a", Type: k.t}}, 700)
					if err != nil {
						t.Errorf("%s, %s, optional %t, version %d: %v", name, in, optional, version, err)
					}
					same(t, fmt.Sprintf("%s, %s, optional %t, version %d", name, in, optional, version), got, want)
				}
			}
		}
	}
}

func float64Text(v float64) string {
	c := batch.NewColumn(types.Of(types.Double))
	batch.Append(c, v)
	return string(expr.AppendDisplay(nil, time.UTC, types.Of(types.Double), c, 0))
}

// same tells the first row that is not as it should be.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("%s: row %d is %s, want %s", what, i, got[i], want[i])
			return
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d rows, want %d", what, len(got), len(want))
	}
}

func TestCodecs(t *testing.T) {
	for name, codec := range codecsOfOthers {
		var values []other.Value
		var want []string
		for i := range 3000 {
			text := strings.Repeat("round and round ", i%5)
			values, want = append(values, other.ValueOf(text)), append(want, text)
		}
		for version := 1; version <= 2; version++ {
			file := written(t, other.Encoded(other.String(), &other.Plain), values, other.Compression(codec), other.DataPageVersion(version))
			got, err := shown(file, []types.Field{{Name: "a", Type: types.String()}}, batch.MaxRows)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			same(t, name, got, want)
		}
	}
}

type inner struct {
	X *int32   `parquet:"x,optional"`
	L []string `parquet:"l,list"`
}

type nested struct {
	ID    int64            `parquet:"id"`
	List  []*int32         `parquet:"list,optional,list"`
	Bare  []int64          `parquet:"bare"`
	Rows  []inner          `parquet:"rows,list"`
	Map   map[string]inner `parquet:"map"`
	Row   *inner           `parquet:"row,optional"`
	Lists [][]int32        `parquet:"lists,list"`
}

func TestNested(t *testing.T) {
	i32 := types.Of(types.Int)
	in := types.RowOf(types.Field{Name: "x", Type: i32}, types.Field{Name: "l", Type: types.ArrayOf(types.String())})
	fields := []types.Field{{Name: "id", Type: types.Of(types.BigInt)}, {Name: "list", Type: types.ArrayOf(i32)}, {Name: "bare", Type: types.ArrayOf(types.Of(types.BigInt))},
		{Name: "rows", Type: types.ArrayOf(in)}, {Name: "map", Type: types.MapOf(types.String(), in)}, {Name: "row", Type: in},
		{Name: "row", Type: types.RowOf(types.Field{Name: "nowhere", Type: i32})}, {Name: "nowhere", Type: types.ArrayOf(i32)}}
	one := int32(1)
	some := []nested{
		{1, []*int32{&one, nil}, []int64{7, 8}, []inner{{&one, []string{"a"}}, {nil, nil}}, map[string]inner{"k": {&one, nil}}, &inner{nil, []string{"b", ""}}, nil},
		{2, nil, nil, nil, nil, nil, nil},
		{3, []*int32{}, []int64{9}, []inner{{}}, map[string]inner{"k": {}}, &inner{}, nil},
	}
	shownRows := []string{
		"1 | [1, NULL] | [7, 8] | [(1, [a]), (NULL, [])] | {k=(1, [])} | (NULL, [b, ]) | (NULL) | NULL",
		"2 | NULL | [] | [] | {} | NULL | NULL | NULL",
		"3 | [] | [9] | [(NULL, [])] | {k=(NULL, [])} | (NULL, []) | (NULL) | NULL",
	}
	var all []nested
	var want []string
	for i := range 4000 {
		all, want = append(all, some[i*i%7%3]), append(want, shownRows[i*i%7%3])
	}
	for version := 1; version <= 2; version++ {
		var out bytes.Buffer
		w := other.NewGenericWriter[nested](&out, other.DataPageVersion(version), other.PageBufferSize(2000), other.MaxRowsPerRowGroup(1700))
		if _, err := w.Write(all); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for _, most := range []int{1, 1000, batch.MaxRows} {
			got, err := shown(out.Bytes(), fields, most)
			if err != nil {
				t.Error(err)
			}
			same(t, fmt.Sprint("version ", version, " in batches of ", most), got, want)
		}
	}
}

func TestUnlikeTypes(t *testing.T) {
	text := written(t, other.Optional(other.String()), []other.Value{other.ValueOf("x")})
	stamp := written(t, other.Timestamp(other.Millisecond), []other.Value{other.ValueOf(int64(1))})
	small := written(t, other.Leaf(other.Int32Type), []other.Value{other.ValueOf(int32(70000))})
	money := written(t, other.Decimal(2, 9, other.Int32Type), []other.Value{other.ValueOf(int32(123456))})
	list := written(t, other.Repeated(other.Leaf(other.Int32Type)), []other.Value{other.ValueOf(int32(1))})
	for _, c := range []struct {
		file []byte
		t    types.Type
		want string
	}{
		{text, types.Of(types.Int), "column a is BYTE_ARRAY STRING in the file, and INT in the table"},
		{text, types.ArrayOf(types.String()), "column a is BYTE_ARRAY STRING in the file, and ARRAY<STRING> in the table"},
		{text, types.RowOf(types.Field{Name: "x", Type: types.String()}), "column a is BYTE_ARRAY STRING in the file, and ROW<`x` STRING> in the table"},
		{text, types.DecimalOf(3, 1), "column a is BYTE_ARRAY STRING in the file, and DECIMAL(3, 1) in the table"},
		{stamp, types.Of(types.BigInt), "column a is INT64 TIMESTAMP(isAdjustedToUTC=true,unit=MILLIS) in the file, and BIGINT in the table"},
		{stamp, types.Of(types.Date), "and DATE in the table"},
		{small, types.Of(types.SmallInt), "row group 0, column a, byte 4: the value 70000 is no SMALLINT"},
		{small, types.TimestampOf(3), "column a is INT32"},
		{money, types.DecimalOf(9, 3), "its values have 2 digits behind the point; declare it so, and cast it in the query"},
		{money, types.DecimalOf(5, 2), "the value 1234.56 is no DECIMAL(5, 2)"},
		{list, types.Of(types.Int), "column a is repeated INT32 INT(32,true) in the file, and INT in the table: it is a list"},
	} {
		_, err := shown(c.file, []types.Field{{Name: "a", Type: c.t}}, 10)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.t.Text(), err, c.want)
		}
	}
	if _, err := shown(small, []types.Field{{Name: "b", Type: types.Of(types.Int).NotNull()}}, 10); err == nil || !strings.Contains(err.Error(), "column b is not in the file, and NOT NULL in the table") {
		t.Error(err)
	}
}

// Capitals of names matter only where a file has fields that differ in nothing else.
func TestNames(t *testing.T) {
	var out bytes.Buffer
	w := other.NewWriter(&out, other.NewSchema("rows", other.Group{"ID": other.Leaf(other.Int32Type), "a": other.Leaf(other.Int32Type), "A": other.Leaf(other.Int32Type)}))
	if _, err := w.WriteRows([]other.Row{{other.ValueOf(int32(1)).Level(0, 0, 0), other.ValueOf(int32(2)).Level(0, 0, 1), other.ValueOf(int32(3)).Level(0, 0, 2)}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var fields []types.Field
	for _, name := range []string{"id", "ID", "a", "A", "b"} {
		fields = append(fields, types.Field{Name: name, Type: types.Of(types.Int)})
	}
	got, err := shown(out.Bytes(), fields, 10)
	if err != nil || len(got) != 1 || got[0] != "2 | 2 | 3 | 1 | NULL" {
		t.Error(got, err)
	}
}
