package keygroup

import "testing"

func TestRangesPartitionTheGroups(t *testing.T) {
	for _, max := range []int{1, 2, 3, 7, 127, 128, 129, 1000, 4096, 32768} {
		for parallelism := 1; parallelism <= max; parallelism += 1 + max/300 {
			next := 0
			for subtask := range parallelism {
				first, last := Range(subtask, parallelism, max)
				if first != next || last < first {
					t.Fatalf("max %d: subtask %d of %d has [%d,%d], want it to begin at %d", max, subtask, parallelism, first, last, next)
				}
				for _, group := range []int{first, (first + last) / 2, last} {
					if got := Subtask(group, parallelism, max); got != subtask {
						t.Fatalf("max %d: group %d of subtask %d/%d is assigned to %d", max, group, subtask, parallelism, got)
					}
				}
				next = last + 1
			}
			if next != max {
				t.Fatalf("max %d, parallelism %d: the ranges end at %d", max, parallelism, next)
			}
		}
	}
}

// The examples are those of Flink's KeyGroupRangeAssignment.
func TestRangeOfFlink(t *testing.T) {
	for _, c := range []struct{ subtask, parallelism, max, first, last int }{
		{0, 1, 128, 0, 127}, {0, 3, 128, 0, 42}, {1, 3, 128, 43, 85}, {2, 3, 128, 86, 127},
		{1, 3, 10, 4, 6}, {9, 10, 10, 9, 9}, {4, 5, 128, 103, 127},
	} {
		if first, last := Range(c.subtask, c.parallelism, c.max); first != c.first || last != c.last {
			t.Errorf("Range(%d,%d,%d) = %d,%d, want %d,%d", c.subtask, c.parallelism, c.max, first, last, c.first, c.last)
		}
	}
}

func TestRangeRefusesImpossibleSubtasks(t *testing.T) {
	for _, c := range [][3]int{{-1, 2, 4}, {2, 2, 4}, {0, 5, 4}, {0, 0, 4}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Range%v did not panic", c)
				}
			}()
			Range(c[0], c[1], c[2])
		}()
	}
}

func TestDefaultMax(t *testing.T) {
	for parallelism, want := range map[int]int{
		1: 128, 85: 128, 86: 256, 128: 256, 170: 256, 171: 256, 172: 512,
		1000: 2048, 21845: 32768, 30000: 32768, 1 << 20: 32768,
	} {
		if got := DefaultMax(parallelism); got != want {
			t.Errorf("DefaultMax(%d) = %d, want %d", parallelism, got, want)
		}
	}
}

func TestGroupIsInRangeAndUniform(t *testing.T) {
	if Group(0, 128) != 0 || Group(^uint64(0), 128) != 127 || Group(^uint64(0), 1) != 0 || Group(^uint64(0), Limit) != Limit-1 {
		t.Fatal("the extremes of the hash are not the extremes of the groups")
	}
	for _, max := range []int{3, 128, 300} {
		for name, hash := range sequences {
			const per = 400
			counts := make([]int, max)
			for i := range per * max {
				counts[Group(hash(i), max)]++
			}
			if chi := chiSquare(counts, per); chi > float64(max)+6*sqrt2n(max) {
				t.Errorf("max %d, %s: chi square %.0f of %d groups", max, name, chi, max)
			}
		}
	}
}
