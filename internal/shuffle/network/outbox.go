package network

import (
	"bytes"
	"net"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/shuffle"
)

// maxFrames is how many buffers one write of a session gathers at most, and
// minFrames how many a session cannot do without.
const maxFrames, minFrames = 8, 2

// An outbox is what one write to a connection will send: frames in a few
// buffers, small ones together in one.
//
// Only the session's writer uses it.
type outbox struct {
	pool    *pool
	frame   int // the size of the largest frame
	buffers []buffer
	ends    []int // where each buffer in use ends
	vectors net.Buffers
}

func newOutbox(p *pool, buffers, frame int) *outbox {
	o := &outbox{pool: p, frame: frame, ends: make([]int, 0, buffers), vectors: make(net.Buffers, 0, buffers)}
	for range buffers {
		o.buffers = append(o.buffers, p.take())
	}
	return o
}

func (o *outbox) close() {
	for _, b := range o.buffers {
		o.pool.put(b)
	}
	o.buffers = nil
}

func (o *outbox) empty() bool { return len(o.ends) == 0 }

// full reports whether the last buffer has been begun. A frame of any kind
// finds room otherwise.
func (o *outbox) full() bool { return len(o.ends) == len(o.buffers) }

// room gives the buffer that has so many bytes free, and where they begin.
func (o *outbox) room(size int) (b buffer, at int) {
	if n := len(o.ends); n > 0 && o.pool.size-o.ends[n-1] >= size {
		return o.buffers[n-1], o.ends[n-1]
	}
	o.ends = append(o.ends, 0)
	return o.buffers[len(o.ends)-1], 0
}

// add makes a frame of what was written after the room for its header.
func (o *outbox) add(b buffer, at, size int, h header) {
	h.length = size
	h.put(b[at:])
	o.ends[len(o.ends)-1] = at + headerSize + size
}

// control adds a control element, or its first frame if the options of a barrier are
// too long for one.
func (o *outbox) control(v *view, e element.Element) {
	if headerSize+maxControl+len(e.Options) > o.frame {
		v.rest, v.control = appendControl(nil, e), true
		o.chunk(v, 0)
		return
	}
	b, at := o.room(headerSize + maxControl + len(e.Options))
	size := len(appendControl(b[at+headerSize:at+headerSize], e))
	o.add(b, at, size, header{channel: v.id, kind: frameControl, seq: v.seq})
	v.seq++
}

// failure adds the last frame of a view.
func (o *outbox) failure(v *view, err error) {
	b, at := o.room(headerSize + 1 + maxFailure)
	payload := appendFailure(b[at+headerSize:at+headerSize], err)
	o.add(b, at, len(payload), header{channel: v.id, kind: frameFailure})
}

// batch encodes a batch in place and adds its first frame; what does not fit
// becomes the view's rest. It releases the batch.
func (o *outbox) batch(v *view, p shuffle.Partition, data batch.Batch, backlog int) error {
	if encoded, is := data.(*shuffle.Encoded); is {
		if v.rest = encoded.Bytes; headerSize+len(v.rest) > o.frame {
			v.rest = bytes.Clone(v.rest) // it outlives this call, and maybe the view
		}
		o.chunk(v, backlog)
		encoded.Release()
		return nil
	}
	records := data.Len()
	size := o.frame
	if guess := p.EncodedSize(records); guess > 0 {
		size = min(size, headerSize+64+guess+guess/8)
	}
	b, at := o.room(size)
	start := at + headerSize
	out, err := v.encode(b[:start], data)
	if err != nil {
		if at == 0 {
			o.ends = o.ends[:len(o.ends)-1]
		}
		return err
	}
	p.Encoded(records, len(out)-start)
	backlog = min(backlog, 1<<16-1)
	inPlace := &out[0] == &b[0]
	if inPlace && len(out)-at <= o.frame {
		o.add(b, at, len(out)-start, header{channel: v.id, kind: frameData, seq: v.seq, backlog: uint16(backlog)})
		v.seq++
		return nil
	}
	if at == 0 {
		o.ends = o.ends[:len(o.ends)-1] // not begun after all: chunk asks again
	}
	if v.rest = out[start:]; inPlace {
		v.rest = bytes.Clone(v.rest) // the consumer's buffers are smaller than ours
	}
	o.chunk(v, backlog)
	return nil
}

// chunk adds the next frame of the view's rest.
func (o *outbox) chunk(v *view, backlog int) {
	most := o.frame - headerSize
	if len(v.rest) > most && !v.control {
		// The consumer should lend enough for the rest.
		backlog = max(backlog, (len(v.rest)-1)/most)
	}
	n := min(len(v.rest), most)
	b, at := o.room(headerSize + n)
	copy(b[at+headerSize:], v.rest[:n])
	h := header{channel: v.id, kind: frameData, seq: v.seq, backlog: uint16(min(backlog, 1<<16-1))}
	if v.control {
		h.kind = frameControl
	}
	if v.rest = v.rest[n:]; len(v.rest) > 0 {
		h.flags = flagMore
	} else {
		v.rest, v.control = nil, false
	}
	o.add(b, at, n, h)
	v.seq++
}

// write sends everything and empties the outbox.
func (o *outbox) write(conn net.Conn) error {
	o.vectors = o.vectors[:0]
	for i, end := range o.ends {
		o.vectors = append(o.vectors, o.buffers[i][:end])
	}
	o.ends = o.ends[:0]
	if len(o.vectors) == 1 {
		_, err := conn.Write(o.vectors[0])
		return err
	}
	rest := o.vectors // WriteTo consumes it
	_, err := rest.WriteTo(conn)
	return err
}
