package network

import (
	"fmt"
	"runtime/debug"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/local"
)

// A view is what a remote consumer sees of one queue: the producer's end of a
// channel.
type view struct {
	session *session
	id      uint32
	request *local.Request // the session's reader only

	// Guarded by the session's mutex.
	queue  *local.Queue // nil while the partition is not there
	err    error        // why it will not be there
	credit int          // data frames that may be sent
	queued bool         // in the session's ready list
	closed bool

	// The session's writer only.
	seq        uint32
	rest       []byte // what remains to be sent of a large batch
	serializer shuffle.Serializer
	failed     bool // the consumer was told; nothing follows
}

// found is called when the partition is there, or does not come.
func (v *view) found(q *local.Queue, err error) {
	s := v.session
	if err == nil {
		err = q.Attach(func() { s.enqueue(v) })
	}
	s.mu.Lock()
	closed := v.closed
	if err == nil {
		v.queue = q
	}
	v.err = err
	s.mu.Unlock()
	if closed && err == nil {
		q.Detach()
		return
	}
	s.enqueue(v) // an earlier call may have found no queue yet
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
		v.serializer = v.queue.Partition().NewSerializer()
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
