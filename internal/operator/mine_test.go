package operator

import (
	"slices"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/state/keygroup"
	"github.com/weirstream/weir/internal/streamgraph"
)

// What subtasks take out of copies of one batch are together its records, each once,
// with their times and kinds, in their order, and where the partitioner would have sent
// them.
func TestMineAgreesWithThePartitioner(t *testing.T) {
	hash := func(v int64) uint64 { return keygroup.HashInt(uint64(v)) }
	pick := func(v int64, n int) int { return int(v) % n }
	route := &Router[int64]{Hash: func() func(int64) uint64 { return hash }, Pick: pick}
	const groups = 16
	owner := map[streamgraph.Partitioner]func(v int64, n int) int{
		streamgraph.Hash: func(v int64, n int) int {
			return keygroup.Subtask(keygroup.Group(hash(v), groups), n, groups)
		},
		streamgraph.Custom: pick,
	}
	for partitioner, owner := range owner { // order: each stands by itself
		for n := 1; n <= 5; n++ {
			var got []int64
			for subtask := range n {
				b := &batch.Rows[int64]{}
				for v := range int64(200) {
					b.Vals, b.TS, b.Kind = append(b.Vals, v), append(b.TS, 1000+v), append(b.Kind, batch.RowKind(v%4))
				}
				(&StreamOf[int64]{}).Mine(TailEdge{Partitioner: partitioner, Route: route, MaxParallelism: groups}, "test", subtask, n)(b)
				if !slices.IsSorted(b.Vals) {
					t.Errorf("%s: %v is not in order", partitioner.Ship(), b.Vals)
				}
				for i, v := range b.Vals {
					if b.TS[i] != 1000+v || b.Kind[i] != batch.RowKind(v%4) || owner(v, n) != subtask {
						t.Errorf("%s: record %d in subtask %d of %d with time %d and kind %d", partitioner.Ship(), v, subtask, n, b.TS[i], b.Kind[i])
					}
				}
				got = append(got, b.Vals...)
			}
			slices.Sort(got)
			if len(got) != 200 || got[0] != 0 || got[199] != 199 || len(slices.Compact(got)) != 200 {
				t.Errorf("%s to %d: %v", partitioner.Ship(), n, got)
			}
		}
	}
	plain := &batch.Rows[int64]{Vals: []int64{1, 2, 3, 4}}
	(&StreamOf[int64]{}).Mine(TailEdge{Partitioner: streamgraph.Custom, Route: route}, "test", 1, 2)(plain)
	if !slices.Equal(plain.Vals, []int64{1, 3}) || len(plain.TS)+len(plain.Kind) > 0 {
		t.Errorf("%+v", plain)
	}
}

// A partitioner that chooses nobody fails the task, and no record is lost for it.
func TestMineOfABadPartitioner(t *testing.T) {
	route := &Router[int64]{Pick: func(v int64, n int) int { return n }}
	mine := (&StreamOf[int64]{}).Mine(TailEdge{Partitioner: streamgraph.Custom, Route: route}, "test", 1, 2)
	err := Guard(func() { mine(&batch.Rows[int64]{Vals: []int64{1}}) })
	if err == nil || err.Error() != "custom partitioner of test chose partition 2, there are 2 (0 to 1)" {
		t.Error(err)
	}
}
