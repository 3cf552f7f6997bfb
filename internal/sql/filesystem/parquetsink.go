package filesystem

import (
	"fmt"
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector/files"
	"github.com/weirstream/weir/format"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/filesystem/parquet"
	"github.com/weirstream/weir/internal/sql/plan"
)

// maxBuffered bounds what the open files of a subtask hold of row groups that are not
// full, in bytes, about.
const maxBuffered = 256 << 20

// parquetRows are rows of a batch that go to one partition. They are the sender's again
// once they are written.
type parquetRows struct {
	columns   []*batch.Column // those that are in the file
	rows      []int32
	partition string
}

// parquetSink writes a table of Parquet files.
func parquetSink(w *plan.Write, session *expr.Session, dir string, all formats, rolling files.Rolling, success string) exec.End {
	writing := all.parquet.writing
	writing.Zone = all.parquet.zone()
	stored := newPartitions(w.Columns, w.PartitionKeys)
	rolling.OnCheckpoint = true // files have an end
	sink := files.Sink[parquetRows]{Dir: dir, Suffix: ".parquet", Replace: w.Overwrite, Rolling: rolling, Success: success,
		Format: parquetEncoding(func() *parquet.Writer { return parquet.NewWriter(stored.fields(w.Columns), writing) })}
	if len(w.PartitionKeys) > 0 {
		sink.Partition = func(r parquetRows) string { return r.partition }
	}
	inner := operator.SinkTo(sink)
	return exec.End{
		Operator: operator.FactoryFunc(func(oc *operator.Context, out any) any {
			keep(oc, w.Table, dir)
			to := inner.Build(oc, out).(*operator.Receiver[parquetRows])
			p := &parter{encoder: newEncoder(all, w, session), stored: stored.stored, push: to.Push}
			return &operator.Receiver[*batch.Columns]{
				Push:      func(b *batch.Columns, _ int64) { p.part(b) },
				Watermark: to.Watermark, Idle: to.Idle, Finish: to.Finish,
			}
		}),
		MaxAllowed: most(w.Overwrite, success),
		Before:     func(onCluster bool) error { return files.CheckPaths(onCluster, dir) },
	}
}

// parter sends the rows of batches to their partitions.
type parter struct {
	encoder *encoder
	stored  []int
	push    func(parquetRows, int64)
	columns []*batch.Column
	parts   []parquetRows // of the batch, in the order of their first rows
	all     []int32
}

func (p *parter) part(b *batch.Columns) {
	p.columns = p.columns[:0]
	for _, i := range p.stored {
		p.columns = append(p.columns, b.Cols[i])
	}
	rows := b.Sel
	if rows == nil {
		for i := len(p.all); i < b.N; i++ {
			p.all = append(p.all, int32(i))
		}
		rows = p.all[:b.N]
	}
	if len(p.encoder.parted) == 0 {
		p.push(parquetRows{columns: p.columns, rows: rows}, batch.NoTimestamp)
		return
	}
	parts := p.parts[:0]
	for _, row := range rows {
		name := p.encoder.directory(b, int(row))
		at := slices.IndexFunc(parts, func(r parquetRows) bool { return r.partition == name })
		if at < 0 {
			if at = len(parts); at < cap(parts) {
				parts = parts[:at+1]
			} else {
				parts = append(parts, parquetRows{})
			}
			parts[at] = parquetRows{p.columns, parts[at].rows[:0], name}
		}
		parts[at].rows = append(parts[at].rows, row)
	}
	for _, r := range parts {
		p.push(r, batch.NoTimestamp)
	}
	p.parts = parts
}

// parquetEncoding makes the encoders of files by what makes the writer of one.
type parquetEncoding func() *parquet.Writer

// NewEncoder makes what makes encoders of files.
func (e parquetEncoding) NewEncoder() (format.Encoder[parquetRows], error) {
	return &parquetFiles{newWriter: e}, nil
}

// parquetFiles makes the encoders of a subtask's files.
type parquetFiles struct {
	newWriter func() *parquet.Writer
	open      []*parquetEncoder
	buffered  int64 // in all of them
}

// NewFile makes the encoder of one file.
func (f *parquetFiles) NewFile() format.FileEncoder[parquetRows] {
	e := &parquetEncoder{parquetFiles: f, to: f.newWriter()}
	f.open = append(f.open, e)
	return e
}

// Count is how many rows there are.
func (f *parquetFiles) Count(r parquetRows) int { return len(r.rows) }

// AppendHeader appends nothing: it is a file's encoder that writes.
func (f *parquetFiles) AppendHeader(dst []byte) []byte { return dst }

// Append refuses rows.
func (f *parquetFiles) Append([]byte, parquetRows) ([]byte, error) {
	return nil, fmt.Errorf("rows are written into files")
}

// AppendEnd appends nothing.
func (f *parquetFiles) AppendEnd(dst []byte) ([]byte, error) { return dst, nil }

// parquetEncoder writes one file.
type parquetEncoder struct {
	*parquetFiles
	to   *parquet.Writer
	held int64 // that buffered counts
}

// AppendHeader appends what the file begins with.
func (e *parquetEncoder) AppendHeader(dst []byte) []byte { return e.to.AppendHeader(dst) }

// Append writes rows. A row group ends when it is full, and before that if the files
// together hold too much and this one has more than its share.
func (e *parquetEncoder) Append(dst []byte, r parquetRows) (_ []byte, err error) {
	if dst, err = e.to.Append(dst, r.columns, r.rows); err != nil {
		return nil, err
	}
	e.count()
	if e.buffered > maxBuffered && e.held >= e.buffered/int64(len(e.open)) {
		dst, err = e.to.Flush(dst)
		e.count()
	}
	return dst, err
}

// count keeps the sum of what files hold.
func (e *parquetEncoder) count() {
	held := e.to.Buffered()
	e.buffered += held - e.held
	e.held = held
}

// AppendEnd appends the last row group and what the file ends with.
func (e *parquetEncoder) AppendEnd(dst []byte) ([]byte, error) {
	e.buffered -= e.held
	e.held = 0
	e.open = slices.DeleteFunc(e.open, func(o *parquetEncoder) bool { return o == e })
	return e.to.AppendEnd(dst)
}
