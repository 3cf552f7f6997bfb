package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// ErrCorrupt is wrapped by the errors of files that were cut short or damaged, or
// that are not snapshots.
var ErrCorrupt = errors.New("corrupt snapshot")

// A FileError says where a file is not what it should be.
type FileError struct {
	File   string
	Offset int64
	Err    error
}

// Error names the file, the offset and the reason.
func (e *FileError) Error() string {
	return fmt.Sprintf("read state from %s at offset %d: %v", e.File, e.Offset, e.Err)
}

func (e *FileError) Unwrap() error { return e.Err }

// A File is a snapshot that can be read. Any number of goroutines may use it.
type File struct {
	name      string
	r         io.ReaderAt
	size      int64
	header    Header
	locations []Location
	sizes     []Size
}

// corrupt reports damage.
func (f *File) corrupt(off int64, format string, args ...any) error {
	return &FileError{f.name, off, fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))}
}

// read reads n bytes, for which the file is long enough or else cut short.
func (f *File) read(dst []byte, off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > f.size || n > f.size-off {
		return nil, f.corrupt(off, "%d bytes should be here, and the file has %d in all", n, f.size)
	}
	if int64(cap(dst)) < n {
		dst = make([]byte, n)
	}
	dst = dst[:n]
	if got, err := f.r.ReadAt(dst, off); int64(got) < n {
		if err == nil || errors.Is(err, io.EOF) {
			return nil, f.corrupt(off+int64(got), "the file ends here, and should have %d bytes", f.size)
		}
		return nil, &FileError{f.name, off, err}
	}
	return dst, nil
}

// OpenFile checks the beginning and the end of a snapshot. Every error is a
// *FileError, which names the file and the offset.
func OpenFile(name string, r io.ReaderAt, size int64) (*File, error) {
	f := &File{name: name, r: r, size: size}
	head, err := f.read(nil, 0, int64(headBytes))
	if err != nil {
		return nil, err
	}
	if string(head[:8]) != fileMagic {
		return nil, f.corrupt(0, "it does not begin with %q, so it is no snapshot of keyed state", fileMagic)
	}
	if v := binary.LittleEndian.Uint32(head[8:]); v != fileVersion {
		return nil, &FileError{name, 8, fmt.Errorf("its format has version %d, and this release reads version %d", v, fileVersion)}
	}
	length := int64(binary.LittleEndian.Uint32(head[12:]))
	body, err := f.read(nil, int64(headBytes), length)
	if err != nil {
		return nil, err
	}
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(head[16:]) {
		return nil, f.corrupt(int64(headBytes), "the checksum of the header is wrong")
	}
	if f.header, err = parseHeader(body); err != nil {
		return nil, f.corrupt(int64(headBytes), "the header: %v", err)
	}
	return f, f.readIndex(int64(headBytes) + length)
}

// readIndex reads the end of the file, whose groups begin at from.
func (f *File) readIndex(from int64) error {
	off := f.size - int64(trailerBytes)
	trailer, err := f.read(nil, off, int64(trailerBytes))
	if err != nil {
		return err
	}
	if string(trailer[16:]) != endMagic {
		return f.corrupt(f.size, "it does not end with %q, so it is cut short", endMagic)
	}
	at, length := int64(binary.LittleEndian.Uint64(trailer)), int64(binary.LittleEndian.Uint32(trailer[8:]))
	if at < from || at != off-length {
		return f.corrupt(off, "the index is said to be %d bytes at %d", length, at)
	}
	index, err := f.read(nil, at, length)
	if err != nil {
		return err
	}
	if crc32.Checksum(index, castagnoli) != binary.LittleEndian.Uint32(trailer[12:]) {
		return f.corrupt(at, "the checksum of the index is wrong")
	}
	if f.locations, f.sizes, err = parseIndex(f.name, index, f.header, from, at); err != nil {
		return f.corrupt(at, "the index: %v", err)
	}
	return nil
}

// Header returns the header of the file.
func (f *File) Header() Header { return f.header }

// Locations returns the groups that the file holds, in their order.
func (f *File) Locations() []Location { return f.locations }

// Sizes returns what the file holds of each state, in the order of the header.
func (f *File) Sizes() []Size { return f.sizes }

// Verify reads the whole file and checks every sum.
func (f *File) Verify() error {
	var buf []byte
	for _, l := range f.locations {
		var err error
		if buf, _, err = f.blocks(buf, l, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// A block is one of a group as it was read.
type block struct {
	off   int64
	state int
	p     payload
}

// blocks reads a section, checks all sums, and only then calls each, if it is not nil,
// with the blocks, and before that filters with those that say what may have changed.
// It returns its buffer, buf or a larger one, and whether there are only changes.
func (f *File) blocks(buf []byte, l Location, filters func(state int, b []byte) error, each func(off int64, state int, p payload) error) (chunk []byte, changes bool, err error) {
	chunk, blocks, err := f.section(buf, l)
	if err != nil {
		return chunk, false, err
	}
	last := len(blocks) - 1
	changes = last > 0 && blocks[0].state == beginChanges
	switch {
	case last < 1 || blocks[0].state != beginState && !changes || blocks[last].state != endState:
		return chunk, changes, f.corrupt(l.Offset, "here is not the state of a key group")
	case blocks[0].p.entries != l.Group:
		return chunk, changes, f.corrupt(l.Offset, "here is key group %d, not %d", blocks[0].p.entries, l.Group)
	case blocks[last].p.entries != last-1:
		return chunk, changes, f.corrupt(blocks[last].off, "key group %d has %d blocks of %d", l.Group, last-1, blocks[last].p.entries)
	}
	totals := make([]int, len(f.header.States))
	for _, b := range blocks[1:last] {
		if b.state < len(totals) && b.p.entries <= len(b.p.rest) {
			totals[b.state] += b.p.entries
		}
	}
	for _, b := range blocks[1:last] {
		told := b.state
		if changes && b.state == filterState {
			told = b.p.entries
		}
		if told >= len(f.header.States) {
			return chunk, changes, f.corrupt(b.off, "a block is of state %d, and there are %d", told, len(f.header.States))
		}
		if b.state == filterState {
			if filters != nil {
				if err := filters(told, b.p.rest); err != nil {
					return chunk, changes, f.corrupt(b.off, "%v", err)
				}
			}
			continue
		}
		if each != nil {
			b.p.total = totals[b.state]
			if err := each(b.off, b.state, b.p); err != nil {
				return chunk, changes, err
			}
		}
	}
	return chunk, changes, nil
}

// section reads the blocks of a section.
func (f *File) section(buf []byte, l Location) (chunk []byte, blocks []block, err error) {
	if chunk, err = f.read(buf, l.Offset, l.Length); err != nil {
		return buf, nil, err
	}
	if l.Checksum != 0 && crc32.Checksum(chunk, castagnoli) != l.Checksum {
		return chunk, nil, f.corrupt(l.Offset, "the checksum of key group %d is wrong", l.Group)
	}
	at := l.Offset
	for rest := chunk; len(rest) > 0; {
		if len(rest) < blockHead {
			return chunk, nil, f.corrupt(at, "key group %d ends within the head of a block", l.Group)
		}
		length := int64(binary.LittleEndian.Uint32(rest))
		if length > int64(len(rest)-blockHead) {
			return chunk, nil, f.corrupt(at, "a block of %d bytes is longer than key group %d", length, l.Group)
		}
		whole := rest[:blockHead+length]
		if crc32.Checksum(whole[8:], castagnoli) != binary.LittleEndian.Uint32(whole[4:]) {
			return chunk, nil, f.corrupt(at, "the checksum of a block of key group %d is wrong", l.Group)
		}
		state, entries := int(binary.LittleEndian.Uint16(whole[8:])), int(binary.LittleEndian.Uint32(whole[10:]))
		blocks = append(blocks, block{at, state, payload{rest: whole[blockHead:len(whole):len(whole)], entries: entries}})
		rest = rest[len(whole):]
		at += int64(len(whole))
	}
	return chunk, blocks, nil
}
