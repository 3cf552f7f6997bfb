package javaregex

import "sync"

// Cache keeps compiled expressions and why others are none, for kernels whose expression
// is a column. The zero value is empty and ready; it may be used by many goroutines.
//
// Bound: maxCached expressions; when it is full it is emptied.
type Cache struct {
	mu   sync.RWMutex
	kept map[string]compiled
}

type compiled struct {
	pattern *Pattern
	err     error
}

const maxCached = 256

// Get compiles an expression, or gives what it was compiled to before.
func (c *Cache) Get(pattern []byte) (*Pattern, error) {
	c.mu.RLock()
	k, ok := c.kept[string(pattern)]
	c.mu.RUnlock()
	if ok {
		return k.pattern, k.err
	}
	p, err := Compile(string(pattern))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= maxCached {
		c.kept = map[string]compiled{}
	}
	c.kept[string(pattern)] = compiled{p, err}
	return p, err
}
