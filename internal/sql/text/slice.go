package text

import "math"

// Substring is the code points of s from position start, counted from 1, or from the end
// if it is negative; 0 is 1. A start before the beginning or behind the end gives "".
func Substring(s []byte, start int64) []byte {
	part, _ := SubstringFor(s, start, math.MaxInt32)
	return part
}

// SubstringFor is at most n code points of Substring; it has no answer if n is negative.
func SubstringFor(s []byte, start, n int64) ([]byte, bool) {
	if n < 0 {
		return nil, false
	}
	switch {
	case start > 0:
		start--
	case start < 0:
		start += int64(Length(s))
		if start < 0 {
			return nil, true
		}
	}
	from := offset(s, int(start))
	return s[from : from+offset(s[from:], int(n))], true
}

// Left is the first n code points; none if n is not positive.
func Left(s []byte, n int64) []byte {
	if n <= 0 {
		return nil
	}
	return s[:offset(s, int(n))]
}

// Right is the last n code points; none if n is not positive.
func Right(s []byte, n int64) []byte {
	if n <= 0 {
		return nil
	}
	return s[offset(s, Length(s)-int(min(n, int64(len(s))))):]
}

// Overlay puts r over n units of s from position start, counted from 1. A start outside s
// leaves s; n of none or beyond the end drops all that follows. Units are UTF-16's.
func Overlay(dst, s, r []byte, start, n int64) []byte {
	u := units(s)
	if start <= 0 || start > int64(len(u)) {
		return append(dst, s...)
	}
	dst = appendUnits(dst, u[:start-1])
	dst = append(dst, r...)
	if n > 0 && start+n <= int64(len(u)) {
		dst = appendUnits(dst, u[start-1+n:])
	}
	return dst
}

// OverlayLength is the n of Overlay if none is given.
func OverlayLength(r []byte) int64 { return int64(len(units(r))) }

// Pad makes s exactly n units long, cutting it or filling it from pad, on the left or on
// the right. There is no answer for a negative n or an empty pad. Units are UTF-16's.
func Pad(dst, s []byte, n int64, pad []byte, left bool) ([]byte, bool) {
	if n < 0 || len(pad) == 0 {
		return dst, false
	}
	if !beyond(s) && !beyond(pad) {
		return padPlain(dst, s, n, pad, left), true
	}
	u, p := units(s), units(pad)
	if int64(len(u)) >= n {
		return appendUnits(dst, u[:n]), true
	}
	fill := make([]uint16, n-int64(len(u)))
	for i := range fill {
		fill[i] = p[i%len(p)]
	}
	if left {
		return appendUnits(dst, append(fill, u...)), true
	}
	return appendUnits(dst, append(u, fill...)), true
}

// padPlain is Pad of texts whose code points are one unit each.
func padPlain(dst, s []byte, n int64, pad []byte, left bool) []byte {
	fill := n - int64(Length(s))
	if fill <= 0 {
		return append(dst, s[:offset(s, int(n))]...)
	}
	if !left {
		dst = append(dst, s...)
	}
	for width := int64(Length(pad)); fill > 0; fill -= width {
		dst = append(dst, pad[:offset(pad, int(min(fill, width)))]...)
	}
	if left {
		dst = append(dst, s...)
	}
	return dst
}

// Repeat appends s n times.
func Repeat(dst, s []byte, n int64) []byte {
	if len(s) == 0 {
		return dst
	}
	for ; n > 0; n-- {
		dst = append(dst, s...)
	}
	return dst
}
