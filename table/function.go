package table

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/gofunc"
	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/stream"
	"github.com/weirstream/weir/types"
)

// A Function is one of the program's own, which statements call by its name.
type Function struct {
	name string
	site string
	made *expr.Function
	err  error
}

// FunctionOption says something of a function.
type FunctionOption func(o *gofunc.Options) error

// Doc is a sentence about the function for those who call it.
func Doc(sentence string) FunctionOption {
	return func(o *gofunc.Options) error { o.Doc = sentence; return nil }
}

// NonDeterministic says that the function may give different results for equal
// arguments, as one that looks at a clock does: it is called for each row, also where all
// its arguments are constant, and never once for several equal calls.
func NonDeterministic() FunctionOption {
	return func(o *gofunc.Options) error { o.Volatile = true; return nil }
}

// Returns says the type of results where the Go type leaves a choice: time.Time can be
// TIMESTAMP(p), TIMESTAMP_LTZ(p) or DATE, of which the first and the last take the time
// of day where it is.
func Returns(sqlType string) FunctionOption {
	return func(o *gofunc.Options) error {
		written, err := parse.Type(sqlType)
		if err != nil {
			return fmt.Errorf("Returns(%q): %w", sqlType, err)
		}
		t, err := expr.TypeOf(written, nil)
		if err != nil {
			return fmt.Errorf("Returns(%q): %w", sqlType, err)
		}
		o.Returns = &t
		return nil
	}
}

// ScalarFunc makes a function that gives a value for values. f is a func of any number of
// parameters of the types that the package names, the last of which may be variadic, with
// one result, or a result and an error:
//
//	table.ScalarFunc("mask", func(card string) string { … })
//	table.ScalarFunc("rate", func(from, to string, on time.Time) (*float64, error) { … })
//
// A func of up to three of the commonest types is called directly. One of others is called by
// reflection, which takes some tenth of a microsecond more; Func1, Func2 and Func3 make
// calls of any types direct.
func ScalarFunc(name string, f any, opts ...FunctionOption) Function {
	if direct, ok := f.(Direct); ok {
		f = direct.typed
	}
	return function(name, opts, func(o gofunc.Options) (*expr.Function, error) { return gofunc.Scalar(name, f, o) })
}

// Direct is a func for ScalarFunc that is called directly, whatever its types.
type Direct struct{ typed *gofunc.Typed }

// Func1 makes a func of one parameter one that is called directly.
func Func1[A, R any](f func(A) (R, error)) Direct { return Direct{gofunc.Typed1(f)} }

// Func2 is Func1 for two parameters.
func Func2[A, B, R any](f func(A, B) (R, error)) Direct { return Direct{gofunc.Typed2(f)} }

// Func3 is Func1 for three parameters.
func Func3[A, B, C, R any](f func(A, B, C) (R, error)) Direct { return Direct{gofunc.Typed3(f)} }

// TableFunc makes a function that gives rows: it stands in FROM, mostly to the right of
// the rows that it takes its arguments from.
//
//	table.TableFunc("words", strings.FieldsSeq)
//
//	SELECT id, word FROM t, LATERAL TABLE(words(line)) AS s(word)
//	SELECT id, word FROM t LEFT JOIN LATERAL TABLE(words(line)) AS s(word) ON TRUE
//
// In is the only argument, or a struct whose fields are the arguments. Row is the only
// column, or a struct whose fields are the columns. Rows are handed on as they come; a row
// is read before the next is asked for.
func TableFunc[In, Row any](name string, f func(In) iter.Seq[Row], opts ...FunctionOption) Function {
	if f == nil {
		return failed(name, errNilFunc)
	}
	return TableFuncErr(name, func(in In) iter.Seq2[Row, error] {
		return func(yield func(Row, error) bool) {
			for row := range f(in) {
				if !yield(row, nil) {
					return
				}
			}
		}
	}, opts...)
}

// TableFuncErr is TableFunc for a function that may fail: the first error that it gives
// fails the job.
func TableFuncErr[In, Row any](name string, f func(In) iter.Seq2[Row, error], opts ...FunctionOption) Function {
	if f == nil {
		return failed(name, errNilFunc)
	}
	return function(name, opts, func(o gofunc.Options) (*expr.Function, error) { return gofunc.Table(name, f, o) })
}

// AggregateFunc makes a function of the rows of a group, or of those around a row with
// OVER. In is the only argument, or a struct whose fields are the arguments; Acc must be of
// a type that a record of a stream can have, since accumulators are sent and, when they
// are too many for the memory, written to disk. An aggregator needs its Merge.
//
//	type weighted struct{ Value float64; Weight int64 }
//
//	table.AggregateFunc("weighted_avg", stream.Aggregator[weighted, total, *float64]{ … })
//
// Of no rows the result is that of an accumulator to which nothing was added.
func AggregateFunc[In, Acc, Out any](name string, a stream.Aggregator[In, Acc, Out], opts ...FunctionOption) Function {
	if a.Add == nil || a.Merge == nil || a.Result == nil {
		return failed(name, errors.New("its aggregator needs Add, Merge and Result"))
	}
	if a.Create == nil {
		a.Create = func() (acc Acc) { return acc }
	}
	return function(name, opts, func(o gofunc.Options) (*expr.Function, error) {
		return gofunc.Aggregate(name, gofunc.Aggregator[In, Acc, Out](a), o)
	})
}

var errNilFunc = errors.New("the func is nil")

// function makes a function, or says why it cannot be.
func function(name string, opts []FunctionOption, make func(gofunc.Options) (*expr.Function, error)) Function {
	var o gofunc.Options
	for _, opt := range opts {
		if err := opt(&o); err != nil {
			return failed(name, err)
		}
	}
	made, err := make(o)
	return Function{name, callSite(), made, err}
}

func failed(name string, err error) Function { return Function{name, callSite(), nil, err} }

// Register lets statements call functions, by their names in whatever case: as temporary
// system functions, which need no catalog. A name may be used once, and not be that of a
// function that is built in.
func (e *Env) Register(functions ...Function) {
	for _, f := range functions {
		if err := e.register(f); err != nil {
			e.problem(f.site, "function %s: %w", f.name, err)
		}
	}
}

func (e *Env) register(f Function) error {
	name := strings.ToLower(f.name)
	switch _, built := builtin.Registry().Lookup(f.name); {
	case f.err != nil:
		return f.err
	case !isName(f.name):
		return errors.New("a name has letters, digits and underscores, and begins with no digit")
	case built:
		return errors.New("a function of this name is built in")
	case e.functions[name] != nil:
		return errors.New("the name is registered already")
	}
	e.functions[name] = f.made
	e.fresh = append(e.fresh, fmt.Sprintf("CREATE TEMPORARY SYSTEM FUNCTION %s AS '%s' LANGUAGE GO", types.Quote(f.name), f.name))
	return nil
}

func isName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}
