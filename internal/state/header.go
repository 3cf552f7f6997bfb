package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/weirstream/weir/internal/codec"
)

const (
	fileMagic    = "WEIRKEYS"
	endMagic     = "WEIRKEND"
	fileVersion  = 1
	headBytes    = len(fileMagic) + 12
	trailerBytes = 16 + len(endMagic)
)

// A Header is what a file says of itself.
type Header struct {
	Version  int
	Operator string
	Max      int          // key groups of the operator
	Key      codec.Schema // of keys
	States   []Descriptor
	written  []written // by state
}

// written is how the values of a state lie in a file.
type written struct {
	Descriptor
	words bool // keys are words
	batch bool // values are encoded as batches, not each by itself
}

const (
	flagWords = 1 << iota
	flagBatch
)

// appendHeader appends the beginning of a file.
func appendHeader(dst []byte, h Header) []byte {
	start := len(dst)
	dst = append(dst, fileMagic...)
	dst = append(dst, make([]byte, 12)...)
	dst = appendText(dst, h.Operator)
	dst = binary.AppendUvarint(dst, uint64(h.Max))
	dst = appendText(dst, string(h.Key))
	dst = binary.AppendUvarint(dst, uint64(len(h.States)))
	for i, d := range h.States {
		dst = appendText(dst, d.Name)
		var flags byte
		if h.written[i].words {
			flags |= flagWords
		}
		if h.written[i].batch {
			flags |= flagBatch
		}
		dst = append(dst, byte(d.Kind), flags, byte(d.TTL.Update), byte(d.TTL.Visibility))
		dst = binary.AppendUvarint(dst, uint64(d.TTL.Duration))
		for _, schema := range []codec.Schema{d.Namespace, d.UserKey, d.Value} {
			dst = appendText(dst, string(schema))
		}
	}
	head, body := dst[start:start+headBytes], dst[start+headBytes:]
	binary.LittleEndian.PutUint32(head[8:], fileVersion)
	binary.LittleEndian.PutUint32(head[12:], uint32(len(body)))
	binary.LittleEndian.PutUint32(head[16:], crc32.Checksum(body, castagnoli))
	return dst
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// A fieldReader reads fields from the front of rest. The first error stays.
type fieldReader struct {
	rest []byte
	err  error
}

var errShort = errors.New("it ends within a field")

func (r *fieldReader) uvarint() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.rest, r.err = nil, errShort
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *fieldReader) text() string {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.rest, r.err = nil, errShort
		return ""
	}
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}

func (r *fieldReader) byte() byte {
	if len(r.rest) == 0 {
		r.err = errShort
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// parseHeader reads what is behind the head of a file.
func parseHeader(body []byte) (Header, error) {
	r := fieldReader{rest: body}
	h := Header{Version: fileVersion, Operator: r.text(), Max: int(r.uvarint()), Key: codec.Schema(r.text())}
	n := r.uvarint()
	if n >= endState || n > uint64(len(r.rest)) {
		return h, fmt.Errorf("it tells of %d states", n)
	}
	for range n {
		w := written{Descriptor: Descriptor{Name: r.text(), Kind: Kind(r.byte())}}
		flags := r.byte()
		w.words, w.batch = flags&flagWords != 0, flags&flagBatch != 0
		w.TTL = TTL{Update: Update(r.byte()), Visibility: Visibility(r.byte()), Duration: time.Duration(r.uvarint())}
		w.Namespace, w.UserKey, w.Value = codec.Schema(r.text()), codec.Schema(r.text()), codec.Schema(r.text())
		if r.err == nil && (w.Kind == 0 || int(w.Kind) >= len(kindNames) || w.TTL.Duration < 0) {
			return h, fmt.Errorf("state %q is of kind %d, with a time to live of %v", w.Name, w.Kind, w.TTL.Duration)
		}
		h.States = append(h.States, w.Descriptor)
		h.written = append(h.written, w)
	}
	if r.err == nil && len(r.rest) > 0 {
		r.err = fmt.Errorf("%d bytes are left behind its fields", len(r.rest))
	}
	return h, r.err
}

// appendIndex appends the end of a file, which begins at off.
func appendIndex(dst []byte, off int64, locations []Location, sizes []Size) []byte {
	start := len(dst)
	dst = binary.AppendUvarint(dst, uint64(len(locations)))
	for _, l := range locations {
		dst = binary.AppendUvarint(dst, uint64(l.Group))
		dst = binary.AppendUvarint(dst, uint64(l.Offset))
		dst = binary.AppendUvarint(dst, uint64(l.Length))
	}
	for _, s := range sizes {
		dst = binary.AppendUvarint(dst, uint64(s.Entries))
		dst = binary.AppendUvarint(dst, uint64(s.Bytes))
	}
	index := dst[start:]
	sum := crc32.Checksum(index, castagnoli)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(off))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(index)))
	dst = binary.LittleEndian.AppendUint32(dst, sum)
	return append(dst, endMagic...)
}

// parseIndex reads the index of a file whose groups lie in [from, to).
func parseIndex(name string, index []byte, h Header, from, to int64) (locations []Location, sizes []Size, err error) {
	r := fieldReader{rest: index}
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		return nil, nil, fmt.Errorf("it tells of %d groups", n)
	}
	for range n {
		group, off, length := r.uvarint(), r.uvarint(), r.uvarint()
		if r.err != nil {
			return nil, nil, r.err
		}
		if group >= uint64(h.Max) || off != uint64(from) || length > uint64(to-from) || len(locations) > 0 && int(group) <= locations[len(locations)-1].Group {
			return nil, nil, fmt.Errorf("group %d of %d is said to be %d bytes at %d", group, h.Max, length, off)
		}
		locations = append(locations, Location{Group: int(group), File: name, Offset: int64(off), Length: int64(length)})
		from += int64(length)
	}
	if from != to {
		return nil, nil, fmt.Errorf("groups end at %d, and it begins at %d", from, to)
	}
	for _, d := range h.States {
		sizes = append(sizes, Size{Name: d.Name, Entries: int64(r.uvarint()), Bytes: int64(r.uvarint())})
	}
	if r.err == nil && len(r.rest) > 0 {
		r.err = fmt.Errorf("%d bytes are left behind its fields", len(r.rest))
	}
	return locations, sizes, r.err
}
