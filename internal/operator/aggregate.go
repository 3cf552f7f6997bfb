package operator

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/codec"
	"github.com/weirstream/weir/internal/state"
	"github.com/weirstream/weir/internal/state/keygroup"
	"github.com/weirstream/weir/internal/state/memory"
)

// Aggregate says how records of type T with one key become an accumulator A and
// that becomes a result R.
type Aggregate[K comparable, T, A, R any] struct {
	// Key gives the record's key; it must give the same for the same record.
	Key func(T) K
	// Add folds a record into the accumulator; created: acc is zero and new.
	Add func(acc *A, created bool, v T)
	// Merge folds another accumulator of the same key into acc.
	Merge func(acc *A, created bool, other A)
	// Result gives what is emitted for a key.
	Result func(k K, acc A) R
}

// Partial is what is exchanged when records are aggregated before the exchange.
type Partial[K comparable, A any] struct {
	Key K
	Acc A
}

// KeyEncoder gives the function that writes a key's canonical bytes, or nil for
// the integer and string kinds, which need none.
func KeyEncoder[K comparable]() (func([]byte, *K) []byte, error) {
	if keygroup.KindOf[K]() != keygroup.Encoded {
		return nil, nil
	}
	plan, err := codec.For[K]()
	if err != nil {
		return nil, err
	}
	return plan.AppendKey, nil
}

// KeyRouter routes records by the hash of their key.
func KeyRouter[K comparable, T any](key func(T) K) *Router[T] {
	return &Router[T]{Hash: func() func(T) uint64 {
		encode, err := KeyEncoder[K]()
		Check(err)
		hasher, err := keygroup.NewHasher(encode)
		Check(err)
		return func(v T) uint64 { return hasher.Hash(key(v)) }
	}}
}

// PartialRouter routes partial aggregates by the hash of their key.
func PartialRouter[K comparable, A any]() *Router[Partial[K, A]] {
	return KeyRouter(func(p Partial[K, A]) K { return p.Key })
}

// table makes the table of the key groups that the subtask owns.
func table[K comparable, A any](c *Context, whole bool) *memory.Table[K, A] {
	encode, err := KeyEncoder[K]()
	Check(err)
	o := memory.Options[K]{Last: c.MaxParallelism - 1, Max: c.MaxParallelism, EncodeKey: encode}
	if !whole {
		o.First, o.Last = c.OwnKeyGroups()
	}
	t, err := memory.New[K, A](o)
	Check(err)
	return t
}

// Keyed makes the operator that aggregates the records of each key. In batch
// mode it emits one result a key at the end, otherwise one with each record.
func Keyed[K comparable, T, A, R any](a Aggregate[K, T, A, R]) Factory {
	return managing{FactoryFunc(func(c *Context, out any) any {
		return folding(c, Output[R](out), a, a.Key, a.Add)
	})}
}

// Final makes the operator that merges partial aggregates and emits one result
// a key at the end.
func Final[K comparable, T, A, R any](a Aggregate[K, T, A, R]) Factory {
	return managing{FactoryFunc(func(c *Context, out any) any {
		return folding(c, Output[R](out), a,
			func(p Partial[K, A]) K { return p.Key },
			func(acc *A, created bool, p Partial[K, A]) { a.Merge(acc, created, p.Acc) })
	})}
}

// folding makes the receiver that folds records of type T into the table of
// their keys, a batch at a time.
func folding[K comparable, T, V, A, R any](c *Context, o *Receiver[R], a Aggregate[K, V, A, R], key func(T) K, add func(*A, bool, T)) *Receiver[T] {
	var f *fold[K, T, A]
	finish := nothing
	if !c.Batch {
		f = newKeptFold(c, key, add)
	} else {
		f = newFold(c, table[K, A](c, false), key, add)
	}
	if c.Batch {
		emitted := c.Emitted()
		emit := func(k K, acc *A) {
			c.Signal.Attend()
			*emitted++
			o.Push(a.Result(k, *acc), batch.NoTimestamp)
		}
		over := newOverflow(c, f.table, a.Merge)
		f.full = over.spillIfFull
		finish = func() { over.finish(emit) }
	} else {
		c.OnFlush(f.drain)
		f.each = func(i int, acc *A, created bool) {
			add(acc, created, f.vals[i])
			o.Push(a.Result(f.keys[i], *acc), f.timestamp(i))
		}
	}
	h := draining(f.drain, finish, Head{Watermark: o.Watermark, Idle: o.Idle, Finish: o.Finish})
	return &Receiver[T]{Push: f.push, PushBatch: f.batch, Watermark: h.Watermark, Idle: h.Idle, Finish: h.Finish}
}

// draining makes the head of an operator that lets out what it holds before all but
// records, and does more at the end.
//
//go:noinline
func draining(drain, finish func(), next Head) Head {
	return Head{
		Watermark: func(t int64) {
			drain()
			next.Watermark(t)
		},
		Idle: func(idle bool) {
			drain()
			next.Idle(idle)
		},
		Finish: func() {
			drain()
			finish()
			next.Finish()
		},
	}
}

// localBudget bounds the memory of the table before an exchange, besides what
// the operator may use: full, it is emptied downstream, which costs a little
// exchange and never correctness.
const localBudget = 64 << 20

// Local makes the operator that aggregates before the exchange, in batch mode:
// it emits each key's partial aggregate at the end, and all of them whenever its
// table has grown to its budget.
func Local[K comparable, T, A, R any](a Aggregate[K, T, A, R]) Factory {
	return managing{FactoryFunc(func(c *Context, out any) any {
		o := Output[Partial[K, A]](out)
		f, emitted := newFold(c, table[K, A](c, true), a.Key, a.Add), c.Emitted()
		limit := newLimit[K, A](min(budget(c), localBudget), c.managed())
		emit := func() {
			f.table.Range(func(k K, acc *A) bool {
				c.Signal.Attend()
				*emitted++
				o.Push(Partial[K, A]{Key: k, Acc: *acc}, batch.NoTimestamp)
				return true
			})
			f.table.Clear()
		}
		f.full = func() {
			if limit.reached(f.table) {
				emit()
			}
		}
		return &Receiver[T]{
			Push:      f.push,
			PushBatch: f.batch,
			Watermark: o.Watermark,
			Idle:      o.Idle,
			Finish: func() {
				f.drain()
				emit()
				o.Finish()
			},
		}
	})}
}

// foldRows is how many pushed records are hashed and probed together.
const foldRows = 256

// fold adds records to the accumulators of their keys. Records that come one by
// one are kept until there are enough to probe the table for all together.
type fold[K comparable, T, A any] struct {
	table  *memory.Table[K, A] // nil: upsert knows where accumulators are
	upsert func(keys []K, each func(i int, acc *A, created bool))
	key    func(T) K
	each   func(i int, acc *A, created bool)
	full   func() // nil: nothing to do after a batch
	signal *Signal

	keys  []K
	vals  []T     // what each sees: a part of the batch, or of pushed
	times []int64 // as long, or nil

	pushed batch.Rows[T]
	busy   bool // a batch is being folded
}

// newFold makes a fold that only adds.
func newFold[K comparable, T, A any](c *Context, table *memory.Table[K, A], key func(T) K, add func(*A, bool, T)) *fold[K, T, A] {
	f := &fold[K, T, A]{table: table, upsert: table.UpsertBatch, key: key, signal: c.Signal}
	f.each = func(i int, acc *A, created bool) { add(acc, created, f.vals[i]) }
	return f
}

// newKeptFold makes a fold whose accumulators are part of checkpoints.
func newKeptFold[K comparable, T, A any](c *Context, key func(T) K, add func(*A, bool, T)) *fold[K, T, A] {
	keyed := newKeyed[K](c)
	accs, err := state.NewValue[A](keyed.Backend, "aggregate")
	if err != nil { // it cannot be encoded, which only a checkpoint needs
		f := newFold(c, table[K, A](c, false), key, add)
		c.Keep(c.OperatorID, Kept{Refuse: err, Prepare: func(int64) { f.drain() }})
		return f
	}
	f := &fold[K, T, A]{key: key, signal: c.Signal}
	f.each = func(i int, acc *A, created bool) { add(acc, created, f.vals[i]) }
	f.upsert = func(keys []K, each func(int, *A, bool)) { state.UpsertBatch(keyed, accs, keys, each) }
	if !accs.InPlace() {
		f.upsert = func(keys []K, each func(int, *A, bool)) {
			keyed.Ready(keys)
			for i := range keys {
				keyed.Use(i)
				acc, some := accs.Get()
				each(i, &acc, !some)
				accs.Set(acc)
			}
		}
	}
	c.Keep(c.OperatorID, Kept{Keyed: keyed.Backend, Prepare: func(int64) { f.drain() }})
	return f
}

// push takes one record.
func (f *fold[K, T, A]) push(v T, ts int64) {
	f.pushed.Append(v, ts)
	if len(f.pushed.Vals) >= foldRows {
		f.drain()
	}
}

// drain folds what was pushed. A flush that comes in the middle of a batch, when
// the task attends to its signal, finds nothing to drain here.
func (f *fold[K, T, A]) drain() {
	if len(f.pushed.Vals) == 0 || f.busy {
		return
	}
	f.batch(&f.pushed)
	f.pushed.Vals, f.pushed.TS = f.pushed.Vals[:0], f.pushed.TS[:0]
}

// batch folds a whole batch. In streaming mode the records behind it go through
// the rest of the chain meanwhile, so the task's signal is attended to.
func (f *fold[K, T, A]) batch(b *batch.Rows[T]) {
	f.busy = true
	for next := 0; next < len(b.Vals); {
		end := min(next+foldRows/maxBlock*f.signal.Block(), len(b.Vals))
		f.some(b, next, end)
		next = end
	}
	f.busy = false
	if f.full != nil {
		f.full()
	}
}

// some folds the records of b from next up to end.
func (f *fold[K, T, A]) some(b *batch.Rows[T], next, end int) {
	f.vals = b.Vals[next:end]
	if f.times = nil; len(b.TS) > 0 {
		f.times = b.TS[next:end]
	}
	f.keys = f.keys[:0]
	for _, v := range f.vals {
		f.keys = append(f.keys, f.key(v))
	}
	f.upsert(f.keys, f.each)
}

// timestamp is the event time of the record each sees.
func (f *fold[K, T, A]) timestamp(i int) int64 {
	if f.times == nil {
		return batch.NoTimestamp
	}
	return f.times[i]
}
