package gofunc

import (
	"reflect"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
)

// Typed is a function whose calls the compiler has made for its types.
type Typed struct {
	in   []reflect.Type
	out  reflect.Type
	call calling
	null bool // the func is nil
}

func (t *Typed) named(name string, o Options) (*expr.Function, error) {
	if t.null {
		return nil, errNilFunc
	}
	s, err := signatureOf(name, t.out, t.in...)
	if err != nil {
		return nil, err
	}
	return s.scalar(t.call, o)
}

// Typed1 makes the calls of a function of one parameter.
func Typed1[A, R any](f func(A) (R, error)) *Typed {
	return &Typed{[]reflect.Type{reflect.TypeFor[A]()}, reflect.TypeFor[R](), call1(f), f == nil}
}

// Typed2 makes the calls of a function of two parameters.
func Typed2[A, B, R any](f func(A, B) (R, error)) *Typed {
	return &Typed{[]reflect.Type{reflect.TypeFor[A](), reflect.TypeFor[B]()}, reflect.TypeFor[R](), call2(f), f == nil}
}

// Typed3 makes the calls of a function of three parameters.
func Typed3[A, B, C, R any](f func(A, B, C) (R, error)) *Typed {
	return &Typed{[]reflect.Type{reflect.TypeFor[A](), reflect.TypeFor[B](), reflect.TypeFor[C]()}, reflect.TypeFor[R](), call3(f), f == nil}
}

func call1[A, R any](f func(A) (R, error)) calling {
	return func(s *signature, b *expr.Bound) expr.Kernel {
		first := readerOf[A](s.params[0], b.Args[0], zoneOf(b))
		return kernelOf(s, b, func(args []*batch.Column) { first.bind(args[0]) }, func(i int) (r R, err error) {
			v, err := first.at(i)
			if err != nil {
				return r, err
			}
			return f(v)
		})
	}
}

func call2[A, B, R any](f func(A, B) (R, error)) calling {
	return func(s *signature, b *expr.Bound) expr.Kernel {
		first, second := readerOf[A](s.params[0], b.Args[0], zoneOf(b)), readerOf[B](s.params[1], b.Args[1], zoneOf(b))
		bind := func(args []*batch.Column) { first.bind(args[0]); second.bind(args[1]) }
		return kernelOf(s, b, bind, func(i int) (r R, err error) {
			v, err := first.at(i)
			if err != nil {
				return r, err
			}
			w, err := second.at(i)
			if err != nil {
				return r, err
			}
			return f(v, w)
		})
	}
}

func call3[A, B, C, R any](f func(A, B, C) (R, error)) calling {
	return func(s *signature, b *expr.Bound) expr.Kernel {
		first, second := readerOf[A](s.params[0], b.Args[0], zoneOf(b)), readerOf[B](s.params[1], b.Args[1], zoneOf(b))
		third := readerOf[C](s.params[2], b.Args[2], zoneOf(b))
		bind := func(args []*batch.Column) { first.bind(args[0]); second.bind(args[1]); third.bind(args[2]) }
		return kernelOf(s, b, bind, func(i int) (r R, err error) {
			v, err := first.at(i)
			if err != nil {
				return r, err
			}
			w, err := second.at(i)
			if err != nil {
				return r, err
			}
			x, err := third.at(i)
			if err != nil {
				return r, err
			}
			return f(v, w, x)
		})
	}
}

// reflected calls a function of any type, which takes a fraction of a microsecond.
func reflected(f reflect.Value) calling {
	t := f.Type()
	fails := t.NumOut() == 2
	return func(s *signature, b *expr.Bound) expr.Kernel {
		reads := make([]get, len(b.Args))
		in := make([]reflect.Value, len(b.Args))
		for i, arg := range b.Args {
			reads[i] = s.param(i).getter(arg, zoneOf(b))
			in[i] = reflect.New(s.param(i).Go).Elem()
		}
		write := s.result.putter(b.T)
		strict := s.strict(len(b.Args))
		return func(out *batch.Column, args []*batch.Column, rows expr.Rows) (err error) {
			made := batch.NewColumn(b.T)
			pad := func(to int) {
				for made.Len < to {
					made.AppendNull()
				}
			}
			row := 0
			defer recovered(s.name, &row, &err)
			for k := range rows.Len() {
				row = rows.At(k)
				if pad(row); anyNull(args, strict, row) {
					continue
				}
				for i, read := range reads {
					if err := read(args[i], row, in[i]); err != nil {
						return failedAt(s, row, err)
					}
				}
				results := f.Call(in)
				if fails && !results[1].IsNil() {
					return failedAt(s, row, results[1].Interface().(error))
				}
				write(made, results[0])
			}
			pad(out.Len)
			*out = *made
			return nil
		}
	}
}

// commonCall makes the calls of functions of common types; nil: f is not one.
func commonCall(f any) calling {
	switch f := f.(type) {
	case func() string:
		return call0(f)
	case func() int64:
		return call0(f)
	case func() float64:
		return call0(f)
	}
	for _, made := range []calling{
		calls1[string](f), calls1[int64](f), calls1[int](f), calls1[int32](f), calls1[float64](f), calls1[bool](f), calls1[[]byte](f), calls1[time.Time](f),
		calls1[*string](f), calls1[*int64](f), calls1[*float64](f),
		calls2[string, string](f), calls2[string, int64](f), calls2[string, int](f), calls2[int64, int64](f), calls2[int, int](f), calls2[int32, int32](f),
		calls2[float64, float64](f), calls2[int64, float64](f), calls2[float64, int64](f), calls2[time.Time, time.Time](f),
		calls3[string](f), calls3[int64](f), calls3[float64](f),
	} {
		if made != nil {
			return made
		}
	}
	return nil
}

func call0[R any](f func() R) calling {
	return func(s *signature, b *expr.Bound) expr.Kernel {
		return kernelOf(s, b, func([]*batch.Column) {}, func(int) (R, error) { return f(), nil })
	}
}

// calls1 is call1 for those of one parameter that have a common result.
func calls1[A any](f any) calling {
	switch f := f.(type) {
	case func(A) string:
		return call1(sure1(f))
	case func(A) (string, error):
		return call1(f)
	case func(A) int64:
		return call1(sure1(f))
	case func(A) (int64, error):
		return call1(f)
	case func(A) int:
		return call1(sure1(f))
	case func(A) (int, error):
		return call1(f)
	case func(A) int32:
		return call1(sure1(f))
	case func(A) (int32, error):
		return call1(f)
	case func(A) float64:
		return call1(sure1(f))
	case func(A) (float64, error):
		return call1(f)
	case func(A) bool:
		return call1(sure1(f))
	case func(A) (bool, error):
		return call1(f)
	case func(A) *string:
		return call1(sure1(f))
	case func(A) (*string, error):
		return call1(f)
	case func(A) *int64:
		return call1(sure1(f))
	case func(A) (*int64, error):
		return call1(f)
	case func(A) *float64:
		return call1(sure1(f))
	case func(A) (*float64, error):
		return call1(f)
	case func(A) []byte:
		return call1(sure1(f))
	case func(A) time.Time:
		return call1(sure1(f))
	}
	return nil
}

// calls2 is call2 for those of two parameters that have a common result.
func calls2[A, B any](f any) calling {
	switch f := f.(type) {
	case func(A, B) string:
		return call2(sure2(f))
	case func(A, B) (string, error):
		return call2(f)
	case func(A, B) int64:
		return call2(sure2(f))
	case func(A, B) (int64, error):
		return call2(f)
	case func(A, B) int:
		return call2(sure2(f))
	case func(A, B) float64:
		return call2(sure2(f))
	case func(A, B) (float64, error):
		return call2(f)
	case func(A, B) bool:
		return call2(sure2(f))
	}
	return nil
}

// calls3 is call3 for those of three parameters of one type that have a common result.
func calls3[A any](f any) calling {
	switch f := f.(type) {
	case func(A, A, A) string:
		return call3(sure3(f))
	case func(A, A, A) int64:
		return call3(sure3(f))
	case func(A, A, A) float64:
		return call3(sure3(f))
	case func(A, A, A) bool:
		return call3(sure3(f))
	}
	return nil
}

func sure1[A, R any](f func(A) R) func(A) (R, error) {
	return func(a A) (R, error) { return f(a), nil }
}

func sure2[A, B, R any](f func(A, B) R) func(A, B) (R, error) {
	return func(a A, b B) (R, error) { return f(a, b), nil }
}

func sure3[A, B, C, R any](f func(A, B, C) R) func(A, B, C) (R, error) {
	return func(a A, b B, c C) (R, error) { return f(a, b, c), nil }
}
