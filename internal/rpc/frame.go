package rpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/ident"
)

// A frame is one message of the stream between two processes:
//
//	call    1  uvarint id  uvarint timeout in microseconds  16 bytes fence
//	           text endpoint  text method  the request, to the end
//	answer  2  uvarint id  1 byte code  text of the error  the answer, to the end
//
// where a text is an uvarint length and that many bytes. Requests and answers
// are encoded protobuf messages. Ids are the calling process's, never zero.
type frame struct {
	kind     byte
	id       uint64
	timeout  time.Duration // call
	fence    ident.LeaderID
	endpoint string
	method   string
	code     code   // answer
	text     string // answer
	payload  []byte // shares memory with the encoded frame
}

const (
	frameCall   = 1
	frameAnswer = 2
)

// maxFrame is the most bytes a frame may have: a message and its header.
const maxFrame = MaxMessage + 64<<10

// maxText is the most bytes of an error's text that travel: a stack trace fits.
const maxText = 32 << 10

// appendCall encodes a call, or says why it cannot be sent.
func appendCall(to []byte, id uint64, timeout time.Duration, endpoint string, c Call) ([]byte, error) {
	to = append(to, frameCall)
	to = binary.AppendUvarint(to, id)
	to = binary.AppendUvarint(to, uint64(max(timeout, 0)/time.Microsecond))
	to = append(to, c.Fence.ID[:]...)
	to = appendText(to, endpoint)
	to = appendText(to, c.Method)
	return appendMessage(to, "request", c.Method, c.Request)
}

func appendAnswer(to []byte, id uint64, c code, text string) []byte {
	to = append(to, frameAnswer)
	to = binary.AppendUvarint(to, id)
	to = append(to, byte(c))
	return appendText(to, text[:min(len(text), maxText)])
}

func appendText(to []byte, text string) []byte {
	to = binary.AppendUvarint(to, uint64(len(text)))
	return append(to, text...)
}

// appendMessage encodes a message, or says why it cannot be sent. On error what
// it returns is useless.
func appendMessage(to []byte, what, method string, m proto.Message) ([]byte, error) {
	if m == nil {
		return to, nil
	}
	if err := checkSize(what, method, proto.Size(m)); err != nil {
		return nil, err
	}
	to, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(to, m)
	if err != nil {
		return nil, Refuse("encode the %s of %s: %v", what, method, err)
	}
	return to, nil
}

// decodeMessage fills a message from a frame's payload.
func decodeMessage(what, method string, payload []byte, into proto.Message) error {
	if err := proto.Unmarshal(payload, into); err != nil {
		return Refuse("decode the %s of %s, a %s of %d bytes: %v",
			what, method, into.ProtoReflect().Descriptor().FullName(), len(payload), err)
	}
	return nil
}

// decodeFrame reads a frame. The payload shares memory with data.
func decodeFrame(data []byte) (frame, error) {
	r := frameReader{rest: data}
	f := frame{kind: r.byte(), id: r.uvarint()}
	switch f.kind {
	case frameCall:
		micros := r.uvarint()
		copy(f.fence.ID[:], r.bytes(uint64(len(f.fence.ID))))
		f.endpoint, f.method = r.text(), r.text()
		if micros > math.MaxInt64/uint64(time.Microsecond) {
			return frame{}, errors.New("frame: timeout out of range")
		}
		f.timeout = time.Duration(micros) * time.Microsecond
	case frameAnswer:
		f.code, f.text = code(r.byte()), r.text()
	default:
		return frame{}, fmt.Errorf("frame of unknown kind %d", f.kind)
	}
	if r.short {
		return frame{}, fmt.Errorf("frame of kind %d ends after %d bytes, in its header", f.kind, len(data))
	}
	if f.id == 0 {
		return frame{}, errors.New("frame without an id")
	}
	f.payload = r.rest
	return f, nil
}

// frameReader takes a frame apart; short is set when there was not enough.
type frameReader struct {
	rest  []byte
	short bool
}

func (r *frameReader) bytes(n uint64) []byte {
	if r.short || n > uint64(len(r.rest)) {
		r.short = true
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *frameReader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *frameReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if r.short || n <= 0 {
		r.short = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *frameReader) text() string { return string(r.bytes(r.uvarint())) }

// frameCodec hands encoded frames through gRPC as they are.
type frameCodec struct{}

var _ encoding.CodecV2 = frameCodec{}

func (frameCodec) Name() string { return "weir" }

func (frameCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (frameCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}
