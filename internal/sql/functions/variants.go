package functions

import (
	"fmt"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/jsondoc"
	"github.com/weirstream/weir/types"
)

// variants are the functions of VARIANT, which is kept as a JSON text with its keys in
// order and its numbers in the form of their values.
func variants() []*expr.Function {
	parse := func(name, doc string, infer func(*expr.Site) (types.Type, error), try bool) *expr.Function {
		return bound(name, "json", name+"(s[, duplicateKeys])", doc, infer, func(*expr.Bound) (expr.Kernel, error) { return parseKernel(name, try), nil })
	}
	variant := types.Of(types.Variant)
	item := bound("VARIANT ITEM", "json", "variant[key]", "The value of a key, or at an index from 1, of a VARIANT.", inferVariantItem, variantItem)
	item.Form = expr.Operator
	return []*expr.Function{
		parse("PARSE_JSON", "The VARIANT of a JSON text.", giving("t?o!", as(variant)), false),
		parse("TRY_PARSE_JSON", "The VARIANT of a JSON text, NULL of any other.", giving("t?o", always(variant)), true),
		item,
	}
}

func parseKernel(name string, try bool) expr.Kernel {
	var doc jsondoc.Doc
	return failing(func(dst []byte, r row) ([]byte, bool, error) {
		doc.Strict = !r.has(1) || !r.bool(1)
		if err := doc.Parse(r.bytes(0)); err != nil {
			if try {
				return dst, false, nil
			}
			return dst, false, fmt.Errorf("%s: %w", name, err)
		}
		return doc.AppendVariant(dst), true, nil
	})
}

// inferVariantItem takes a key that is a literal, or an index.
func inferVariantItem(s *expr.Site) (types.Type, error) {
	if err := s.Count(2, 2); err != nil {
		return types.Type{}, err
	}
	if s.Kind(0) != types.Variant || !s.Kind(1).IsText() && !aInt.takes(s.Kind(1)) {
		return types.Type{}, s.NoMatch("a VARIANT with a text or an INT")
	}
	return types.Of(types.Variant), nil
}

func variantItem(b *expr.Bound) (expr.Kernel, error) {
	var doc jsondoc.Doc
	keyed := b.Args[1].Kind.IsText()
	return failing(func(dst []byte, r row) ([]byte, bool, error) {
		if err := doc.Parse(r.bytes(0)); err != nil {
			return dst, false, fmt.Errorf("reading a VARIANT: %w", err)
		}
		root := doc.Root()
		var v jsondoc.Value
		var found bool
		switch {
		case keyed && root.Kind != jsondoc.Object:
			return dst, false, fmt.Errorf("a VARIANT that is no object has no key %q", r.bytes(1))
		case keyed:
			v, found = root.Member(string(r.bytes(1)))
		case root.Kind != jsondoc.Array:
			return dst, false, fmt.Errorf("a VARIANT that is no array has no index %d", r.int(1))
		default:
			v, found = root.Element(r.int(1) - 1)
		}
		if !found {
			return dst, false, nil
		}
		return v.AppendWritten(dst), true, nil
	}), nil
}
