package task

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/operator"
)

// gate is an input of which nothing is polled: it only notes what is blocked.
type gate struct{ blocked []bool }

func (g *gate) Channels() int                             { return len(g.blocked) }
func (g *gate) Poll() (int, element.Element, bool, error) { return 0, element.Element{}, false, nil }
func (g *gate) Close()                                    {}
func (g *gate) Block(channel int)                         { g.blocked[channel] = true }
func (g *gate) Unblock(channel int)                       { g.blocked[channel] = false }

// notes is a Checkpointer that notes what it is told.
type notes struct{ lines []string }

func (n *notes) Purpose(Barrier) Purpose                       { return Purpose{} }
func (n *notes) Finished(ident.OperatorID) bool                { return false }
func (n *notes) Restore(ident.OperatorID, operator.Kept) error { return nil }
func (n *notes) Take(t Taken)                                  { n.lines = append(n.lines, fmt.Sprint("took ", t.Checkpoint)) }
func (n *notes) Decline(b Barrier, why error) {
	n.lines = append(n.lines, fmt.Sprintf("declined %d: %v", b.Checkpoint, why))
}

// aligning makes the alignment of a task with gates of so many channels.
func aligning(channels ...int) (*alignment, *notes) {
	n := &notes{}
	t := &Task{spec: Spec{Checkpoints: n}}
	for _, c := range channels {
		t.gates = append(t.gates, &gate{make([]bool, c)})
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
