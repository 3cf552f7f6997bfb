package codec

import (
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// A Plan encodes and decodes slices of T column by column. It is immutable and
// safe for concurrent use.
type Plan[T any] struct {
	prog *program
}

// A program is the part of a plan that does not depend on the type parameter.
type program struct {
	rec         *record
	schema      Schema
	fingerprint uint64
	pointerFree bool
	keyErr      *TypeError // nil when the type may be a key
}

// compiled is what is remembered of a type, whether it can be encoded or not.
type compiled struct {
	prog *program
	err  *TypeError
}

var (
	programs sync.Map // reflect.Type -> compiled
	plans    sync.Map // reflect.Type of T -> *Plan[T]
)

// For returns the plan of T, compiling it the first time. When T cannot be
// encoded the error is a *TypeError that names the field.
func For[T any]() (*Plan[T], error) {
	t := reflect.TypeFor[T]()
	if p, ok := plans.Load(t); ok {
		return p.(*Plan[T]), nil
	}
	prog, err := programOf(t)
	if err != nil {
		return nil, err
	}
	p, _ := plans.LoadOrStore(t, &Plan[T]{prog})
	return p.(*Plan[T]), nil
}

// Check says whether values of type t can be encoded, as For does. The error
// is a *TypeError.
func Check(t reflect.Type) error {
	_, err := programOf(t)
	return err
}

// programOf returns the program of t, compiled at most a few times.
func programOf(t reflect.Type) (*program, error) {
	if t == nil {
		return nil, &TypeError{Root: "nil", Path: "nil", Type: "nil", Reason: "there is no type to encode"}
	}
	c, ok := programs.Load(t)
	if !ok {
		prog, err := compile(t)
		c, _ = programs.LoadOrStore(t, compiled{prog, err})
	}
	if err := c.(compiled).err; err != nil {
		return nil, err
	}
	return c.(compiled).prog, nil
}

// Append appends the encoding of vals to dst and returns the longer slice.
// The number of values is not written: Decode must be told it. On an error
// (a column outgrew 2 GiB, or an AppendBinary failed) dst is returned at its
// old length. Nothing is allocated but what dst needs to grow.
func (p *Plan[T]) Append(dst []byte, vals []T) ([]byte, error) {
	return p.prog.append(dst, unsafe.Pointer(unsafe.SliceData(vals)), len(vals))
}

// Decode decodes n values from the front of src, appends them to dst and
// returns the rest of src. No value refers to src: the strings of a column are
// cut from one allocation for the batch, and so are its byte slices, slices
// and pointees; keeping one of them keeps them all in memory.
//
// When the input is to blame the error wraps ErrCorrupt. On an error dst and
// src are returned as they were, but dst's capacity may have been written to.
func (p *Plan[T]) Decode(dst []T, n int, src []byte) (vals []T, rest []byte, err error) {
	if n == 0 {
		return dst, src, nil
	}
	if err := p.prog.rec.justify(n, src); err != nil {
		return dst, src, err
	}
	out := slices.Grow(dst, n)[:len(dst)+n]
	tail := out[len(dst):]
	if p.prog.rec.partial {
		clear(tail)
	}
	rest, err = p.prog.rec.decode(src, unsafe.Pointer(unsafe.SliceData(tail)), n)
	if err != nil {
		return dst, src, err
	}
	return out, rest, nil
}

// Fixed returns the number of encoded bytes a record, if that is the same for
// every record: all columns are of fixed width.
func (p *Plan[T]) Fixed() (bytes int, ok bool) {
	rec := p.prog.rec
	return int(rec.minBits / 8), rec.fixed
}

// PointerFree says whether T holds no Go pointer, so that the garbage
// collector never looks into a []T.
func (p *Plan[T]) PointerFree() bool { return p.prog.pointerFree }

// Fingerprint identifies the shape of the encoding: the names, kinds and order
// of the fields, not the names of types. It is the same in every process and
// on every machine; plans of equal fingerprints understand each other.
func (p *Plan[T]) Fingerprint() uint64 { return p.prog.fingerprint }
