package task

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/shuffle"
)

// gate is an input of which nothing is polled: it only notes what is blocked, and tells
// what the barrier that comes next has overtaken.
type gate struct {
	blocked   []bool
	overtaken [][]byte
}

func (g *gate) PollUrgent() (int, element.Element, bool) { return 0, element.Element{}, false }
func (g *gate) Overtaken(int) [][]byte                   { return g.overtaken }

func (g *gate) Channels() int                             { return len(g.blocked) }
func (g *gate) Poll() (int, element.Element, bool, error) { return 0, element.Element{}, false, nil }
func (g *gate) Close()                                    {}
func (g *gate) Block(channel int)                         { g.blocked[channel] = true }
func (g *gate) Unblock(channel int)                       { g.blocked[channel] = false }

// notes is a Checkpointer that notes what it is told.
type notes struct {
	lines []string
	taken []Taken
}

func (n *notes) Purpose(Barrier) Purpose                       { return Purpose{} }
func (n *notes) Finished(ident.OperatorID) bool                { return false }
func (n *notes) Restore(ident.OperatorID, operator.Kept) error { return nil }
func (n *notes) Take(t Taken) {
	n.lines, n.taken = append(n.lines, fmt.Sprint("took ", t.Checkpoint)), append(n.taken, t)
}
func (n *notes) Decline(b Barrier, why error) {
	n.lines = append(n.lines, fmt.Sprintf("declined %d: %v", b.Checkpoint, why))
}

// aligning makes the alignment of a task with gates of so many channels.
func aligning(channels ...int) (*alignment, *notes) {
	n := &notes{}
	t := &Task{spec: Spec{Checkpoints: n}}
	for _, c := range channels {
		t.gates = append(t.gates, &gate{blocked: make([]bool, c)})
	}
	return newAlignment(t), n
}

// TestCounting: barriers that are counted block nothing, and several checkpoints are
// counted at once.
func TestCounting(t *testing.T) {
	a, n := aligning(2, 1)
	at := func(gate, channel int, id int64) {
		a.barrier(gate, channel, Barrier{Checkpoint: id, Align: element.Counted})
	}
	at(0, 0, 1)
	at(0, 0, 2)
	at(0, 1, 1)
	at(0, 1, 1) // once more: ignored
	at(1, 0, 1)
	at(0, 1, 2)
	a.end(1, 0)
	at(0, 0, 3)
	at(0, 0, 4)
	at(0, 1, 4) // 3 was given up by its producer
	at(0, 1, 3)
	at(0, 0, 5)
	a.abort(5)
	at(0, 0, 6)
	a.end(0, 1)
	want := "took 1, took 2, declined 3: the barrier of a newer checkpoint has come, took 4, took 6"
	if got := strings.Join(n.lines, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if a.gates[0].(*gate).blocked[0] {
		t.Error("a channel is blocked")
	}
}

// TestCountingAtRandom: whatever the order in which channels bring their barriers, and
// end, each checkpoint is taken once its barrier is on all, in order.
func TestCountingAtRandom(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		channels := 1 + r.IntN(5)
		a, n := aligning(channels)
		at := make([]int64, channels) // the newest barrier; past last: ended
		const last = 6
		taken := int64(0)
		for {
			c := r.IntN(channels)
			if at[c] > last {
				if taken == last {
					break
				}
				continue
			}
			if at[c]++; at[c] > last || r.IntN(20) == 0 {
				at[c] = last + 1
				a.end(0, c)
			} else {
				a.barrier(0, c, Barrier{Checkpoint: at[c], Align: element.Counted})
			}
			least := int64(last)
			for _, b := range at {
				least = min(least, b)
			}
			taken = least
			heard := int64(0)
			for _, line := range n.lines {
				if _, err := fmt.Sscanf(line, "took %d", &heard); err != nil {
					t.Fatalf("seed %d: %s", seed, line)
				}
			}
			if heard > least {
				t.Fatalf("seed %d: channels are at %v, and %d was taken", seed, at, heard)
			}
		}
	}
}

// item is a batch of one number.
type item byte

func (item) Len() int { return 1 }
func (item) Release() {}

type itemSerializer struct{}

func (itemSerializer) Append(dst []byte, b batch.Batch) ([]byte, error) {
	return append(dst, byte(b.(item))), nil
}
func (itemSerializer) Decode(src []byte) (batch.Batch, error) { return item(src[0]), nil }

// TestOvertakenAtRandom: whatever is read before the task takes its part, and what is
// written down of each channel, are together what came on it before its barrier; no
// channel stays blocked, and where barriers stay in line they are awaited.
func TestOvertakenAtRandom(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for round := range 500 {
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("seed %d, round %d: %s", seed, round, fmt.Sprintf(format, args...))
		}
		channels := []int{1 + r.IntN(3), 1 + r.IntN(3)}
		a, n := aligning(channels...)
		a.held[1] = r.IntN(2) == 0
		a.serializers = []shuffle.Serializer{itemSerializer{}, itemSerializer{}}
		type channel struct {
			gate, index, items, read, atTake int
			arrived                          bool
		}
		var all []*channel
		for g := range channels {
			for c := range channels[g] {
				all = append(all, &channel{gate: g, index: c, items: r.IntN(6), atTake: -1})
			}
		}
		for left := len(all); left > 0; {
			c := all[r.IntN(len(all))]
			if c.arrived {
				continue
			}
			if c.read < c.items && r.IntN(3) > 0 {
				a.record(c.gate, c.index, item(c.read))
				c.read++
			} else if held := a.held[c.gate]; !held || c.read == c.items {
				b := Barrier{Checkpoint: 1, Align: element.Unaligned}
				if held {
					b.Align = element.Held
				}
				g := a.gates[c.gate].(*gate)
				g.overtaken = nil
				for i := c.read; i < c.items; i++ {
					g.overtaken = append(g.overtaken, []byte{byte(i)})
				}
				a.barrier(c.gate, c.index, b)
				c.arrived = true
				left--
			}
			if len(n.taken) > 0 {
				for _, c := range all {
					if c.atTake < 0 {
						c.atTake = c.read
						if !c.arrived && a.held[c.gate] {
							fail("the barrier on channel %d was not awaited", c.index)
						}
					}
				}
			}
		}
		if len(n.taken) != 1 || a.waiting {
			fail("%v", n.lines)
		}
		noted := map[[2]int]string{}
		if f := n.taken[0].InFlight; f != nil {
			if err := f.Wait(); err != nil {
				fail("%v", err)
			}
			for _, c := range f.Inputs {
				for _, b := range c.Batches {
					noted[[2]int{c.Gate, c.Channel}] += fmt.Sprint(b[0])
				}
			}
		}
		for _, c := range all {
			want := ""
			for i := c.atTake; i < c.items; i++ {
				want += fmt.Sprint(i)
			}
			if got := noted[[2]int{c.gate, c.index}]; got != want {
				fail("channel %d of input %d: %q is in flight, want %q", c.index, c.gate, got, want)
			}
			if a.gates[c.gate].(*gate).blocked[c.index] {
				fail("channel %d of input %d is blocked", c.index, c.gate)
			}
		}
	}
}

// A checkpoint that is given up, or overtaken by a newer one, while records in flight are
// written down, tells so.
func TestInFlightGivenUp(t *testing.T) {
	a, n := aligning(2)
	a.barrier(0, 0, Barrier{Checkpoint: 1, Align: element.Unaligned})
	a.abort(1)
	a.barrier(0, 0, Barrier{Checkpoint: 2, Align: element.Unaligned})
	a.barrier(0, 1, Barrier{Checkpoint: 3, Align: element.Unaligned})
	a.barrier(0, 0, Barrier{Checkpoint: 3, Align: element.Unaligned})
	a.barrier(0, 1, Barrier{Checkpoint: 2, Align: element.Unaligned})
	var got []string
	for _, one := range n.taken {
		got = append(got, fmt.Sprint(one.Checkpoint, " ", one.InFlight.Wait()))
	}
	want := "1 the checkpoint was given up, 2 the barrier of a newer checkpoint has come, 3 <nil>"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %s\nwant %s", strings.Join(got, ", "), want)
	}
}
