package codec

import (
	"errors"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Schemas of random types are read and written again, and the type that is made
// of a schema has the layout of the type it is of: values decode through it to
// what they were.
func TestSchemasOfRandomTypes(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %#x", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 300 {
		typ := randomType(r, 0)
		prog, typeErr := programOf(typ)
		if typeErr != nil {
			t.Fatal(typeErr)
		}
		s, err := prog.schema.parse()
		if err != nil {
			t.Fatalf("%v: %v", typ, err)
		}
		if s.String() != string(prog.schema) {
			t.Fatalf("%v: schema %q is read as %q", typ, prog.schema, s)
		}
		if changes, err := prog.schema.Compare(prog.schema); err != nil || len(changes) != 0 {
			t.Fatalf("%v: compared with itself: %v, %v", typ, changes, err)
		}
		old, ok := s.goType()
		if !ok {
			t.Fatalf("%v: no type of schema %q", typ, prog.schema)
		}
		oldProg, typeErr := programOf(old)
		if typeErr != nil {
			t.Fatal(typeErr)
		}
		n := 1 + r.IntN(20)
		vals := reflect.MakeSlice(prog.rec.slice, n, n)
		for i := range n {
			randomize(r, vals.Index(i))
		}
		enc, err := prog.append(nil, vals.UnsafePointer(), n)
		if err != nil {
			t.Fatal(err)
		}
		olds, rest, err := oldProg.decodeTo(n, enc)
		if err != nil || len(rest) > 0 {
			t.Fatalf("%v as %v: %d bytes left, %v", typ, old, len(rest), err)
		}
		convert := conversion(s, old, s, typ)
		got := reflect.MakeSlice(prog.rec.slice, n, n)
		for i := range n {
			if err := convert(olds.Index(i).Addr().UnsafePointer(), got.Index(i).Addr().UnsafePointer()); err != nil {
				t.Fatalf("%v: %v", typ, err)
			}
		}
		if !reflect.DeepEqual(got.Interface(), vals.Interface()) {
			t.Fatalf("%v:\ngot  %+v\nwant %+v", typ, got, vals)
		}
	}
}

type (
	itemV1 struct {
		SKU   string
		Count int16
		Old   []string
	}
	itemV2 struct {
		Count int64
		SKU   string
		Price float64
	}
	orderV1 struct {
		ID      uint32
		Rate    float32
		Items   []itemV1
		ByName  map[string]itemV1
		First   *itemV1
		Two     [2]itemV1
		Address netip.Addr
		At      time.Time
		Gone    map[int8]bool
		Raw     []byte
		Z       complex64
		Flag    bool
	}
	orderV2 struct {
		New     map[string]int
		Flag    bool
		ID      int64
		Rate    float64
		Items   []itemV2
		ByName  map[string]itemV2
		First   *itemV2
		Two     [2]itemV2
		Address netip.Addr
		At      time.Time
		Raw     []byte
		Z       complex128
		skipped
	}
	skipped struct {
		X int `weir:"-"`
	}
)

func TestReaderFollowsNames(t *testing.T) {
	item := itemV1{SKU: "a", Count: -7, Old: []string{"x"}}
	moved := itemV2{SKU: "a", Count: -7}
	at := time.Unix(77, 5).UTC()
	addr := netip.MustParseAddr("10.1.2.3")
	old := []orderV1{{}, {
		ID: 1<<32 - 1, Rate: 0.5, Items: []itemV1{item, {}}, ByName: map[string]itemV1{"k": item}, First: &item, Two: [2]itemV1{{}, item},
		Address: addr, At: at, Gone: map[int8]bool{1: true}, Raw: []byte("raw"), Z: 1 + 2i, Flag: true,
	}, {Items: []itemV1{}}}
	zero := orderV1{}.At.UTC()
	want := []orderV2{{At: zero}, {
		ID: 1<<32 - 1, Rate: 0.5, Items: []itemV2{moved, {}}, ByName: map[string]itemV2{"k": moved}, First: &moved, Two: [2]itemV2{{}, moved},
		Address: addr, At: at, Raw: []byte("raw"), Z: 1 + 2i, Flag: true,
	}, {At: zero, Items: []itemV2{}}}
	from := plan[orderV1](t)
	enc, err := from.Append(nil, old)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(from.Schema(), plan[orderV2](t))
	if err != nil {
		t.Fatal(err)
	}
	if r.Same() {
		t.Error("the schemas are said to be equal")
	}
	got, rest, err := r.Decode(nil, len(old), append(enc, "rest"...))
	if err != nil || string(rest) != "rest" {
		t.Fatalf("rest %q, %v", rest, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for cut := range enc {
		if got, rest, err := r.Decode(nil, len(old), enc[:cut]); !errors.Is(err, ErrCorrupt) || len(got) > 0 || len(rest) != cut {
			t.Fatalf("%d of %d bytes: %d values, %d bytes left, error %v", cut, len(enc), len(got), len(rest), err)
		}
	}
	changes, err := from.Schema().Compare(plan[orderV2](t).Schema())
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(changes, "\n")
	for _, want := range []string{"value.Gone removed", "value.New added", "value.ID widened from uint32 to int64", "value.Items[].Count widened from int16 to int64",
		"value.ByName[value].Old removed", "value.Rate widened from float32 to float64"} {
		if !strings.Contains(text, want) {
			t.Errorf("changes lack %q:\n%s", want, text)
		}
	}
}

func TestReaderOfEqualSchemas(t *testing.T) {
	p := plan[orderV1](t)
	enc, err := p.Append(nil, []orderV1{{ID: 3}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(p.Schema(), p)
	if err != nil {
		t.Fatal(err)
	}
	got, rest, err := r.Decode(nil, 1, enc)
	if !r.Same() || err != nil || len(rest) > 0 || got[0].ID != 3 {
		t.Errorf("same %t, got %+v, rest %q, %v", r.Same(), got, rest, err)
	}
}

func TestCompareRefuses(t *testing.T) {
	for _, c := range []struct{ from, to Schema }{
		{"int64", "int32"}, {"int32", "uint64"}, {"uint64", "int64"}, {"int32", "float64"}, {"float64", "float32"}, {"string", "bytes"},
		{"int8", "string"}, {"int8", "*int8"}, {"{A:int8;}", "{A:string;}"}, {"[3]int8", "[4]int8"}, {"[]int8", "[3]int8"},
		{"binary(a.B)", "binary(a.C)"}, {"map[{A:int8;}]int8", "map[{A:int8;B:int8;}]int8"}, {"map[{A:int8;B:int8;}]int8", "map[{A:int8;}]int8"},
		{"{A:[]{B:time;};}", "{A:[]{B:int64;};}"}, {"bool", "uint8"},
	} {
		_, err := c.from.Compare(c.to)
		var schema *SchemaError
		if !errors.As(err, &schema) || !strings.HasPrefix(schema.Path, "value") || schema.Reason == "" {
			t.Errorf("%s to %s: %v", c.from, c.to, err)
		}
	}
	_, err := NewReader("{A:{B:string;};}", plan[struct{ A struct{ B int } }](t))
	if err == nil || err.Error() != "codec: value.A.B was string and is now int64: allowed are wider integers of the same sign, or signed ones wider than unsigned, and wider floats" {
		t.Errorf("error %v", err)
	}
}

func TestSchemasThatAreNone(t *testing.T) {
	for _, s := range []Schema{"", "int", "int64 ", "{", "{A}", "{A:int8}", "{:int8;}", "{A:int8;", "[", "[x]int8", "[-1]int8", "[]", "map[int8", "map[int8]", "*",
		"binary(", "binary(a(b)", "{A:int8;}x", "[9999999999]int8", Schema(strings.Repeat("*", 500) + "int8")} {
		var schema *SchemaError
		if _, err := s.Compare("int8"); !errors.As(err, &schema) {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []Schema{"binary(a.B[func(int)])", "[0]{}", "[]{}+", "[2]{A:int8;}/"} {
		if got, err := s.parse(); err != nil || got.String() != string(s) {
			t.Errorf("%q is read as %v, %v", s, got, err)
		}
	}
	if _, err := newReader("[1000000]{A:[1000]string;}", plan[[1000000]struct{}](t)); err == nil {
		t.Error("values of gigabytes are converted")
	}
}

// Schemas are in files. If this test fails, the code is wrong, not the table.
func TestSchemasAreStable(t *testing.T) {
	for want, got := range map[Schema]Schema{
		"int64": plan[int](t).Schema(),
		"{SKU:string;Count:int16;Dims:[3]float32;Sub:[]string;Hash:[4]uint8;}": plan[item](t).Schema(),
		"map[[2]string]*{ID:int64;}": plan[map[[2]string]*base](t).Schema(),
		"[]binary(net/netip.Addr)":   plan[[]netip.Addr](t).Schema(),
		"{A:time;B:bytes;C:[]{}+;}": plan[struct {
			A time.Time
			B []byte
			C []allSkipped
		}](t).Schema(),
	} {
		if got != want {
			t.Errorf("schema %q, want %q", got, want)
		}
	}
}

// Layouts that differ have schemas that differ.
func TestSchemasTellLayoutsApart(t *testing.T) {
	type gap struct {
		A int32
		X int32 `weir:"-"`
	}
	type tight struct{ A int32 }
	if plan[[3]gap](t).Schema() == plan[[3]tight](t).Schema() {
		t.Error("arrays with and without gaps have one schema")
	}
	if plan[[]allSkipped](t).Schema() == plan[[]struct{}](t).Schema() {
		t.Error("elements with and without padding have one schema")
	}
}

func FuzzSchema(f *testing.F) {
	for _, typ := range fuzzTypes {
		prog, err := programOf(typ)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(prog.schema), []byte("0123456789abcdef"))
	}
	f.Fuzz(func(t *testing.T, text string, src []byte) {
		s, err := Schema(text).parse()
		if err != nil {
			return
		}
		again, err := Schema(s.String()).parse()
		if err != nil || !reflect.DeepEqual(s, again) {
			t.Fatalf("%q is written as %q: %v", text, s, err)
		}
		if s.size() > 1<<12 {
			return
		}
		if typ, ok := s.goType(); ok {
			if prog, err := programOf(typ); err == nil {
				_, _, _ = prog.decodeTo(3, src)
			}
		}
	})
}

func TestDecodeKey(t *testing.T) {
	type key struct {
		Name  string
		Zone  int32
		Pair  [2]string
		Nums  [3]int16
		When  time.Time
		Addr  netip.Addr
		F     float64
		Empty struct{}
		Skip  int `weir:"-"`
	}
	p := plan[key](t)
	want := []key{
		{When: time.Unix(0, 0).UTC()},
		{Name: strings.Repeat("n", 300), Zone: -1, Pair: [2]string{"", "b"}, Nums: [3]int16{1, -2, 3}, When: time.Unix(-5, 7).UTC(), Addr: netip.MustParseAddr("::1"), F: -2.5},
	}
	var enc []byte
	for i := range want {
		enc = p.AppendKey(enc, &want[i])
	}
	src := enc
	for i := range want {
		got := key{Skip: 9}
		rest, err := p.DecodeKey(&got, src)
		if err != nil || got != want[i] {
			t.Fatalf("key %d: %+v, %v", i, got, err)
		}
		src = rest
	}
	if len(src) > 0 {
		t.Errorf("%d bytes left", len(src))
	}
	last := enc[len(p.AppendKey(nil, &want[0])):]
	for cut := range last {
		var got key
		if _, err := p.DecodeKey(&got, last[:cut]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%d of %d bytes: %v", cut, len(last), err)
		}
	}
}
