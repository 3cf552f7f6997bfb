package codec

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// plan returns the plan of T, which must have one.
func plan[T any](t testing.TB) *Plan[T] {
	t.Helper()
	p, err := For[T]()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// roundTrip encodes vals, checks that every truncation is refused, and returns
// what is decoded after a value that was there before.
func roundTrip[T any](t testing.TB, vals ...T) []T {
	t.Helper()
	p := plan[T](t)
	prefix, suffix := []byte("before"), []byte("after")
	enc, err := p.Append(slices.Clone(prefix), vals)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(enc, prefix) {
		t.Fatalf("Append changed the bytes before: %q", enc)
	}
	src := append(enc[len(prefix):], suffix...)
	first := make([]T, 1, 1+len(vals)/2)
	got, rest, err := p.Decode(first, len(vals), src)
	if err != nil {
		t.Fatalf("decode %x: %v", src, err)
	}
	if !bytes.Equal(rest, suffix) {
		t.Fatalf("rest is %q, want %q", rest, suffix)
	}
	if len(got) != 1+len(vals) {
		t.Fatalf("decoded %d values, want %d", len(got)-1, len(vals))
	}
	enc = src[:len(src)-len(suffix)]
	checkTruncations(t, p, len(vals), enc)
	for i := range src {
		src[i] = 0xAA // nothing decoded may refer to src
	}
	return got[1:]
}

// checkTruncations decodes prefixes of enc: all, or of a long one a sample.
func checkTruncations[T any](t testing.TB, p *Plan[T], n int, enc []byte) {
	t.Helper()
	step := 1 + len(enc)/500
	for cut := 0; cut < len(enc); cut += step {
		short := slices.Clone(enc[:cut]) // its own allocation, so that reading on is seen
		got, rest, err := p.Decode(nil, n, short)
		if !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%d of %d bytes: error %v, want ErrCorrupt", cut, len(enc), err)
		}
		if len(got) != 0 || len(rest) != len(short) {
			t.Fatalf("%d of %d bytes: returned %d values and %d bytes with the error", cut, len(enc), len(got), len(rest))
		}
	}
}

// same round-trips vals and wants them back deeply equal.
func same[T any](vals ...T) func(*testing.T) {
	return func(t *testing.T) {
		got := roundTrip(t, vals...)
		if !reflect.DeepEqual(got, vals) {
			t.Fatalf("got  %#v\nwant %#v", got, vals)
		}
	}
}

type (
	colour string
	small  uint8

	scalars struct {
		B    bool
		I    int
		I8   int8
		I16  int16
		I32  int32
		I64  int64
		U    uint
		U8   small
		U16  uint16
		U32  uint32
		U64  uint64
		F32  float32
		F64  float64
		C64  complex64
		C128 complex128
		D    time.Duration
	}

	address struct {
		Street, City string
		Geo          *[2]float64
	}
	base  struct{ ID int64 }
	order struct {
		base
		At      time.Time
		Colour  colour
		Ship    address
		Bill    *address
		Items   []item
		Attrs   map[string]string
		Groups  map[int32][]item
		Raw     []byte
		Peer    netip.Addr
		Next    **int64
		Skipped func() `weir:"-"`
		_       [3]byte
		Last    bool
	}
	item struct {
		SKU   string
		Count int16
		Dims  [3]float32
		Sub   []string
		Hash  [4]byte
	}

	// celsius encodes itself as text; its field is unexported.
	celsius struct{ tenths int }

	// event inherits AppendBinary and UnmarshalBinary, which know of the time
	// alone.
	event struct {
		time.Time
		X int
	}

	allSkipped struct {
		X [64]byte `weir:"-"`
	}
)

func (c celsius) AppendBinary(b []byte) ([]byte, error) {
	if c.tenths == math.MinInt {
		return b, errors.New("colder than absolute zero")
	}
	return fmt.Appendf(b, "%d", c.tenths), nil
}

func (c *celsius) UnmarshalBinary(b []byte) error {
	_, err := fmt.Sscanf(string(b), "%d", &c.tenths)
	return err
}

func sampleOrder() order {
	n := int64(9)
	pn := &n
	return order{
		base: base{7}, At: time.Date(2024, 2, 29, 1, 2, 3, 4, time.UTC), Colour: "red",
		Ship: address{"Main St", "Berlin", &[2]float64{52.5, 13.4}}, Bill: &address{"", "Ulm", nil},
		Items: []item{
			{SKU: "a", Count: -1, Dims: [3]float32{1, 2, 3}, Sub: []string{"x", "", "yy"}, Hash: [4]byte{1, 2, 3, 4}},
			{SKU: "", Sub: []string{}},
			{SKU: "bcd"},
		},
		Attrs:  map[string]string{"k": "v", "": "empty"},
		Groups: map[int32][]item{-5: {{SKU: "in map"}}, 0: nil, 3: {}},
		Raw:    []byte("raw"), Peer: netip.MustParseAddr("fe80::1%eth0"), Next: &pn, Last: true,
	}
}

func TestRoundTrip(t *testing.T) {
	one, none := int64(1), (*int64)(nil)
	long := strings.Repeat("0123456789", 100_000)
	for name, test := range map[string]func(*testing.T){
		"bool":            same(true, false, true),
		"int":             same(0, -1, math.MinInt, math.MaxInt),
		"uint":            same[uint](0, math.MaxUint),
		"int8":            same[int8](0, -128, 127),
		"named uint16":    same[uint16](0, 1, 65535),
		"int32":           same[int32](0, math.MinInt32, math.MaxInt32),
		"int64":           same[int64](0, math.MinInt64, math.MaxInt64),
		"float32":         same[float32](0, 1.5, float32(math.Inf(-1))),
		"float64":         same(0, math.MaxFloat64, math.Inf(1)),
		"complex":         same(1+2i, -1i),
		"string":          same("", "a", "", "hällo", long, ""),
		"empty strings":   same("", "", ""),
		"named string":    same[colour]("red", ""),
		"bytes":           same([]byte("a"), nil, []byte{}, []byte(long)),
		"nil bytes":       same[[]byte](nil, nil),
		"named bytes":     same([]small{1, 2}, nil, []small{}),
		"duration":        same(time.Second, -1),
		"time":            same(time.Time{}, time.Unix(0, 999).UTC(), time.Date(9999, 12, 31, 23, 59, 59, 1, time.UTC), time.Date(-5000, 1, 1, 0, 0, 0, 0, time.UTC)),
		"pointers":        same(&one, nil, &one, nil, nil, nil, nil, nil, &one),
		"no nil pointers": same(&one, &one),
		"pointer pointer": same(&none, nil, new(&one)),
		"empty pointees":  same(new(struct{}), nil),
		"arrays":          same([3]int16{1, 2, 3}, [3]int16{-1, -2, -3}),
		"bool arrays":     same([2][2]bool{{true, false}, {false, true}}),
		"string arrays":   same([2]string{"a", "bc"}, [2]string{"", "d"}),
		"complex arrays":  same([2]complex64{1, 2i}, [2]complex64{}),
		"no arrays":       same([0]string{}, [0]string{}),
		"slices":          same([]int64{1, 2}, nil, []int64{}, []int64{3}),
		"slice slices":    same([][]string{{"a"}, nil, {}}, nil, [][]string{{"", "b"}}),
		"empty elements":  same(make([]struct{}, 5), nil, make([]struct{}, 0)),
		"bool slices":     same([]bool{true, false}, []bool{true}),
		"maps":            same(map[string]int{"a": 1, "b": 2}, nil, map[string]int{}),
		"map maps":        same(map[int8]map[string][]byte{1: {"x": nil, "y": {1}}, 2: nil}, nil),
		"empty map":       same(map[struct{}]struct{}{{}: {}}, nil),
		"empty struct":    same(struct{}{}, struct{}{}),
		"all left out":    same(allSkipped{}, allSkipped{}),
		"left out slices": same([]allSkipped{{}, {}}, nil),
		"scalars":         same(scalars{}, scalars{true, -1, -2, -3, -4, -5, 6, 7, 8, 9, 10, 11.5, 12.5, 13i, 14i, 15}),
		"scalar slices":   same([]scalars{{I: 1}, {U8: 2}}, []scalars{{B: true}}),
		"odd sizes": same(struct {
			A int8
			B [3]int8
			C int16
		}{1, [3]int8{2, 3, 4}, 5}),
		"one field":   same(struct{ X struct{ Y int64 } }{}),
		"nested":      same(sampleOrder(), order{}, sampleOrder()),
		"nested many": same(slices.Repeat([]order{sampleOrder(), {}}, 100)...),
		"self":        same(celsius{215}, celsius{-3}, celsius{}),
		"self nested": same(map[string][]*celsius{"a": {{1}, nil}}, nil),
		"netip":       same(netip.Addr{}, netip.MustParseAddr("10.0.0.1")),
		"url":         same(url.URL{Scheme: "http", Host: "h", Path: "/p"}),
		"inherited":   same(event{time.Unix(5, 6).UTC(), 7}),
		"anonymous":   same(struct{ A, B string }{"a", "b"}),
		"none":        same([]order{}...),
		"large": func(t *testing.T) {
			vals := make([]benchRow, 100_000)
			for i := range vals {
				vals[i] = benchRow{fmt.Sprint(i), int64(i), -1}
			}
			if !slices.Equal(roundTrip(t, vals...), vals) {
				t.Fatal("the values differ")
			}
		},
	} {
		t.Run(name, test)
	}
}

// TestBits checks what DeepEqual does not see: signs of zero and NaN payloads.
func TestBits(t *testing.T) {
	for _, bits := range []uint64{0, 1 << 63, 0x7ff8000000000123, 0xfff0000000000001} {
		got := roundTrip(t, struct {
			F float64
			S string
		}{math.Float64frombits(bits), ""})
		if math.Float64bits(got[0].F) != bits {
			t.Errorf("%x became %x", bits, math.Float64bits(got[0].F))
		}
	}
}

func TestTimeLosesLocation(t *testing.T) {
	zone := time.FixedZone("X", 3600)
	now := time.Now()
	got := roundTrip(t, now, now.In(zone))
	for _, g := range got {
		if !g.Equal(now) || g.Location() != time.UTC {
			t.Errorf("got %v, want %v in UTC", g, now)
		}
	}
	if z := roundTrip(t, time.Time{})[0]; z != (time.Time{}) {
		t.Errorf("the zero time became %#v", z)
	}
}

// TestSlabs checks that values cut from one slab do not reach into each other.
func TestSlabs(t *testing.T) {
	b := roundTrip(t, []byte("ab"), []byte("cd"))
	_ = append(b[0], 'X')
	if string(b[1]) != "cd" {
		t.Errorf("appending to one []byte changed the next to %q", b[1])
	}
	s := roundTrip(t, []int32{1}, []int32{2})
	_ = append(s[0], 99)
	if s[1][0] != 2 {
		t.Errorf("appending to one slice changed the next to %v", s[1])
	}
}

// TestReuse decodes over old records: nothing of them may show.
func TestReuse(t *testing.T) {
	p := plan[order](t)
	enc, err := p.Append(nil, make([]order, 2))
	if err != nil {
		t.Fatal(err)
	}
	old := []order{sampleOrder(), sampleOrder()}
	old[0].Skipped = func() {}
	oldBill, oldItems := old[0].Bill, old[0].Items
	got, _, err := p.Decode(old[:0], 2, enc)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, make([]order, 2)) {
		t.Errorf("got %+v, want zeros", got)
	}
	if &got[0] != &old[0] {
		t.Error("Decode did not use the capacity it was given")
	}
	if oldBill.City != "Ulm" || oldItems[0].SKU != "a" {
		t.Error("Decode wrote to what the old records referred to")
	}
}

// TestLayout pins the bytes that package documentation promises.
func TestLayout(t *testing.T) {
	type rec struct {
		S string
		N int16
		P *uint8
		L []bool
	}
	enc, err := plan[rec](t).Append(nil, []rec{{"ab", 1, nil, []bool{true}}, {"c", -2, new(uint8(5)), nil}})
	if err != nil {
		t.Fatal(err)
	}
	want := []byte{
		2, 0, 0, 0, 3, 0, 0, 0, 'a', 'b', 'c', // ends, bytes
		1, 0, 0xfe, 0xff,
		1, 0b10, 5, // validity, pointee
		1, 0b01, 1, 0, 0, 0, 1, 0, 0, 0, 1, // validity, ends, element
	}
	if !bytes.Equal(enc, want) {
		t.Errorf("got  %v\nwant %v", enc, want)
	}
}

func TestFixedAndPointerFree(t *testing.T) {
	type facts struct {
		bytes       int
		fixed       bool
		pointerFree bool
	}
	check := func(name string, fixed func() (int, bool), pf bool, want facts) {
		t.Helper()
		n, ok := fixed()
		if !ok {
			n = 0
		}
		if got := (facts{n, ok, pf}); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	p1, p2, p3, p4 := plan[scalars](t), plan[benchRow](t), plan[time.Time](t), plan[struct{}](t)
	p5, p6, p7 := plan[[3]base](t), plan[allSkipped](t), plan[[0]*int](t)
	check("scalars", p1.Fixed, p1.PointerFree(), facts{1 + 8 + 1 + 2 + 4 + 8 + 8 + 1 + 2 + 4 + 8 + 4 + 8 + 8 + 16 + 8, true, true})
	check("row", p2.Fixed, p2.PointerFree(), facts{})
	check("time", p3.Fixed, p3.PointerFree(), facts{12, true, false})
	check("struct{}", p4.Fixed, p4.PointerFree(), facts{0, true, true})
	check("array", p5.Fixed, p5.PointerFree(), facts{24, true, true})
	check("left out", p6.Fixed, p6.PointerFree(), facts{1, true, true})
	check("no pointers", p7.Fixed, p7.PointerFree(), facts{0, true, true})
	enc, _ := p1.Append(nil, make([]scalars, 3))
	if n, _ := p1.Fixed(); len(enc) != 3*n {
		t.Errorf("3 scalars take %d bytes, Fixed says %d each", len(enc), n)
	}
}

func TestFingerprint(t *testing.T) {
	if got, want := plan[order](t).Fingerprint(), uint64(0x3919185683b2e39c); got != want {
		t.Errorf("the fingerprint of order is %#x, was %#x: savepoints of older versions cannot be read", got, want)
	}
	type renamed struct {
		Key  colour
		N, V int64
	}
	type reordered struct {
		N   int64
		Key string
		V   int64
	}
	type wider struct {
		Key string
		N   int64
		V   int32
	}
	row := plan[benchRow](t).Fingerprint()
	if plan[renamed](t).Fingerprint() != row {
		t.Error("the name of a type changes the fingerprint")
	}
	if plan[reordered](t).Fingerprint() == row || plan[wider](t).Fingerprint() == row {
		t.Error("other fields have the same fingerprint")
	}
	if plan[struct{ X int }](t).Fingerprint() != plan[struct{ X int64 }](t).Fingerprint() {
		t.Error("int and int64 are written alike and have different fingerprints")
	}
	if plan[[]uint8](t).Fingerprint() == plan[string](t).Fingerprint() {
		t.Error("bytes and strings have the same fingerprint")
	}
}

func TestForIsCached(t *testing.T) {
	if first, second := plan[order](t), plan[order](t); first != second {
		t.Error("For compiled the same type twice")
	}
}

func TestAllocations(t *testing.T) {
	p, vals := plan[benchRow](t), benchRows(1024)
	buf, err := p.Append(nil, vals)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(10, func() { buf, _ = p.Append(buf[:0], vals) }); n > 0 {
		t.Errorf("Append allocates %v times a batch", n)
	}
	var dst []benchRow
	if n := testing.AllocsPerRun(10, func() { dst, _, _ = p.Decode(dst[:0], 1024, buf) }); n > 1 {
		t.Errorf("Decode allocates %v times a batch of one string column", n)
	}
}
