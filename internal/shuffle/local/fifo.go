package local

// A FIFO is a first-in-first-out list that grows as needed and keeps its room.
// The zero FIFO is empty. It has no lock.
type FIFO[T any] struct {
	ring []T // its length is zero or a power of two
	head int // index of the oldest
	n    int
}

// Len is how many values are held.
func (f *FIFO[T]) Len() int { return f.n }

// Push appends v.
func (f *FIFO[T]) Push(v T) {
	if f.n == len(f.ring) {
		f.grow()
	}
	f.ring[(f.head+f.n)&(len(f.ring)-1)] = v
	f.n++
}

// PushFront puts v before all others.
func (f *FIFO[T]) PushFront(v T) {
	if f.n == len(f.ring) {
		f.grow()
	}
	f.head = (f.head - 1) & (len(f.ring) - 1)
	f.ring[f.head] = v
	f.n++
}

// ToFront moves the i-th value before all others.
func (f *FIFO[T]) ToFront(i int) {
	v := *f.at(i)
	for ; i > 0; i-- {
		*f.at(i) = *f.at(i - 1)
	}
	*f.at(0) = v
}

// At is the i-th value from the oldest, in place; nil when there are not so many.
func (f *FIFO[T]) At(i int) *T {
	if i >= f.n {
		return nil
	}
	return f.at(i)
}

// Pop takes the oldest value; ok is false when there is none.
func (f *FIFO[T]) Pop() (v T, ok bool) {
	if f.n == 0 {
		return v, false
	}
	var zero T
	v = f.ring[f.head]
	f.ring[f.head] = zero
	f.head = (f.head + 1) & (len(f.ring) - 1)
	f.n--
	return v, true
}

// First is the oldest value, in place; nil when there is none.
func (f *FIFO[T]) First() *T { return f.at(0) }

// Last is the newest value, in place; nil when there is none.
func (f *FIFO[T]) Last() *T { return f.at(f.n - 1) }

func (f *FIFO[T]) at(i int) *T {
	if f.n == 0 {
		return nil
	}
	return &f.ring[(f.head+i)&(len(f.ring)-1)]
}

func (f *FIFO[T]) grow() {
	bigger := make([]T, max(8, 2*len(f.ring)))
	for i := range f.n {
		bigger[i] = *f.at(i)
	}
	f.ring, f.head = bigger, 0
}
