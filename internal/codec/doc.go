// Package codec turns slices of Go records into bytes and back, column by
// column.
//
// A record type is compiled once, by reflection, to a plan: a list of columns,
// each a kind and an offset in the record. A batch is then encoded one column
// after the other by loops over memory, without reflection, boxing or
// allocation for a record. Records are shuffled, checkpointed and stored in
// state in this one format.
//
// # What it promises
//
// A plan decodes what a plan of the same [Plan.Fingerprint] encoded, on any
// machine: the format is little-endian and the same for 32 and 64 bits. Decode
// checks everything it reads: bytes that are cut short or damaged give
// [ErrCorrupt], never a panic, and it allocates no more than a multiple of the
// input, fixed by the type. Nothing decoded refers to the input.
//
// # What it never does
//
// It never looks at the dynamic type of a value, so interfaces are refused, as
// are channels, functions, uintptr, unsafe.Pointer and types that contain
// themselves. It never drops a field silently: an unexported field is refused
// unless it is tagged `weir:"-"`, which leaves it out (it decodes as zero).
// It does not keep track of the number of records: the caller writes that down.
//
// # Layout
//
// The columns follow one another in the order of the fields, nested structs
// flattened, each column holding all n values of the batch before the next one
// starts. There is no padding between them, so no column is aligned.
//
//	bool, intN, uintN,   n fixed-width little-endian values; a bool is a byte,
//	floatN, complexN     int and uint are 64 bits, a complex is two floats
//	[k]scalar            n × k scalars, record after record
//	[k]other             k columns, one for each index, as a struct of k fields
//	time.Time            n int64 seconds since 1970 UTC, then n int32 nanoseconds:
//	                     the instant only; location and monotonic clock are lost
//	string               n int32 end offsets, then the bytes
//	[]byte               validity, then as string
//	[]T                  validity, n int32 end offsets, then the elements of all
//	                     n slices as columns of T
//	map[K]V              validity, n int32 end offsets, then the keys of all n
//	                     maps as columns of K, then the values as columns of V,
//	                     in no particular order
//	*T                   validity, then the valid values alone as columns of T
//	BinaryAppender       n int32 end offsets, then what AppendBinary appended
//
// Validity is one byte, 0 when no value is nil; or 1, and then a bitmap of n
// bits, least significant first, a bit set for a value that is not nil. A nil
// slice or map has no elements, and differs from an empty one. A column of no
// values is not written at all, not even its validity.
//
// A record that would take no bytes but has a size in memory (all its fields
// are left out) is written as one zero byte, so that the length of the input
// bounds what decoding allocates; so is an empty pointee or map key.
//
// # Schemas
//
// What is kept for longer than a program runs is kept with the [Schema] of its
// type, and read by a [Reader] when the type has changed since: fields are found by
// their names, those that were added are zero, those that were removed are dropped,
// and integers and floats may have become wider. Everything else is refused with a
// [SchemaError] that names the field and both types. In keys fields cannot come or
// go.
//
// # Types that encode themselves
//
// A type with methods AppendBinary and UnmarshalBinary (encoding.BinaryAppender
// and encoding.BinaryUnmarshaler) is encoded by them, one call a value. A
// struct that merely inherits one of them from an embedded field is encoded
// field by field: the inherited method knows nothing of the other fields.
package codec
