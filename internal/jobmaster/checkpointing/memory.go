package checkpointing

import (
	"slices"

	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
)

// Memory is a Store that ends with its JobMaster: that of a cluster without high
// availability. It answers at once.
type Memory struct {
	last     int64
	pointers []checkpoint.Pointer // in order of ids
}

// Lasts reports that it does not.
func (m *Memory) Lasts() bool { return false }

// NextID gives the id after the last one.
func (m *Memory) NextID(after int64, then func(int64, error)) {
	m.last = max(m.last, after) + 1
	then(m.last, nil)
}

// Add enters a pointer.
func (m *Memory) Add(p checkpoint.Pointer, then func(error)) {
	m.pointers = append(m.pointers, p)
	slices.SortFunc(m.pointers, func(a, b checkpoint.Pointer) int { return int(a.Checkpoint - b.Checkpoint) })
	then(nil)
}

// Remove takes a pointer out.
func (m *Memory) Remove(id int64, then func(error)) {
	m.pointers = slices.DeleteFunc(m.pointers, func(p checkpoint.Pointer) bool { return p.Checkpoint == id })
	then(nil)
}

// All gives the pointers.
func (m *Memory) All(then func([]checkpoint.Pointer, error)) { then(slices.Clone(m.pointers), nil) }

// Clear forgets everything.
func (m *Memory) Clear(then func(error)) {
	*m = Memory{}
	then(nil)
}
