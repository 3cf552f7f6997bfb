package filesystem

import (
	"encoding/json/v2"
	"slices"
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
	text, err := json.Marshal(split.Spec{Patterns: s.patterns(), Empty: true, Missing: s.format.rejectsOf != "", Whole: s.whole(), Hollow: s.format.kind == "parquet"})
	if err != nil { // a pattern that is not UTF-8
		text = []byte(err.Error()) // which the coordinator will refuse
	}
	return files.CoordinatorKind, string(text)
}

// whole says that files are not read in parts. Where a record of CSV with quotes begins
// depends on all quotes before it: a lineFinder knows that of a file without comments and
// escapes, all of whose records are good.
func (s *source) whole() bool {
	f := &s.format
	return f.kind == "csv" && f.csv.quoted() != 0 && (f.csv.comments || f.csv.escape != 0 || f.lenient() || f.badRows != badRowsFail)
}

// patterns are those of the files.
func (s *source) patterns() []string {
	if s.format.rejectsOf != "" {
		return rejectsDirs(s.pattern, s.format.rejectsOf)
	}
	return []string{s.pattern}
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
	if s.format.kind == "parquet" {
		pruning, err := s.pruning()
		if err != nil {
			return nil, err
		}
		filter, err := s.groupFilter()
		return &parquetReader{splits: splits[parquetPart]{c: c, out: out}, s: s, pruning: pruning, filter: filter}, err
	}
	r := &reader{splits: splits[split.File]{c: c, out: out}, s: s}
	var err error
	if r.pruning, err = s.pruning(); err != nil {
		return nil, err
	}
	places := make([]int, len(s.scan.Columns)) // of the table's columns in the values; -1: nowhere
	for i := range places {
		places[i] = -1
	}
	for _, field := range s.fields() {
		conversion, err := s.conversion(s.scan.Columns[field])
		if err != nil {
			return nil, err
		}
		if !s.partitions.of[field] {
			places[field] = len(r.conversions)
		}
		r.conversions = append(r.conversions, conversion)
	}
	r.constants = make([]*batch.Column, len(r.conversions))
	r.badRows.mode = s.format.badRows
	if s.format.badRows == badRowsReject {
		r.badRows.rejects = &rejects{dir: rejectsDir(s.pattern, s.table), reader: readerName(c.Job, c.Operator)}
	}
	r.values = newValues(len(r.conversions), batch.MaxRows)
	r.values.collects = s.format.badRows != badRowsFail || s.format.lenient()
	r.decoder = s.decoder(places)
	if s.format.kind == "csv" && s.format.csv.quoted() != 0 {
		r.finder = &lineFinder{csvFormat: s.format.csv}
	}
	return r, nil
}

// fields are the columns that are read: those of the scan, and behind them, if it matters
// which rows are bad, all others, so that this does not depend on the query.
func (s *source) fields() []int {
	fields := slices.Clone(s.scan.Fields)
	if s.format.badRows == badRowsFail {
		return fields
	}
	for _, field := range s.partitions.stored {
		if !slices.Contains(fields, field) {
			fields = append(fields, field)
		}
	}
	return fields
}

// decoder finds the records of files, and the values that have a place.
func (s *source) decoder(places []int) decoder {
	switch s.format.kind {
	case "json":
		d := &jsonDecoder{jsonFormat: s.format.json, found: make([]bool, len(places))}
		for i, f := range s.scan.Columns {
			d.columns = append(d.columns, jsonColumn{[]byte(`"` + f.Name + `"`), places[i], jsonKindOf(f.Type)})
			if places[i] >= 0 {
				d.wanted++
			}
		}
		return d
	case "raw":
		i := s.partitions.stored[0]
		return &rawDecoder{rawFormat: s.format.raw, t: s.scan.Columns[i].Type, wanted: places[i] >= 0, column: places[i]}
	}
	d := &csvDecoder{csvFormat: s.format.csv}
	for _, i := range s.partitions.stored {
		d.table.columns = append(d.table.columns, places[i])
		d.table.empty = append(d.table.empty, !s.scan.Columns[i].Type.Kind.IsText())
	}
	d.csvFields = d.table
	return d
}
