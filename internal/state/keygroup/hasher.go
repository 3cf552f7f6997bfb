package keygroup

import (
	"fmt"
	"reflect"
	"unsafe"
)

// Kind says how the keys of a Go type are hashed and kept.
type Kind uint8

// The kinds of keys. All but String and Encoded are integers.
const (
	Encoded Kind = iota // through the canonical bytes that an encoder writes
	String
	Uint8 // also bool
	Uint16
	Uint32
	Uint64 // also uint and uintptr
	Int8
	Int16
	Int32
	Int64 // also int
)

// KindOf returns the kind of the keys of type K, by its underlying type.
func KindOf[K comparable]() Kind {
	switch t := reflect.TypeFor[K](); t.Kind() {
	case reflect.String:
		return String
	case reflect.Bool:
		return Uint8
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return map[uintptr]Kind{1: Uint8, 2: Uint16, 4: Uint32, 8: Uint64}[t.Size()]
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return map[uintptr]Kind{1: Int8, 2: Int16, 4: Int32, 8: Int64}[t.Size()]
	}
	return Encoded
}

// Integer says whether keys of this kind are integers.
func (k Kind) Integer() bool { return k > String }

// Load returns the integer at p, of this kind, widened to 64 bits. Signed
// integers are sign-extended.
func (k Kind) Load(p unsafe.Pointer) uint64 {
	switch k {
	case Int64, Uint64:
		return *(*uint64)(p)
	case Int32:
		return uint64(*(*int32)(p))
	case Uint32:
		return uint64(*(*uint32)(p))
	case Int16:
		return uint64(*(*int16)(p))
	case Uint16:
		return uint64(*(*uint16)(p))
	case Int8:
		return uint64(*(*int8)(p))
	}
	return uint64(*(*uint8)(p))
}

// Store writes x, which Load returned for this kind, to the integer at p.
func (k Kind) Store(p unsafe.Pointer, x uint64) {
	switch k {
	case Int64, Uint64:
		*(*uint64)(p) = x
	case Int32, Uint32:
		*(*uint32)(p) = uint32(x)
	case Int16, Uint16:
		*(*uint16)(p) = uint16(x)
	default:
		*(*uint8)(p) = uint8(x)
	}
}

// A Hasher hashes the keys of one type. The exchange that partitions by key
// and the table that keeps the key must use equal ones. One goroutine owns it.
type Hasher[K comparable] struct {
	kind   Kind
	encode func(dst []byte, k *K) []byte
	buf    []byte // the encoding of the last key; Encoded only
	key    K      // the key being encoded; Encoded only
}

// NewHasher returns the hasher of K. Keys that are neither integers nor strings
// need encode, which appends the canonical bytes of *k to dst and returns it:
// equal keys must have equal bytes and different keys different ones. For
// integers and strings encode is not used.
func NewHasher[K comparable](encode func(dst []byte, k *K) []byte) (*Hasher[K], error) {
	kind := KindOf[K]()
	if kind == Encoded && encode == nil {
		return nil, fmt.Errorf("hashing keys of type %v: the type is neither an integer nor a string, so it needs an encoder, and none was given", reflect.TypeFor[K]())
	}
	return &Hasher[K]{kind: kind, encode: encode}, nil
}

// Kind returns the kind of K.
func (h *Hasher[K]) Kind() Kind { return h.kind }

// Hash returns the hash of k.
func (h *Hasher[K]) Hash(k K) uint64 {
	switch h.kind {
	case String:
		return HashString(*(*string)(unsafe.Pointer(&k)))
	case Encoded:
		return h.hashEncoded(k)
	}
	return HashInt(h.kind.Load(unsafe.Pointer(&k)))
}

// hashEncoded hands the encoder a copy of k that is already in the heap, so
// that no key is allocated.
func (h *Hasher[K]) hashEncoded(k K) uint64 {
	h.key = k
	h.buf = h.encode(h.buf[:0], &h.key)
	return HashBytes(h.buf)
}

// HashBatch sets hashes[i] to the hash of keys[i] for each key; hashes must be
// at least as long as keys.
func (h *Hasher[K]) HashBatch(keys []K, hashes []uint64) {
	if len(keys) == 0 {
		return
	}
	hashes = hashes[:len(keys)]
	base := unsafe.Pointer(unsafe.SliceData(keys))
	switch h.kind {
	case Int64, Uint64:
		for i, x := range unsafe.Slice((*uint64)(base), len(keys)) {
			hashes[i] = HashInt(x)
		}
	case String:
		for i, s := range unsafe.Slice((*string)(base), len(keys)) {
			hashes[i] = HashString(s)
		}
	case Encoded:
		for i := range keys {
			h.buf = h.encode(h.buf[:0], &keys[i])
			hashes[i] = HashBytes(h.buf)
		}
	default:
		for i := range keys {
			hashes[i] = HashInt(h.kind.Load(unsafe.Pointer(&keys[i])))
		}
	}
}
