package batch

import "sync"

// Pool keeps the released batches of one edge for reuse. It may be shared by
// the producer, which takes, and the consumers, which release.
//
// Bound: it keeps at most the number of batches given at its making; a batch
// released above that is left to the garbage collector.
type Pool[T any] struct {
	mu     sync.Mutex
	free   []*Rows[T]
	limit  int
	rows   int
	zeroed bool // T holds pointers, so released values must not keep them alive
}

// NewPool makes a pool of batches with room for rows records each.
func NewPool[T any](limit, rows int, pointerFree bool) *Pool[T] {
	return &Pool[T]{limit: limit, rows: rows, zeroed: !pointerFree}
}

// Get takes an empty batch, a new one if none is free.
func (p *Pool[T]) Get() *Rows[T] {
	p.mu.Lock()
	if n := len(p.free); n > 0 {
		r := p.free[n-1]
		p.free[n-1] = nil
		p.free = p.free[:n-1]
		p.mu.Unlock()
		return r
	}
	p.mu.Unlock()
	return &Rows[T]{Vals: make([]T, 0, p.rows), pool: p}
}

func (p *Pool[T]) put(r *Rows[T]) {
	if p.zeroed {
		clear(r.Vals)
	}
	r.Vals, r.TS, r.Kind = r.Vals[:0], r.TS[:0], r.Kind[:0]
	p.mu.Lock()
	if len(p.free) < p.limit {
		p.free = append(p.free, r)
	}
	p.mu.Unlock()
}
