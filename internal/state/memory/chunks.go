package memory

import (
	"math/bits"
	"unsafe"
)

// chunks is a growing list whose elements never move: the first chunk holds
// firstChunk elements, each one after as many as all before it.
type chunks[T any] struct {
	list [][]T
	len  int
}

const firstChunk = 8

// locate returns the chunk of element i and its index in it.
func locate(i int) (chunk, at int) {
	chunk = bits.Len(uint(i) / firstChunk)
	if chunk == 0 {
		return 0, i
	}
	return chunk, i - firstChunk<<(chunk-1)
}

// at returns element i, which must be below len.
func (c *chunks[T]) at(i int) *T {
	chunk, at := locate(i)
	return &c.list[chunk][at]
}

// add appends a zero element and returns it.
func (c *chunks[T]) add() *T {
	if chunk, _ := locate(c.len); chunk == len(c.list) {
		c.list = append(c.list, make([]T, max(c.len, firstChunk)))
	}
	c.len++
	return c.at(c.len - 1)
}

// clear removes all elements and keeps the memory, zeroed.
func (c *chunks[T]) clear() {
	for _, chunk := range c.list {
		used := min(c.len, len(chunk))
		clear(chunk[:used])
		c.len -= used
	}
}

func (c *chunks[T]) bytes() int {
	var zero T
	bytes := cap(c.list) * int(unsafe.Sizeof(c.list))
	for _, chunk := range c.list {
		bytes += len(chunk) * int(unsafe.Sizeof(zero))
	}
	return bytes
}
