package stream_test

import "github.com/weirstream/weir/stream"

// keyless makes a function that needs no key one over a keyed stream.
type keyless[K comparable, T, R any] struct{ f stream.ProcessFunction[T, R] }

func onKeys[K comparable, T, R any](f func() stream.ProcessFunction[T, R]) func() stream.KeyedProcessFunction[K, T, R] {
	return func() stream.KeyedProcessFunction[K, T, R] { return keyless[K, T, R]{f()} }
}

func (k keyless[K, T, R]) Open(c *stream.OpenContext) error {
	if o, ok := k.f.(stream.Opener); ok {
		return o.Open(c)
	}
	return nil
}

func (k keyless[K, T, R]) Process(v T, c *stream.KeyedContext[K], emit func(R)) error {
	return k.f.Process(v, &c.ProcessContext, emit)
}

func (k keyless[K, T, R]) Finish(emit func(R)) error {
	if f, ok := k.f.(stream.Finisher[R]); ok {
		return f.Finish(emit)
	}
	return nil
}

func (k keyless[K, T, R]) Close() error {
	if c, ok := k.f.(stream.Closer); ok {
		return c.Close()
	}
	return nil
}
