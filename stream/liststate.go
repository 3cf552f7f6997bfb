package stream

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/weirstream/weir/internal/operator"
)

// OperatorListState is a list of one subtask of an operation, whatever the keys of
// its records: where in its input a source stands, or what a sink has gathered. It is
// what any function may have that has an Open. Flink's ListState of an
// OperatorStateStore is this.
//
// The list is empty until Open has returned; a function that wants to look at what
// was restored has the method of Restorer.
type OperatorListState[V any] struct{ s *operator.ListState[V] }

// NewSplitListState opens a list whose elements are dealt out anew when the job is
// restored at another parallelism: each goes to one subtask, and the order of those
// that stay together is kept. V must be encodable.
func NewSplitListState[V any](c *OpenContext, name string) *OperatorListState[V] {
	return newOperatorListState[V](c, name, operator.Split)
}

// NewUnionListState opens a list of which, when the job is restored, every subtask
// gets the elements of all. Each chooses those that it goes on with: what it keeps in
// its list is written again with the next checkpoint, by every subtask.
func NewUnionListState[V any](c *OpenContext, name string) *OperatorListState[V] {
	return newOperatorListState[V](c, name, operator.Union)
}

func newOperatorListState[V any](c *OpenContext, name string, mode operator.ListMode) *OperatorListState[V] {
	s, err := operator.OpenListState[V](c.moment, name, mode)
	c.opened("OperatorListState", name, err)
	return &OperatorListState[V]{s}
}

// opened notes what is wrong with a state that is not keyed.
func (c *OpenContext) opened(what, name string, err error) {
	if name == "" {
		err = errors.New("the name is empty")
	}
	if err != nil {
		c.problems = append(c.problems, fmt.Errorf("%s %q: %w", what, name, err))
	}
}

// Get gives a copy of the list, nil if it is empty.
func (s *OperatorListState[V]) Get() []V { return append([]V(nil), s.s.Vals...) }

// All ranges over the list, which must not be changed meanwhile.
func (s *OperatorListState[V]) All() iter.Seq[V] { return slices.Values(s.s.Vals) }

// Len is the number of elements.
func (s *OperatorListState[V]) Len() int { return len(s.s.Vals) }

// Add appends to the list.
func (s *OperatorListState[V]) Add(vals ...V) { s.s.Vals = append(s.s.Vals, vals...) }

// Update replaces the list with a copy of vals.
func (s *OperatorListState[V]) Update(vals []V) { s.s.Vals = append(s.s.Vals[:0:0], vals...) }

// Clear empties the list.
func (s *OperatorListState[V]) Clear() { s.s.Vals = nil }
