package operator

import (
	"unsafe"

	"github.com/weirstream/weir/internal/codec"
)

// An accumulators is a list of accumulators of a user's type A.
//
// Those that point to something are kept encoded, so that each that is given is
// another: a user's Merge may keep parts of what it is given, and change them later.
//
// Invariant: exactly one of vals and spans is used, as plan is nil or not.
type accumulators[A any] struct {
	plan *codec.Plan[A] // nil: A holds no pointers
	vals []A

	spans []accumulatorSpan
	buf   []byte
	dead  int // bytes of buf that no span has
	one   []A // scratch of length 1
}

// An accumulatorSpan is where an encoded accumulator lies.
type accumulatorSpan struct{ at, bytes int }

func newAccumulators[A any]() accumulators[A] {
	plan, err := codec.For[A]()
	Check(err)
	if plan.PointerFree() {
		return accumulators[A]{}
	}
	return accumulators[A]{plan: plan, one: make([]A, 1)}
}

// grow makes room for n more.
func (l *accumulators[A]) grow(n int) {
	if l.plan == nil {
		l.vals = grown(l.vals, n)
	} else {
		l.spans = grown(l.spans, n)
	}
}

// grown gives s with room for n more, and no more than that if it has to move.
func grown[S any](s []S, n int) []S {
	if cap(s)-len(s) >= n {
		return s
	}
	return append(make([]S, 0, len(s)+n), s...)
}

// append appends acc.
func (l *accumulators[A]) append(acc *A) {
	if l.plan == nil {
		l.vals = append(l.vals, *acc)
	} else {
		l.spans = append(l.spans, l.encode(acc))
	}
}

// at gives the one at i. It may be changed, which changes nothing here.
func (l *accumulators[A]) at(i int) A {
	if l.plan == nil {
		return l.vals[i]
	}
	s := l.spans[i]
	vals, _, err := l.plan.Decode(l.one[:0], 1, l.buf[s.at:s.at+s.bytes])
	Check(err)
	acc := vals[0]
	clear(l.one)
	return acc
}

// set replaces the one at i.
func (l *accumulators[A]) set(i int, acc *A) {
	if l.plan == nil {
		l.vals[i] = *acc
		return
	}
	l.dead += l.spans[i].bytes
	l.spans[i] = l.encode(acc)
	if l.dead > len(l.buf)/2 {
		l.compact()
	}
}

// encode appends the encoding of acc to buf.
func (l *accumulators[A]) encode(acc *A) accumulatorSpan {
	at := len(l.buf)
	l.one[0] = *acc
	buf, err := l.plan.Append(l.buf, l.one)
	clear(l.one)
	Check(err)
	l.buf = buf
	return accumulatorSpan{at, len(buf) - at}
}

// compact gives up what is dead.
func (l *accumulators[A]) compact() {
	buf := make([]byte, 0, 2*(len(l.buf)-l.dead))
	for i, s := range l.spans {
		at := len(buf)
		buf = append(buf, l.buf[s.at:s.at+s.bytes]...)
		l.spans[i].at = at
	}
	l.buf, l.dead = buf, 0
}

// clear removes all, and keeps the memory for as many again.
func (l *accumulators[A]) clear() {
	l.vals, l.spans, l.buf, l.dead = l.vals[:0], l.spans[:0], l.buf[:0], 0
}

// free removes all, and gives up the memory.
func (l *accumulators[A]) free() { *l = accumulators[A]{plan: l.plan, one: l.one} }

// bytes is the memory that the list takes.
func (l *accumulators[A]) bytes() int {
	var acc A
	return cap(l.vals)*int(unsafe.Sizeof(acc)) + cap(l.spans)*int(unsafe.Sizeof(accumulatorSpan{})) + cap(l.buf)
}
