package filesystem

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/weirstream/weir/internal/coordinator/files/split"
	"github.com/weirstream/weir/types"
)

// rejectsOption names the table whose rejected rows a side table has.
const rejectsOption = "rejects-of"

// rejectColumns are those of a side table.
func rejectColumns() []types.Field {
	return []types.Field{
		{Name: "file", Type: types.String().NotNull()},
		{Name: "line", Type: types.Of(types.BigInt).NotNull()},
		{Name: "byte_offset", Type: types.Of(types.BigInt).NotNull()},
		{Name: "column_name", Type: types.String()},
		{Name: "reason", Type: types.String().NotNull()},
		{Name: "raw_bytes", Type: types.Bytes().NotNull()},
	}
}

// rejectedRow is a row of a side table as it is kept, in JSON.
type rejectedRow struct {
	File   string  `json:"file"`
	Line   int64   `json:"line"`
	Offset int64   `json:"byte_offset"`
	Column *string `json:"column_name"`
	Reason string  `json:"reason"`
	Raw    []byte  `json:"raw_bytes"`
}

// rejected is a record that cannot be read.
type rejected struct {
	at     int64
	column string // empty: none in particular
	reason string
	raw    []byte
}

// hiddenRejects is the directory, hidden from whoever reads the table, of rejected rows.
const hiddenRejects = ".rejects"

// rejectsDirs are where the rejected rows of a table may be kept: in its directory, or
// beside its file.
func rejectsDirs(pattern, table string) []string {
	below := filepath.Join(hiddenRejects, string(escaped(nil, table)))
	if i := strings.IndexAny(pattern, wildcards); i >= 0 {
		return []string{filepath.Join(filepath.Dir(pattern[:i]+"*"), below)}
	}
	return []string{filepath.Join(filepath.Dir(filepath.Clean(pattern)), below), filepath.Join(pattern, below)}
}

// wildcards are what makes a path a glob.
const wildcards = "*?[{"

// rejectsDir is where they are kept.
func rejectsDir(pattern, table string) string {
	dirs := rejectsDirs(pattern, table)
	if info, err := os.Stat(pattern); len(dirs) > 1 && (err != nil || info.IsDir()) {
		return dirs[1]
	}
	return dirs[0]
}

// rejects keeps the rejected rows of the parts of files that a reader reads, each part's
// in a file of its own that is there when the part has been read to its end. Its name is
// that of the part: whoever reads the part again, after a failure or in another query,
// puts what he finds in its place, so that no row is there twice.
type rejects struct {
	dir   string
	part  split.File
	file  *os.File // hidden; nil: no row has been rejected
	text  []byte   // not written
	lines lineCounter
}

// rejectsBuffer is how many bytes are written at once, about.
const rejectsBuffer = 64 << 10

// begin forgets the rows of a part that was not finished.
func (r *rejects) begin(part split.File) {
	r.close()
	r.part = part
}

// close removes what is not finished.
func (r *rejects) close() {
	if r.file != nil {
		_ = r.file.Close()
		_ = os.Remove(r.file.Name())
	}
	r.file, r.text = nil, r.text[:0]
}

// add keeps rows of the part.
func (r *rejects) add(all []rejected) error {
	if r.file == nil {
		if err := os.MkdirAll(r.dir, 0o777); err != nil {
			return err
		}
		r.removeUnfinished()
		file, err := os.OpenFile(filepath.Join(r.dir, r.unfinished()+rand.Text()), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if err != nil {
			return err
		}
		r.file = file
	}
	for _, one := range all {
		line, err := r.lines.at(r.part.Path, one.at)
		if err != nil {
			return err
		}
		row := rejectedRow{File: strings.ToValidUTF8(r.part.Path, "\ufffd"), Line: line, Offset: one.at, Reason: strings.ToValidUTF8(one.reason, "\ufffd"), Raw: one.raw}
		if one.column != "" {
			row.Column = &one.column
		}
		text, err := json.Marshal(row)
		if err != nil {
			return err
		}
		if r.text = append(append(r.text, text...), '\n'); len(r.text) > rejectsBuffer {
			if err := r.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *rejects) flush() error {
	_, err := r.file.Write(r.text)
	r.text = r.text[:0]
	return err
}

// prefix begins the names of the files of all parts of a file.
func (r *rejects) prefix() string {
	sum := sha256.Sum256([]byte(r.part.Path))
	base := escaped(nil, filepath.Base(r.part.Path))
	return fmt.Sprintf("%s-%x-", base[:min(len(base), 100)], sum[:8])
}

// name is that of a part's file. Names are in the order of the parts.
func (r *rejects) name() string {
	return fmt.Sprintf("%s%016x.json", r.prefix(), r.part.Offset)
}

func (r *rejects) unfinished() string { return "." + r.name() + "-" }

// removeUnfinished removes what earlier attempts have left of the part.
func (r *rejects) removeUnfinished() { r.remove(r.unfinished(), func(string) bool { return true }) }

// remove removes files of the directory whose names begin so.
func (r *rejects) remove(prefix string, which func(name string) bool) {
	entries, _ := os.ReadDir(r.dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && which(e.Name()) {
			_ = os.Remove(filepath.Join(r.dir, e.Name()))
		}
	}
}

// finish puts the rows of the part in the place of those that were found before.
func (r *rejects) finish(part split.File) error {
	name := r.name()
	if part.Offset+part.Length >= part.Size { // no part comes behind it
		r.remove(r.prefix(), func(other string) bool { return other > name })
	}
	final := filepath.Join(r.dir, name)
	if r.file == nil {
		if err := os.Remove(final); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	err := r.flush()
	if err == nil {
		err = r.file.Sync()
	}
	if err = errors.Join(err, r.file.Close()); err == nil {
		err = os.Rename(r.file.Name(), final)
	}
	if err != nil {
		_ = os.Remove(r.file.Name())
	}
	r.file = nil
	return err
}

// lineCounter counts the lines of a file as far as it is asked, and goes on from there.
type lineCounter struct {
	path  string
	file  io.ReadCloser // nil: none is open
	begun int64         // the byte as far as which lines are counted
	lines int64         // before it
	chunk []byte
}

// at is the number of the line of a byte.
func (l *lineCounter) at(path string, offset int64) (int64, error) {
	if l.file == nil || path != l.path || offset < l.begun {
		l.close()
		f, err := openAt(path, 0)
		if err != nil {
			return 0, err
		}
		l.path, l.file, l.begun, l.lines = path, f, 0, 0
	}
	if l.chunk == nil {
		l.chunk = make([]byte, firstChunk)
	}
	for l.begun < offset {
		n, err := io.ReadFull(l.file, l.chunk[:min(int64(len(l.chunk)), offset-l.begun)])
		l.lines += int64(bytes.Count(l.chunk[:n], []byte{'\n'}))
		l.begun += int64(n)
		if err != nil {
			return 0, fmt.Errorf("count the lines of %s: %w", path, err)
		}
	}
	return l.lines + 1, nil
}

// close closes the file.
func (l *lineCounter) close() {
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}
