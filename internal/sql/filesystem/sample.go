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
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/types"
)

// Sample reads the first rows of a table's first files, without a job. ok is false for
// paths with wildcards.
func (c Connector) Sample(s *plan.Scan, session *expr.Session, rows int) (all []exec.Sampled, ok bool, err error) {
	src, err := c.source(s, session)
	if err != nil {
		return nil, false, err
	}
	if strings.ContainsAny(src.pattern, "*?[{") {
		return nil, false, nil
	}
	opened, err := src.Open(connector.SourceContext{}, connector.Output[*batch.Columns]{})
	if err != nil {
		return nil, false, err
	}
	r := opened.(*reader)
	defer r.Close()
	err = filepath.WalkDir(src.pattern, func(path string, e fs.DirEntry, err error) error {
		name := filepath.Base(path)
		hidden := path != src.pattern && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_"))
		switch {
		case err != nil:
			return err
		case hidden && e.IsDir():
			return fs.SkipDir
		case hidden || e.IsDir():
			return nil
		}
		found, err := r.sample(path, rows-len(all))
		if all = append(all, found...); err != nil {
			return err
		}
		if len(all) >= rows {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return all, false, fmt.Errorf("table %s: %w", s.Table, err)
	}
	return all, true, nil
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
		for _, c := range r.texts {
			c.Reset(0)
		}
		var failed error
		if len(r.text) > 0 {
			_, failed = r.decoder.decode(r.text, r.ended, most)
		}
		n := len(r.decoder.records())
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
		f := exec.SampledField{Null: r.texts[i].IsNull(row)}
		if r.s.partitions.of[field] {
			f.Text, f.Null = string(r.values[i].text), r.values[i].null
		} else if !f.Null {
			text := r.texts[i].Bytes(row)
			f.Text = strings.ToValidUTF8(string(text[:min(len(text), status.MaxRecordValue)]), "\ufffd")
		}
		f.Value, f.Err = r.converted(i, row)
		s.Fields = append(s.Fields, f)
	}
	return s
}

// converted is one value of a record, in a column of its own.
func (r *reader) converted(i, row int) (*batch.Column, error) {
	field := r.s.scan.Fields[i]
	value := batch.NewColumn(types.String())
	if r.s.partitions.of[field] {
		r.values[i].append(value)
	} else {
		value.AppendFrom(r.texts[i], row)
	}
	t := r.s.scan.Columns[field].Type
	if r.s.nested(t) {
		return nestedColumn(r.s.registry, r.s.reading(), r.s.format.json, t.OrNull(), value)
	}
	if plainText(t) {
		return value, nil
	}
	program, err := castProgram(r.s.registry, r.s.reading(), t, r.s.format.lenient())
	if err != nil {
		return nil, err
	}
	columns, err := program.Eval(&batch.Columns{N: 1, Cols: []*batch.Column{value}})
	if err != nil {
		return nil, err
	}
	return columns[0], nil
}
