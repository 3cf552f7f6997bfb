package functions

import (
	"errors"
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/jsondoc"
	"github.com/weirstream/weir/types"
)

// inferQuery takes [input, path, wrapper, onEmpty, onError].
func inferQuery(s *expr.Site) (types.Type, error) {
	if err := s.Count(5, 5); err != nil {
		return types.Type{}, err
	}
	t := text
	if s.Returning != nil {
		t = *s.Returning
	}
	switch {
	case t.Kind.IsText():
	case t.Kind == types.Array && t.Elem.Kind.IsText():
		for _, k := range []int{3, 4} {
			if w, _ := s.ConstantText(k); w == "EMPTY OBJECT" {
				return t, s.Refuse("JSON_QUERY cannot give EMPTY OBJECT as %s; allowed are NULL, ERROR and EMPTY ARRAY", t.Text())
			}
		}
	default:
		return t, s.Refuse("JSON_QUERY cannot give %s; allowed are STRING and ARRAY<STRING>", t.Text())
	}
	return t.OrNull(), jsonArguments(s)
}

func queryKernel(b *expr.Bound) (expr.Kernel, error) {
	f, err := newFinder(b)
	if err != nil {
		return nil, err
	}
	q := &query{finder: f, wrapper: word(b, 2, "WITHOUT ARRAY"), onEmpty: word(b, 3, "NULL"), onError: word(b, 4, "NULL")}
	if b.T.Kind == types.Array {
		return listingOrFail(q.elements), nil
	}
	length := b.T.Length
	return failing(func(dst []byte, r row) ([]byte, bool, error) {
		from := len(dst)
		dst, ok, err := q.document(dst, r)
		return dst[:from+cut(dst[from:], length)], ok, err
	}), nil
}

// query is a call of JSON_QUERY.
type query struct {
	*finder
	wrapper, onEmpty, onError string
	scratch                   []byte
	parts                     jsondoc.Doc
}

// document appends what the query finds; ok is false if that is NULL.
func (q *query) document(dst []byte, r row) (result []byte, ok bool, err error) {
	if r.null(0) || q.none {
		return dst, false, nil
	}
	v, found, err := q.find(r)
	if err == nil && found {
		wrapped := q.wrapper == "WITH UNCONDITIONAL ARRAY" || q.wrapper == "WITH CONDITIONAL ARRAY" && v.Kind != jsondoc.Array
		switch {
		case wrapped:
			return append(v.Append(append(dst, '[')), ']'), true, nil
		case !v.Kind.Scalar():
			return v.Append(dst), true, nil
		case !q.path.Lax:
			err = errors.New("the path finds a scalar, and it is strict")
		}
	}
	behaviour := q.onEmpty
	if err != nil {
		behaviour = q.onError
	} else {
		err = errors.New("the path finds nothing")
	}
	switch behaviour {
	case "ERROR":
		return dst, false, fmt.Errorf("JSON_QUERY: %w", err)
	case "EMPTY", "EMPTY ARRAY":
		return append(dst, "[]"...), true, nil
	case "EMPTY OBJECT":
		return append(dst, "{}"...), true, nil
	}
	return dst, false, nil
}

// elements appends the elements of the array that the query finds, as texts; what is no
// array is an error.
func (q *query) elements(out *batch.Column, r row) (ok bool, err error) {
	if q.scratch, ok, err = q.document(q.scratch[:0], r); !ok || err != nil {
		return ok, err
	}
	if err := q.parts.Parse(q.scratch); err != nil {
		return false, err
	}
	if q.parts.Kind() != jsondoc.Array {
		switch q.onError {
		case "ERROR":
			return false, errors.New("JSON_QUERY: the path finds no array")
		case "EMPTY", "EMPTY ARRAY":
			return true, nil
		}
		return false, nil
	}
	var element []byte
	q.parts.Root().Each(func(v jsondoc.Value) {
		if v.Kind == jsondoc.Null {
			out.AppendNull()
			return
		}
		element = v.AppendText(element[:0])
		out.AppendBytes(element)
	})
	return true, nil
}

// listingOrFail is listing of a function that may fail.
func listingOrFail(f func(elements *batch.Column, r row) (bool, error)) expr.Kernel {
	return func(out *batch.Column, args []*batch.Column, rows expr.Rows) error {
		w := expr.NewCollections(out)
		defer w.Close()
		return rows.Each(func(i int) error {
			w.Row(i)
			ok, err := f(out.Children[0], row{args, i})
			if err != nil {
				return expr.AtRow(i, err)
			}
			if !ok {
				out.SetNull(i)
			}
			return nil
		})
	}
}
