package filesystem

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/weirstream/weir/internal/coordinator/files/split"
	"github.com/weirstream/weir/internal/sql/expr"
)

// badRowsOption says what becomes of rows that cannot be read.
const badRowsOption = "scan.bad-rows"

// badRowsMode is its value.
type badRowsMode uint8

const (
	// badRowsFail fails the job at the first bad row.
	badRowsFail badRowsMode = iota
	// badRowsSkip passes over bad rows, and counts them.
	badRowsSkip
	// badRowsReject also keeps them in the side table.
	badRowsReject
)

func badRowsModeOf(text string) (badRowsMode, error) {
	switch text {
	case "fail", "":
		return badRowsFail, nil
	case "skip":
		return badRowsSkip, nil
	case "reject":
		return badRowsReject, nil
	}
	return 0, fmt.Errorf("'%s' is none of fail, skip and reject", text)
}

// refusal is a value that is none of its column's type: place is that of its conversion.
type refusal struct {
	row, place int
	err        error
}

// badRows are the bad rows of the records that are being read.
type badRows struct {
	mode    badRowsMode
	refused []refusal
	rejects *rejects // nil: they are not kept
}

// refuse takes note of a value. If it fails the job, the first row counts.
func (b *badRows) refuse(f refusal) {
	if b.mode == badRowsFail && len(b.refused) > 0 {
		if f.row < b.refused[0].row {
			b.refused[0] = f
		}
		return
	}
	b.refused = append(b.refused, f)
}

// begin says that a part of a file is about to be read.
func (b *badRows) begin(part split.File) {
	if b.rejects != nil {
		b.rejects.begin(part.Path, part.Offset)
	}
}

// finish says that it has been read.
func (b *badRows) finish(part split.File) error {
	if b.rejects == nil {
		return nil
	}
	end := part.Offset + part.Length
	if end >= part.Size { // no part comes behind it
		end = math.MaxInt64
	}
	return b.rejects.finish(end)
}

// settle decides what becomes of the bad rows among the records that have been read. It
// gives the good ones; nil: all are.
func (r *reader) settle() (good []int32, err error) {
	b := &r.badRows
	refused := b.refused
	b.refused = b.refused[:0]
	if len(refused) == 0 && len(r.values.bad) == 0 {
		return nil, nil
	}
	if b.mode == badRowsFail && len(refused) > 0 {
		return nil, r.unconverted(refused[0])
	}
	slices.SortStableFunc(refused, func(x, y refusal) int { return cmp.Compare(x.row, y.row) })
	refused = slices.CompactFunc(refused, func(x, y refusal) bool { return x.row == y.row })
	r.c.Metrics.Failed(len(refused) + len(r.values.bad))
	if b.rejects != nil {
		if err := r.reject(refused); err != nil {
			return nil, fmt.Errorf("table %s: keep rejected rows: %w", r.s.table, maybeReplaced(r.part.Path, err))
		}
	}
	if len(refused) == 0 {
		return nil, nil
	}
	good = make([]int32, 0, r.values.rows)
	for row := range int32(r.values.rows) {
		if len(refused) > 0 && int(row) == refused[0].row {
			refused = refused[1:]
			continue
		}
		good = append(good, row)
	}
	return good, nil
}

// reject keeps bad rows, in the order of the file.
func (r *reader) reject(refused []refusal) error {
	all := make([]rejected, 0, len(refused)+len(r.values.bad))
	for _, f := range refused {
		column := r.conversions[f.place].field
		value := r.values.bytes(r.values.of[f.place][f.row])
		reason := fmt.Sprintf("'%s' is no %s", shown(value), column.Type.Text())
		if _, plain := errors.AsType[*expr.CastError](f.err); !plain { // which would say the same again
			reason += ": " + f.err.Error()
		}
		all = append(all, rejected{at: r.at + int64(r.values.starts[f.row]), column: column.Name, raw: r.values.record(f.row), reason: reason})
	}
	for _, e := range r.values.bad {
		all = append(all, rejected{at: r.at + int64(e.at), column: r.s.column(e.place), raw: r.values.raw(e.at, e.end), reason: e.err.Error()})
	}
	slices.SortFunc(all, func(x, y rejected) int { return cmp.Compare(x.at, y.at) })
	return r.badRows.rejects.add(all)
}
