package filesystem

import (
	"encoding/json/v2"

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
	format         csvFormat
	scan           *plan.Scan
	session        *expr.Session
	registry       *expr.Registry
}

// Bounded reports that the source ends.
func (s *source) Bounded() bool { return true }

// Coordinator is who finds the files.
func (s *source) Coordinator() (kind, spec string) {
	text, err := json.Marshal(split.Spec{Patterns: []string{s.pattern}, Whole: s.format.quoted() != 0})
	if err != nil { // a pattern that is not UTF-8
		text = []byte(err.Error()) // which the coordinator will refuse
	}
	return files.CoordinatorKind, string(text)
}

// program converts the texts of a record to the columns of the scan.
func (s *source) program() (*expr.Program, error) {
	exprs := make([]expr.Expr, len(s.scan.Fields))
	for i, field := range s.scan.Fields {
		column := s.scan.Columns[field]
		var e expr.Expr = &expr.Input{Index: i, Name: column.Name, T: types.String()}
		if !plainText(column.Type) {
			cast, err := s.registry.ExplicitCast(s.session, e, column.Type.OrNull(), s.format.lenient, ast.Span{})
			if err != nil {
				return nil, err
			}
			e = cast
		}
		exprs[i] = e
	}
	return expr.Compile(s.session, exprs...)
}

// scanOf reads one column.
func scanOf(f types.Field) *plan.Scan {
	return &plan.Scan{Columns: []types.Field{f}, Fields: []int{0}}
}

// plainText reports whether values are texts as they are.
func plainText(t types.Type) bool { return t.Kind == types.VarChar && t.Length == types.MaxLength }

// Open makes the reader of one subtask.
func (s *source) Open(c connector.SourceContext, out connector.Output[*batch.Columns]) (connector.Reader, error) {
	program, err := s.program()
	if err != nil {
		return nil, err
	}
	r := &reader{s: s, c: c, out: out, program: program}
	r.decoder.csvFormat = s.format
	r.decoder.to = make([]*batch.Column, len(s.scan.Columns))
	r.decoder.empty = make([]bool, len(s.scan.Columns))
	for _, field := range s.scan.Fields {
		text := batch.NewColumn(types.String())
		r.texts = append(r.texts, text)
		r.decoder.to[field] = text
		r.decoder.empty[field] = !s.scan.Columns[field].Type.Kind.IsText()
	}
	return r, nil
}
