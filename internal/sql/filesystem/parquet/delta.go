package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// maxBlock bounds the numbers of a block of differences.
const maxBlock = 1 << 20

// delta reads numbers that are written as packed differences from the one before.
type delta struct {
	text  []byte
	total int // not read

	perMini int
	minis   int
	first   bool // the first number is not read
	value   int64

	least  int64  // of the block's differences
	widths []byte // of its parts that are not begun
	left   int    // of the part
	width  int
	packed []byte
	bit    int
}

// begin reads the head of at most so many numbers.
func (d *delta) begin(text []byte, most int) error {
	*d = delta{text: text, first: true}
	var block, minis, total uint64
	for _, v := range []*uint64{&block, &minis, &total} {
		n := 0
		if *v, n = binary.Uvarint(d.text); n <= 0 {
			return errEarly
		}
		d.text = d.text[n:]
	}
	first, n := binary.Varint(d.text)
	if n <= 0 {
		return errEarly
	}
	d.text, d.value = d.text[n:], first
	if minis == 0 || block == 0 || block > maxBlock || minis > block || block%minis != 0 || block/minis%8 != 0 {
		return fmt.Errorf("differences are written in blocks of %d in %d parts", block, minis)
	}
	if total > uint64(most) {
		return fmt.Errorf("its values are %d, and the page is said to have %d", total, most)
	}
	d.minis, d.perMini, d.total = int(minis), int(block/minis), int(total)
	return nil
}

// part begins the next part of a block.
func (d *delta) part() error {
	if len(d.widths) == 0 {
		least, n := binary.Varint(d.text)
		if n <= 0 || len(d.text) < n+d.minis {
			return errEarly
		}
		d.least, d.widths, d.text = least, d.text[n:n+d.minis], d.text[n+d.minis:]
	}
	d.width, d.widths = int(d.widths[0]), d.widths[1:]
	if d.width > 64 {
		return fmt.Errorf("a difference has %d bits", d.width)
	}
	size := d.perMini / 8 * d.width
	if size > len(d.text) {
		if d.width > 0 && len(d.text)*8/d.width < min(d.perMini, d.total) {
			return errEarly
		}
		size = len(d.text) // the last part may be cut
	}
	d.packed, d.bit, d.text, d.left = d.text[:size], 0, d.text[size:], d.perMini
	return nil
}

// numbers reads the next ones.
func (d *delta) numbers(dst []int64) error {
	if len(dst) > d.total {
		return errEarly
	}
	d.total -= len(dst)
	if d.first && len(dst) > 0 {
		dst[0], dst, d.first = d.value, dst[1:], false
	}
	for len(dst) > 0 {
		if d.left == 0 {
			d.total += len(dst) // part asks how many are left
			err := d.part()
			d.total -= len(dst)
			if err != nil {
				return err
			}
		}
		n := min(d.left, len(dst))
		mask := ^uint64(0)
		if d.width < 64 {
			mask = 1<<d.width - 1
		}
		v, bit := d.value, d.bit
		for i := range dst[:n] {
			v += d.least + int64(word(d.packed, bit)&mask)
			bit += d.width
			dst[i] = v
		}
		d.value, d.bit = v, bit
		d.left -= n
		dst = dst[n:]
	}
	return nil
}

// lengths reads as many as there are, each not negative, and gives what follows them.
func lengths(dst []int32, text []byte, most int) ([]int32, []byte, error) {
	var d delta
	if err := d.begin(text, most); err != nil {
		return nil, nil, err
	}
	dst = dst[:0]
	var some [128]int64
	for d.total > 0 {
		n := min(d.total, len(some))
		if err := d.numbers(some[:n]); err != nil {
			return nil, nil, err
		}
		for _, v := range some[:n] {
			if v < 0 || v > maxPage {
				return nil, nil, errors.New("a value has a length below 0, or beyond its page")
			}
			dst = append(dst, int32(v))
		}
	}
	return dst, d.text, nil
}
