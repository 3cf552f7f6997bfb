package functions

import (
	"strings"

	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// class is a kind of argument, by a letter.
type class byte

// The classes of arguments.
const (
	aText     class = 't'
	aBytes    class = 'b'
	aEither   class = 'x' // text or bytes
	aInt      class = 'i' // up to INT
	aInteger  class = 'I' // up to BIGINT
	aNumber   class = 'n'
	aExact    class = 'e'
	aBoolean  class = 'o'
	aDate     class = 'd' // dates, times and timestamps
	aMoment   class = 'm' // timestamps
	aArray    class = 'a'
	aMap      class = 'p'
	aBitmap   class = 'k'
	aVariant  class = 'v'
	aAnything class = '*'
)

// words are what the classes are called.
var words = map[class]string{
	aText: "text", aBytes: "bytes", aEither: "text or bytes", aInt: "INT", aInteger: "integer", aNumber: "number", aExact: "exact number", aBoolean: "BOOLEAN",
	aDate: "date or time", aMoment: "timestamp", aArray: "ARRAY", aMap: "MAP", aBitmap: "BITMAP", aVariant: "VARIANT", aAnything: "any value",
}

// takes reports whether an argument of a kind is of the class.
func (c class) takes(k types.Kind) bool {
	switch c {
	case aText:
		return k.IsText()
	case aBytes:
		return k.IsBinary()
	case aEither:
		return k.IsText() || k.IsBinary()
	case aInt:
		return k >= types.TinyInt && k <= types.Int
	case aInteger:
		return k.IsInteger()
	case aNumber:
		return k.IsNumeric()
	case aExact:
		return k.IsExact()
	case aBoolean:
		return k == types.Boolean
	case aDate:
		return k.IsDatetime()
	case aMoment:
		return k.IsTimestamp()
	case aArray:
		return k == types.Array
	case aMap:
		return k == types.Map
	case aBitmap:
		return k == types.Bitmap
	case aVariant:
		return k == types.Variant
	}
	return true
}

// ofNull is the type that a bare NULL is given.
func (c class) ofNull() (types.Type, bool) {
	switch c {
	case aText, aEither:
		return types.String(), true
	case aBytes:
		return types.Bytes(), true
	case aInt:
		return types.Of(types.Int), true
	case aInteger:
		return types.Of(types.BigInt), true
	case aNumber:
		return types.Of(types.Double), true
	case aBoolean:
		return types.Of(types.Boolean), true
	case aBitmap:
		return types.Of(types.Bitmap), true
	case aVariant:
		return types.Of(types.Variant), true
	}
	return types.Type{}, false
}

// signature is what arguments a function takes, written by the letters of their classes:
// "tti" are two texts and an INT; those behind a '?' may be missing, the last before a '+'
// may be repeated, and a '!' says that a bare NULL has the type of its place.
type signature struct {
	classes  []class
	least    int
	repeated bool
	nulls    bool
}

func parseSignature(s string) signature {
	var g signature
	s, g.nulls = strings.CutSuffix(s, "!")
	s, g.repeated = strings.CutSuffix(s, "+")
	required, optional, _ := strings.Cut(s, "?")
	g.least = len(required)
	g.classes = []class(required + optional)
	return g
}

func (g signature) class(arg int) class { return g.classes[min(arg, len(g.classes)-1)] }

// check refuses arguments that do not fit, and gives bare NULLs a type.
func (g signature) check(s *expr.Site) error {
	most := len(g.classes)
	if g.repeated {
		most = -1
	}
	if err := s.Count(g.least, most); err != nil {
		return err
	}
	for i := range s.Args {
		c := g.class(i)
		if s.Kind(i) == types.Null {
			if err := g.giveNull(s, i); err != nil {
				return err
			}
			continue
		}
		if !c.takes(s.Kind(i)) {
			return s.NoMatch(g.String())
		}
	}
	return nil
}

func (g signature) giveNull(s *expr.Site, arg int) error {
	t, ok := g.class(arg).ofNull()
	if !g.nulls || !ok {
		return expr.Refuse(s.Args[arg].Span(), "a NULL without a type is no argument of %s; write CAST(NULL AS …)", s.Fn.Name)
	}
	s.Args[arg] = expr.Null(t, s.Args[arg].Span())
	return nil
}

// String writes what is taken in words.
func (g signature) String() string {
	parts := make([]string, len(g.classes))
	for i, c := range g.classes {
		parts[i] = words[c]
		if i >= g.least {
			parts[i] = "[" + parts[i] + "]"
		}
	}
	if g.repeated {
		parts = append(parts, "…")
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// giving makes an Infer of a signature and the type of the result.
func giving(s string, result func(*expr.Site) types.Type) func(*expr.Site) (types.Type, error) {
	g := parseSignature(s)
	return func(s *expr.Site) (types.Type, error) {
		if err := g.check(s); err != nil {
			return types.Type{}, err
		}
		return result(s), nil
	}
}

// as is a result of a type, nullable if an argument is.
func as(t types.Type) func(*expr.Site) types.Type {
	return func(s *expr.Site) types.Type { return t.WithNull(s.Nullable()) }
}

// always is a result of a type, with the nullability it has.
func always(t types.Type) func(*expr.Site) types.Type {
	return func(*expr.Site) types.Type { return t }
}

// like0 is a result of the first argument's type, nullable if an argument is.
func like0(s *expr.Site) types.Type { return s.Type(0).WithNull(s.Nullable()) }

// variable is a result of varying length, at most that of the first argument.
func variable(s *expr.Site) types.Type { return varying(s).WithNull(s.Nullable()) }

// varyingOrNull is variable, and always nullable.
func varyingOrNull(s *expr.Site) types.Type { return varying(s).OrNull() }

func varying(s *expr.Site) types.Type {
	t := s.Type(0)
	switch t.Kind {
	case types.Char:
		return types.VarCharOf(t.Length)
	case types.Binary:
		return types.VarBinaryOf(t.Length)
	}
	return t
}

// perhaps is as for a function that may give NULL for arguments that are not: the result
// is nullable, unless all arguments are constants for which it gives a value.
func perhaps(t types.Type) func(*expr.Site) types.Type {
	return func(s *expr.Site) types.Type {
		t := t.OrNull()
		if s.Nullable() {
			return t
		}
		call := &expr.Call{Fn: s.Fn, Args: s.Args, T: t, At: s.At}
		if v, ok := expr.Fold(call, s.Session).(*expr.Literal); ok && !v.IsNull() {
			return t.NotNull()
		}
		return t
	}
}

var (
	text    = types.String()
	octets  = types.Bytes()
	boolean = types.Of(types.Boolean)
	integer = types.Of(types.Int)
	long    = types.Of(types.BigInt)
	double  = types.Of(types.Double)
	ltz3    = types.TimestampLTZOf(3)
)

// function is an entry of the registry in a line.
func function(name, category, usage, doc string, infer func(*expr.Site) (types.Type, error), kernel expr.Kernel) *expr.Function {
	invariant.Check(kernel != nil, "function %s has a kernel", name)
	return &expr.Function{Name: name, Category: category, Usage: usage, Doc: doc, Infer: infer, Kernel: func(*expr.Bound) (expr.Kernel, error) { return kernel, nil }}
}

// bound is function for a kernel that looks at the call.
func bound(name, category, usage, doc string, infer func(*expr.Site) (types.Type, error), kernel func(*expr.Bound) (expr.Kernel, error)) *expr.Function {
	return &expr.Function{Name: name, Category: category, Usage: usage, Doc: doc, Infer: infer, Kernel: kernel}
}

// own says that the kernel looks at NULLs itself.
func own(f *expr.Function) *expr.Function { f.Nulls = expr.Own; return f }

// named gives a function aliases.
func named(f *expr.Function, aliases ...string) *expr.Function { f.Aliases = aliases; return f }

// isNull reports whether an argument is a constant that is NULL.
func isNull(s *expr.Site, arg int) bool {
	c, ok := s.Constant(arg)
	return ok && c.IsNull(0)
}
