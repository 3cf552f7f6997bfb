// Package keygroup says where a key lives: it hashes keys, maps hashes to key
// groups, and key groups to subtasks.
//
// It promises that the hash of a key, and the group of a hash, are the same in
// every process, on every machine and in every release, because the files of
// checkpoints are cut by key group and are read back by later releases. The
// assignment of groups to subtasks follows Flink's KeyGroupRangeAssignment.
//
// The hash has no seed and so does not withstand keys chosen by an attacker to
// collide. The package never keeps state, and the functions of one key never
// allocate.
package keygroup

import (
	"math/bits"

	"github.com/weirstream/weir/internal/invariant"
)

// The bounds of a maximum parallelism. MinDefaultMax is the least that
// DefaultMax chooses; Limit is the most that any job may have.
const (
	MinDefaultMax = 1 << 7
	Limit         = 1 << 15
)

// Group returns the key group, in [0,max), of a key with this hash. It looks
// only at the upper 32 bits, so that the lower 32 are still uniform within a
// group and can index a hash table.
func Group(hash uint64, max int) int {
	return int((hash >> 32) * uint64(max) >> 32)
}

// Range returns the first and the last key group of a subtask, both inclusive.
// It needs 0 <= subtask < parallelism <= max; the range is then never empty.
func Range(subtask, parallelism, max int) (first, last int) {
	invariant.Check(0 <= subtask && subtask < parallelism && parallelism <= max,
		"subtask %d of %d has key groups of %d", subtask, parallelism, max)
	return (subtask*max + parallelism - 1) / parallelism, ((subtask+1)*max - 1) / parallelism
}

// Subtask returns the subtask whose Range holds the group.
func Subtask(group, parallelism, max int) int {
	return group * parallelism / max
}

// DefaultMax returns the maximum parallelism of an operator for which none was
// set: one and a half times its parallelism, rounded up to a power of two,
// between MinDefaultMax and Limit.
func DefaultMax(parallelism int) int {
	want := parallelism + parallelism/2
	if want <= MinDefaultMax {
		return MinDefaultMax
	}
	if want >= Limit {
		return Limit
	}
	return 1 << bits.Len(uint(want-1))
}
