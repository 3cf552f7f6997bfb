package filesystem

import (
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector/files"
	"github.com/weirstream/weir/format"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/filesystem/parquet"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// line is a row as it is written.
type line struct{ text, partition string }

// Sink writes a table.
func (c Connector) Sink(w *plan.Write, session *expr.Session) (exec.End, error) {
	dir, format, err := c.options(w.Table, w.Options)
	if err != nil {
		return exec.End{}, err
	}
	if err := format.writes(w); err != nil {
		return exec.End{}, fmt.Errorf("table %s: %w", w.Table, err)
	}
	rolling, success, err := format.written.settled(w.Table, session)
	if err != nil {
		return exec.End{}, err
	}
	if format.kind == "parquet" {
		return parquetSink(w, session, dir, format, rolling, success), nil
	}
	sink := files.Sink[line]{Dir: dir, Format: lines{format.headerOf(w)}, Replace: w.Overwrite, Rolling: rolling, Success: success}
	if len(w.PartitionKeys) > 0 {
		sink.Partition = func(l line) string { return l.partition }
	}
	inner := operator.SinkTo(sink)
	return exec.End{
		Operator: operator.FactoryFunc(func(oc *operator.Context, out any) any {
			keep(oc, w.Table, dir)
			to := inner.Build(oc, out).(*operator.Receiver[line])
			e := newEncoder(format, w, session)
			return &operator.Receiver[*batch.Columns]{
				Push: func(b *batch.Columns, _ int64) {
					for r := range b.Len() {
						row := r
						if b.Sel != nil {
							row = int(b.Sel[r])
						}
						l, err := e.line(b, row)
						if err != nil {
							operator.Abort(fmt.Errorf("write table %s: %w", w.Table, err))
						}
						to.Push(l, batch.NoTimestamp)
					}
				},
				Watermark: to.Watermark, Idle: to.Idle, Finish: to.Finish,
			}
		}),
		MaxAllowed: most(w.Overwrite, success),
		Before:     func(onCluster bool) error { return files.CheckPaths(onCluster, dir) },
	}, nil
}

// lines writes each row as its line, after a header if there is one.
type lines struct{ header string }

// NewEncoder makes an encoder.
func (l lines) NewEncoder() (format.Encoder[line], error) { return l, nil }

// AppendHeader appends the header.
func (l lines) AppendHeader(dst []byte) []byte { return append(dst, l.header...) }

// Append appends a line.
func (lines) Append(dst []byte, l line) ([]byte, error) {
	return append(append(dst, l.text...), '\n'), nil
}

// encoder writes rows as lines.
type encoder struct {
	formats
	write   *plan.Write
	session *expr.Session
	parted  map[int]bool // columns that are in the name of the directory
	buffer  []byte
	value   []byte
}

func newEncoder(format formats, w *plan.Write, session *expr.Session) *encoder {
	e := &encoder{formats: format, write: w, session: session, parted: map[int]bool{}}
	for i, f := range w.Columns {
		for _, key := range w.PartitionKeys {
			e.parted[i] = e.parted[i] || f.Name == key
		}
	}
	return e
}

// line writes a row.
func (e *encoder) line(b *batch.Columns, row int) (_ line, err error) {
	e.buffer = e.buffer[:0]
	if e.kind == "json" {
		e.buffer, err = e.json.object(e.buffer, e.write.Columns, b.Cols, row, e.parted)
	} else {
		e.values(b, row)
	}
	return line{string(e.buffer), e.directory(b, row)}, err
}

// values writes the values of a row with what delimits them.
func (e *encoder) values(b *batch.Columns, row int) {
	first := true
	for i, f := range e.write.Columns {
		if e.parted[i] {
			continue
		}
		if !first {
			e.buffer = append(e.buffer, e.csv.delimiter)
		}
		first = false
		if e.kind == "raw" {
			e.buffer = e.raw.append(e.buffer, f.Type, b.Cols[i], row)
			continue
		}
		e.append(f.Type, b.Cols[i], row)
	}
}

// writes refuses columns that the format does not write.
func (f *formats) writes(w *plan.Write) error {
	switch f.kind {
	case "raw":
		return rawColumn(w.Columns, newPartitions(w.Columns, w.PartitionKeys).stored)
	case "parquet":
		p := newPartitions(w.Columns, w.PartitionKeys)
		return parquet.CheckTypes(p.fields(w.Columns))
	case "json":
		for _, c := range w.Columns {
			if err := jsonEncodable(c.Type); err != nil {
				return fmt.Errorf("column %s: %w", c.Name, err)
			}
		}
	}
	return nil
}

// append writes a value.
func (e *encoder) append(t types.Type, c *batch.Column, row int) {
	if c.IsNull(row) {
		e.buffer = append(e.buffer, e.csv.null...)
		return
	}
	e.value = expr.AppendDisplay(e.value[:0], e.session.Zone, t, c, row)
	if !t.Kind.IsText() {
		e.buffer = append(e.buffer, e.value...)
		return
	}
	e.buffer = e.csv.append(e.buffer, e.value)
}

// append writes a text, in quotes where it could be read as something else.
func (f *csvFormat) append(dst, value []byte) []byte {
	q := f.quoted()
	if !f.ambiguous(value) {
		q = 0
	}
	if q != 0 {
		dst = append(dst, q)
	}
	for _, b := range value {
		switch {
		case b == f.escape && b != 0:
			dst = append(dst, b)
		case b == q && q != 0:
			dst = append(dst, q)
		}
		dst = append(dst, b)
	}
	if q != 0 {
		dst = append(dst, q)
	}
	return dst
}

func (f *csvFormat) ambiguous(value []byte) bool {
	if len(value) == 0 || f.hasNull && string(value) == f.null || f.comments && value[0] == '#' {
		return true
	}
	for _, b := range value {
		if b == f.delimiter || b == f.quote || b == '\n' || b == '\r' || b == ' ' {
			return true
		}
	}
	return false
}

// directory is that of a row: column=value for each partition column.
func (e *encoder) directory(b *batch.Columns, row int) string {
	var parts []byte
	for _, key := range e.write.PartitionKeys {
		for i, f := range e.write.Columns {
			if f.Name != key {
				continue
			}
			value := ""
			if !b.Cols[i].IsNull(row) {
				value = string(expr.AppendDisplay(nil, e.session.Zone, f.Type, b.Cols[i], row))
			}
			if len(parts) > 0 {
				parts = append(parts, '/')
			}
			parts = append(escaped(parts, key), '=')
			if value == "" {
				parts = append(parts, e.formats.partition...)
			} else {
				parts = escaped(parts, value)
			}
		}
	}
	return string(parts)
}
