package filesystem

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"unicode"
	"unicode/utf8"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/internal/coordinator/files/split"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/filesystem/unpack"
	"github.com/weirstream/weir/internal/status"
)

const (
	firstChunk = 256 << 10
	leastChunk = 4 << 10
	// maxRecord bounds a record, in bytes.
	maxRecord = 64 << 20
)

// reader reads the files of one subtask.
type reader struct {
	splits[split.File]
	s       *source
	pruning *expr.Program // over the scan's columns; nil: every file is read
	decoder decoder
	values  *values
	// conversions are of the values; those of the scan's columns come first.
	conversions []*conversion
	// constants are columns that have one value in the whole file; nil: it has not.
	constants []*batch.Column
	badRows   badRows
	origin    int64 // number of the batch that is being emitted
	given     int64 // rows

	file    io.ReadCloser // nil: none; what is read next is behind text
	part    split.File
	end     int64 // records that begin before it belong to the part
	buffer  []byte
	text    []byte // of buffer, not decoded
	at      int64  // of text in the file
	ended   bool   // buffer has the file's end
	located *located
	lines   lineCounter
	// finder finds where records begin; nil: behind each line's end.
	finder *lineFinder
}

// located is the row that was being emitted when the task failed.
type located struct {
	at    int64
	value string
}

// Poll emits a batch.
func (r *reader) Poll() (connector.Progress, error) {
	for r.file == nil {
		part, wait, ok := r.nextPart()
		if !ok {
			return wait, nil
		}
		if err := r.begin(part); err != nil {
			return connector.Done, fmt.Errorf("table %s: %w", r.s.table, maybeReplaced(part.Path, err))
		}
	}
	r.out.Room()
	rows, err := r.read()
	r.out.Count(rows)
	if err != nil {
		return connector.Done, err
	}
	if r.given += int64(rows); r.s.scan.Limit >= 0 && r.given >= r.s.scan.Limit {
		return connector.Done, nil // nobody wants more
	}
	return connector.More, nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// begin opens a part of a file, at its first record.
func (r *reader) begin(part split.File) error {
	if len(r.s.scan.PartitionKeys) > 0 {
		if wanted, err := r.partition(part.Path); err != nil || !wanted {
			return err
		}
	}
	r.part, r.end = part, part.Offset+part.Length
	if split.Packed(part.Path) != "" {
		r.end = math.MaxInt64 // sizes are those of what is packed
	}
	r.badRows.begin(part)
	if d, ok := r.decoder.(*jsonDecoder); ok {
		d.within = false
	}
	if d, ok := r.decoder.(*csvDecoder); ok && d.header {
		if err := r.open(0); err != nil {
			return err
		}
		if err := r.header(d); err != nil || part.Offset == 0 {
			return err
		}
		if err := r.close(); err != nil {
			return err
		}
	}
	if r.finder != nil && part.Offset > 0 && !part.Exact {
		begin, err := r.finder.find(part.Path, part.Offset)
		if err != nil {
			return err
		}
		return r.open(begin)
	}
	// The part before ends with a whole record.
	if err := r.open(max(0, part.Offset-1)); err != nil {
		return err
	}
	if err := r.fill(); err != nil {
		return err
	}
	switch {
	case part.Offset == 0:
		if bytes.HasPrefix(r.text, byteOrderMark) {
			r.skip(len(byteOrderMark))
		}
		return nil
	case part.Exact:
		r.skip(min(1, len(r.text)))
		return nil
	}
	return r.skipLine()
}

// open opens the file at a byte.
func (r *reader) open(offset int64) (err error) {
	r.text, r.ended, r.at = nil, false, offset
	r.file, err = openAt(r.part.Path, offset)
	return err
}

// skipLine goes past the next line's end.
func (r *reader) skipLine() error {
	for {
		if end := bytes.IndexByte(r.text, '\n'); end >= 0 {
			r.skip(end + 1)
			return nil
		}
		r.skip(len(r.text))
		if r.ended {
			return nil
		}
		if err := r.fill(); err != nil {
			return err
		}
	}
}

// openAt opens a file to be read from a byte on, unpacked.
func openAt(path string, offset int64) (io.ReadCloser, error) {
	plain, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f, err := unpack.Open(path, plain)
	switch {
	case err != nil || offset == 0:
		return f, err
	case split.Packed(path) == "":
		_, err = plain.Seek(offset, io.SeekStart)
	default:
		_, err = io.CopyN(io.Discard, f, offset)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (r *reader) skip(n int) {
	r.text = r.text[n:]
	r.at += int64(n)
}

// fill reads more of the file behind the text that is there.
func (r *reader) fill() error {
	if r.ended {
		return nil
	}
	if cap(r.buffer) == 0 {
		r.buffer = make([]byte, firstChunk)
	}
	if len(r.text) > cap(r.buffer)/2 {
		if len(r.text) > maxRecord {
			return fmt.Errorf("read %s, byte %d: a record has more than %d bytes", r.part.Path, r.at, maxRecord)
		}
		r.buffer = append(make([]byte, 0, 2*cap(r.buffer)), r.text...)
	}
	r.buffer = r.buffer[:cap(r.buffer)]
	held := copy(r.buffer, r.text)
	for wanted := held + r.next(held); held < wanted; {
		n, err := r.file.Read(r.buffer[held:wanted])
		held += n
		if err == io.EOF { // and not one that is wrapped: a file that is cut short is no file that ends
			r.ended = true
			break
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", r.part.Path, err)
		}
	}
	r.text = r.buffer[:held]
	return nil
}

// next is how many bytes are read behind those that are held: not much of what belongs to
// other parts.
func (r *reader) next(held int) int {
	room := int64(cap(r.buffer) - held)
	return int(min(room, max(r.end-r.at-int64(held), int64(held), leastChunk)))
}

// maybeReplaced says of a file that had been listed, and is gone, what has become of it.
func maybeReplaced(path string, err error) error {
	if pathed, ok := errors.AsType[*fs.PathError](err); ok && pathed.Path == path && errors.Is(err, fs.ErrNotExist) {
		return exec.Replaced(err)
	}
	return err
}

// finish closes the file that has been read.
func (r *reader) finish() error {
	if err := r.close(); err != nil {
		return err
	}
	if r.finder != nil {
		if err := r.finder.passed(r.part.Path, r.end, r.at); err != nil {
			return err
		}
	}
	return r.badRows.finish(r.part)
}

func (r *reader) close() error {
	f := r.file
	r.file = nil
	return f.Close()
}

// read decodes and emits records, and gives how many: a batch, or several if an array of
// JSON has more of them, since nobody could go on from within it.
func (r *reader) read() (rows int, err error) {
	if r.at >= r.end {
		return 0, r.finish()
	}
	for {
		n, err := r.batch(rows)
		rows += n
		if d, ok := r.decoder.(*jsonDecoder); err != nil || !ok || !d.within {
			return rows, err
		}
	}
}

// batch decodes and emits a batch of records, after others that were not counted yet.
func (r *reader) batch(before int) (rows int, err error) {
	most := batch.MaxRows
	if limit := r.s.scan.Limit; limit >= 0 {
		most = int(max(1, min(int64(most), limit-r.given-int64(before))))
	}
	var consumed int
	for {
		begin := min(int64(len(r.text)), r.end-r.at)
		if consumed, err = r.decoder.decode(r.values, r.text, r.ended, int(begin), most); err != nil {
			return 0, r.unreadable(err)
		}
		if consumed > 0 {
			break
		}
		if r.ended {
			return 0, r.finish()
		}
		if err := r.fill(); err != nil {
			return 0, fmt.Errorf("table %s: %w", r.s.table, err)
		}
	}
	if rows, err = r.emit(); err != nil {
		return 0, err
	}
	r.skip(consumed)
	return rows, nil
}

// emit converts the values of records and passes them on.
func (r *reader) emit() (rows int, err error) {
	n := r.values.rows
	b := &batch.Columns{N: n, Cols: make([]*batch.Column, len(r.s.scan.Fields))}
	for i, c := range r.conversions {
		if constant := r.constants[i]; constant != nil {
			b.Cols[i] = constant.Head(n)
			continue
		}
		c.convert(r.values, r.values.of[i][:n], func(row int, why error) { r.badRows.refuse(refusal{row, i, why}) })
		if i < len(b.Cols) {
			b.Cols[i] = c.column
		}
	}
	if b.Sel, err = r.settle(); err != nil || b.Len() == 0 {
		return 0, err
	}
	r.origin++
	b.Origin = r.origin
	defer func() { // a failure further on knows the row if it has seen the batch as it is
		if v := recover(); v != nil {
			if failure, ok := v.(error); ok {
				if at, ok := errors.AsType[*exec.OriginError](failure); ok && at.Origin == r.origin {
					r.located = &located{r.at + int64(r.values.starts[at.Row]), r.record(at.Row)}
				}
			}
			panic(v)
		}
	}()
	r.to.Emit(b, batch.NoTimestamp)
	return b.Len(), nil
}

// record is the first line of a record of the batch, cut to what is shown.
func (r *reader) record(row int) string { return shown(firstLine(r.values.record(row))) }

// shown is a text cut to what is shown of it, without characters that would do something
// to a terminal.
func shown(text []byte) string {
	text = text[:min(len(text), status.MaxRecordValue)]
	if bytes.IndexFunc(text, unicode.IsControl) < 0 {
		return string(text)
	}
	return string(bytes.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, text))
}

// unconverted says which value of a record is not of its column's type.
func (r *reader) unconverted(f refusal) error {
	column := r.conversions[f.place].field
	value := r.values.bytes(r.values.of[f.place][f.row])
	at := r.at + int64(r.values.starts[f.row])
	err := fmt.Errorf("column %s: '%s' is no %s: %w", column.Name, shown(value), column.Type.Text(), f.err)
	return r.placed(at, r.maybeHeader(at, value, err))
}

// placed says where a record is.
func (r *reader) placed(at int64, err error) error {
	return fmt.Errorf("table %s: read %s, %s: %w", r.s.table, r.part.Path, r.place(at), err)
}

// place is where a record is, as people count.
func (r *reader) place(at int64) string {
	if line, err := r.lines.at(r.part.Path, at); err == nil {
		return fmt.Sprintf("line %d, byte %d", line, at)
	}
	return fmt.Sprintf("byte %d", at)
}

// unreadable says where text is that holds no record.
func (r *reader) unreadable(err error) error {
	bad, ok := errors.AsType[*recordError](err)
	if !ok {
		return err
	}
	why := fmt.Errorf("%w: '%s'", bad.err, shown(bad.value))
	if name := r.s.column(bad.place); name != "" {
		why = fmt.Errorf("column %s: %w", name, why)
	}
	at := r.at + int64(bad.at)
	return r.placed(at, r.maybeHeader(at, bad.value, why))
}

// column is the name of the column that has a place in records; empty: none has.
func (s *source) column(place int) string {
	if place < 0 || place >= len(s.partitions.stored) {
		return ""
	}
	return s.scan.Columns[s.partitions.stored[place]].Name
}

// Locate tells which record was being emitted when the task failed.
func (r *reader) Locate() (origin, value string, ok bool) {
	if r.located == nil {
		return "", "", false
	}
	return fmt.Sprintf("table %s, %s, %s", r.s.table, r.part.Path, r.place(r.located.at)), r.located.value, true
}

// Splits gives the splits that the subtask owns, as far as they are not read.
func (r *reader) Splits() (all [][]byte, err error) {
	if r.file != nil && r.badRows.rejects != nil && r.badRows.rejects.begun < r.at {
		// Whoever goes on from here finds the rest.
		if err := r.badRows.rejects.finish(r.at); err != nil {
			return nil, fmt.Errorf("table %s: keep rejected rows: %w", r.s.table, err)
		}
	}
	if r.file != nil && r.at < r.end {
		part := split.File{Path: r.part.Path, Offset: r.at, Length: min(r.end-r.at, r.part.Size), Size: r.part.Size, Exact: true}
		return r.rest(part)
	}
	return r.rest()
}

// Close closes the file.
func (r *reader) Close() error {
	r.lines.close()
	if r.finder != nil {
		r.finder.close()
	}
	if r.badRows.rejects != nil {
		r.badRows.rejects.close()
		r.badRows.rejects.lines.close()
	}
	if r.file == nil {
		return nil
	}
	return r.close()
}
