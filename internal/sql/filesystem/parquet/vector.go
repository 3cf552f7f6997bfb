package parquet

import (
	"errors"

	"github.com/weirstream/weir/batch"
)

// vector puts a column of a table together from leaves of a file.
type vector struct {
	to *batch.Column
	// levels is a leaf of the field, whose levels tell where values and lists are; nil: the
	// file has no such field, and all is NULL. A field that is no list and has no others in
	// it is its leaf.
	levels *leaf
	plain  bool
	// definition is the level from which on the value is not NULL, exists that from which
	// on there is a place for one.
	definition, exists int
	// depth is how many lists are around the value.
	depth int
	// element is, of a list, the level from which on there is an element.
	element  int
	children []*vector
}

// errUneven says that fields that belong together have unlike lists.
var errUneven = errors.New("its fields disagree on how many elements a list has")

// assemble fills the column with the values of so many places.
func (v *vector) assemble(places int) error {
	if v.levels == nil {
		v.to.Reset(0)
		for range places {
			v.to.AppendNull()
		}
		return nil
	}
	if v.plain {
		if v.to.Len != places {
			return errUneven
		}
		return nil
	}
	elements := places
	switch v.to.Layout {
	case batch.Structs:
		if v.structs() != places {
			return errUneven
		}
	default:
		lists, n := v.lists()
		if lists != places || n > maxElements {
			return errUneven
		}
		elements = n
	}
	for _, c := range v.children {
		if err := c.assemble(elements); err != nil {
			return err
		}
	}
	return nil
}

// structs notes which rows are NULL.
func (v *vector) structs() (n int) {
	repetition, definition := v.levels.current()
	v.own(len(definition))
	nulls := 0
	for i, d := range definition {
		if int(repetition[i]) > v.depth || int(d) < v.exists {
			continue
		}
		if int(d) >= v.definition {
			v.to.Valid.Set(n)
		} else {
			nulls++
		}
		n++
	}
	v.owned(n, nulls)
	return n
}

// lists notes where lists begin and end, and which are NULL.
func (v *vector) lists() (n, elements int) {
	repetition, definition := v.levels.current()
	v.own(len(definition))
	nulls := 0
	offsets := v.to.Offsets[:0]
	for i, d := range definition {
		r := int(repetition[i])
		if r <= v.depth && int(d) >= v.exists {
			offsets = append(offsets, int32(elements))
			if int(d) >= v.definition {
				v.to.Valid.Set(n)
			} else {
				nulls++
			}
			n++
		}
		if r <= v.depth+1 && int(d) >= v.element {
			elements++
		}
	}
	v.to.Offsets = append(offsets, int32(elements))
	v.owned(n, nulls)
	return n, elements
}

// own gives the column a bitmap with no bit set, for at most n values.
func (v *vector) own(n int) {
	v.to.Reuse()
	v.to.Len = n
	v.to.AllNull()
}

// owned sets the length, and leaves the bitmap out that nobody needs.
func (v *vector) owned(n, nulls int) {
	v.to.Len = n
	if nulls == 0 {
		v.to.Reuse()
		return
	}
	v.to.Valid = v.to.Valid[:(n+63)/64]
}
