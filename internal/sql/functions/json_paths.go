package functions

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/jsondoc"
	"github.com/weirstream/weir/types"
)

// jsonPaths are the functions that look into JSON texts.
func jsonPaths() []*expr.Function {
	is := own(bound("IS JSON", "json", "s IS JSON [VALUE | SCALAR | ARRAY | OBJECT]", "Whether the text is a JSON document.", inferIsJSON, isJSON))
	is.Form = expr.Operator
	special := func(name, usage, doc string, infer func(*expr.Site) (types.Type, error), kernel func(*expr.Bound) (expr.Kernel, error)) *expr.Function {
		f := own(bound(name, "json", usage, doc, infer, kernel))
		f.Form, f.Typed = expr.Special, true
		return f
	}
	return []*expr.Function{
		is,
		special("JSON_EXISTS", "JSON_EXISTS(s, path [… ON ERROR])", "Whether a path finds something.", inferExists, existsKernel),
		special("JSON_VALUE", "JSON_VALUE(s, path [RETURNING type] [… ON EMPTY] [… ON ERROR])", "The scalar that a path finds.", inferValue, valueKernel),
		special("JSON_QUERY", "JSON_QUERY(s, path [RETURNING type] [wrapper] [… ON EMPTY] [… ON ERROR])", "The object or array that a path finds.", inferQuery, queryKernel),
	}
}

func inferIsJSON(s *expr.Site) (types.Type, error) {
	if err := s.Count(2, 2); err != nil {
		return types.Type{}, err
	}
	if !s.Kind(0).IsText() {
		return types.Type{}, s.NoMatch("a text")
	}
	return boolean.NotNull(), nil
}

func isJSON(b *expr.Bound) (expr.Kernel, error) {
	kind, _ := b.ConstantText(1)
	var doc jsondoc.Doc
	return computing(func(r row) (bool, bool) {
		if r.null(0) || doc.Parse(r.bytes(0)) != nil {
			return false, true
		}
		is := true
		switch kind {
		case "SCALAR":
			is = doc.Kind().Scalar()
		case "ARRAY":
			is = doc.Kind() == jsondoc.Array
		case "OBJECT":
			is = doc.Kind() == jsondoc.Object
		}
		return is, true
	}), nil
}

// jsonArguments refuses arguments that are no document and no path. What is neither a text
// nor a number is taken for a text that is no JSON.
func jsonArguments(s *expr.Site) error {
	for k, what := range []string{"a JSON text", "a path"} {
		kind := s.Kind(k)
		if k == 1 && s.Fn.Name != "JSON_QUERY" && !kind.IsText() {
			return s.Refuse("%s takes %s, not %s", s.Fn.Name, what, s.Type(k).Text())
		}
		switch {
		case kind.IsText(), kind.IsBinary(), kind.IsCollection(), kind.IsComposite(), kind == types.Decimal:
		case kind == types.Null:
			return expr.Refuse(s.Args[k].Span(), "a NULL without a type is no argument of %s; write CAST(NULL AS STRING)", s.Fn.Name)
		default:
			return s.Refuse("%s takes %s, not %s", s.Fn.Name, what, s.Type(k).Text())
		}
	}
	if _, ok := s.Constant(1); !ok {
		return s.Refuse("the path of %s must be a literal", s.Fn.Name)
	}
	return nil
}

// word is a keyword among the arguments.
func word(b *expr.Bound, arg int, otherwise string) string {
	if w, ok := b.ConstantText(arg); ok && w != "" {
		return w
	}
	return otherwise
}

// finder follows a constant path in documents.
type finder struct {
	doc  jsondoc.Doc
	path *jsondoc.Path
	// bad says why the path is none: for every row that is an error.
	bad error
	// none says that the path is NULL.
	none bool
}

func newFinder(b *expr.Bound) (*finder, error) {
	f := &finder{}
	c := b.Constants[1]
	switch {
	case c == nil:
		return nil, errors.New("the path must be a literal")
	case c.IsNull(0):
		f.none = true
	case !b.Args[1].Kind.IsText():
		f.bad = fmt.Errorf("%s is no path", b.Args[1].Text())
	default:
		f.path, f.bad = jsondoc.CompilePath(string(c.Bytes(0)))
	}
	var unsupported *jsondoc.UnsupportedPathError
	if errors.As(f.bad, &unsupported) {
		return nil, f.bad
	}
	return f, nil
}

// find reads the document of a row and follows the path. Without found and error there is
// nothing.
func (f *finder) find(r row) (v jsondoc.Value, found bool, err error) {
	if r.args[0].Layout != batch.ByteSlices {
		return v, false, errors.New("the value is no JSON text")
	}
	err = f.doc.Parse(r.bytes(0))
	switch {
	case err != nil && f.bad == nil && f.path.Lax:
		return v, false, nil // in what is no document, a lax path finds nothing
	case err != nil:
		return v, false, err
	case f.bad != nil:
		return v, false, f.bad
	}
	return f.doc.Find(f.path)
}

func inferExists(s *expr.Site) (types.Type, error) {
	if err := s.Count(3, 3); err != nil {
		return types.Type{}, err
	}
	if !s.Kind(0).IsText() {
		return types.Type{}, s.NoMatch("a JSON text and a path")
	}
	return boolean, jsonArguments(s)
}

func existsKernel(b *expr.Bound) (expr.Kernel, error) {
	f, err := newFinder(b)
	if err != nil {
		return nil, err
	}
	onError := word(b, 2, "FALSE")
	return trying(func(r row) (bool, bool, error) {
		if r.null(0) || f.none {
			return false, false, nil
		}
		_, found, err := f.find(r)
		if err == nil {
			return found, true, nil
		}
		if onError == "ERROR" {
			return false, false, fmt.Errorf("JSON_EXISTS: %w", err)
		}
		return onError == "TRUE", onError != "UNKNOWN", nil
	}), nil
}

// inferValue takes [input, path, onEmpty, default, onError, default].
func inferValue(s *expr.Site) (types.Type, error) {
	if err := s.Count(6, 6); err != nil {
		return types.Type{}, err
	}
	t := text
	if s.Returning != nil {
		t = *s.Returning
	}
	switch t.Kind {
	case types.Char, types.VarChar, types.Boolean, types.Int, types.Double:
	default:
		return t, s.Refuse("JSON_VALUE cannot give %s; allowed are STRING, BOOLEAN, INT and DOUBLE", t.Text())
	}
	for _, k := range []int{3, 5} {
		d, err := defaultOf(s, k, t)
		if err != nil {
			return t, err
		}
		s.Args[k] = d
	}
	return t.OrNull(), jsonArguments(s)
}

// defaultOf turns a literal into one of the type that is returned.
func defaultOf(s *expr.Site, arg int, t types.Type) (expr.Expr, error) {
	c, ok := s.Constant(arg)
	at := s.Args[arg].Span()
	if !ok {
		return nil, expr.Refuse(at, "a DEFAULT of JSON_VALUE must be a literal")
	}
	from := s.Type(arg)
	if from.Kind == types.Null || from.Kind == types.Symbol || c.IsNull(0) {
		return expr.Null(t, at), nil
	}
	if from.EqualButNull(t) {
		return s.Args[arg], nil
	}
	written := expr.Display(from, c, 0)
	if from.Kind == types.Boolean {
		written = strings.ToLower(written)
	}
	value := batch.NewColumn(t)
	switch {
	case t.Kind.IsText():
		value.AppendBytes([]byte(written))
	case t.Kind == types.Int:
		v, err := strconv.ParseInt(written, 10, 32)
		if err != nil {
			return nil, expr.Refuse(at, "the DEFAULT %s is no INT", written)
		}
		batch.Append(value, int32(v))
	case t.Kind == types.Double:
		v, err := strconv.ParseFloat(written, 64)
		if err != nil {
			return nil, expr.Refuse(at, "the DEFAULT %s is no DOUBLE", written)
		}
		batch.Append(value, v)
	default:
		return nil, expr.Refuse(at, "the DEFAULT %s is no %s", written, t.Text())
	}
	return &expr.Literal{T: t, Value: value, At: at}, nil
}

func valueKernel(b *expr.Bound) (expr.Kernel, error) {
	f, err := newFinder(b)
	if err != nil {
		return nil, err
	}
	onEmpty, onError := word(b, 2, "NULL"), word(b, 4, "NULL")
	t := b.T
	w := &valueWriter{}
	return func(out *batch.Column, args []*batch.Column, rows expr.Rows) error {
		w.begin(out)
		err := rows.Each(func(i int) error {
			w.row(i)
			r := row{args, i}
			if r.null(0) || f.none {
				w.null(i)
				return nil
			}
			v, found, err := f.find(r)
			if err == nil && found && v.Kind.Scalar() {
				if w.value(i, t, v) {
					return nil
				}
				err = fmt.Errorf("the value %s is no %s", v.AppendText(nil), t.Text())
			} else if err == nil && found && !f.path.Lax {
				err = errors.New("the path finds no scalar, and it is strict")
			}
			behaviour, otherwise := onEmpty, 3
			if err != nil {
				behaviour, otherwise = onError, 5
			} else {
				err = errors.New("the path finds nothing")
			}
			switch behaviour {
			case "ERROR":
				return expr.AtRow(i, fmt.Errorf("JSON_VALUE: %w", err))
			case "DEFAULT":
				w.copy(i, args[otherwise])
			default:
				w.null(i)
			}
			return nil
		})
		w.close()
		return err
	}, nil
}

// valueWriter writes texts or values of fixed size.
type valueWriter struct {
	out    *batch.Column
	bytes  expr.Bytes
	isText bool
}

func (w *valueWriter) begin(out *batch.Column) {
	w.out, w.isText = out, out.Layout == batch.ByteSlices
	if w.isText {
		w.bytes = expr.NewBytes(out)
	}
}

func (w *valueWriter) row(i int) {
	if w.isText {
		w.bytes.Row(i)
	}
}

func (w *valueWriter) close() {
	if w.isText {
		w.bytes.Close()
	}
}

func (w *valueWriter) null(i int) {
	if w.isText {
		w.bytes.Null(i)
		return
	}
	w.out.SetNull(i)
}

func (w *valueWriter) copy(i int, from *batch.Column) {
	switch {
	case from.IsNull(i):
		w.null(i)
	case w.isText:
		w.bytes.Data = append(w.bytes.Data, from.Bytes(i)...)
	case w.out.Layout == batch.Bools:
		w.out.Bool[i] = from.Bool[i]
	case w.out.Layout == batch.Float64s:
		w.out.F64[i] = from.F64[i]
	default:
		w.out.I32[i] = from.I32[i]
	}
}

// value writes a value of JSON as one of a type, if it is one.
func (w *valueWriter) value(i int, t types.Type, v jsondoc.Value) bool {
	switch {
	case w.isText:
		from := len(w.bytes.Data)
		w.bytes.Data = v.AppendText(w.bytes.Data)
		w.bytes.Data = w.bytes.Data[:from+cut(w.bytes.Data[from:], t.Length)]
		return true
	case t.Kind == types.Boolean:
		w.out.Bool[i] = v.Kind == jsondoc.True
		return v.Kind == jsondoc.True || v.Kind == jsondoc.False
	}
	digits, ok := v.Number()
	if !ok {
		return false
	}
	if t.Kind == types.Int {
		n, err := strconv.ParseInt(string(digits), 10, 32)
		w.out.I32[i] = int32(n)
		return err == nil
	}
	if _, err := strconv.ParseInt(string(digits), 10, 64); err == nil {
		return false // a whole number is no DOUBLE
	}
	n, err := strconv.ParseFloat(string(digits), 64)
	w.out.F64[i] = n
	return err == nil
}

// cut is how many bytes of a text its first characters are.
func cut(s []byte, characters int) int {
	if len(s) <= characters {
		return len(s)
	}
	n := 0
	for i := range string(s) {
		if n == characters {
			return i
		}
		n++
	}
	return len(s)
}
