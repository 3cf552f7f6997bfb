package expr

import (
	"sort"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// converted converts the children of collections and rows.
type converted struct {
	convert convert
	rows    []int32
}

func partsOf(from, to types.Type, s *Session) ([]converted, error) {
	a, b := Parts(from), Parts(to)
	parts := make([]converted, len(a))
	for i := range a {
		if a[i].Kind == types.Null {
			parts[i].convert = func(out, _ *batch.Column, _ Rows, _ failure) error { out.AllNull(); return nil }
			continue
		}
		var err error
		if parts[i].convert, err = converter(a[i], b[i], s); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// run converts the places of a child that are asked for and not NULL.
func (p *converted) run(out, in *batch.Column, places []int32, fail failure) error {
	out.Reset(in.Len)
	if in.Layout == batch.Nothing {
		out.AllNull()
		return nil
	}
	out.OwnValid(in.Valid)
	if in.Valid != nil {
		p.rows = p.rows[:0]
		for _, j := range places {
			if in.Valid.Get(int(j)) {
				p.rows = append(p.rows, j)
			}
		}
		places = p.rows
	}
	return p.convert(out, in, Rows{N: in.Len, Sel: some(places)}, fail)
}

// collectionTo converts the elements that belong to the rows. An element that fails
// fails its row.
func collectionTo(from, to types.Type, s *Session) (convert, error) {
	parts, err := partsOf(from, to, s)
	if err != nil {
		return nil, err
	}
	var places []int32
	return func(out, in *batch.Column, rows Rows, fail failure) error {
		copy(out.Offsets, in.Offsets[:rows.N+1])
		places = places[:0]
		_ = rows.Each(func(i int) error {
			begin, end := in.Span(i)
			for j := begin; j < end; j++ {
				places = append(places, int32(j))
			}
			return nil
		})
		inner := func(j int, err error) error {
			row := sort.Search(rows.N, func(i int) bool { return int(in.Offsets[i+1]) > j })
			return fail(row, err)
		}
		for k := range parts {
			if err := parts[k].run(out.Children[k], in.Children[k], places, inner); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// rowTo converts the fields of the rows, by their places.
func rowTo(from, to types.Type, s *Session) (convert, error) {
	parts, err := partsOf(from, to, s)
	if err != nil {
		return nil, err
	}
	var places []int32
	return func(out, in *batch.Column, rows Rows, fail failure) error {
		places = places[:0]
		_ = rows.Each(func(i int) error { places = append(places, int32(i)); return nil })
		for k := range parts {
			if err := parts[k].run(out.Children[k], in.Children[k], places, fail); err != nil {
				return err
			}
		}
		return nil
	}, nil
}
