package gofunc

import (
	"iter"
	"reflect"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/bind"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// Table makes a function that gives rows for values: the fields of a struct are their
// columns, and any other value is the only one.
func Table[In, Row any](name string, f func(In) iter.Seq2[Row, error], o Options) (*expr.Function, error) {
	s, err := takeOne(name, reflect.TypeFor[In](), reflect.TypeFor[Row]())
	if err != nil {
		return nil, err
	}
	if err := s.settle(o); err != nil {
		return nil, err
	}
	row := s.returns
	entry := s.entry(o)
	entry.Category = bind.TableFunction
	entry.Infer = func(site *expr.Site) (types.Type, error) {
		_, err := s.infer(site)
		return types.ArrayOf(row), err
	}
	entry.Generate = func(b *expr.Bound) (expr.Generator, error) { return generator(s, b, row, f), nil }
	return entry, nil
}

// generator makes what one call gives.
func generator[In, Row any](s *signature, b *expr.Bound, row types.Type, f func(In) iter.Seq2[Row, error]) expr.Generator {
	bind, at := inputOf[In](s, b.Args, zoneOf(b))
	strict := s.strict(len(b.Args))
	write := s.rowPutter(row)
	return func(args []*batch.Column) func(out []*batch.Column, i int, added func()) error {
		bind(args)
		return func(out []*batch.Column, i int, added func()) (err error) {
			if anyNull(args, strict, i) {
				return nil
			}
			passing := false // a row is with the operators behind, whose panics are not the function's
			defer func() {
				if v := recover(); v != nil {
					if passing {
						panic(v)
					}
					err = panicked(s.name, i, v)
				}
			}()
			in, err := at(i)
			if err != nil {
				return failedAt(s, i, err)
			}
			for v, err := range f(in) {
				if err != nil {
					return failedAt(s, i, err)
				}
				write(out, reflect.ValueOf(&v).Elem())
				passing = true
				added()
				passing = false
			}
			return nil
		}
	}
}

// rowPutter makes what appends a result to the columns of a table.
func (s *signature) rowPutter(row types.Type) func(out []*batch.Column, v reflect.Value) {
	r := s.result
	if r.class != record {
		one := r.putter(row)
		return func(out []*batch.Column, v reflect.Value) { one(out[0], v) }
	}
	fields := make([]put, len(r.fields))
	for k, f := range r.fields {
		fields[k] = f.shape.putter(row.Fields[k].Type)
	}
	return func(out []*batch.Column, v reflect.Value) {
		for k, write := range fields {
			write(out[k], v.Field(r.fields[k].index))
		}
	}
}
