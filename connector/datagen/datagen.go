// Package datagen makes records: for tests, demonstrations and load.
//
// It promises that record n is the same whenever and wherever it is made, that each
// number's record is emitted once, also after a failure and at another parallelism,
// and that no more are emitted in a second than is asked for. It never keeps records.
package datagen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector"
)

// Source makes records numbered from 0. Subtasks share the numbers evenly, and each
// emits its own in rising order; with one subtask they are all in order.
type Source[T any] struct {
	// Make makes record n. random gives the same numbers for the same n and Seed; it
	// must not be kept. Make is called on several goroutines.
	Make func(n int64, random *rand.Rand) T
	// Records is how many there are; 0: the source has no end.
	Records int64
	// PerSecond is how many all subtasks together emit in a second, evenly; 0: as many
	// as they can. After a stall at most those of one second are caught up.
	PerSecond int64
	// Seed changes what random gives.
	Seed uint64
}

// splits is how many splits there are: split i has the numbers i, i+splits, … It is
// the most subtasks that have something to do.
const splits = 256

// Bounded reports whether the source ends.
func (s Source[T]) Bounded() bool { return s.Records > 0 }

// Check refuses what makes no sense.
func (s Source[T]) Check(bool) error {
	switch {
	case s.Make == nil:
		return errors.New("datagen: Make is nil")
	case s.Records < 0:
		return fmt.Errorf("datagen: Records is %d, want a positive number, or 0 for no end", s.Records)
	case s.PerSecond < 0:
		return fmt.Errorf("datagen: PerSecond is %d, want a positive number, or 0 for no limit", s.PerSecond)
	}
	return nil
}

// Open makes the generator of one subtask.
func (s Source[T]) Open(c connector.SourceContext, out connector.Output[T]) (connector.Reader, error) {
	g := &generator[T]{source: s, c: c, out: out}
	g.random = rand.New(&g.bits)
	if !c.Restored {
		for n := int64(c.Subtask); n < splits; n += int64(c.Parallelism) {
			g.next = append(g.next, n)
		}
	}
	return g, nil
}

// generator makes the records of one subtask's splits, in turn.
type generator[T any] struct {
	source Source[T]
	c      connector.SourceContext
	out    connector.Output[T]
	bits   rand.PCG
	random *rand.Rand
	next   []int64 // the next number of each split
	turn   int     // the split that is next
	share  int     // how many splits it had when it began, for its rate

	// since and emitted are what the rate is measured by; since is zero before the
	// first record.
	since   time.Time
	emitted int64
	waits   bool // to be woken
}

// Add takes over a split of a checkpoint.
func (g *generator[T]) Add(split []byte) error {
	if len(split) != 8 {
		return fmt.Errorf("datagen: a split of a checkpoint has %d bytes, want 8", len(split))
	}
	g.next = append(g.next, int64(binary.LittleEndian.Uint64(split)))
	return nil
}

// NoMore is never called: there is no coordinator.
func (g *generator[T]) NoMore() error { return nil }

// Poll emits some records.
func (g *generator[T]) Poll() (connector.Progress, error) {
	g.share = max(g.share, len(g.next))
	allowed := g.allowance()
	if allowed == 0 {
		return connector.Wait, nil
	}
	for allowed > 0 {
		n := min(g.out.Room(), allowed)
		emitted := g.emit(n)
		g.out.Count(emitted)
		g.emitted += int64(emitted)
		if emitted < n {
			return connector.Done, nil
		}
		allowed -= n
	}
	return connector.More, nil
}

// emit emits at most n records; fewer are the last.
func (g *generator[T]) emit(n int) int {
	for i := range n {
		for len(g.next) > 0 && g.source.Records > 0 && g.next[g.turn] >= g.source.Records {
			g.next = append(g.next[:g.turn], g.next[g.turn+1:]...)
			if g.turn == len(g.next) {
				g.turn = 0
			}
		}
		if len(g.next) == 0 {
			return i
		}
		number := g.next[g.turn]
		g.next[g.turn] += splits
		if g.turn++; g.turn == len(g.next) {
			g.turn = 0
		}
		g.bits.Seed(g.source.Seed, uint64(number))
		g.out.Emit(g.source.Make(number, g.random), batch.NoTimestamp)
	}
	return n
}

// allowance is how many records may be emitted now. If there are none, the task is
// woken when there are.
func (g *generator[T]) allowance() int {
	if g.source.PerSecond == 0 || g.share == 0 {
		return batch.MaxRows
	}
	rate := float64(g.source.PerSecond) * float64(g.share) / splits
	now := g.c.Now()
	if g.since.IsZero() {
		g.since = now
	}
	if most := max(1, 1/rate); now.Sub(g.since).Seconds()-float64(g.emitted)/rate > most {
		g.since, g.emitted = now.Add(-time.Duration(most*float64(time.Second))), 0
	}
	if allowed := int64(rate*now.Sub(g.since).Seconds()) - g.emitted; allowed > 0 {
		return int(min(allowed, batch.MaxRows))
	}
	if !g.waits {
		g.waits = true
		due := g.since.Add(time.Duration(float64(g.emitted+1) / rate * float64(time.Second)))
		g.c.After(max(0, due.Sub(now))+time.Millisecond, func() error {
			g.waits = false
			g.c.Wake()
			return nil
		})
	}
	return 0
}

// Splits gives where each split is.
func (g *generator[T]) Splits() (all [][]byte, err error) {
	for i := range g.next {
		// From the one whose turn it is on, so that a restored one goes on in order.
		next := g.next[(g.turn+i)%len(g.next)]
		all = append(all, binary.LittleEndian.AppendUint64(nil, uint64(next)))
	}
	return all, nil
}

// Close does nothing.
func (g *generator[T]) Close() error { return nil }
