package functions

import (
	"fmt"

	"github.com/weirstream/weir/internal/sql/expr"
	sqltext "github.com/weirstream/weir/internal/sql/text"
	"github.com/weirstream/weir/types"
)

// padding are the functions that fill a text up or strip what is around it.
func padding() []*expr.Function {
	pad := func(name, doc string, left bool) *expr.Function {
		return function(name, "string", name+"(s, length, pad)", doc, giving("tit", perhaps(text)), failing(func(dst []byte, r row) ([]byte, bool, error) {
			if err := fits(name, r.int(1)); err != nil {
				return dst, false, err
			}
			dst, ok := sqltext.Pad(dst, r.bytes(0), r.int(1), r.bytes(2), left)
			return dst, ok, nil
		}))
	}
	trim := func(name, doc string, result func(*expr.Site) types.Type, signature string, leading, trailing bool) *expr.Function {
		return function(name, "string", name+"(s[, characters])", doc, giving(signature, result), slicing(func(r row) ([]byte, bool) {
			var set []byte
			if r.has(1) {
				set = r.bytes(1)
			}
			return sqltext.Trim(r.bytes(0), notNil(set, r.has(1)), leading, trailing), true
		}))
	}
	return []*expr.Function{
		pad("LPAD", "The text filled up on the left, or cut.", true),
		pad("RPAD", "The text filled up on the right, or cut.", false),
		trim("LTRIM", "The text without blanks, or characters, at its beginning.", variable, "t?t", true, false),
		trim("RTRIM", "The text without blanks, or characters, at its end.", variable, "t?t", false, true),
		trim("BTRIM", "The text without blanks, or characters, around it.", as(text), "t?t!", true, true),
		bound("TRIM", "string", "TRIM([BOTH | LEADING | TRAILING] [characters] FROM s)", "The text without blanks, or characters, around it.", inferTrim, trimKernel),
		function("REPEAT", "string", "REPEAT(s, n)", "The text n times.", giving("ti", as(text)), failing(func(dst []byte, r row) ([]byte, bool, error) {
			if err := fits("REPEAT", r.int(1)*int64(len(r.bytes(0)))); err != nil {
				return dst, false, err
			}
			return sqltext.Repeat(dst, r.bytes(0), r.int(1)), true, nil
		})),
		function("OVERLAY", "string", "OVERLAY(s PLACING r FROM i [FOR n])", "The text with a part replaced.", giving("ttI?I", overlaid), appending(func(dst []byte, r row) ([]byte, bool) {
			n := int64(0)
			if r.has(3) {
				n = r.int(3)
			} else {
				n = sqltext.OverlayLength(r.bytes(1))
			}
			return sqltext.Overlay(dst, r.bytes(0), r.bytes(1), r.int(2), n), true
		})),
	}
}

// maxText is how many bytes a text that a function makes may have: what is longer would
// fill a batch's memory.
const maxText = 1 << 28

// fits refuses a text that is too long.
func fits(name string, length int64) error {
	if length > maxText {
		return fmt.Errorf("%s would make a text of %d bytes; allowed are %d", name, length, maxText)
	}
	return nil
}

// notNil keeps an empty set of characters apart from one that is not given.
func notNil(set []byte, given bool) []byte {
	if given && set == nil {
		return []byte{}
	}
	return set
}

// inferTrim gives a text of varying length: the arguments are side, characters, text.
func inferTrim(s *expr.Site) (types.Type, error) {
	if err := s.Count(3, 3); err != nil {
		return types.Type{}, err
	}
	if !s.Kind(1).IsText() || !s.Kind(2).IsText() {
		return types.Type{}, s.NoMatch("a side, characters and a text")
	}
	t := s.Type(2)
	return types.VarCharOf(t.Length).WithNull(s.Nullable()), nil
}

func trimKernel(b *expr.Bound) (expr.Kernel, error) {
	side, _ := b.ConstantText(0)
	leading, trailing := side != "TRAILING", side != "LEADING"
	return slicing(func(r row) ([]byte, bool) {
		return sqltext.Trim(r.bytes(2), notNil(r.bytes(1), true), leading, trailing), true
	}), nil
}

func overlaid(s *expr.Site) types.Type {
	length := min(int64(s.Type(0).Length)+int64(s.Type(1).Length), types.MaxLength)
	return types.VarCharOf(int(length)).WithNull(s.Nullable())
}
