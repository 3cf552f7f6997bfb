package filesystem

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/internal/coordinator/files/split"
	"github.com/weirstream/weir/internal/fs/replaced"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/internal/status"
)

// sampling is a reader that can show the first records of a file, of which it has begun
// no part.
type sampling interface {
	sample(path string, most int) ([]exec.Sampled, error)
}

// Sample reads the first rows of a table's first files, without a job. ok is false for
// paths with wildcards.
func (c Connector) Sample(s *plan.Scan, session *expr.Session, rows int) (all []exec.Sampled, ok bool, err error) {
	src, err := c.source(s, session)
	if err != nil {
		return nil, false, err
	}
	side := src.format.rejectsOf != ""
	if !side && strings.ContainsAny(src.pattern, wildcards) {
		return nil, false, nil
	}
	opened, err := src.Open(connector.SourceContext{}, connector.Output[*batch.Columns]{})
	if err != nil {
		return nil, false, err
	}
	defer opened.Close()
	if r, ok := opened.(*reader); ok { // the first row that is bad is shown, whatever becomes of it in a query
		r.values.collects, r.badRows.rejects = false, nil
	}
	r := opened.(sampling)
	for _, root := range src.patterns() {
		paths, err := replaced.List(root, func() (paths []string, err error) {
			err = walk(root, func(path string, _ fs.DirEntry) error {
				paths = append(paths, path)
				return nil
			})
			return paths, err
		}, func(path string) string { return path })
		for i := 0; i < len(paths) && err == nil && len(all) < rows; i++ {
			var found []exec.Sampled
			found, err = r.sample(paths[i], rows-len(all))
			all = append(all, found...)
		}
		if err != nil && !(side && errors.Is(err, fs.ErrNotExist)) {
			return all, false, fmt.Errorf("table %s: %w", s.Table, err)
		}
	}
	return all, true, nil
}

// walk visits the files of a table whose path has no wildcards.
func walk(root string, visit func(path string, e fs.DirEntry) error) error {
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		name := filepath.Base(path)
		hidden := path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_"))
		switch {
		case err != nil:
			return err
		case hidden && e.IsDir():
			return fs.SkipDir
		case hidden || e.IsDir():
			return nil
		}
		return visit(path, e)
	})
}

// sample reads the first rows of a file. A record that cannot be read is the last.
func (r *reader) sample(path string, most int) (all []exec.Sampled, err error) {
	info, err := os.Stat(path)
	if err != nil || info.Size() == 0 {
		return nil, err
	}
	if err := r.begin(split.File{Path: path, Length: info.Size(), Size: info.Size()}); err != nil || r.file == nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	for {
		_, failed := r.decoder.decode(r.values, r.text, r.ended, len(r.text), most)
		n := r.values.rows
		if n < most && failed == nil && !r.ended {
			if err := r.fill(); err != nil {
				return nil, err
			}
			continue
		}
		for row := range n {
			all = append(all, r.sampled(row))
		}
		if failed != nil {
			all = append(all, exec.Sampled{Err: r.unreadable(failed)})
		}
		return all, nil
	}
}

// sampled converts each value of a record by itself.
func (r *reader) sampled(row int) exec.Sampled {
	var s exec.Sampled
	for i, field := range r.s.scan.Fields {
		if r.s.partitions.of[field] {
			text, isNull, err := r.s.value(r.s.scan.Columns[field].Name, r.part.Path)
			s.Fields = append(s.Fields, exec.SampledField{Text: text, Null: isNull, Value: r.constants[i].Head(1), Err: err})
			continue
		}
		value := r.values.of[i][row]
		f := exec.SampledField{Null: value.isNull()}
		var text []byte
		if !f.Null {
			text = r.values.bytes(value)
			f.Text = strings.ToValidUTF8(string(text[:min(len(text), status.MaxRecordValue)]), "\ufffd")
		}
		// The column is the conversion's, which has others to make.
		converted, err := r.conversions[i].single(text, f.Null)
		f.Value, f.Err = batch.NewColumn(r.s.scan.Columns[field].Type), err
		f.Value.AppendFrom(converted, 0)
		s.Fields = append(s.Fields, f)
	}
	return s
}
