package filecatalog

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/types"
)

// The documents of files. What is empty is left out.
type (
	database struct {
		Comment string            `yaml:"comment,omitempty"`
		Options map[string]string `yaml:"options,omitempty"`
	}
	function struct {
		Class    string             `yaml:"class"`
		Language string             `yaml:"language"`
		Using    []catalog.Resource `yaml:"using,omitempty"`
	}
	table struct {
		Kind         string            `yaml:"kind"`
		Comment      string            `yaml:"comment,omitempty"`
		Columns      []column          `yaml:"columns"`
		Watermarks   []watermark       `yaml:"watermarks,omitempty"`
		PrimaryKey   *primaryKey       `yaml:"primary-key,omitempty"`
		Partitions   []string          `yaml:"partitioned-by,omitempty,flow"`
		Distribution *distribution     `yaml:"distributed,omitempty"`
		Options      map[string]string `yaml:"options,omitempty"`
		Kept         []partition       `yaml:"partitions,omitempty"`
		Statistics   *statistics       `yaml:"statistics,omitempty"`
		Original     string            `yaml:"query,omitempty"`
		Query        string            `yaml:"expanded-query,omitempty"`
	}
	column struct {
		Name    string `yaml:"name"`
		Type    string `yaml:"type"`
		Comment string `yaml:"comment,omitempty"`
		// As is the expression of a computed column.
		As string `yaml:"as,omitempty"`
		// Metadata is the key of a metadata column.
		Metadata *string `yaml:"metadata,omitempty"`
		Virtual  bool    `yaml:"virtual,omitempty"`
		// Time is ROWTIME or PROCTIME.
		Time string `yaml:"time,omitempty"`
	}
	watermark struct {
		Column     string `yaml:"for"`
		Expression string `yaml:"as"`
		Type       string `yaml:"type"`
	}
	primaryKey struct {
		Name    string   `yaml:"name"`
		Columns []string `yaml:"columns,flow"`
	}
	distribution struct {
		Kind    string   `yaml:"kind,omitempty"`
		Keys    []string `yaml:"by,omitempty,flow"`
		Buckets int      `yaml:"buckets,omitempty"`
	}
	partition struct {
		Values  map[string]string `yaml:"values"`
		Options map[string]string `yaml:"options,omitempty"`
	}
	statistics struct {
		Rows    int64                               `yaml:"rows"`
		Columns map[string]catalog.ColumnStatistics `yaml:"columns,omitempty"`
	}
)

// The kinds of tables.
const (
	kindTable = "table"
	kindView  = "view"
)

// encode writes a document.
func encode(document any) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(document); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}

// decode reads a document that has no keys but those that are known.
func decode[T any](text []byte) (T, error) {
	var document T
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	err := d.Decode(&document)
	return document, err
}

var times = map[types.TimeAttribute]string{types.Rowtime: "ROWTIME", types.Proctime: "PROCTIME"}

func encodeTable(t *catalog.Table) ([]byte, error) {
	d := table{Kind: kindTable, Comment: t.Comment, Partitions: t.Partitions, Options: t.Options, Original: t.Original, Query: t.Query}
	switch t.Kind {
	case catalog.BaseTable:
	case catalog.View:
		d.Kind = kindView
	default:
		return nil, fmt.Errorf("a %s is not kept in files", strings.ToLower(t.Kind.String()))
	}
	for _, c := range t.Schema.Columns {
		plain := c.Type
		plain.Time = types.NoTime
		out := column{Name: c.Name, Type: plain.String(), Comment: c.Comment, As: c.Expression, Virtual: c.Virtual, Time: times[c.Type.Time]}
		if c.Kind == catalog.Metadata {
			out.Metadata = &c.MetadataKey
		}
		if again, err := typeOf(out.Type); err != nil || !again.Equal(c.Type) {
			return nil, fmt.Errorf("column %s: its type %s cannot be kept in a file", c.Name, out.Type)
		}
		d.Columns = append(d.Columns, out)
	}
	for _, w := range t.Schema.Watermarks {
		d.Watermarks = append(d.Watermarks, watermark{w.Column, w.Expression, w.Type.String()})
	}
	if k := t.Schema.PrimaryKey; k != nil {
		d.PrimaryKey = &primaryKey{k.Name, k.Columns}
	}
	if b := t.Distribution; b != nil {
		d.Distribution = &distribution{b.Kind, b.Keys, b.Buckets}
	}
	for _, p := range t.Kept {
		d.Kept = append(d.Kept, partition{p.Values, p.Options})
	}
	if s := t.Statistics; s != nil {
		d.Statistics = &statistics{s.Rows, s.Columns}
	}
	return encode(d)
}

func decodeTable(text []byte) (*catalog.Table, error) {
	d, err := decode[table](text)
	if err != nil {
		return nil, err
	}
	t := &catalog.Table{Comment: d.Comment, Partitions: d.Partitions, Options: d.Options, Original: d.Original, Query: d.Query}
	switch d.Kind {
	case kindTable:
	case kindView:
		t.Kind = catalog.View
	default:
		return nil, fmt.Errorf("kind is %q, want %s or %s", d.Kind, kindTable, kindView)
	}
	if t.Options == nil && t.Kind == catalog.BaseTable {
		t.Options = map[string]string{}
	}
	for _, c := range d.Columns {
		out, err := c.decode()
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
		t.Schema.Columns = append(t.Schema.Columns, out)
	}
	for _, w := range d.Watermarks {
		of, err := typeOf(w.Type)
		if err != nil {
			return nil, fmt.Errorf("watermark for %s: %w", w.Column, err)
		}
		t.Schema.Watermarks = append(t.Schema.Watermarks, catalog.Watermark{Column: w.Column, Expression: w.Expression, Type: of})
	}
	if k := d.PrimaryKey; k != nil {
		t.Schema.PrimaryKey = &catalog.PrimaryKey{Name: k.Name, Columns: k.Columns}
	}
	if b := d.Distribution; b != nil {
		t.Distribution = &catalog.Distribution{Kind: b.Kind, Keys: b.Keys, Buckets: b.Buckets}
	}
	for _, p := range d.Kept {
		t.Kept = append(t.Kept, catalog.Partition{Values: p.Values, Options: p.Options})
	}
	if s := d.Statistics; s != nil {
		t.Statistics = &catalog.Statistics{Rows: s.Rows, Columns: s.Columns}
	}
	return t, nil
}

func (c column) decode() (catalog.Column, error) {
	of, err := typeOf(c.Type)
	out := catalog.Column{Name: c.Name, Type: of, Expression: c.As, Virtual: c.Virtual, Comment: c.Comment}
	switch {
	case err != nil:
		return out, err
	case c.Name == "":
		return out, errNoName
	case c.As != "" && c.Metadata != nil:
		return out, fmt.Errorf("it is computed and metadata")
	case c.As != "":
		out.Kind = catalog.Computed
	case c.Metadata != nil:
		out.Kind, out.MetadataKey = catalog.Metadata, *c.Metadata
	}
	for time, name := range times {
		if c.Time == name {
			out.Type.Time = time
		}
	}
	if c.Time != "" && out.Type.Time == types.NoTime {
		return out, fmt.Errorf("time is %q, want ROWTIME or PROCTIME", c.Time)
	}
	return out, nil
}

// typeOf reads a type as SQL writes it.
func typeOf(text string) (types.Type, error) {
	written, err := parse.Type(text)
	if err != nil {
		return types.Type{}, fmt.Errorf("type %s: %w", text, err)
	}
	t, err := expr.TypeOf(written, nil)
	if err != nil {
		return t, fmt.Errorf("type %s: %w", text, err)
	}
	return t, nil
}
