package jobmaster

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weirstream/weir/internal/ident"
)

// A fenceTest is a fence and what it has sent: the number of each answer, after its
// subtask.
type fenceTest struct {
	*testing.T
	fence
	sent []string
}

func newFenceTest(t *testing.T) *fenceTest { return &fenceTest{T: t, fence: newFence()} }

func subtask(n int) ident.AttemptID { return ident.AttemptID{Subtask: n} }

func (t *fenceTest) give(s int, number int64) {
	t.answer(subtask(s), number, func() { t.sent = append(t.sent, fmt.Sprintf("%d:%d", s, number)) })
}

func (t *fenceTest) begin(checkpoint int64, subtasks ...int) {
	var all []ident.AttemptID
	for _, s := range subtasks {
		all = append(all, subtask(s))
	}
	t.raise(checkpoint, all)
}

func (t *fenceTest) want(sent ...string) {
	t.Helper()
	if !slices.Equal(t.sent, sent) {
		t.Errorf("sent %v, want %v", t.sent, sent)
	}
	t.sent = nil
}

func (t *fenceTest) must(checkpoint int64, s int, numbers ...int64) {
	t.Helper()
	if got := t.before(checkpoint, subtask(s)); !slices.Equal(got, numbers) {
		t.Errorf("before checkpoint %d subtask %d must have received %v, want %v", checkpoint, s, got, numbers)
	}
}

func TestWhatIsGivenAfterACheckpointWaitsForIt(t *testing.T) {
	f := newFenceTest(t)
	f.give(0, 1)
	f.want("0:1")
	f.begin(1, 0, 1)
	f.give(0, 2)
	f.give(1, 1)
	f.give(2, 1) // it had not begun
	f.want("2:1")
	f.must(1, 0, 1)
	f.must(1, 1)
	f.pass(1, subtask(0))
	f.want("0:2")
	f.give(0, 3)
	f.want("0:3")
	f.lower(1)
	f.want("1:1")
}

// Each of two checkpoints that are under way holds back what comes after it.
func TestTwoCheckpointsHoldBackTheirOwn(t *testing.T) {
	f := newFenceTest(t)
	f.begin(1, 0)
	f.give(0, 1)
	f.begin(2, 0)
	f.give(0, 2)
	f.want()
	f.must(1, 0)
	f.must(2, 0, 1)
	f.pass(1, subtask(0))
	f.want("0:1")
	f.pass(2, subtask(0))
	f.want("0:2")
	f.lower(2)
	if len(f.posts)+len(f.held) > 0 {
		t.Errorf("left: %d checkpoints, %d answers", len(f.posts), len(f.held))
	}
}

// A request that is made again, since its answer was lost, is answered where the
// first answer stood: before the checkpoint, which waits for it.
func TestARequestThatIsMadeAgain(t *testing.T) {
	f := newFenceTest(t)
	f.give(0, 1)
	f.begin(1, 0)
	f.give(0, 1)
	f.want("0:1", "0:1")
	f.settled(subtask(0), 2)
	f.must(1, 0)
	f.give(0, 2)
	f.give(0, 2)
	f.want()
	f.pass(1, subtask(0))
	f.want("0:2")
	f.must(2, 0, 2)
	f.forget(subtask(0))
	f.must(2, 0)
}
