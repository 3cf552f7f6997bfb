// Package batch holds the unit of exchange between tasks: a batch of records.
//
// It promises that a batch has one owner at a time, that handing it over hands
// over everything in it, and that Release gives its memory back for reuse. The
// runtime sees only Batch, once per about a thousand records; the typed chain
// sees Rows. It never looks at a single record and never knows what one means.
package batch

// MaxRows is how many records a batch holds at most: enough to make every
// per-batch cost vanish, few enough to stay in a core's cache.
const MaxRows = 1024

// Batch is what the runtime sees of a batch.
type Batch interface {
	// Len is the number of records.
	Len() int
	// Release gives the batch back to where it came from. Only its owner
	// calls it, once, and does not touch the batch afterwards.
	Release()
}

// RowKind says what a record does to the table the stream describes.
type RowKind uint8

// The row kinds of a changelog.
const (
	Insert RowKind = iota
	UpdateBefore
	UpdateAfter
	Delete
)

// NoTimestamp stands in for the event time of a record that has none.
const NoTimestamp int64 = -1 << 63

// Rows is a batch of typed records.
//
// Invariant: TS and Kind are either empty or as long as Vals.
type Rows[T any] struct {
	// Vals are the records, in order.
	Vals []T
	// TS are the records' event times in Unix milliseconds; empty: none has one.
	TS []int64
	// Kind is each record's row kind; empty: every record is an Insert.
	Kind []RowKind

	pool *Pool[T]
}

// Len is the number of records.
func (r *Rows[T]) Len() int { return len(r.Vals) }

// Release gives the batch back to its pool, if it has one.
func (r *Rows[T]) Release() {
	if r.pool != nil {
		r.pool.put(r)
	}
}

// Append adds one record; ts is ignored while the batch carries no timestamps
// and NoTimestamp is given.
func (r *Rows[T]) Append(v T, ts int64) {
	if ts != NoTimestamp || len(r.TS) > 0 {
		r.appendTimestamp(ts)
	}
	r.Vals = append(r.Vals, v)
}

// appendTimestamp keeps TS as long as Vals, filling in for earlier records.
func (r *Rows[T]) appendTimestamp(ts int64) {
	for len(r.TS) < len(r.Vals) {
		r.TS = append(r.TS, NoTimestamp)
	}
	r.TS = append(r.TS, ts)
}

// Timestamp is the event time of record i, or NoTimestamp.
func (r *Rows[T]) Timestamp(i int) int64 {
	if len(r.TS) == 0 {
		return NoTimestamp
	}
	return r.TS[i]
}
