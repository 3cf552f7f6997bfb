package operator

import (
	"fmt"

	"github.com/weirstream/weir/internal/codec"
)

// ListState is a list of one subtask of an operator whose elements can be given to
// other subtasks. Nothing of it is the key's.
type ListState[V any] struct {
	Vals []V
	plan *codec.Plan[V]
	from *codec.Reader[V] // of what is restored
}

// OpenListState makes a list that is part of what the function of m keeps.
func OpenListState[V any](m *Moment, name string, mode ListMode) (*ListState[V], error) {
	plan, err := codec.For[V]()
	if err != nil {
		return nil, err
	}
	s := &ListState[V]{plan: plan}
	return s, m.KeepList(KeptList{Name: name, Mode: mode, Schema: string(plan.Schema()), From: s.readFrom, Save: s.save, Load: s.load})
}

func (s *ListState[V]) readFrom(schema string) error {
	from, err := codec.NewReader(codec.Schema(schema), s.plan)
	if err == nil {
		s.from = from
	}
	return err
}

func (s *ListState[V]) save() [][]byte {
	var all []byte
	ends := make([]int, len(s.Vals))
	for i := range s.Vals {
		var err error
		all, err = s.plan.Append(all, s.Vals[i:i+1])
		Check(err)
		ends[i] = len(all)
	}
	elements, start := make([][]byte, len(ends)), 0
	for i, end := range ends {
		elements[i], start = all[start:end:end], end
	}
	return elements
}

func (s *ListState[V]) load(elements [][]byte) error {
	for i, e := range elements {
		vals, rest, err := s.from.Decode(s.Vals, 1, e)
		if err == nil && len(rest) > 0 {
			err = fmt.Errorf("%d bytes too many", len(rest))
		}
		if err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
		s.Vals = vals
	}
	return nil
}
