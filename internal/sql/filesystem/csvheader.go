package filesystem

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/sql/plan"
)

// header reads the first record of the file that has been opened, which names its columns.
// From then on values are found by these names: files of one table may have them in
// different orders, and more than the table has.
func (r *reader) header(d *csvDecoder) error {
	for {
		if err := r.fill(); err != nil {
			return err
		}
		skipped := len(r.text) - len(bytes.TrimPrefix(r.text, byteOrderMark))
		names, n, err := d.names(r.text[skipped:], r.ended)
		if err == errMore {
			continue
		}
		if err == nil {
			err = d.named(r.s, names)
		}
		if err != nil {
			return fmt.Errorf("read %s: the header: %w", r.part.Path, err)
		}
		r.skip(skipped + n)
		return nil
	}
}

// names gives the values of a text's first record and where it ends. A text without a
// record has none.
func (d *csvDecoder) names(text []byte, last bool) (names []string, end int, err error) {
	whole := csvDecoder{csvFormat: d.csvFormat}
	whole.lenient, whole.hasNull = true, false // of as many columns as there can be, most are missing
	for i := range bytes.Count(text, []byte{d.delimiter}) + 1 {
		whole.columns, whole.empty = append(whole.columns, i), append(whole.empty, false)
	}
	v := newValues(len(whole.columns), 1)
	end, err = whole.decode(v, text, last, len(text), 1)
	if err != nil {
		return nil, 0, err
	}
	if v.rows == 0 && !last {
		return nil, 0, errMore
	}
	for i := 0; v.rows > 0 && i < len(v.of) && !v.of[i][0].isNull(); i++ {
		names = append(names, strings.TrimSpace(string(v.bytes(v.of[i][0]))))
	}
	return names, end, nil
}

// named finds the table's columns by the names that a header has. Capitals do not matter.
func (d *csvDecoder) named(s *source, names []string) error {
	if len(names) == 0 {
		return nil // an empty file
	}
	d.places = slices.Repeat([]int{-1}, len(names))
	d.columns, d.empty = slices.Repeat([]int{-1}, len(names)), make([]bool, len(names))
	for place := range s.partitions.stored {
		name := s.column(place)
		i := indexFold(names, name)
		if i < 0 {
			return fmt.Errorf("it has no column '%s' but %s", name, strings.Join(names, ", "))
		}
		if d.places[i] >= 0 {
			return fmt.Errorf("its column '%s' is both '%s' and '%s' of the table", names[i], s.column(d.places[i]), name)
		}
		d.places[i], d.columns[i], d.empty[i] = place, d.table.columns[place], d.table.empty[place]
	}
	return nil
}

// maybeHeader adds to what is wrong with the first record of a file without a header that
// it may be one: what was seen has names of columns where values should be.
func (r *reader) maybeHeader(at int64, seen []byte, err error) error {
	d, ok := r.decoder.(*csvDecoder)
	if !ok || d.header || at > int64(len(byteOrderMark)) {
		return err
	}
	for text := range bytes.SplitSeq(seen, []byte{d.delimiter}) {
		for place := range r.s.partitions.stored {
			if strings.EqualFold(strings.Trim(string(text), ` "`), r.s.column(place)) {
				return fmt.Errorf("%w; if this is a header, set the option 'csv.header' = 'true'", err)
			}
		}
	}
	return err
}

// headerOf is the header of the files that are written.
func (f *formats) headerOf(w *plan.Write) string {
	if f.kind != "csv" || !f.csv.header {
		return ""
	}
	var text []byte
	for _, i := range newPartitions(w.Columns, w.PartitionKeys).stored {
		if len(text) > 0 {
			text = append(text, f.csv.delimiter)
		}
		text = f.csv.append(text, []byte(w.Columns[i].Name))
	}
	return string(append(text, '\n'))
}

// indexFold finds a name, or else one that differs in capitals only.
func indexFold(names []string, name string) int {
	folded := -1
	for i, n := range names {
		if n == name {
			return i
		}
		if folded < 0 && strings.EqualFold(n, name) {
			folded = i
		}
	}
	return folded
}
