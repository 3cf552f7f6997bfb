package filesystem

import (
	"encoding/json/v2"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/connector/files"
	"github.com/weirstream/weir/internal/coordinator/files/split"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// source reads the rows of files.
type source struct {
	table, pattern string
	format         formats
	scan           *plan.Scan
	session        *expr.Session
	registry       *expr.Registry
	partitions     partitions
}

// Bounded reports that the source ends.
func (s *source) Bounded() bool { return true }

// Coordinator is who finds the files.
func (s *source) Coordinator() (kind, spec string) {
	text, err := json.Marshal(split.Spec{Patterns: []string{s.pattern}, Whole: s.format.kind == "csv" && s.format.csv.quoted() != 0})
	if err != nil { // a pattern that is not UTF-8
		text = []byte(err.Error()) // which the coordinator will refuse
	}
	return files.CoordinatorKind, string(text)
}

// reading is the session by which texts are read: JSON has instants of UTC.
func (s *source) reading() *expr.Session {
	if s.format.kind != "json" {
		return s.session
	}
	utc := *s.session
	utc.Zone = time.UTC
	return &utc
}

// program converts the texts of a record to the columns of the scan.
func (s *source) program() (*expr.Program, error) {
	exprs := make([]expr.Expr, len(s.scan.Fields))
	for i, field := range s.scan.Fields {
		column := s.scan.Columns[field]
		var e expr.Expr = &expr.Input{Index: i, Name: column.Name, T: types.String()}
		if s.nested(column.Type) {
			e = &expr.Input{Index: i, Name: column.Name, T: column.Type.OrNull()}
		} else if !plainText(column.Type) {
			cast, err := s.registry.ExplicitCast(s.reading(), e, column.Type.OrNull(), s.format.lenient(), ast.Span{})
			if err != nil {
				return nil, err
			}
			e = cast
		}
		exprs[i] = e
	}
	return expr.Compile(s.reading(), exprs...)
}

// nested reports whether values are made of others and read as such.
func (s *source) nested(t types.Type) bool {
	return s.format.kind == "json" && (t.Kind.IsCollection() || t.Kind.IsComposite())
}

// castProgram casts a column of text.
func castProgram(r *expr.Registry, session *expr.Session, t types.Type, lenient bool) (*expr.Program, error) {
	cast, err := r.ExplicitCast(session, &expr.Input{Name: "value", T: types.String()}, t.OrNull(), lenient, ast.Span{})
	if err != nil {
		return nil, err
	}
	return expr.Compile(session, cast)
}

// plainText reports whether values are texts as they are.
func plainText(t types.Type) bool { return t.Kind == types.VarChar && t.Length == types.MaxLength }

// Open makes the reader of one subtask.
func (s *source) Open(c connector.SourceContext, out connector.Output[*batch.Columns]) (connector.Reader, error) {
	program, err := s.program()
	if err != nil {
		return nil, err
	}
	r := &reader{s: s, c: c, out: out, program: program, values: make([]partitionValue, len(s.scan.Fields))}
	if r.pruning, err = s.pruning(); err != nil {
		return nil, err
	}
	to := make([]*batch.Column, len(s.scan.Columns))
	for _, field := range s.scan.Fields {
		text := batch.NewColumn(types.String())
		r.texts = append(r.texts, text)
		if !s.partitions.of[field] {
			to[field] = text
		}
	}
	switch s.format.kind {
	case "json":
		r.decoder = s.jsonDecoder(to)
	case "raw":
		i := s.partitions.stored[0]
		r.decoder = &rawDecoder{rawFormat: s.format.raw, t: s.scan.Columns[i].Type, to: to[i]}
	default:
		r.decoder = s.csvDecoder(to)
	}
	return r, nil
}

func (s *source) csvDecoder(to []*batch.Column) *csvDecoder {
	d := &csvDecoder{csvFormat: s.format.csv}
	for _, i := range s.partitions.stored {
		d.to = append(d.to, to[i])
		d.empty = append(d.empty, !s.scan.Columns[i].Type.Kind.IsText())
	}
	return d
}

func (s *source) jsonDecoder(to []*batch.Column) *jsonDecoder {
	n := len(to)
	d := &jsonDecoder{jsonFormat: s.format.json, to: to, names: make([][]byte, n), text: make([]bool, n), bytes: make([]bool, n), nested: make([]bool, n), found: make([]bool, n)}
	for i, f := range s.scan.Columns {
		d.names[i], d.text[i], d.bytes[i], d.nested[i] = []byte(`"`+f.Name+`"`), f.Type.Kind.IsText(), f.Type.Kind.IsBinary(), s.nested(f.Type)
	}
	return d
}

// decoder cuts text into records, and the values that are wanted of them into columns of
// text.
type decoder interface {
	// decode reads records until so many are there, or only a part of one is left. It gives
	// how many bytes they have; last says that no more text follows.
	decode(text []byte, last bool, most int) (consumed int, err error)
	// records are where each of them begins.
	records() []int32
}

func (d *csvDecoder) records() []int32  { return d.starts }
func (d *jsonDecoder) records() []int32 { return d.starts }
