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
	"time"

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

// rejects keeps the rejected rows of the sections of files that a reader reads: those of a
// section in a file of its own, which is there when the section has been read to its end.
// Its name has the bytes where the section begins and ends. Whoever reads the section again,
// after a failure or in another query, puts what he finds in the place of all that was found
// in it, so that no row is there twice; what was found in others beside it stays, so that none
// is missing, also if two read at the same time whose sections begin and end elsewhere.
type rejects struct {
	dir string
	// reader is the same for all attempts of an operator of a job, and for nobody else.
	reader string
	path   string   // of what is read
	begun  int64    // where the section begins
	file   *os.File // hidden; nil: no row has been rejected
	text   []byte   // not written
	lines  lineCounter
}

// rejectsBuffer is how many bytes are written at once, about.
const rejectsBuffer = 64 << 10

// begin begins a section, and forgets the rows of one that was not finished.
func (r *rejects) begin(path string, at int64) {
	r.close()
	r.path, r.begun = path, at
}

// close removes what is not finished.
func (r *rejects) close() {
	if r.file != nil {
		_ = r.file.Close()
		_ = os.Remove(r.file.Name())
	}
	r.file, r.text = nil, r.text[:0]
}

// add keeps rows of the section.
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
		line, err := r.lines.at(r.path, one.at)
		if err != nil {
			return err
		}
		row := rejectedRow{File: strings.ToValidUTF8(r.path, "\ufffd"), Line: line, Offset: one.at, Reason: strings.ToValidUTF8(one.reason, "\ufffd"), Raw: one.raw}
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

// prefix begins the names of the files of all sections of a file.
func (r *rejects) prefix() string {
	sum := sha256.Sum256([]byte(r.path))
	base := escaped(nil, filepath.Base(r.path))
	return fmt.Sprintf("%s-%x-", base[:min(len(base), 100)], sum[:8])
}

// beginning begins the names of the files of the section while they are written.
func (r *rejects) beginning() string { return fmt.Sprintf(".%s%016x.json-", r.prefix(), r.begun) }

// unfinished begins those of this reader.
func (r *rejects) unfinished() string { return r.beginning() + r.reader + "-" }

// readerName names the readers of an operator of a job.
func readerName(job, operator string) string {
	sum := sha256.Sum256([]byte(job + "/" + operator))
	return fmt.Sprintf("%x", sum[:8])
}

// forgotten is after which time nobody writes an unfinished file any more.
const forgotten = 24 * time.Hour

// removeUnfinished removes what earlier attempts have left of the section, so that one that
// goes on though it was given up cannot finish it. What others have begun, who read the same
// at the same time, stays as long as they may be at it.
func (r *rejects) removeUnfinished() {
	r.remove(func(e fs.DirEntry) bool {
		switch {
		case strings.HasPrefix(e.Name(), r.unfinished()):
			return true
		case !strings.HasPrefix(e.Name(), r.beginning()):
			return false
		}
		info, err := e.Info()
		return err == nil && time.Since(info.ModTime()) > forgotten
	})
}

// remove removes files of the directory.
func (r *rejects) remove(which func(fs.DirEntry) bool) {
	entries, _ := os.ReadDir(r.dir)
	for _, e := range entries {
		if which(e) {
			_ = os.Remove(filepath.Join(r.dir, e.Name()))
		}
	}
}

// finish ends the section at a byte, and puts its rows in the place of those that were
// found before. What comes is the next section.
func (r *rejects) finish(end int64) error {
	file, own := r.file, section{begin: r.begun, end: end}
	r.file, r.begun = nil, end
	var err error
	if file != nil {
		_, err = file.Write(r.text)
		r.text = r.text[:0]
		if err == nil {
			err = file.Sync()
		}
		err = errors.Join(err, file.Close())
	}
	if err == nil && own.begin < own.end {
		err = locked(r.dir, func() error { return r.replace(own, file) })
	}
	if err != nil && file != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// replace puts the rows of a section in the place of what was found in it; file: nil, there
// are none.
func (r *rejects) replace(own section, file *os.File) error {
	if file != nil { // unless the attempt was taken for dead, and another has removed it
		if _, err := os.Lstat(file.Name()); err != nil {
			return err
		}
	}
	if err := r.makeRoom(own); err != nil || file == nil {
		return err
	}
	return os.Rename(file.Name(), filepath.Join(r.dir, sectionName(r.prefix(), own.begin, own.end)))
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
