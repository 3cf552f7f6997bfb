package keygroup

import (
	"encoding/binary"
	"testing"
	"unsafe"
)

func pointer(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

type (
	userID int32
	label  string
	point  struct{ x, y int16 }
)

func encodePoint(dst []byte, p *point) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, uint16(p.x))
	return binary.LittleEndian.AppendUint16(dst, uint16(p.y))
}

func checkHasher[K comparable](t *testing.T, encode func([]byte, *K) []byte, kind Kind, want func(K) uint64, keys ...K) {
	t.Helper()
	h, err := NewHasher(encode)
	if err != nil {
		t.Fatal(err)
	}
	if h.Kind() != kind {
		t.Errorf("%T has kind %d, want %d", keys[0], h.Kind(), kind)
	}
	hashes := make([]uint64, len(keys))
	h.HashBatch(keys, hashes)
	for i, k := range keys {
		if h.Hash(k) != want(k) || hashes[i] != want(k) {
			t.Errorf("%T %v: Hash %#x, HashBatch %#x, want %#x", k, k, h.Hash(k), hashes[i], want(k))
		}
		if kind.Integer() {
			back := k
			kind.Store(unsafe.Pointer(&back), ^uint64(0))
			kind.Store(unsafe.Pointer(&back), kind.Load(unsafe.Pointer(&k)))
			if back != k {
				t.Errorf("%T %v comes back as %v", k, k, back)
			}
		}
	}
	h.HashBatch(nil, nil)
}

func signed[K ~int8 | ~int16 | ~int32 | ~int64 | ~int](k K) uint64 { return HashInt(uint64(int64(k))) }

func unsigned[K ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint | ~uintptr](k K) uint64 {
	return HashInt(uint64(k))
}

func TestHasherOfEachKind(t *testing.T) {
	checkHasher(t, nil, Int8, signed[int8], 0, 1, -1, 127, -128)
	checkHasher(t, nil, Int16, signed[int16], 0, 1, -1, -32768)
	checkHasher(t, nil, Int32, signed[userID], 0, 1, -1, -1<<31)
	checkHasher(t, nil, Int64, signed[int64], 0, 1, -1, -1<<63)
	checkHasher(t, nil, Int64, signed[int], 0, 1, -1)
	checkHasher(t, nil, Uint8, unsigned[uint8], 0, 255)
	checkHasher(t, nil, Uint16, unsigned[uint16], 0, 65535)
	checkHasher(t, nil, Uint32, unsigned[uint32], 0, 1<<32-1)
	checkHasher(t, nil, Uint64, unsigned[uint64], 0, 1<<64-1)
	checkHasher(t, nil, Uint64, unsigned[uint], 0, 5)
	checkHasher(t, nil, Uint64, unsigned[uintptr], 0, 5)
	checkHasher(t, nil, String, func(s label) uint64 { return HashString(string(s)) }, "", "a", "a longer label than sixteen")
	checkHasher(t, nil, Uint8, func(b bool) uint64 {
		if b {
			return HashInt(1)
		}
		return HashInt(0)
	}, false, true)
	checkHasher(t, encodePoint, Encoded, func(p point) uint64 { return HashBytes(encodePoint(nil, &p)) }, point{}, point{-1, 2})
}

func TestHasherRefusesATypeWithoutEncoder(t *testing.T) {
	if _, err := NewHasher[point](nil); err == nil {
		t.Error("a struct key without an encoder was accepted")
	}
	if _, err := NewHasher[float64](nil); err == nil {
		t.Error("a float key without an encoder was accepted")
	}
}

func TestHashingDoesNotAllocate(t *testing.T) {
	h, err := NewHasher(encodePoint)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewHasher[string](nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { sink += h.Hash(point{1, 2}) + s.Hash("word") }); n != 0 {
		t.Errorf("hashing two keys allocates %v times", n)
	}
}
