package expr

import (
	"maps"
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/types"
)

// Registry holds functions by name. It is not changed any more once it is in use.
type Registry struct {
	byName map[string]*Function
}

// NewRegistry makes a registry with the operators, casts and conditionals of this
// package.
func NewRegistry() *Registry {
	r := &Registry{byName: map[string]*Function{}}
	for _, group := range core {
		r.Add(group()...)
	}
	return r
}

// core are the functions of this package by group.
var core = []func() []*Function{arithmetic, comparison, logic, conditional, constructors, casts, elapsed, system, enforcers}

// Add registers functions under their names and aliases, none of which may be taken.
func (r *Registry) Add(functions ...*Function) {
	for _, f := range functions {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			_, taken := r.byName[name]
			invariant.Check(!taken, "function %s is registered once", name)
			r.byName[name] = f
		}
	}
}

// With is a registry with functions besides, whose names no statement looks up here:
// plans do, in other processes.
func (r *Registry) With(functions ...*Function) *Registry {
	more := &Registry{byName: maps.Clone(r.byName)}
	for _, f := range functions {
		name := strings.ToUpper(f.Name)
		_, taken := more.byName[name]
		invariant.Check(!taken, "function %s is registered once", name)
		more.byName[name] = f
	}
	return more
}

// Lookup finds a function by its name or an alias, whatever its case.
func (r *Registry) Lookup(name string) (*Function, bool) {
	f, ok := r.byName[strings.ToUpper(name)]
	return f, ok
}

// Functions are all functions by their canonical names, sorted.
func (r *Registry) Functions() []*Function {
	var all []*Function
	for _, name := range slices.Sorted(maps.Keys(r.byName)) {
		if f := r.byName[name]; f.Name == name {
			all = append(all, f)
		}
	}
	return all
}

// Call makes a call of a function that is registered, inferring its type.
func (r *Registry) Call(s *Session, name string, at ast.Span, args ...Expr) (Expr, error) {
	f, ok := r.Lookup(name)
	if !ok {
		return nil, Refuse(at, "there is no function %s", name)
	}
	return r.CallFunction(s, f, at, args...)
}

// CallFunction makes a call of a function, inferring its type.
func (r *Registry) CallFunction(s *Session, f *Function, at ast.Span, args ...Expr) (Expr, error) {
	site := &Site{Fn: f, Args: slices.Clone(args), Session: s, Registry: r, At: at}
	return site.call()
}

// implicit casts an expression to a type where it is not of that type already. The
// result is as nullable as the expression.
func (r *Registry) implicit(s *Session, e Expr, t types.Type) (Expr, error) {
	if e.Type().EqualButNull(t) {
		return e, nil
	}
	return r.Cast(s, e, t, false, e.Span())
}

// nearest is the name of a function that is spelt nearly as the one given; empty if
// none is.
func (r *Registry) nearest(name string) string {
	best, found := max(1, len(name)/3)+1, ""
	for _, other := range slices.Sorted(maps.Keys(r.byName)) {
		if d := distance(name, other); d < best && r.byName[other].Form != Operator {
			best, found = d, other
		}
	}
	return found
}

// distance is how many letters must be changed, put in or taken out to make one word of
// the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
