package operator

import "github.com/weirstream/weir/internal/state"

// Either is a record of one of two streams, for triggers of windows over both.
type Either[A, B any] struct {
	Second bool // it is B, of the second stream; otherwise it is A
	A      A
	B      B
}

// CoGrouper is a user function over the records that two inputs have in a window.
type CoGrouper[A, B, R any] struct {
	Life[R]
	Process func(w Window, first []A, second []B, emit func(R)) error
}

// Evictor gives the records that are left of those of both inputs in a window, which
// are in the order in which they came.
type Evictor[A, B any] func(w Window, all []Timed[Either[A, B]]) []Timed[Either[A, B]]

// CoGroupWindows makes the operator that keeps the records of two inputs in common
// windows of their keys, and gives both to a function when one fires, or what evict,
// unless it is nil, has left of them. Late records go to the side outputs late1 and
// late2.
func CoGroupWindows[K comparable, A, B, R any](spec Windows[K, Either[A, B]], evict Evictor[A, B], late1, late2 any, open func(m *Moment, k *state.Keyed[K]) (CoGrouper[A, B, R], error)) Factory {
	return managing{FactoryFunc(func(c *Context, out any) any {
		w := newWindowed[K, Either[A, B], R](c, out, spec)
		w.late = lateEither(w.dropped, c.Side[A](late1), c.Side[B](late2))
		var p CoGrouper[A, B, R]
		var err error
		pane := pairPane(w, &p)
		if evict != nil {
			pane = evictedPane(w, &p, evict)
		}
		p, err = open(&w.Moment, w.keyed)
		w.begin(p.Life, err)
		w.pane = pane
		w.keep(w.keyed.Backend)
		return Inputs{
			&Receiver[A]{Push: func(v A, ts int64) { w.push(Either[A, B]{A: v}, ts) }, Watermark: w.watermark, Idle: w.out.Idle, Finish: w.finish},
			&Receiver[B]{Push: func(v B, ts int64) { w.push(Either[A, B]{Second: true, B: v}, ts) }, Watermark: w.watermark, Idle: w.out.Idle, Finish: w.finish},
		}
	})}
}

// pairPane keeps the records of a window in a list for each input.
func pairPane[K comparable, A, B, R any](w *windowed[K, Either[A, B], R], p *CoGrouper[A, B, R]) Pane[Either[A, B]] {
	firsts, err := state.NewList[A](w.keyed.Backend, "first", state.In(w.space))
	Check(err)
	seconds, err := state.NewList[B](w.keyed.Backend, "second", state.In(w.space))
	Check(err)
	return Pane[Either[A, B]]{
		Add: func(v Either[A, B], _ int64) {
			if v.Second {
				seconds.Add(v.B)
			} else {
				firsts.Add(v.A)
			}
		},
		Fire: func(at Window) {
			a, b := firsts.Get(), seconds.Get()
			if len(a) == 0 && len(b) == 0 {
				return
			}
			if err := p.Process(at, a, b, w.emit); err != nil {
				w.failed(err)
			}
		},
		Clear: func() {
			firsts.Clear()
			seconds.Clear()
		},
		Take: func() func() {
			a, b := firsts.Take(), seconds.Take()
			return func() {
				firsts.AddAll(a)
				seconds.AddAll(b)
			}
		},
	}
}

// evictedPane keeps them in one list, with their times and in the order in which they
// came.
func evictedPane[K comparable, A, B, R any](w *windowed[K, Either[A, B], R], p *CoGrouper[A, B, R], evict Evictor[A, B]) Pane[Either[A, B]] {
	all, err := state.NewList[Timed[Either[A, B]]](w.keyed.Backend, "contents", state.In(w.space))
	Check(err)
	return w.whole(WindowProcessor[Either[A, B], R]{
		Evict: evict,
		Process: func(at Window, all []Timed[Either[A, B]], emit func(R)) error {
			var first []A
			var second []B
			for _, t := range all {
				if t.Value.Second {
					second = append(second, t.Value.B)
				} else {
					first = append(first, t.Value.A)
				}
			}
			return p.Process(at, first, second, emit)
		},
	}, all)
}

// lateEither makes the receiver of late records of both inputs, of which either may
// have no side output.
func lateEither[A, B any](dropped *int64, first *Receiver[A], second *Receiver[B]) *Receiver[Either[A, B]] {
	return &Receiver[Either[A, B]]{Push: func(v Either[A, B], ts int64) {
		switch {
		case v.Second && second != nil:
			second.Push(v.B, ts)
		case !v.Second && first != nil:
			first.Push(v.A, ts)
		default:
			*dropped++
		}
	}}
}
