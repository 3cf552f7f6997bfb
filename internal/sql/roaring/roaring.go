// Package roaring reads and writes sets of 32-bit numbers in the portable format of Roaring
// bitmaps, which is how a BITMAP is kept and given to others.
//
// It promises that a set has one form only: containers of up to 4,096 numbers are arrays,
// others bitmaps of 8 KiB, none are runs; so equal sets are equal bytes. It reads runs too.
// A text that is no set is refused and never read beyond its end.
package roaring

import (
	"encoding/binary"
	"errors"
	"iter"
	"math/bits"
	"slices"
	"strconv"
)

const (
	cookie    = 12346 // without runs
	runCookie = 12347
	// maxArray is how many numbers a container has at most as an array.
	maxArray    = 4096
	bitmapBytes = 8192
)

var errBroken = errors.New("reading a BITMAP: the bytes are no Roaring bitmap")

// All gives the numbers of a set in ascending order. What is broken ends it.
func All(b []byte) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		_ = each(b, yield)
	}
}

// Check refuses bytes that are no set.
func Check(b []byte) error { return each(b, func(uint32) bool { return true }) }

// each calls f for every number until it returns false.
func each(b []byte, f func(uint32) bool) error {
	if len(b) < 4 {
		return errBroken
	}
	head := binary.LittleEndian.Uint32(b)
	var count int
	var runs []byte
	at := 4
	switch {
	case head == cookie:
		if len(b) < 8 {
			return errBroken
		}
		count, at = int(binary.LittleEndian.Uint32(b[4:])), 8
	case head&0xFFFF == runCookie:
		count = int(head>>16) + 1
		n := (count + 7) / 8
		if len(b) < at+n {
			return errBroken
		}
		runs, at = b[at:at+n], at+n
	default:
		return errBroken
	}
	if count > 1<<16 || len(b) < at+4*count {
		return errBroken
	}
	header := b[at:]
	at += 4 * count
	if runs == nil || count >= 4 {
		at += 4 * count // the offsets
	}
	for i := range count {
		key := uint32(binary.LittleEndian.Uint16(header[4*i:])) << 16
		card := int(binary.LittleEndian.Uint16(header[4*i+2:])) + 1
		isRun := runs != nil && runs[i/8]>>(i%8)&1 != 0
		n, more, err := container(b, at, key, card, isRun, f)
		if err != nil || !more {
			return err
		}
		at += n
	}
	return nil
}

// container reads one container: how long it is, and whether f wants more.
func container(b []byte, at int, key uint32, card int, isRun bool, f func(uint32) bool) (n int, more bool, err error) {
	if at > len(b) {
		return 0, false, errBroken
	}
	b = b[at:]
	switch {
	case isRun:
		if len(b) < 2 {
			return 0, false, errBroken
		}
		runs := int(binary.LittleEndian.Uint16(b))
		n = 2 + 4*runs
		if len(b) < n {
			return 0, false, errBroken
		}
		for i := range runs {
			first, rest := uint32(binary.LittleEndian.Uint16(b[2+4*i:])), uint32(binary.LittleEndian.Uint16(b[4+4*i:]))
			if first+rest > 0xFFFF {
				return 0, false, errBroken
			}
			for v := first; v <= first+rest; v++ {
				if !f(key | v) {
					return n, false, nil
				}
			}
		}
	case card <= maxArray:
		n = 2 * card
		if len(b) < n {
			return 0, false, errBroken
		}
		for i := range card {
			if !f(key | uint32(binary.LittleEndian.Uint16(b[2*i:]))) {
				return n, false, nil
			}
		}
	default:
		n = bitmapBytes
		if len(b) < n {
			return 0, false, errBroken
		}
		for w := range bitmapBytes / 8 {
			for word := binary.LittleEndian.Uint64(b[8*w:]); word != 0; word &= word - 1 {
				if !f(key | uint32(w*64+bits.TrailingZeros64(word))) {
					return n, false, nil
				}
			}
		}
	}
	return n, true, nil
}

// Append appends the set of numbers that are ascending, each once.
func Append(dst []byte, sorted []uint32) []byte {
	start := len(dst)
	var groups [][]uint32
	for len(sorted) > 0 {
		key := sorted[0] >> 16
		n, _ := slices.BinarySearch(sorted, (key+1)<<16)
		if key == 0xFFFF {
			n = len(sorted)
		}
		groups = append(groups, sorted[:n])
		sorted = sorted[n:]
	}
	dst = binary.LittleEndian.AppendUint32(dst, cookie)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(groups)))
	for _, g := range groups {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(g[0]>>16))
		dst = binary.LittleEndian.AppendUint16(dst, uint16(len(g)-1))
	}
	at := len(dst) - start + 4*len(groups)
	for _, g := range groups {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(at))
		if len(g) <= maxArray {
			at += 2 * len(g)
		} else {
			at += bitmapBytes
		}
	}
	for _, g := range groups {
		dst = appendContainer(dst, g)
	}
	return dst
}

func appendContainer(dst []byte, g []uint32) []byte {
	if len(g) <= maxArray {
		for _, v := range g {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(v))
		}
		return dst
	}
	from := len(dst)
	dst = append(dst, make([]byte, bitmapBytes)...)
	for _, v := range g {
		dst[from+int(uint16(v)>>3)] |= 1 << (v & 7)
	}
	return dst
}

// Op is a way to make a set of two.
type Op uint8

// The operations.
const (
	And Op = iota
	Or
	Xor
	AndNot
)

// Combine gives the numbers of an operation on two sets, appended to dst.
func Combine(dst []uint32, op Op, a, b []byte) []uint32 {
	nextA, stopA := iter.Pull(All(a))
	defer stopA()
	nextB, stopB := iter.Pull(All(b))
	defer stopB()
	x, hasX := nextA()
	y, hasY := nextB()
	for hasX || hasY {
		switch {
		case hasX && hasY && x == y:
			if op == And || op == Or {
				dst = append(dst, x)
			}
			x, hasX = nextA()
			y, hasY = nextB()
		case hasX && (!hasY || x < y):
			if op != And {
				dst = append(dst, x)
			}
			x, hasX = nextA()
		default:
			if op == Or || op == Xor {
				dst = append(dst, y)
			}
			y, hasY = nextB()
		}
	}
	return dst
}

// Count is how many numbers a set has.
func Count(b []byte) int64 {
	n := int64(0)
	for range All(b) {
		n++
	}
	return n
}

// AppendText appends the numbers of a set, without sign, as {1,2,3}.
func AppendText(dst, b []byte) []byte {
	dst = append(dst, '{')
	first := true
	for v := range All(b) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = strconv.AppendUint(dst, uint64(v), 10)
	}
	return append(dst, '}')
}
