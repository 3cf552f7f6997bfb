package spill

import (
	"errors"
	"fmt"
	"io"

	"github.com/weirstream/weir/internal/fs/scratch"
	"github.com/weirstream/weir/internal/shuffle"
)

// Data is a file that is whole. It does not change until it is discarded, and
// any number of goroutines may read it.
type Data struct {
	file    scratch.File
	regions []int64 // where the index of each begins, in ascending order
	sizes   shuffle.Sizes
}

// Subpartitions is the number of subpartitions.
func (d *Data) Subpartitions() int { return len(d.sizes.Bytes) }

// Sizes is how much each subpartition holds. Nobody may change it.
func (d *Data) Sizes() shuffle.Sizes { return d.sizes }

// Discard gives up the file.
func (d *Data) Discard() error { return d.file.Discard() }

// readAt fills b from the file.
func (d *Data) readAt(b []byte, at int64) error {
	n, err := d.file.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return d.corrupt(at, fmt.Errorf("the file ends after %d of %d bytes", n, len(b)))
	}
	return d.corrupt(at, bare(err))
}

// corrupt says that what is at a place in the file cannot be used.
func (d *Data) corrupt(at int64, err error) error {
	return fmt.Errorf("read %s at byte %d: %w: %w", d.file.Name(), at, shuffle.ErrPartitionCorrupt, err)
}

// A cursor is a place in the data of a range of subpartitions.
//
// Invariant: [at,end) is what is left of the range in the region before the
// next one.
type cursor struct {
	data    *Data
	subs    shuffle.Range
	region  int // the next
	at, end int64
}

// advance goes on to a region that has some of the range, unless some is left
// where it is. It is false at the end of the data.
func (c *cursor) advance() (bool, error) {
	for c.at == c.end {
		if c.region == len(c.data.regions) {
			return false, nil
		}
		if err := c.enter(c.region); err != nil {
			return false, err
		}
		c.region++
	}
	return true, nil
}

// enter looks the range up in a region's index.
func (c *cursor) enter(region int) error {
	d, index := c.data, c.data.regions[region]
	low := int64(0)
	if region > 0 {
		low = d.regions[region-1] + int64(entrySize*(d.Subpartitions()+1))
	}
	read := func(b []byte, sub int) (int64, error) {
		offset, err := parseEntry(b, region, sub, low, index)
		if err != nil {
			return 0, d.corrupt(index+int64(entrySize*sub), err)
		}
		return offset, nil
	}
	var b [2 * entrySize]byte
	first, after := c.subs.First, c.subs.Last+1
	if after == first+1 { // the two entries are neighbours
		if err := d.readAt(b[:], index+int64(entrySize*first)); err != nil {
			return err
		}
	} else {
		if err := d.readAt(b[:entrySize], index+int64(entrySize*first)); err != nil {
			return err
		}
		if err := d.readAt(b[entrySize:], index+int64(entrySize*after)); err != nil {
			return err
		}
	}
	var err error
	if c.at, err = read(b[:entrySize], first); err == nil {
		c.end, err = read(b[entrySize:], after)
	}
	if err == nil && c.end < c.at {
		err = d.corrupt(index, fmt.Errorf("the index of region %d says that subpartitions %s begin at byte %d and end at byte %d", region, c.subs, c.at, c.end))
	}
	if err != nil {
		c.at, c.end = 0, 0
	}
	return err
}

// whole gives the size of the block that b begins with, and whether b holds all
// of it. B is what was read at the cursor plus skip.
func (c *cursor) whole(b []byte, skip int) (size int, all bool, err error) {
	left := c.end - c.at - int64(skip)
	if left < headerSize {
		return 0, false, c.data.corrupt(c.at+int64(skip), fmt.Errorf("%d bytes are left for a block", left))
	}
	if len(b) < headerSize {
		return headerSize, false, nil
	}
	h := parseHeader(b)
	if size = headerSize + h.length; h.length == 0 || h.length > maxBlock || int64(size) > left {
		return 0, false, c.data.corrupt(c.at+int64(skip), fmt.Errorf("a block of %d bytes where %d are left", h.length, left-headerSize))
	}
	return size, len(b) >= size, nil
}

// A Reader reads a range of subpartitions from its beginning to its end, on the
// goroutine of its user.
type Reader struct {
	cursor cursor
	room   []byte
	held   []byte // what is left of what was read; it begins at the cursor
}

// Read makes a reader. Room is a buffer it may use; it makes its own if that is
// too short.
func (d *Data) Read(subs shuffle.Range, room []byte) (*Reader, error) {
	if err := subs.Check(d.Subpartitions()); err != nil {
		return nil, err
	}
	if cap(room) < headerSize {
		room = make([]byte, firstRoom)
	}
	return &Reader{cursor: cursor{data: d, subs: subs}, room: room[:cap(room)]}, nil
}

// Room gives the buffer back, grown if a block was longer.
func (r *Reader) Room() []byte { return r.room }

// Next gives the bytes of the next block, which are valid until the next call,
// and the number of its records. Encoded is nil at the end.
func (r *Reader) Next() (records int, encoded []byte, err error) {
	c := &r.cursor
	for need := 0; ; {
		if len(r.held) > 0 {
			size, all, err := c.whole(r.held, 0)
			if err != nil {
				return 0, nil, err
			}
			if all {
				block := r.held[:size]
				if err := verify(block, c.subs); err != nil {
					return 0, nil, c.data.corrupt(c.at, err)
				}
				r.held = r.held[size:]
				c.at += int64(size)
				return parseHeader(block).records, block[headerSize:], nil
			}
			need = size
		}
		if more, err := c.advance(); !more || err != nil {
			return 0, nil, err
		}
		if need > len(r.room) {
			r.room = make([]byte, need)
		}
		r.held = r.room[:min(int64(len(r.room)), c.end-c.at)]
		if err := c.data.readAt(r.held, c.at); err != nil {
			return 0, nil, err
		}
	}
}
