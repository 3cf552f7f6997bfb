package expr

import (
	"fmt"
	"strings"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/types"
)

// Error is a refusal of an expression, at a place of the statement.
type Error struct {
	At   ast.Span
	Text string
}

// Error is the text, without the place: whoever has the statement shows it.
func (e *Error) Error() string { return e.Text }

// Refuse is an Error.
func Refuse(at ast.Span, format string, args ...any) error {
	return &Error{At: at, Text: fmt.Sprintf(format, args...)}
}

// Site is a call whose type is being inferred.
type Site struct {
	Fn *Function
	// Args are the arguments, which Infer may replace.
	Args     []Expr
	Session  *Session
	Registry *Registry
	At       ast.Span
	// Instead is what Infer may give in the place of the call, with the type it returns.
	Instead Expr
	// Returning is the type of a RETURNING clause; nil if there is none.
	Returning *types.Type
}

// call makes the call.
func (s *Site) call() (Expr, error) {
	t, err := s.Fn.Infer(s)
	switch {
	case err != nil:
		return nil, err
	case s.Instead != nil:
		return s.Instead, nil
	}
	return &Call{Fn: s.Fn, Args: s.Args, T: t, At: s.At}, nil
}

// Kind is that of an argument's type.
func (s *Site) Kind(arg int) types.Kind { return s.Args[arg].Type().Kind }

// Type is an argument's type.
func (s *Site) Type(arg int) types.Type { return s.Args[arg].Type() }

// Constant is the value of an argument that is constant, as a column of one row.
func (s *Site) Constant(arg int) (*batch.Column, bool) {
	if l, ok := Fold(s.Args[arg], s.Session).(*Literal); ok {
		return l.Value, true
	}
	return nil, false
}

// ConstantText is the text of a constant argument that is not NULL.
func (s *Site) ConstantText(arg int) (string, bool) {
	if c, ok := s.Constant(arg); ok && !c.IsNull(0) && c.Layout == batch.ByteSlices {
		return string(c.Bytes(0)), true
	}
	return "", false
}

// ConstantInt is the value of a constant INT that is not NULL.
func (s *Site) ConstantInt(arg int) (int, bool) {
	c, ok := s.Constant(arg)
	if !ok || c.IsNull(0) {
		return 0, false
	}
	switch c.Layout {
	case batch.Int8s:
		return int(c.I8[0]), true
	case batch.Int16s:
		return int(c.I16[0]), true
	case batch.Int32s:
		return int(c.I32[0]), true
	case batch.Int64s:
		return int(c.I64[0]), s.Kind(arg) == types.BigInt
	}
	return 0, false
}

// Nullable reports whether any argument may be NULL.
func (s *Site) Nullable() bool {
	for _, a := range s.Args {
		if a.Type().Nullable {
			return true
		}
	}
	return false
}

// Cast makes an argument one of a type by an implicit cast, keeping its nullability.
// An argument that is of the type already is left alone.
func (s *Site) Cast(arg int, t types.Type) error {
	e, err := s.Registry.implicit(s.Session, s.Args[arg], t)
	if err != nil {
		return err
	}
	s.Args[arg] = e
	return nil
}

// Refuse is an error at the call.
func (s *Site) Refuse(format string, args ...any) error { return Refuse(s.At, format, args...) }

// NoMatch refuses the arguments, naming their types and what is supported.
func (s *Site) NoMatch(supported string) error {
	given := make([]string, len(s.Args))
	for i, a := range s.Args {
		given[i] = a.Type().Text()
	}
	return s.Refuse("%s cannot be applied to (%s); supported: %s", s.Fn.Name, strings.Join(given, ", "), supported)
}

// Count refuses a call with too few or too many arguments; most below 0 means no limit.
func (s *Site) Count(least, most int) error {
	if n := len(s.Args); n < least || most >= 0 && n > most {
		return s.Refuse("%s is called with %d arguments; it takes %s: %s", s.Fn.Name, n, countText(least, most), s.Fn.Usage)
	}
	return nil
}

func countText(least, most int) string {
	switch {
	case most < 0:
		return fmt.Sprintf("at least %d", least)
	case least == most:
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}
