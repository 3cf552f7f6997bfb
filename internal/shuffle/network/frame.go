package network

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/shuffle"
)

// Every frame begins with a header of headerSize bytes, little endian:
//
//	length  uint32   of the payload that follows, which fits into the consumer's buffers with the header
//	channel uint32   numbered by the consumer from 0 up, never used again
//	kind    uint8
//	flags   uint8
//	backlog uint16   data: batches that wait behind this one
//	seq     uint32   data and control: counts these frames of the channel; credit: how much
const headerSize = 16

// maxBatch is the largest encoding of a batch. It bounds what a consumer
// collects before it decodes.
const maxBatch = 256 << 20

type frameKind uint8

// The frames from the producer, and those from the consumer.
const (
	frameData frameKind = 1 + iota
	frameControl
	frameFailure
	frameRequest
	frameCredit
	frameClose
)

// The flag of a frame whose batch, or control element, goes on in the channel's next
// frame.
const flagMore = 1

// errCorrupt is wrapped by errors about bytes that no correct peer sends.
var errCorrupt = errors.New("corrupt frame")

type header struct {
	length  int
	channel uint32
	kind    frameKind
	flags   uint8
	backlog uint16
	seq     uint32
}

// put writes the header to the first headerSize bytes of b.
func (h header) put(b []byte) {
	_ = b[headerSize-1]
	binary.LittleEndian.PutUint32(b, uint32(h.length))
	binary.LittleEndian.PutUint32(b[4:], h.channel)
	b[8], b[9] = byte(h.kind), h.flags
	binary.LittleEndian.PutUint16(b[10:], h.backlog)
	binary.LittleEndian.PutUint32(b[12:], h.seq)
}

// append adds the header and a payload after dst.
func (h header) append(dst, payload []byte) []byte {
	h.length = len(payload)
	var b [headerSize]byte
	h.put(b[:])
	return append(append(dst, b[:]...), payload...)
}

// parseHeader reads a header; most is the longest payload.
func parseHeader(b []byte, most int) (header, error) {
	_ = b[headerSize-1]
	length := binary.LittleEndian.Uint32(b)
	if int64(length) > int64(most) {
		return header{}, fmt.Errorf("%w: payload of %d bytes, limit %d", errCorrupt, length, most)
	}
	return header{
		length: int(length), channel: binary.LittleEndian.Uint32(b[4:]),
		kind: frameKind(b[8]), flags: b[9], backlog: binary.LittleEndian.Uint16(b[10:]), seq: binary.LittleEndian.Uint32(b[12:]),
	}, nil
}

// A control element's payload is its kind, a bool or how a barrier waits, and an
// int64, and behind a barrier's when it overtakes, an int64, and its options.
const (
	controlSize = 10
	barrierSize = controlSize + 8
	maxControl  = barrierSize // without options
	maxOptions  = 16 << 10
)

func appendControl(dst []byte, e element.Element) []byte {
	if e.Kind == element.Barrier {
		dst = binary.LittleEndian.AppendUint64(append(dst, byte(e.Kind), byte(e.Align)), uint64(e.Checkpoint))
		return append(binary.LittleEndian.AppendUint64(dst, uint64(e.Time)), e.Options...)
	}
	idle := byte(0)
	if e.Idle {
		idle = 1
	}
	return binary.LittleEndian.AppendUint64(append(dst, byte(e.Kind), idle), uint64(e.Time))
}

func parseControl(b []byte) (element.Element, error) {
	if len(b) >= controlSize && element.Kind(b[0]) == element.Barrier {
		return parseBarrier(b)
	}
	if len(b) != controlSize {
		return element.Element{}, fmt.Errorf("%w: control element of %d bytes, want %d", errCorrupt, len(b), controlSize)
	}
	e := element.Element{Kind: element.Kind(b[0]), Idle: b[1] == 1, Time: int64(binary.LittleEndian.Uint64(b[2:]))}
	if e.Kind <= element.Data || e.Kind > element.EndOfPartition || b[1] > 1 {
		return element.Element{}, fmt.Errorf("%w: control element of kind %d, idle %d", errCorrupt, b[0], b[1])
	}
	return e, nil
}

func parseBarrier(b []byte) (element.Element, error) {
	if len(b) < barrierSize || len(b) > barrierSize+maxOptions || element.Align(b[1]) > element.Held {
		return element.Element{}, fmt.Errorf("%w: barrier of %d bytes, way %d", errCorrupt, len(b), b[1])
	}
	e := element.Element{Kind: element.Barrier, Align: element.Align(b[1]), Checkpoint: int64(binary.LittleEndian.Uint64(b[2:])), Time: int64(binary.LittleEndian.Uint64(b[controlSize:]))}
	if len(b) > barrierSize {
		e.Options = bytes.Clone(b[barrierSize:])
	}
	return e, nil
}

// A request is the payload of a request frame.
type request struct {
	partition ident.PartitionID
	subs      shuffle.Range
	credit    uint32
	whole     bool // its producer has finished
}

const requestSize = 3*16 + 6*4

func (r request) append(dst []byte) []byte {
	p := r.partition
	dst = append(dst, p.DataSet.ID[:]...)
	dst = append(dst, p.Producer.Graph.ID[:]...)
	dst = append(dst, p.Producer.Vertex.ID[:]...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(p.Producer.Subtask))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(p.Producer.Attempt))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(r.subs.First))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(r.subs.Last))
	dst = binary.LittleEndian.AppendUint32(dst, r.credit)
	whole := uint32(0)
	if r.whole {
		whole = 1
	}
	return binary.LittleEndian.AppendUint32(dst, whole)
}

func parseRequest(b []byte) (request, error) {
	if len(b) != requestSize {
		return request{}, fmt.Errorf("%w: request of %d bytes, want %d", errCorrupt, len(b), requestSize)
	}
	var r request
	copy(r.partition.DataSet.ID[:], b)
	copy(r.partition.Producer.Graph.ID[:], b[16:])
	copy(r.partition.Producer.Vertex.ID[:], b[32:])
	subtask, attempt := binary.LittleEndian.Uint32(b[48:]), binary.LittleEndian.Uint32(b[52:])
	first, last := binary.LittleEndian.Uint32(b[56:]), binary.LittleEndian.Uint32(b[60:])
	r.credit = binary.LittleEndian.Uint32(b[64:])
	whole := binary.LittleEndian.Uint32(b[68:])
	if max(subtask, attempt, first, last) > 1<<31-1 || r.credit > maxCredit || whole > 1 {
		return request{}, fmt.Errorf("%w: request of subtask %d, attempt %d, subpartitions %d to %d with credit %d, whole %d", errCorrupt, subtask, attempt, first, last, r.credit, whole)
	}
	r.whole = whole == 1
	r.subs = shuffle.Range{First: int(first), Last: int(last)}
	r.partition.Producer.Subtask, r.partition.Producer.Attempt = int(subtask), int(attempt)
	return r, nil
}

// maxCredit bounds the credit of a channel at the producer.
const maxCredit = 1 << 20
