package gofunc

import (
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// writer writes values of R into the column of a kernel's results, in the order of their
// rows; rows may be passed over.
type writer[R any] struct {
	begin func(out *batch.Column)
	put   func(i int, v R)
	null  func(i int)
	// end must be called, with no rows too.
	end func()
}

// writerOf makes the writer of results of type t.
func writerOf[R any](s *Shape, t types.Type) writer[R] {
	if w, ok := commonWriter[R](); ok {
		return w
	}
	write := s.putter(t)
	var out, made *batch.Column
	value := new(R)
	from := reflect.ValueOf(value).Elem()
	pad := func(to int) {
		for made.Len < to {
			made.AppendNull()
		}
	}
	return writer[R]{
		begin: func(c *batch.Column) { out, made = c, batch.NewColumn(t) },
		put:   func(i int, v R) { pad(i); *value = v; write(made, from) },
		null:  func(i int) { pad(i + 1) },
		end: func() {
			pad(out.Len)
			*out = *made
		},
	}
}

// commonWriter makes the writers of types that lie in columns as they are.
func commonWriter[R any]() (writer[R], bool) {
	var made any
	switch any((*R)(nil)).(type) {
	case *bool:
		made = inPlace[bool]()
	case *int8:
		made = inPlace[int8]()
	case *int16:
		made = inPlace[int16]()
	case *int32:
		made = inPlace[int32]()
	case *int64:
		made = inPlace[int64]()
	case *float32:
		made = inPlace[float32]()
	case *float64:
		made = inPlace[float64]()
	case *int:
		var out *batch.Column
		made = writer[int]{func(c *batch.Column) { out = c }, func(i int, v int) { out.I64[i] = int64(v) }, func(i int) { out.SetNull(i) }, func() {}}
	case *string:
		made = appended(func(dst []byte, v string) []byte {
			if !utf8.ValidString(v) {
				v = strings.ToValidUTF8(v, "\uFFFD")
			}
			return append(dst, v...)
		})
	case *[]byte:
		made = appended(func(dst, v []byte) []byte { return append(dst, v...) })
	}
	if made == nil {
		made = commonPointerWriter[R]()
	}
	w, ok := made.(writer[R])
	return w, ok
}

// commonPointerWriter makes the writers of pointers to such types; nil: R is none.
func commonPointerWriter[R any]() any {
	switch any((*R)(nil)).(type) {
	case **bool:
		return throughPointer[bool]()
	case **int32:
		return throughPointer[int32]()
	case **int64:
		return throughPointer[int64]()
	case **int:
		return throughPointer[int]()
	case **float64:
		return throughPointer[float64]()
	case **string:
		return throughPointer[string]()
	}
	return nil
}

func throughPointer[R any]() writer[*R] {
	inner, _ := commonWriter[R]()
	return writer[*R]{
		begin: inner.begin,
		put: func(i int, v *R) {
			if v == nil {
				inner.null(i)
			} else {
				inner.put(i, *v)
			}
		},
		null: inner.null,
		end:  inner.end,
	}
}

func inPlace[R batch.Fixed]() writer[R] {
	var out *batch.Column
	var all []R
	return writer[R]{
		begin: func(c *batch.Column) { out, all = c, batch.Values[R](c) },
		put:   func(i int, v R) { all[i] = v },
		null:  func(i int) { out.SetNull(i) },
		end:   func() {},
	}
}

func appended[R any](add func(dst []byte, v R) []byte) writer[R] {
	w := new(expr.Bytes)
	return writer[R]{
		begin: func(c *batch.Column) { *w = expr.NewBytes(c) },
		put:   func(i int, v R) { w.Row(i); w.Data = add(w.Data, v) },
		null:  func(i int) { w.Row(i); w.Null(i) },
		end:   func() { w.Close() },
	}
}
