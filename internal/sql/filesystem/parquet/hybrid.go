package parquet

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/weirstream/weir/batch"
)

// errEarly says that a page has fewer values than it is said to have.
var errEarly = errors.New("its values end early")

// hybrid reads numbers of up to 32 bits that are written as runs of one number or packed
// bit by bit: levels, and places in a dictionary.
type hybrid struct {
	text  []byte
	width int // bits of a number

	left   int    // of the run
	value  uint32 // that the run repeats, if it is not packed
	packed []byte // nil: the run repeats a number
	bit    int    // of the next number in packed
}

func newHybrid(text []byte, width int) hybrid { return hybrid{text: text, width: width} }

// next begins the next run.
func (h *hybrid) next() error {
	for h.left == 0 {
		head, n := binary.Uvarint(h.text)
		if n <= 0 {
			return errEarly
		}
		h.text = h.text[n:]
		if head&1 == 0 {
			size := (h.width + 7) / 8
			if len(h.text) < size {
				return errEarly
			}
			h.value, h.packed = 0, nil
			for i := range size {
				h.value |= uint32(h.text[i]) << (8 * i)
			}
			h.text, h.left = h.text[size:], int(min(head>>1, 1<<31))
			continue
		}
		groups := head >> 1
		size := len(h.text)
		if h.width > 0 && groups <= uint64(size/h.width) {
			size = int(groups) * h.width
		}
		h.packed, h.bit, h.text = h.text[:size:size], 0, h.text[size:]
		h.left = int(min(groups, 1<<28)) * 8
		if h.width > 0 {
			h.left = min(h.left, size*8/h.width) // the last group may be cut
			if h.left == 0 && groups > 0 {
				return errEarly
			}
		} else {
			h.value, h.packed = 0, nil
		}
	}
	return nil
}

// numbers reads the next ones.
func (h *hybrid) numbers(dst []uint32) error {
	for len(dst) > 0 {
		if h.left == 0 {
			if err := h.next(); err != nil {
				return err
			}
		}
		n := min(h.left, len(dst))
		if h.packed == nil {
			for i := range dst[:n] {
				dst[i] = h.value
			}
		} else {
			h.bit = unpack(dst[:n], h.packed, h.bit, h.width)
		}
		h.left -= n
		dst = dst[n:]
	}
	return nil
}

// levels reads the next ones, which are bytes.
func (h *hybrid) levels(dst []uint8, most int) error {
	var some [64]uint32
	for len(dst) > 0 {
		n := min(len(dst), len(some))
		if err := h.numbers(some[:n]); err != nil {
			return err
		}
		for i, v := range some[:n] {
			if v > uint32(most) {
				return errors.New("a level is higher than the schema has them")
			}
			dst[i] = uint8(v)
		}
		dst = dst[n:]
	}
	return nil
}

// bits sets those of n numbers of one bit that are 1 in a bitmap, from one place on, and
// gives how many.
func (h *hybrid) bits(dst batch.Bitmap, at, n int) (set int, err error) {
	for n > 0 {
		if h.left == 0 {
			if err := h.next(); err != nil {
				return set, err
			}
		}
		m := min(h.left, n, 64-at&63)
		v := ^uint64(0)
		if h.packed != nil {
			v = word(h.packed, h.bit)
			h.bit += m
		} else if h.value == 0 {
			v = 0
		}
		if m < 64 {
			v &= 1<<m - 1
		}
		dst[at>>6] |= v << (at & 63)
		set += bits.OnesCount64(v)
		h.left -= m
		at, n = at+m, n-m
	}
	return set, nil
}

// word is 64 bits of a text from a bit on; those behind its end are 0.
func word(text []byte, bit int) uint64 {
	at, shift := bit>>3, bit&7
	if at+9 <= len(text) {
		v := binary.LittleEndian.Uint64(text[at:]) >> shift
		return v | uint64(text[at+8])<<(64-shift) // a shift by 64 gives 0
	}
	var end [16]byte
	copy(end[:], text[min(at, len(text)):])
	return binary.LittleEndian.Uint64(end[:])>>shift | uint64(end[8])<<(64-shift)
}

// unpack reads numbers of up to 32 bits from a bit on, and gives the bit behind them.
func unpack(dst []uint32, text []byte, bit, width int) int {
	mask := uint64(1)<<width - 1
	i := 0
	if last := (len(text)-8)*8 + 7; last >= bit && width > 0 {
		fast := min(len(dst), (last-bit)/width+1)
		for ; i < fast; i++ {
			dst[i] = uint32(binary.LittleEndian.Uint64(text[bit>>3:]) >> (bit & 7) & mask)
			bit += width
		}
	}
	for ; i < len(dst); i++ {
		dst[i] = uint32(word(text, bit) & mask)
		bit += width
	}
	return bit
}
