package functions

import "github.com/weirstream/weir/internal/sql/expr"

// families are the functions by what they are about, a file each.
var families = []func() []*expr.Function{
	texts, padding, searching, regexps, likes, encodings, urls, numbers, rounding, chances,
	fields, periods, moments, patterns, clocks, watermarks,
	jsonPaths, jsonBuilders, variants, arrays, arraySets, maps, bitmaps, objects, misc,
}

// All are the functions of this package.
func All() []*expr.Function {
	var all []*expr.Function
	for _, family := range families {
		all = append(all, family()...)
	}
	return all
}

// NewRegistry makes a registry of the operators of package expr and these functions.
func NewRegistry() *expr.Registry {
	r := expr.NewRegistry()
	r.Add(All()...)
	return r
}
