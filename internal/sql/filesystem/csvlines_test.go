package filesystem

import (
	"os"
	"path/filepath"
	"testing"
)

// linesFound compares, for every byte of a text of good records, the line that is found
// from there on with where the decoder has records.
func linesFound(t *testing.T, f formats, text string) {
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	columns := 0
	d := &csvDecoder{csvFormat: f.csv}
	d.lenient = true // records may be of any length
	for range 20 {
		d.columns, d.empty = append(d.columns, -1), append(d.empty, false)
	}
	v := newValues(columns, len(text)+1)
	if _, err := d.decode(v, []byte(text), true, len(text), len(text)+1); err != nil {
		return // whoever reads this file fails
	}
	going := lineFinder{csvFormat: f.csv, chunk: make([]byte, 3)} // goes on
	defer going.close()
	for from := range len(text) + 1 {
		fresh := lineFinder{csvFormat: f.csv, chunk: make([]byte, 3)}
		found, err := fresh.find(path, int64(from))
		fresh.close()
		again, err2 := going.find(path, int64(from))
		if err != nil || err2 != nil || found != again || found < int64(from) {
			t.Fatalf("%q from %d: %d, %v; going on %d, %v", text, from, found, err, again, err2)
		}
		// The record that begins next is the first of those that are read from there.
		next := -1
		for _, start := range v.starts[:v.rows] {
			if int(start) >= from {
				next = int(start)
				break
			}
		}
		rest := newValues(columns, 1)
		if _, err := d.decode(rest, []byte(text[found:]), true, len(text)-int(found), 1); err != nil {
			t.Fatalf("%q from %d: what is found at %d is no record: %v", text, from, found, err)
		}
		if got := int(found); rest.rows == 0 && next >= 0 || rest.rows > 0 && got+int(rest.starts[0]) != next {
			t.Fatalf("%q from %d: found %d, and a record begins at %d", text, from, found, next)
		}
	}
	for at := range len(text) { // whoever has read to the begin of a line goes on from there
		passing := lineFinder{csvFormat: f.csv, chunk: make([]byte, 3)}
		begin, _ := passing.find(path, int64(at))
		if err := passing.passed(path, int64(at), begin); err != nil {
			t.Fatal(err)
		}
		for from := at; from <= len(text); from++ {
			a, _ := passing.find(path, int64(from))
			b, _ := going.find(path, int64(from))
			if a != b {
				t.Fatalf("%q: from %d after %d: %d, and %d", text, from, begin, a, b)
			}
		}
		passing.close()
	}
}

func TestLinesFound(t *testing.T) {
	for _, text := range []string{"", "a\n", "a,\"b\nc\"\nd\n", "\"a\"\"\n\"\"\",b\r\n\r\n\"\"\na\"b,c\n", "a,\"\n", "x\"\n\"y\n\"\n"} {
		linesFound(t, csvFormats(0), text)
	}
}

func FuzzLinesFound(f *testing.F) {
	f.Add(false, "a,\"b\n\"\"c\"\nd\"e,f\r\n\n")
	f.Fuzz(func(t *testing.T, other bool, text string) {
		which := uint8(0)
		if other {
			which = 32
		}
		linesFound(t, csvFormats(which), text[:min(len(text), 40)])
	})
}
