package expr

import (
	"github.com/weirstream/weir/batch"
)

// Unary is a kernel of one argument of fixed size by a function that cannot fail.
func Unary[A, R batch.Fixed](f func(A) R) Kernel {
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		r, a := batch.Values[R](out), batch.Values[A](args[0])
		if rows.Sel == nil {
			for i := range rows.N {
				r[i] = f(a[i])
			}
			return nil
		}
		for _, i := range rows.Sel {
			r[i] = f(a[i])
		}
		return nil
	}
}

// Binary is a kernel of two arguments of fixed size by a function that cannot fail.
func Binary[A, B, R batch.Fixed](f func(A, B) R) Kernel {
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		r, a, b := batch.Values[R](out), batch.Values[A](args[0]), batch.Values[B](args[1])
		if rows.Sel == nil {
			for i := range rows.N {
				r[i] = f(a[i], b[i])
			}
			return nil
		}
		for _, i := range rows.Sel {
			r[i] = f(a[i], b[i])
		}
		return nil
	}
}

// Bytes writes the values of a column of ByteSlices in the order of their rows. Rows
// that are passed over are empty.
//
//	w := NewBytes(out)
//	for each row i { w.Row(i); w.Data = append(w.Data, …) }
//	w.Close()
type Bytes struct {
	// Data takes the bytes of the row begun last.
	Data []byte
	out  *batch.Column
	next int
}

// NewBytes begins the values of a column that has been Reset.
func NewBytes(out *batch.Column) Bytes { return Bytes{Data: out.Data[:0], out: out} }

// Row begins the value of row i, which is after all begun before.
func (w *Bytes) Row(i int) {
	end := int32(len(w.Data))
	for ; w.next <= i; w.next++ {
		w.out.Offsets[w.next] = end
	}
}

// Null makes row i, which is begun, NULL.
func (w *Bytes) Null(i int) {
	w.Data = w.Data[:w.out.Offsets[i]]
	w.out.SetNull(i)
}

// Close ends the last value. It must be called, also with no rows.
func (w *Bytes) Close() {
	w.Row(w.out.Len)
	w.out.Data = w.Data
}

// Collections writes the values of a column of Lists or Maps in the order of their
// rows, as Bytes does: elements are appended to Children of out.
type Collections struct {
	out  *batch.Column
	next int
}

// NewCollections begins the values of a column that has been Reset.
func NewCollections(out *batch.Column) Collections { return Collections{out: out} }

// Row begins the value of row i, which is after all begun before.
func (w *Collections) Row(i int) {
	end := int32(w.out.Children[0].Len)
	for ; w.next <= i; w.next++ {
		w.out.Offsets[w.next] = end
	}
}

// Close ends the last value. It must be called, also with no rows.
func (w *Collections) Close() { w.Row(w.out.Len) }

// Texts is a kernel of one text or bytes to another, by a function that appends the
// result to dst; ok false makes it NULL.
func Texts(f func(dst, arg []byte) (result []byte, ok bool)) Kernel {
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		w := NewBytes(out)
		defer w.Close()
		return rows.Each(func(i int) error {
			w.Row(i)
			var ok bool
			if w.Data, ok = f(w.Data, args[0].Bytes(i)); !ok {
				w.Null(i)
			}
			return nil
		})
	}
}
