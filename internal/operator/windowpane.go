package operator

import (
	"github.com/weirstream/weir/internal/state"
)

// AggregateWindows makes the operator that aggregates the records of each window
// as they come, and emits result of what a fires.
func AggregateWindows[K comparable, T, A, O, R any](spec Windows[K, T], a state.Aggregator[T, A, O], result func(k K, w Window, out O) R) Factory {
	return managing{FactoryFunc(func(c *Context, out any) any {
		w := newWindowed[K, T, R](c, out, spec)
		acc, err := state.NewAggregating(w.keyed.Backend, "contents", a, state.In(w.space))
		Check(err)
		w.pane = Pane[T]{
			Add: func(v T, _ int64) { acc.Add(v) },
			Fire: func(at Window) {
				if v, some := acc.Get(); some {
					w.emit(result(w.keyed.Key(), at, v))
				}
			},
			Clear: acc.Clear,
			Take: func() func() {
				taken, some := acc.Take()
				return func() {
					if some {
						acc.MergeAcc(taken)
					}
				}
			},
		}
		w.keep(w.keyed.Backend)
		return w.receiver()
	})}
}

// Timed is a record with its time.
type Timed[T any] struct {
	Value T
	At    int64 // event time, or batch.NoTimestamp
}

// WindowProcessor is a user function over all records of a window.
type WindowProcessor[T, R any] struct {
	Life[R]
	// Process takes the window's records, in the order in which they came.
	Process func(w Window, all []Timed[T], emit func(R)) error
	// Evict, if not nil, gives the records that are left before Process sees them.
	Evict func(w Window, all []Timed[T]) []Timed[T]
}

// ProcessWindows makes the operator that keeps the records of each window and
// gives them to a function, which open readies in each subtask, when it fires.
func ProcessWindows[K comparable, T, R any](spec Windows[K, T], open func(m *Moment, k *state.Keyed[K]) (WindowProcessor[T, R], error)) Factory {
	return managing{FactoryFunc(func(c *Context, out any) any {
		w := newWindowed[K, T, R](c, out, spec)
		list, err := state.NewList[Timed[T]](w.keyed.Backend, "contents", state.In(w.space))
		Check(err)
		p, err := open(&w.Moment, w.keyed)
		w.begin(p.Life, err)
		w.pane = w.whole(p, list)
		w.keep(w.keyed.Backend)
		return w.receiver()
	})}
}

// whole keeps all records of a window in a list, for the function.
func (w *windowed[K, T, R]) whole(p WindowProcessor[T, R], list *state.List[Timed[T]]) Pane[T] {
	return Pane[T]{
		Add:   func(v T, ts int64) { list.Add(Timed[T]{v, ts}) },
		Fire:  func(at Window) { w.fire(p, list, at) },
		Clear: list.Clear,
		Take: func() func() {
			taken := list.Take()
			return func() { list.AddAll(taken) }
		},
	}
}

// fire gives the contents of the current window to the function.
func (w *windowed[K, T, R]) fire(p WindowProcessor[T, R], list *state.List[Timed[T]], at Window) {
	all := list.Get()
	if p.Evict != nil && len(all) > 0 {
		n := len(all)
		if all = p.Evict(at, all); len(all) < n {
			list.Set(all)
		}
	}
	if len(all) == 0 {
		return
	}
	if err := p.Process(at, all, w.emit); err != nil {
		w.failed(err)
	}
}
