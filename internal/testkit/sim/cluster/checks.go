package cluster

import (
	"fmt"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/testkit/sim"
)

// checks watch the world: after every event they look at the endpoints whose
// loop has just run, since nothing else can have changed.
//
// The checkers are, by their number in protocols.md §13:
//
//	1, 2, 20  watchJob in jobs.go        terminal states, attempts, regions
//	6, 16     watchPool, masterCalls     requirements, plans
//	6         idle.go                   slots that nobody uses
//	3         terms.go                   user code of an older JobMaster
//	4, 5, 8   slots.go                   allocations, budgets, freed slots
//	13        splits.go                  what bounded sources have read
//	9–13, 15  cuts.go                    completed checkpoints, and what is restored
//	12, 17    strays.go                  files and entries of checkpoints
//	14        outcome.go                 what is committed
//	19        restarts.go               restarts
//	7, 17     quiet.go                   after faults have stopped
type checks struct {
	c      *Cluster
	first  *Broken
	census map[string]int
	// owners are all allocations there ever were.
	owners map[ident.AllocationID]owner
	code   userCode
	looked uint64
	trying bool // what does not hold may still come
	// met counts what the checkers had to look at, so that a world in which
	// nothing happens is noticed.
	met map[string]int
	// pairs counts which messages found what in which state.
	pairs map[Pair]int
}

func newChecks(c *Cluster) *checks {
	return &checks{c: c, census: map[string]int{}, owners: map[ident.AllocationID]owner{}, code: newUserCode(), met: map[string]int{}, pairs: map[Pair]int{}}
}

// broken notes that an invariant did not hold; the first time counts.
func (k *checks) broken(name, format string, args ...any) {
	if k.first == nil {
		k.first = &Broken{Invariant: name, Text: fmt.Sprintf(format, args...)}
		if !k.trying {
			k.c.world.Note("invariant "+name, "broken")
		}
	}
}

// would reports whether a check holds now; it need not.
func (k *checks) would(check func() bool) bool {
	k.trying = true
	holds := check()
	k.trying, k.first = false, nil
	return holds
}

// after is called after every event of the world.
func (k *checks) after(e sim.Event) {
	if k.first != nil || e.What == sim.Arrival {
		return // a message that arrives is a letter first
	}
	k.looked++
	c := k.c
	if m := c.master; m != nil && (e.Process == m.proc || e.Process == nil) {
		k.watchMaster(m)
	}
	if m := c.manager; m != nil && (e.Process == m.proc || e.Process == nil) {
		k.watchManager(m)
	}
	for _, on := range c.machines {
		if t := on.current; t != nil && (e.Process == t.proc || e.Process == nil) {
			k.watchTaskManager(t)
		}
	}
	k.watchUserCode()
}
