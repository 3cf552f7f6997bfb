// Package columns turns batches of columns to bytes and back, for exchanges and for
// files of what does not fit into memory.
//
// A batch is, all numbers little-endian:
//
//	rows      uint32
//	flags     byte: 1 timestamps, 2 row kinds
//	times     8 bytes a row, if flagged
//	kinds     1 byte a row, if flagged
//	columns   one after the other, as many as both sides know of
//
// and a column is:
//
//	layout    byte, a batch.Layout
//	flags     byte: 1 some values are NULL, 2 nanoseconds
//	validity  a 64-bit word for each 64 values or less, if flagged
//	values    by layout: the slices of batch.Column as they lie in memory; offsets
//	          without the first, which is 0, followed by the bytes, or by the columns
//	          of the children
//
// It promises that only the rows that count are written, that decoding checks all it
// reads and shares no memory with it, and that what lies where a value is NULL does not
// matter. It never looks at what values mean.
package columns
