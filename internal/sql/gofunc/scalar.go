package gofunc

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// Options are what is said of a function besides.
type Options struct {
	// Doc is a sentence for those who call it.
	Doc string
	// Volatile says that its results differ from call to call.
	Volatile bool
	// Returns, if not nil, is the type of its results.
	Returns *types.Type
}

// signature is what a function takes and gives.
type signature struct {
	name   string
	params []*Shape
	names  []string // of the parameters, where they have any
	// variadic says that the last parameter stands for any number of them.
	variadic bool
	result   *Shape
	returns  types.Type
}

// param is that of an argument.
func (s *signature) param(arg int) *Shape { return s.params[min(arg, len(s.params)-1)] }

// String is how calls are written.
func (s *signature) String() string {
	all := make([]string, len(s.params))
	for i, p := range s.params {
		if all[i] = p.Type.Text(); p.class == dynamic {
			all[i] = "ANY"
		}
		if s.names != nil {
			all[i] = s.names[i] + " " + all[i]
		}
	}
	if s.variadic {
		all[len(all)-1] += ", …"
	}
	return s.name + "(" + strings.Join(all, ", ") + ")"
}

// infer puts the arguments right, and gives the type of the result.
func (s *signature) infer(site *expr.Site) (types.Type, error) {
	least, most := len(s.params), len(s.params)
	if s.variadic {
		least, most = least-1, -1
	}
	if err := site.Count(least, most); err != nil {
		return types.Type{}, err
	}
	null := s.returns.Nullable
	for i := range site.Args {
		p, given := s.param(i), site.Type(i)
		want, ok := p.takes(given)
		if !ok {
			return types.Type{}, site.NoMatch(s.String())
		}
		if err := site.Cast(i, want); err != nil {
			return types.Type{}, err
		}
		null = null || given.Nullable && !p.nullable() || given.Kind == types.Null && !p.nullable()
	}
	return s.returns.WithNull(null), nil
}

// settle says the type of the results.
func (s *signature) settle(o Options) error {
	if s.result.class == dynamic {
		return fmt.Errorf("a result of the Go type %s stands for no SQL type", s.result.Go)
	}
	if s.returns = s.result.Type; o.Returns == nil {
		return nil
	}
	if !s.result.gives(*o.Returns) {
		return fmt.Errorf("results of the Go type %s cannot be %s; they are %s", s.result.Go, o.Returns.Text(), s.returns.Text())
	}
	s.returns = o.Returns.WithNull(s.result.nullable())
	return nil
}

// strict are the parameters that no NULL is given to: where one is, the result is NULL,
// and the function is not called.
func (s *signature) strict(args int) []int {
	var all []int
	for i := range args {
		if !s.param(i).nullable() {
			all = append(all, i)
		}
	}
	return all
}

// entry makes the registry's entry.
func (s *signature) entry(o Options) *expr.Function {
	f := &expr.Function{Name: s.name, Usage: s.String(), Doc: o.Doc, Category: "user", Infer: s.infer, Nulls: expr.Own, Volatility: expr.Stable}
	if o.Volatile {
		f.Volatility = expr.PerRow
	}
	return f
}

// failedAt is an error that a function gave for a row.
func failedAt(s *signature, row int, err error) error {
	return expr.AtRow(row, fmt.Errorf("function %s: %w", s.name, err))
}

var errNilFunc = errors.New("the func is nil")

var errorType = reflect.TypeFor[error]()

// Scalar makes a function that gives a value for values. f is a func of any number of
// parameters, with one result and perhaps an error.
func Scalar(name string, f any, o Options) (*expr.Function, error) {
	if typed, ok := f.(*Typed); ok {
		return typed.named(name, o)
	}
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func {
		return nil, fmt.Errorf("got %T, want a func", f)
	}
	if v.IsNil() {
		return nil, errNilFunc
	}
	t := v.Type()
	if n := t.NumOut(); n == 0 || n > 2 || n == 2 && t.Out(1) != errorType || t.Out(0) == errorType {
		return nil, fmt.Errorf("%s has other results than a value, or a value and an error", t)
	}
	var in []reflect.Type
	for i := range t.NumIn() {
		p := t.In(i)
		if t.IsVariadic() && i == t.NumIn()-1 {
			p = p.Elem()
		}
		in = append(in, p)
	}
	s, err := signatureOf(name, t.Out(0), in...)
	if err != nil {
		return nil, err
	}
	s.variadic = t.IsVariadic()
	kernel := commonCall(f)
	if kernel == nil {
		kernel = reflected(v)
	}
	return s.scalar(kernel, o)
}

func signatureOf(name string, out reflect.Type, in ...reflect.Type) (*signature, error) {
	s := &signature{name: name}
	for i, t := range in {
		p, err := ShapeOf(t)
		if err != nil {
			return nil, fmt.Errorf("parameter %d: %w", i+1, err)
		}
		s.params = append(s.params, p)
	}
	var err error
	if s.result, err = ShapeOf(out); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	return s, nil
}

// calling makes the kernel of one call.
type calling func(s *signature, b *expr.Bound) expr.Kernel

func (s *signature) scalar(kernel calling, o Options) (*expr.Function, error) {
	if err := s.settle(o); err != nil {
		return nil, err
	}
	f := s.entry(o)
	f.Kernel = func(b *expr.Bound) (expr.Kernel, error) { return kernel(s, b), nil }
	return f, nil
}

func zoneOf(b *expr.Bound) *time.Location {
	if b.Session == nil || b.Session.Zone == nil {
		return time.UTC
	}
	return b.Session.Zone
}

// anyNull reports whether one of some columns is NULL in a row.
func anyNull(columns []*batch.Column, which []int, row int) bool {
	for _, k := range which {
		if columns[k].IsNull(row) {
			return true
		}
	}
	return false
}

// kernelOf makes a kernel that calls one function for each row. bind takes the columns of
// a batch, and call computes a row.
func kernelOf[R any](s *signature, b *expr.Bound, bind func(args []*batch.Column), call func(i int) (R, error)) expr.Kernel {
	w := writerOf[R](s.result, b.T)
	strict := s.strict(len(b.Args))
	return func(out *batch.Column, args []*batch.Column, rows expr.Rows) (err error) {
		bind(args)
		w.begin(out)
		row := 0
		defer recovered(s.name, &row, &err)
		for k := range rows.Len() {
			row = rows.At(k)
			if anyNull(args, strict, row) {
				w.null(row)
				continue
			}
			v, err := call(row)
			if err != nil {
				return failedAt(s, row, err)
			}
			w.put(row, v)
		}
		w.end()
		return nil
	}
}
