package network

import (
	"fmt"
	"runtime/debug"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/local"
)

// A view is what a remote consumer sees of a partition: the producer's end of a
// channel.
type view struct {
	session *session
	id      uint32
	subs    shuffle.Range
	request *local.Request // the session's reader only

	// Guarded by the session's mutex.
	partition shuffle.Partition // set with source
	source    shuffle.View      // nil while the partition is not there
	err       error             // why it will not be there
	credit    int               // data frames that may be sent
	queued    bool              // in the session's ready list
	closed    bool

	// The session's writer only.
	seq        uint32
	rest       []byte // what remains to be sent of a large batch, or
	control    bool   // of a control element, which costs no credit
	serializer shuffle.Serializer
	failed     bool // the consumer was told; nothing follows
}

// found is called when the partition is there, or does not come.
func (v *view) found(p shuffle.Partition, err error) {
	s := v.session
	var source shuffle.View
	if err == nil {
		source, err = p.View(v.subs, func() { s.enqueue(v) })
	}
	s.mu.Lock()
	closed := v.closed
	if err == nil {
		v.partition, v.source = p, source
	}
	v.err = err
	s.mu.Unlock()
	if closed && err == nil {
		source.Detach()
		return
	}
	if q, is := source.(interface{ OnUrgent(func()) }); is {
		q.OnUrgent(func() { s.hurry(v) })
	}
	s.enqueue(v) // an earlier call may have found no view yet
}

// encode appends the encoding of a batch to dst and releases the batch. User
// types bring code of their own, and its panic must not end the process: here
// it runs outside its task.
func (v *view) encode(dst []byte, b batch.Batch) (out []byte, err error) {
	defer b.Release()
	defer func() {
		if r := recover(); r != nil {
			v.session.env.log.Error("panic while encoding a batch", "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("encode a batch: panic: %v", r)
		}
	}()
	if v.serializer == nil {
		v.serializer = v.partition.NewSerializer()
	}
	out, err = v.serializer.Append(dst, b)
	if err != nil {
		return nil, fmt.Errorf("encode a batch: %w", err)
	}
	if n := len(out) - len(dst); n <= 0 || n > maxBatch {
		return nil, fmt.Errorf("encode a batch of %d records: %d bytes, want 1 to %d", b.Len(), n, maxBatch)
	}
	return out, nil
}
