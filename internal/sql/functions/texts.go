package functions

import (
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	sqltext "github.com/weirstream/weir/internal/sql/text"
	"github.com/weirstream/weir/types"
)

// texts are the functions that change or cut a text.
func texts() []*expr.Function {
	changing := func(name, doc string, result func(*expr.Site) types.Type, f func(dst, s []byte) []byte) *expr.Function {
		return function(name, "string", name+"(s)", doc, giving("t", result), appending(func(dst []byte, r row) ([]byte, bool) { return f(dst, r.bytes(0)), true }))
	}
	return []*expr.Function{
		named(function("CHAR_LENGTH", "string", "CHAR_LENGTH(s)", "The number of code points.", giving("t", as(integer)),
			computing(func(r row) (int32, bool) { return int32(sqltext.Length(r.bytes(0))), true })), "CHARACTER_LENGTH"),
		changing("UPPER", "The text in upper case.", like0, sqltext.Upper),
		changing("LOWER", "The text in lower case.", like0, sqltext.Lower),
		changing("INITCAP", "Words with a capital letter and small ones.", like0, sqltext.InitCap),
		changing("REVERSE", "The code points in the opposite order.", always(text), sqltext.Reverse),
		bound("||", "string", "a || b", "The texts, or the bytes, one after the other.", inferConcatenation, concatenation),
		function("CONCAT", "string", "CONCAT(a, b, …)", "The texts one after the other.", giving("t+", as(text)), appending(concat)),
		own(function("CONCAT_WS", "string", "CONCAT_WS(separator, a, b, …)", "The texts with a separator between, NULLs left out.", giving("t?t+", as(text)), appending(concatWith))),
		own(function("ELT", "string", "ELT(n, a, b, …)", "The nth of the texts, counted from 1.", inferElt, appending(elt))),
		named(function("SUBSTRING", "string", "SUBSTRING(s, from[, length])", "A part, counted from 1 or from the end.", giving("ti?i", varyingOrNull), slicing(substring)), "SUBSTR"),
		function("LEFT", "string", "LEFT(s, n)", "The first n code points.", giving("ti", varyingOrNull), slicing(func(r row) ([]byte, bool) { return sqltext.Left(r.bytes(0), r.int(1)), true })),
		function("RIGHT", "string", "RIGHT(s, n)", "The last n code points.", giving("ti", varyingOrNull), slicing(func(r row) ([]byte, bool) { return sqltext.Right(r.bytes(0), r.int(1)), true })),
	}
}

// inferConcatenation gives a text or bytes as long as both together.
func inferConcatenation(s *expr.Site) (types.Type, error) {
	if err := s.Count(2, 2); err != nil {
		return types.Type{}, err
	}
	a, b := s.Type(0), s.Type(1)
	if !(a.Kind.IsText() && b.Kind.IsText() || a.Kind.IsBinary() && b.Kind.IsBinary()) {
		return types.Type{}, s.NoMatch("two texts, or bytes and bytes")
	}
	length := min(int64(a.Length)+int64(b.Length), types.MaxLength)
	t := types.VarCharOf(int(length))
	switch {
	case a.Kind == types.Char && b.Kind == types.Char:
		t = types.CharOf(int(length))
	case a.Kind == types.Binary && b.Kind == types.Binary:
		t = types.BinaryOf(int(length))
	case a.Kind.IsBinary():
		t = types.VarBinaryOf(int(length))
	}
	return t.WithNull(s.Nullable()), nil
}

func concatenation(*expr.Bound) (expr.Kernel, error) { return appending(concat), nil }

func concat(dst []byte, r row) ([]byte, bool) {
	for k := range r.args {
		dst = append(dst, r.bytes(k)...)
	}
	return dst, true
}

func concatWith(dst []byte, r row) ([]byte, bool) {
	if r.null(0) {
		return dst, false
	}
	first := true
	for k := 1; k < len(r.args); k++ {
		if r.null(k) {
			continue
		}
		if !first {
			dst = append(dst, r.bytes(0)...)
		}
		first = false
		dst = append(dst, r.bytes(k)...)
	}
	return dst, true
}

// inferElt gives the type that the texts have in common.
func inferElt(s *expr.Site) (types.Type, error) {
	if err := s.Count(2, -1); err != nil {
		return types.Type{}, err
	}
	if n, ok := s.ConstantInt(0); ok && n < 0 {
		return types.Type{}, s.Refuse("the index of ELT is %d; allowed is 0 or more", n)
	}
	if !s.Kind(0).IsInteger() {
		return types.Type{}, s.NoMatch("(integer, text or bytes, …)")
	}
	var args []int
	for i := 1; i < len(s.Args); i++ {
		if k := s.Kind(i); k != types.Null && !k.IsText() && !k.IsBinary() {
			return types.Type{}, s.NoMatch("(integer, text or bytes, …)")
		}
		args = append(args, i)
	}
	bare := slices.ContainsFunc(args, func(i int) bool { return s.Kind(i) == types.Null })
	t, err := s.Unify(args...)
	if err == nil && t.Kind == types.Null {
		return t, s.Refuse("ELT has no text: all of its arguments are NULL without a type")
	}
	if bare && t.Kind == types.Char {
		t = types.VarCharOf(t.Length)
	}
	return t.OrNull(), err
}

func elt(dst []byte, r row) ([]byte, bool) {
	if r.null(0) {
		return dst, false
	}
	n := r.int(0)
	if n < 1 || n >= int64(len(r.args)) || r.null(int(n)) {
		return dst, false
	}
	return append(dst, r.bytes(int(n))...), true
}

func substring(r row) ([]byte, bool) {
	if !r.has(2) {
		return sqltext.Substring(r.bytes(0), r.int(1)), true
	}
	return sqltext.SubstringFor(r.bytes(0), r.int(1), r.int(2))
}

// appendValue copies a value of a column to the end of another.
func appendValue(dst, src *batch.Column, i int) { dst.AppendFrom(src, i) }
