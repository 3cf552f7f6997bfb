package operator

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/codec"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/streamgraph"
)

// Stream is one stream with its record type hidden: what the runtime needs made
// for the type, and does not know.
type Stream interface {
	// Fanout makes one receiver that feeds several.
	Fanout(outs []any) any
	// Beside gives out, whose watermarks and end are passed on to others as well.
	Beside(out any, others []Head) any
	// Tail makes the receiver that partitions records over w's subpartitions.
	Tail(c *Context, e TailEdge, w shuffle.Writer) any
	// Mine makes the function that leaves in a batch the records that the partitioner of
	// an operator, Hash or Custom, sends to one of n subtasks.
	Mine(e TailEdge, of string, subtask, n int) func(b batch.Batch)
	// Head gives the functions that feed in, a receiver of this type, and attend
	// to the task's signal between records.
	Head(in any, signal *Signal) Head
	// Serializer makes a serializer for one edge end.
	Serializer() shuffle.Serializer
	// Err says why records of this type cannot leave a process; nil if they can.
	Err() error
	// Type is the record type's name with its codec's fingerprint.
	Type() string
}

// Head feeds an untyped task's batches into a typed chain.
type Head struct {
	Batch     func(b batch.Batch)
	Watermark func(t int64)
	Idle      func(idle bool)
	Finish    func()
}

// TailEdge says how a tail partitions.
type TailEdge struct {
	Partitioner streamgraph.Partitioner
	Route       any // *Router[T] for Hash and Custom
	// MaxParallelism of the consumer: its number of key groups.
	MaxParallelism int
}

// StreamOf is the Stream of records of type T.
type StreamOf[T any] struct {
	plan *codec.Plan[T]
	err  error
	pool *batch.Pool[T]
}

// poolBatches is how many idle batches one stream keeps in a process.
const poolBatches = 256

// NewStream compiles T's codec. An unencodable T is not an error here: it only
// is one where a record has to leave the process (Err).
func NewStream[T any]() *StreamOf[T] {
	s := &StreamOf[T]{}
	s.plan, s.err = codec.For[T]()
	s.pool = s.newPool(poolBatches, batch.MaxRows)
	return s
}

// newPool makes a pool of batches of the stream's records.
func (s *StreamOf[T]) newPool(limit, rows int) *batch.Pool[T] {
	return batch.NewPool[T](limit, rows, s.err == nil && s.plan.PointerFree())
}

// Err says why records of this type cannot leave a process.
func (s *StreamOf[T]) Err() error { return s.err }

// Type names T and the shape of its encoding.
func (s *StreamOf[T]) Type() string {
	name := reflect.TypeFor[T]().String()
	if s.err != nil {
		return name
	}
	return fmt.Sprintf("%s#%016x", name, s.plan.Fingerprint())
}

// Fanout makes one receiver that feeds all of outs, in order.
func (s *StreamOf[T]) Fanout(outs []any) any {
	if len(outs) == 1 {
		return outs[0]
	}
	all := make([]*Receiver[T], len(outs))
	heads := make([]Head, len(outs))
	var splits Splitting[T]
	for i, out := range outs {
		r := Output[T](out)
		all[i], heads[i] = r, Head{Watermark: r.Watermark, Idle: r.Idle, Finish: r.Finish}
		if r.Splits != nil {
			splits = r.Splits
		}
	}
	if splits != nil {
		splits = splits.Among(all)
	}
	h := together(heads)
	return &Receiver[T]{
		Push: func(v T, ts int64) {
			for _, r := range all {
				r.Push(v, ts)
			}
		},
		Watermark: h.Watermark, Idle: h.Idle, Finish: h.Finish, Splits: splits,
	}
}

// together makes one head of several, in order, but for their records.
//
//go:noinline
func together(all []Head) Head {
	return Head{
		Watermark: func(t int64) {
			for _, h := range all {
				h.Watermark(t)
			}
		},
		Idle: func(idle bool) {
			for _, h := range all {
				h.Idle(idle)
			}
		},
		Finish: func() {
			for _, h := range all {
				h.Finish()
			}
		},
	}
}

// Beside gives out, whose watermarks and end are passed on to others as well:
// to the side outputs first, which the end of the main one must not overtake.
func (s *StreamOf[T]) Beside(out any, others []Head) any {
	if len(others) == 0 {
		return out
	}
	r := *Output[T](out)
	h := together(append(slices.Clone(others), Head{Watermark: r.Watermark, Idle: r.Idle, Finish: r.Finish}))
	r.Watermark, r.Idle, r.Finish = h.Watermark, h.Idle, h.Finish
	return &r
}

// Head gives the functions that feed in.
func (s *StreamOf[T]) Head(in any, signal *Signal) Head {
	r := Output[T](in)
	push := r.PushBatch
	if push == nil {
		push = func(b *batch.Rows[T]) { pushEach(r.Push, b, signal) }
	}
	return Head{
		Batch:     func(b batch.Batch) { push(b.(*batch.Rows[T])) },
		Watermark: r.Watermark,
		Idle:      r.Idle,
		Finish:    r.Finish,
	}
}

func pushEach[T any](push func(T, int64), b *batch.Rows[T], signal *Signal) {
	for next := 0; next < len(b.Vals); {
		end := min(next+signal.Block(), len(b.Vals))
		if len(b.TS) == 0 {
			for _, v := range b.Vals[next:end] {
				push(v, batch.NoTimestamp)
			}
		} else {
			for i, v := range b.Vals[next:end] {
				push(v, b.TS[next+i])
			}
		}
		next = end
	}
}

// Serializer makes a serializer for one edge end.
func (s *StreamOf[T]) Serializer() shuffle.Serializer { return &serializer[T]{stream: s} }

// serializer writes a batch as: row count (uint32), flags (1 byte: timestamps,
// kinds), the timestamps, the kinds, then the columns of the records.
type serializer[T any] struct{ stream *StreamOf[T] }

const (
	flagTimestamps = 1 << iota
	flagKinds
)

// maxWireRows bounds the row count a peer may claim.
const maxWireRows = 1 << 20

func (s *serializer[T]) Append(dst []byte, b batch.Batch) ([]byte, error) {
	if s.stream.err != nil {
		return dst, s.stream.err
	}
	r := b.(*batch.Rows[T])
	return s.stream.plan.Append(appendHeader(dst, len(r.Vals), r.TS, r.Kind), r.Vals)
}

// appendHeader writes all of a batch but the columns of its records.
//
//go:noinline
func appendHeader(dst []byte, rows int, times []int64, kinds []batch.RowKind) []byte {
	var flags byte
	if len(times) > 0 {
		flags |= flagTimestamps
	}
	if len(kinds) > 0 {
		flags |= flagKinds
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(rows))
	dst = append(dst, flags)
	for _, ts := range times {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(ts))
	}
	for _, k := range kinds {
		dst = append(dst, byte(k))
	}
	return dst
}

func (s *serializer[T]) Decode(src []byte) (batch.Batch, error) {
	if s.stream.err != nil {
		return nil, s.stream.err
	}
	n, err := checkHeader(src)
	if err != nil {
		return nil, err
	}
	r := s.stream.pool.Get()
	r.TS, r.Kind, src = readHeader(src, n, r.TS, r.Kind)
	vals, rest, err := s.stream.plan.Decode(r.Vals, n, src)
	if err != nil || len(rest) > 0 {
		r.Release()
		return nil, undecoded(n, len(rest), err)
	}
	r.Vals = vals
	return r, nil
}

// checkHeader gives the number of records of an encoded batch.
//
//go:noinline
func checkHeader(src []byte) (rows int, err error) {
	if len(src) < 5 {
		return 0, fmt.Errorf("decode batch: %d bytes, want at least 5", len(src))
	}
	n, flags := int(binary.LittleEndian.Uint32(src)), src[4]
	need := 0
	if flags&flagTimestamps != 0 {
		need += 8 * n
	}
	if flags&flagKinds != 0 {
		need += n
	}
	if n > maxWireRows || need > len(src)-5 {
		return 0, fmt.Errorf("decode batch: %d records do not fit into %d bytes", n, len(src)-5)
	}
	return n, nil
}

// readHeader reads what stands before the columns of n records.
//
//go:noinline
func readHeader(src []byte, n int, times []int64, kinds []batch.RowKind) ([]int64, []batch.RowKind, []byte) {
	flags := src[4]
	src = src[5:]
	if flags&flagTimestamps != 0 {
		for range n {
			times = append(times, int64(binary.LittleEndian.Uint64(src)))
			src = src[8:]
		}
	}
	if flags&flagKinds != 0 {
		for _, k := range src[:n] {
			kinds = append(kinds, batch.RowKind(k))
		}
		src = src[n:]
	}
	return times, kinds, src
}

// undecoded says why a batch could not be read.
//
//go:noinline
func undecoded(rows, rest int, err error) error {
	if err == nil {
		err = fmt.Errorf("%d bytes too many", rest)
	}
	return fmt.Errorf("decode batch of %d records: %w", rows, err)
}
