package codec

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"
	"time"
)

// maxDepth bounds the nesting of random types.
const maxDepth = 4

var leaves = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int16](),
	reflect.TypeFor[int32](), reflect.TypeFor[int64](), reflect.TypeFor[uint](), reflect.TypeFor[uint8](),
	reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](), reflect.TypeFor[float32](),
	reflect.TypeFor[float64](), reflect.TypeFor[complex64](), reflect.TypeFor[complex128](),
	reflect.TypeFor[string](), reflect.TypeFor[string](), reflect.TypeFor[[]byte](), reflect.TypeFor[time.Time](),
	reflect.TypeFor[time.Duration](), reflect.TypeFor[celsius](), reflect.TypeFor[netip.Addr](), reflect.TypeFor[struct{}](),
	reflect.TypeFor[allSkipped](),
}

// randomType makes a type that can be encoded.
func randomType(r *rand.Rand, depth int) reflect.Type {
	if depth >= maxDepth {
		return leaves[r.IntN(len(leaves))]
	}
	switch r.IntN(8) {
	case 0, 1:
		fields := make([]reflect.StructField, r.IntN(5))
		for i := range fields {
			fields[i] = reflect.StructField{Name: fmt.Sprint("F", i), Type: randomType(r, depth+1)}
			if r.IntN(8) == 0 {
				fields[i].Tag = `weir:"-"`
			}
		}
		return reflect.StructOf(fields)
	case 2:
		return reflect.ArrayOf(r.IntN(4), randomType(r, depth+1))
	case 3:
		return reflect.SliceOf(randomType(r, depth+1))
	case 4:
		return reflect.PointerTo(randomType(r, depth+1))
	case 5:
		keys := []reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[int16](), reflect.TypeFor[[2]string](), reflect.TypeFor[bool]()}
		return reflect.MapOf(keys[r.IntN(len(keys))], randomType(r, depth+1))
	}
	return leaves[r.IntN(len(leaves))]
}

// randomize sets v to a random value that survives a round trip unchanged.
func randomize(r *rand.Rand, v reflect.Value) {
	switch t := v.Type(); {
	case t == timeType:
		v.Set(reflect.ValueOf(time.Unix(r.Int64N(1<<40)-1<<39, r.Int64N(1e9)).UTC()))
		return
	case t == reflect.TypeFor[celsius]():
		v.Set(reflect.ValueOf(celsius{r.IntN(1000) - 500}))
		return
	case t == reflect.TypeFor[netip.Addr]():
		if r.IntN(4) > 0 {
			v.Set(reflect.ValueOf(netip.AddrFrom4([4]byte{10, 0, 0, byte(r.Uint32())})))
		}
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> r.IntN(64))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.Uint64() >> r.IntN(64))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(math.Ldexp(float64(r.IntN(1<<20)-1<<19), r.IntN(40)-20))
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(complex(float64(r.IntN(100)), -float64(r.IntN(100))))
	case reflect.String:
		v.SetString(randomString(r))
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Name != "_" && f.Tag.Get("weir") != "-" {
				randomize(r, v.Field(i))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			randomize(r, v.Index(i))
		}
	case reflect.Slice:
		if r.IntN(4) > 0 {
			n := r.IntN(4)
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				randomize(r, v.Index(i))
			}
		}
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			randomize(r, v.Elem())
		}
	case reflect.Map:
		if r.IntN(4) > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range r.IntN(4) {
				key, val := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				randomize(r, key)
				randomize(r, val)
				v.SetMapIndex(key, val)
			}
		}
	}
}

func randomString(r *rand.Rand) string {
	b := make([]byte, r.IntN(12))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

// decodeTo decodes n values of prog to a new slice, as Plan.Decode does.
func (p *program) decodeTo(n int, src []byte) (vals reflect.Value, rest []byte, err error) {
	if err := p.rec.justify(n, src); err != nil {
		return reflect.Value{}, nil, err
	}
	vals = reflect.MakeSlice(p.rec.slice, n, n)
	rest, err = p.rec.decode(src, vals.UnsafePointer(), n)
	return vals, rest, err
}

// TestRandomTypes round-trips random values of random types, then decodes
// prefixes of the encoding and damaged copies of it: either an error comes out
// or values that encode again.
func TestRandomTypes(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %#x", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	types := 400
	if testing.Short() {
		types = 50
	}
	for range types {
		typ := randomType(r, 0)
		prog, err := programOf(typ)
		if err != nil {
			t.Fatalf("%v: %v", typ, err)
		}
		for _, n := range []int{1, 7, 8 + r.IntN(40)} {
			vals := reflect.MakeSlice(prog.rec.slice, n, n)
			for i := range n {
				randomize(r, vals.Index(i))
			}
			enc, err := prog.append(nil, vals.UnsafePointer(), n)
			if err != nil {
				t.Fatalf("%v: %v", typ, err)
			}
			got, rest, err := prog.decodeTo(n, enc)
			if err != nil || len(rest) != 0 {
				t.Fatalf("%v: %d bytes left, %v", typ, len(rest), err)
			}
			if !reflect.DeepEqual(got.Interface(), vals.Interface()) {
				t.Fatalf("%v:\ngot  %+v\nwant %+v", typ, got, vals)
			}
			if prog.rec.fixed && uint64(len(enc))*8 != uint64(n)*prog.rec.minBits {
				t.Fatalf("%v: %d values take %d bytes, but %d bits each", typ, n, len(enc), prog.rec.minBits)
			}
			if uint64(len(enc))*8 < uint64(n)*prog.rec.minBits {
				t.Fatalf("%v: %d values take only %d bytes, less than %d bits each", typ, n, len(enc), prog.rec.minBits)
			}
			damage(t, r, prog, n, enc)
		}
	}
}

// damage decodes what is left of enc, a valid encoding of n values, after
// accidents.
func damage(t *testing.T, r *rand.Rand, prog *program, n int, enc []byte) {
	t.Helper()
	for range min(len(enc), 50) {
		cut := r.IntN(len(enc))
		if _, _, err := prog.decodeTo(n, bytes.Clone(enc[:cut])); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%v: %d of %d bytes: error %v, want ErrCorrupt", prog.rec.typ, cut, len(enc), err)
		}
		bad := bytes.Clone(enc)
		for range 1 + r.IntN(3) {
			bad[r.IntN(len(bad))] ^= byte(1 << r.IntN(8))
		}
		vals, _, err := prog.decodeTo(n, bad)
		if err == nil {
			_, err = prog.append(nil, vals.UnsafePointer(), n)
		} else if !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%v: %x: error %v, want ErrCorrupt", prog.rec.typ, bad, err)
		}
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%v: encode what %x decoded to: %v", prog.rec.typ, bad, err)
		}
	}
}

// fuzzTypes are the record types that FuzzDecode chooses from.
var fuzzTypes = []reflect.Type{
	reflect.TypeFor[benchRow](), reflect.TypeFor[order](), reflect.TypeFor[scalars](), reflect.TypeFor[string](),
	reflect.TypeFor[[]byte](), reflect.TypeFor[[][]string](), reflect.TypeFor[map[string]map[int8]bool](),
	reflect.TypeFor[**int32](), reflect.TypeFor[*struct{}](), reflect.TypeFor[[]allSkipped](), reflect.TypeFor[[2]*[3]string](),
	reflect.TypeFor[map[struct{}]time.Time](), reflect.TypeFor[[]celsius](), reflect.TypeFor[netip.Addr](),
}

// FuzzDecode decodes arbitrary bytes. What decodes must encode again, and then
// decode and encode to as many bytes: maps may change their order.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for i, typ := range fuzzTypes {
		prog, err := programOf(typ)
		if err != nil {
			f.Fatal(err)
		}
		vals := reflect.MakeSlice(prog.rec.slice, 3, 3)
		for j := range 3 {
			randomize(r, vals.Index(j))
		}
		enc, err := prog.append(nil, vals.UnsafePointer(), 3)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), uint16(3), enc)
		f.Add(uint8(i), uint16(1000), enc)
	}
	f.Fuzz(func(t *testing.T, which uint8, n uint16, src []byte) {
		prog, err := programOf(fuzzTypes[int(which)%len(fuzzTypes)])
		if err != nil {
			t.Fatal(err)
		}
		vals, rest, err := prog.decodeTo(int(n), src)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("error %v, want ErrCorrupt", err)
			}
			return
		}
		if len(rest) > len(src) {
			t.Fatalf("%d bytes left of %d", len(rest), len(src))
		}
		first, err := prog.append(nil, vals.UnsafePointer(), int(n))
		if err != nil {
			t.Fatalf("encode what was decoded: %v", err)
		}
		vals, rest, err = prog.decodeTo(int(n), first)
		if err != nil || len(rest) != 0 {
			t.Fatalf("decode what was encoded: %d bytes left, %v", len(rest), err)
		}
		second, err := prog.append(nil, vals.UnsafePointer(), int(n))
		if err != nil || len(first) != len(second) {
			t.Fatalf("%d bytes became %d: %v", len(first), len(second), err)
		}
	})
}
