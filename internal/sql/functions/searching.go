package functions

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/javaregex"
	sqltext "github.com/weirstream/weir/internal/sql/text"
	"github.com/weirstream/weir/types"
)

// searching are the functions that look for texts in texts.
func searching() []*expr.Function {
	ends := func(name, doc string, f func(s, part []byte) bool) *expr.Function {
		infer := func(s *expr.Site) (types.Type, error) {
			t, err := giving("xx!", as(boolean))(s)
			if err == nil && s.Kind(0).IsText() != s.Kind(1).IsText() {
				if !s.Args[0].Type().Nullable && !s.Args[1].Type().Nullable || !isNullLiteral(s.Args[0]) && !isNullLiteral(s.Args[1]) {
					return t, s.NoMatch("two texts, or bytes and bytes")
				}
			}
			return t, err
		}
		return function(name, "string", name+"(s, part)", doc, infer, computing(func(r row) (bool, bool) { return f(r.bytes(0), r.bytes(1)), true }))
	}
	return []*expr.Function{
		function("POSITION", "string", "POSITION(part IN s [FROM i])", "Where the part is found, from 1; 0 if nowhere.", giving("tt?i", as(integer)), computing(position)),
		function("LOCATE", "string", "LOCATE(part, s[, from])", "Where the part is found, from 1; 0 if nowhere.", giving("tt?i", as(integer)), computing(position)),
		function("INSTR", "string", "INSTR(s, part[, from[, nth]])", "Where the part is found, from 1; 0 if nowhere.", giving("tt?ii", as(integer)), trying(instr)),
		ends("STARTSWITH", "Whether s begins with the part.", bytes.HasPrefix),
		ends("ENDSWITH", "Whether s ends with the part.", bytes.HasSuffix),
		function("REPLACE", "string", "REPLACE(s, old, new)", "The text with every old replaced.", giving("ttt", as(text)), appending(func(dst []byte, r row) ([]byte, bool) {
			return sqltext.Replace(dst, r.bytes(0), r.bytes(1), r.bytes(2)), true
		})),
		named(own(function("TRANSLATE", "string", "TRANSLATE(s, from, to)", "The text with characters replaced by others, or dropped.", giving("ttt", func(s *expr.Site) types.Type {
			return text.WithNull(s.Type(0).Nullable)
		}), appending(translate))), "TRANSLATE3"),
		function("SPLIT_INDEX", "string", "SPLIT_INDEX(s, separator, i)", "Part i, from 0, between separators.", inferSplitIndex, slicing(splitIndex)),
		function("SPLIT", "string", "SPLIT(s, separator)", "The parts between separators.", giving("tt!", as(types.ArrayOf(text))), listing(func(elements *batch.Column, r row) bool {
			sqltext.Split(r.bytes(0), r.bytes(1), elements.AppendBytes)
			return true
		})),
		bound("STR_TO_MAP", "string", "STR_TO_MAP(s[, pairs, values])", "The pairs of a text, by regular expressions that separate them.", inferStrToMap, strToMap),
	}
}

func isNullLiteral(e expr.Expr) bool {
	l, ok := e.(*expr.Literal)
	return ok && l.IsNull()
}

func position(r row) (int32, bool) {
	from := int64(1)
	if r.has(2) {
		from = r.int(2)
	}
	return int32(sqltext.Position(r.bytes(0), r.bytes(1), from)), true
}

func instr(r row) (int32, bool, error) {
	from, nth := int64(1), int64(1)
	if r.has(2) {
		from = r.int(2)
	}
	if r.has(3) {
		nth = r.int(3)
	}
	if nth <= 0 {
		return 0, false, fmt.Errorf("INSTR looks for occurrence %d; allowed is 1 or more", nth)
	}
	return int32(sqltext.Instr(r.bytes(0), r.bytes(1), from, nth)), true, nil
}

func translate(dst []byte, r row) ([]byte, bool) {
	switch {
	case r.null(0):
		return dst, false
	case r.null(1):
		return append(dst, r.bytes(0)...), true
	case r.null(2):
		return sqltext.Translate(dst, r.bytes(0), r.bytes(1), nil), true
	}
	return sqltext.Translate(dst, r.bytes(0), r.bytes(1), r.bytes(2)), true
}

// inferSplitIndex takes a separator that is a text or the code of a character.
func inferSplitIndex(s *expr.Site) (types.Type, error) {
	if len(s.Args) == 3 && aInt.takes(s.Kind(1)) {
		return giving("tii", always(text))(s)
	}
	return giving("tti", always(text))(s)
}

func splitIndex(r row) ([]byte, bool) {
	if r.args[1].Layout == batch.ByteSlices {
		return sqltext.SplitIndex(r.bytes(0), r.bytes(1), r.int(2))
	}
	code := r.int(1)
	if code < 0 || code > 255 {
		return nil, false
	}
	return sqltext.SplitIndex(r.bytes(0), []byte(string(rune(code))), r.int(2))
}

// inferStrToMap takes both separators or none.
func inferStrToMap(s *expr.Site) (types.Type, error) {
	if len(s.Args) == 2 {
		return types.Type{}, s.Refuse("STR_TO_MAP takes a text, or a text and two separators")
	}
	return giving("t?tt", always(types.MapOf(text, text)))(s)
}

func strToMap(*expr.Bound) (expr.Kernel, error) {
	var cache javaregex.Cache
	comma, equals := []byte(","), []byte("=")
	return func(out *batch.Column, args []*batch.Column, rows expr.Rows) error {
		w := expr.NewCollections(out)
		defer w.Close()
		return rows.Each(func(i int) error {
			w.Row(i)
			r := row{args, i}
			pairs, values := comma, equals
			if r.has(1) {
				pairs = r.bytes(1)
			}
			if r.has(2) {
				values = r.bytes(2)
			}
			p, err := cache.Get(pairs)
			if err != nil {
				return expr.AtRow(i, err)
			}
			v, err := cache.Get(values)
			if err != nil {
				return expr.AtRow(i, err)
			}
			if len(r.bytes(0)) > 0 {
				appendPairs(out.Children[0], out.Children[1], r.bytes(0), p, v)
			}
			return nil
		})
	}, nil
}

// place is where Java's hash map, which is made for as many keys as are expected and is at most
// three quarters full, keeps a key: the order of a map's entries is that of the places.
func place(key []byte, expected int) int {
	h := uint32(0)
	for _, r := range string(key) {
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			h = 31*h + uint32(high)
			r = low
		}
		h = 31*h + uint32(r)
	}
	size := 1
	for expected*4 > size*3 {
		size *= 2
	}
	return int((h ^ h>>16) & uint32(size-1))
}

// appendPairs appends the keys and values of a text; of equal keys the last value counts.
func appendPairs(keys, values *batch.Column, s []byte, pairs, separator *javaregex.Pattern) {
	type pair struct {
		key, value []byte
		has        bool
	}
	var all []pair
	expected := 0
	pairs.Split(s, 0, func(part []byte) {
		expected++
		n, p := 0, pair{}
		separator.Split(part, 2, func(half []byte) {
			if n == 0 {
				p.key = half
			} else {
				p.value, p.has = half, true
			}
			n++
		})
		for i := range all {
			if bytes.Equal(all[i].key, p.key) {
				all[i] = p
				return
			}
		}
		all = append(all, p)
	})
	slices.SortStableFunc(all, func(a, b pair) int { return place(a.key, expected) - place(b.key, expected) })
	for _, p := range all {
		keys.AppendBytes(p.key)
		if p.has {
			values.AppendBytes(p.value)
		} else {
			values.AppendNull()
		}
	}
}
