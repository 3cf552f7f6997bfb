package operator

import (
	"github.com/weirstream/weir/internal/codec"
	"github.com/weirstream/weir/internal/state/memory"
)

// defaultBudget is what an operator may use that is not told its share of
// managed memory, and leastBudget what it needs at least: an almost empty table
// of many key groups takes a good part of it.
const defaultBudget, leastBudget = 64 << 20, 256 << 10

// LeastManaged is the managed memory that an operator which uses some cannot do
// without.
const LeastManaged = leastBudget

// budget is how many bytes an operator may use.
func budget(c *Context) int {
	if c.ManagedBytes > 0 {
		return max(leastBudget, int(c.ManagedBytes))
	}
	return defaultBudget
}

// A limit says when a table has grown to a budget, also after it was cleared:
// then it keeps its memory, and the number of its keys tells.
type limit[K comparable, A any] struct {
	budget int
	held   *int64 // what the table takes, for who measures it
	half   int    // keys when half of the budget was passed; 0: it was not
	most   int    // keys when the budget was passed; 0: it was not
	bytes  int    // of the table then

	// What accumulators point to the table does not count, so it is guessed from
	// what some of them encode to.
	plan   *codec.Plan[A] // nil: they point to nothing, or cannot be encoded
	calls  int
	each   int // bytes a key has besides the table
	sample []A
	buf    []byte
}

func newLimit[K comparable, A any](budget int, held *int64) *limit[K, A] {
	l := &limit[K, A]{budget: budget, held: held}
	if plan, err := codec.For[A](); err == nil && !plan.PointerFree() {
		l.plan = plan
	}
	return l
}

// reached reports whether the table should be emptied now. It is called once a
// batch.
//
// Tables grow by doubling: one that takes a little more than half of the budget
// would take more than all of it after the next step. So it is full with three
// quarters more keys than it had when it passed the half, before most of its key
// groups double again.
func (l *limit[K, A]) reached(t *memory.Table[K, A]) bool {
	keys, bytes := t.Len(), t.Bytes()
	if l.plan != nil && keys > 0 {
		l.guess(t)
	}
	beside := l.each * keys
	*l.held = int64(bytes + beside)
	if bytes+beside > l.budget && beside > l.budget/4 {
		return true
	}
	if l.half == 0 && bytes > l.budget/2 {
		l.half = max(1, keys)
	}
	if bytes > l.budget && (l.most == 0 || bytes > l.bytes) {
		l.most, l.bytes = max(1, keys), bytes
		return keys > 0
	}
	return keys > 0 && (l.most > 0 && keys >= l.most || l.half > 0 && keys >= l.half+l.half*3/4)
}

// guesses is how many calls of reached share a guess, and sampled how many
// accumulators it is made from.
const guesses, sampled = 16, 32

// guess estimates what the accumulators point to, now and then.
func (l *limit[K, A]) guess(t *memory.Table[K, A]) {
	if l.calls++; l.calls%guesses != 1 {
		return
	}
	l.sample = l.sample[:0]
	t.Range(func(_ K, acc *A) bool {
		l.sample = append(l.sample, *acc)
		return len(l.sample) < sampled
	})
	var err error
	if l.buf, err = l.plan.Append(l.buf[:0], l.sample); err == nil {
		l.each = len(l.buf) / len(l.sample)
	}
	clear(l.sample)
}
