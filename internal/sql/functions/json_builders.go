package functions

import (
	"fmt"
	"slices"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/jsondoc"
	"github.com/weirstream/weir/types"
)

// jsonBuilders are the functions that make JSON texts.
func jsonBuilders() []*expr.Function {
	special := func(name, usage, doc string, infer func(*expr.Site) (types.Type, error), kernel func(*expr.Bound) (expr.Kernel, error)) *expr.Function {
		f := own(bound(name, "json", usage, doc, infer, kernel))
		f.Form = expr.Special
		return f
	}
	return []*expr.Function{
		special("JSON_OBJECT", "JSON_OBJECT([[KEY] key VALUE value, …] [NULL | ABSENT ON NULL])", "An object of keys and values.", inferObject, objectKernel),
		special("JSON_ARRAY", "JSON_ARRAY([value, …] [NULL | ABSENT ON NULL])", "An array of values.", inferJSONArray, arrayJSONKernel),
		bound("JSON", "json", "JSON(s)", "A JSON text as it is, within JSON_OBJECT and JSON_ARRAY.", giving("t", as(text)), rawJSON),
		bound("JSON_STRING", "json", "JSON_STRING(x)", "The value as JSON.", inferJSONString, jsonString),
		function("JSON_QUOTE", "json", "JSON_QUOTE(s)", "The text as a JSON string.", giving("t!", as(text)), appending(func(dst []byte, r row) ([]byte, bool) {
			return jsondoc.AppendQuotedASCII(dst, r.bytes(0)), true
		})),
		bound("JSON_UNQUOTE", "json", "JSON_UNQUOTE(s)", "The text of a JSON string; what is none as it is.", giving("t!", as(text)), func(*expr.Bound) (expr.Kernel, error) {
			var doc jsondoc.Doc
			return appending(func(dst []byte, r row) ([]byte, bool) {
				if unquoted, ok := doc.Unquote(dst, r.bytes(0)); ok {
					return unquoted, true
				}
				return append(dst, r.bytes(0)...), true
			}), nil
		}),
	}
}

// raw are the functions whose texts are JSON already.
var raw = []string{"JSON", "JSON_OBJECT", "JSON_ARRAY", "JSON_OBJECTAGG", "JSON_ARRAYAGG"}

// part is a value of a builder: the argument it is, and whether its text is JSON.
type part struct {
	arg int
	raw bool
}

// noteParts refuses values that cannot be JSON, and notes behind each, where FORMAT JSON is,
// that its text is JSON already.
func noteParts(s *expr.Site, first, step int) error {
	for k := first; k < len(s.Args); k += step {
		if s.Kind(k) == types.Null {
			return expr.Refuse(s.Args[k].Span(), "a NULL without a type is no value of %s; write CAST(NULL AS …)", s.Fn.Name)
		}
		if reason, ok := writable(s.Type(k)); !ok {
			return expr.Refuse(s.Args[k].Span(), "%s: %s", s.Fn.Name, reason)
		}
		if call, ok := s.Args[k].(*expr.Call); ok && slices.Contains(raw, call.Fn.Name) {
			s.Args[k+1] = expr.Text("JSON")
		} else if w, _ := s.ConstantText(k + 1); w == "JSON" && !s.Kind(k).IsText() {
			return expr.Refuse(s.Args[k].Span(), "FORMAT JSON is of a text, not of %s", s.Type(k).Text())
		}
	}
	return nil
}

// partsOf are the values of a call.
func partsOf(b *expr.Bound, first, step int) []part {
	var parts []part
	for k := first; k < len(b.Args); k += step {
		parts = append(parts, part{k, word(b, k+1, "") == "JSON"})
	}
	return parts
}

func (p part) append(dst []byte, b *expr.Bound, r row) []byte {
	c := r.args[p.arg]
	if p.raw && !c.IsNull(r.i) {
		return append(dst, c.Bytes(r.i)...)
	}
	return appendJSON(dst, b.Args[p.arg], c, r.i)
}

// inferObject takes [onNull, key, value, format, …].
func inferObject(s *expr.Site) (types.Type, error) {
	if len(s.Args)%3 != 1 {
		return types.Type{}, s.Refuse("JSON_OBJECT takes keys and values by turns")
	}
	for k := 1; k < len(s.Args); k += 3 {
		if !s.Kind(k).IsText() {
			return types.Type{}, expr.Refuse(s.Args[k].Span(), "a key of JSON_OBJECT is a text, not %s", s.Type(k).Text())
		}
		if key, ok := s.Constant(k); ok && key.IsNull(0) {
			return types.Type{}, expr.Refuse(s.Args[k].Span(), "a key of JSON_OBJECT must not be NULL")
		}
	}
	return text.NotNull(), noteParts(s, 2, 3)
}

// inferJSONArray takes [onNull, value, format, …].
func inferJSONArray(s *expr.Site) (types.Type, error) {
	if len(s.Args)%2 != 1 {
		return types.Type{}, s.Refuse("JSON_ARRAY takes values")
	}
	return text.NotNull(), noteParts(s, 1, 2)
}

// objectKernel writes an object and reads it again, so that keys are in order, and of equal
// ones the last counts.
func objectKernel(b *expr.Bound) (expr.Kernel, error) {
	absent := word(b, 0, "NULL") == "ABSENT"
	parts := partsOf(b, 2, 3)
	var scratch []byte
	var doc jsondoc.Doc
	return failing(func(dst []byte, r row) ([]byte, bool, error) {
		scratch = append(scratch[:0], '{')
		for _, p := range parts {
			switch {
			case r.null(p.arg - 1):
				return dst, false, fmt.Errorf("a key of JSON_OBJECT is NULL")
			case absent && r.null(p.arg):
				continue
			}
			if len(scratch) > 1 {
				scratch = append(scratch, ',')
			}
			scratch = append(jsondoc.AppendQuoted(scratch, r.bytes(p.arg-1)), ':')
			scratch = p.append(scratch, b, r)
		}
		if err := doc.Parse(append(scratch, '}')); err != nil {
			return dst, false, fmt.Errorf("JSON_OBJECT: %w", err)
		}
		return doc.AppendWritten(dst), true, nil
	}), nil
}

func arrayJSONKernel(b *expr.Bound) (expr.Kernel, error) {
	absent := word(b, 0, "ABSENT") == "ABSENT"
	parts := partsOf(b, 1, 2)
	return appending(func(dst []byte, r row) ([]byte, bool) {
		dst = append(dst, '[')
		first := true
		for _, p := range parts {
			if absent && r.null(p.arg) {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = p.append(dst, b, r)
		}
		return append(dst, ']'), true
	}), nil
}

// rawJSON reads a document and writes it as documents are written.
func rawJSON(*expr.Bound) (expr.Kernel, error) {
	var doc jsondoc.Doc
	return failing(func(dst []byte, r row) ([]byte, bool, error) {
		if err := doc.Parse(r.bytes(0)); err != nil {
			return dst, false, fmt.Errorf("JSON: %w", err)
		}
		return doc.Append(dst), true, nil
	}), nil
}

func inferJSONString(s *expr.Site) (types.Type, error) {
	if err := s.Count(1, 1); err != nil {
		return types.Type{}, err
	}
	if s.Kind(0) == types.Null {
		s.Args[0] = expr.Null(text, s.Args[0].Span())
	}
	if call, ok := s.Args[0].(*expr.Call); ok && slices.Contains(raw, call.Fn.Name) {
		s.Instead = s.Args[0]
		return s.Instead.Type(), nil
	}
	if s.Kind(0) == types.Bitmap {
		return types.Type{}, s.NoMatch("a value that JSON has; write BITMAP_TO_STRING")
	}
	if reason, ok := writable(s.Type(0)); !ok {
		return types.Type{}, s.Refuse("JSON_STRING: %s", reason)
	}
	return text.WithNull(s.Nullable()), nil
}

func jsonString(b *expr.Bound) (expr.Kernel, error) {
	return appending(func(dst []byte, r row) ([]byte, bool) { return appendJSON(dst, b.Args[0], r.args[0], r.i), true }), nil
}
