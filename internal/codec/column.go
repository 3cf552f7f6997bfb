package codec

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// A kind selects the loops that encode and decode a column.
type kind uint8

const (
	kindFixed   kind = iota // count scalars of width bytes, raw
	kindInt                 // int or uint where that is not 64 bits wide
	kindTime                // time.Time
	kindString              // string
	kindBytes               // []byte
	kindSlice               // []elem
	kindMap                 // map[elem]val
	kindPointer             // *elem
	kindArray               // count columns of elem
	kindBinary              // a type that encodes itself
	kindPad                 // a zero byte for a value that has no columns
)

// A class says what the bits of a fixed scalar mean, where that matters.
type class uint8

const (
	classBits   class = iota // integers: every pattern is a value of its own
	classBool                // only 0 and 1 are values
	classFloat               // zeros and NaNs have several patterns
	classSigned              // of kindInt: sign-extended to 64 bits
)

// A column is one column of a record. It is immutable once compiled.
type column struct {
	kind    kind
	class   class
	width   uintptr      // bytes of one scalar, of kindFixed
	count   uintptr      // scalars a value, of kindFixed; elements, of kindArray
	off     uintptr      // offset in the record
	elem    *record      // of kindSlice, kindMap (keys), kindPointer, kindArray
	val     *record      // of kindMap
	typ     reflect.Type // the Go type of the value
	path    string       // where it is, for errors
	entries *sync.Pool   // of *mapEntries, of kindMap
}

// A record is a type whose values are encoded together: the root, or the
// element of a slice, map, pointer or array.
type record struct {
	typ     reflect.Type
	slice   reflect.Type // []typ
	size    uintptr      // bytes in memory, the distance of neighbours in a slice
	cols    []column
	minBits uint64 // the fewest encoded bits a value takes, exact if fixed
	fixed   bool   // every value takes minBits
	partial bool   // decoding does not overwrite the whole value
	nested  bool   // some column needs lists of runs to be encoded
}

// justify checks that src can hold n values, before memory for them is
// allocated.
func (r *record) justify(n int, src []byte) error {
	if n < 0 || n > maxColumn {
		return fmt.Errorf("decode %d values of %s: %w", n, r.typ, ErrCorrupt)
	}
	if r.minBits > 0 && uint64(n) > uint64(len(src))*8/r.minBits {
		return fmt.Errorf("decode %d values of %s from %d bytes: %w", n, r.typ, len(src), ErrCorrupt)
	}
	return nil
}

// zero is what empty slices point to: not nil, and not the end of a slab,
// which may be the start of something else.
var zero uint64

// alloc returns zeroed memory for n values, typed for the garbage collector.
func (r *record) alloc(n int) unsafe.Pointer {
	if n == 0 || r.size == 0 {
		return unsafe.Pointer(&zero)
	}
	return reflect.MakeSlice(r.slice, n, n).UnsafePointer()
}

// A sliceHeader is a slice of any element type. Its pointer is a pointer to
// the compiler too, so that storing one tells the garbage collector.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// littleEndian says whether memory already has the byte order of the format.
var littleEndian = func() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}()
