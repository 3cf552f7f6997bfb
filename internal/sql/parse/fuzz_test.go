package parse

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/sql/ast"
)

// scriptTexts are the texts of a script under testdata.
func scriptTexts(f *testing.F, names ...string) (texts []string) {
	f.Helper()
	for _, name := range names {
		whole, err := os.ReadFile("testdata/scripts/" + name + ".txt")
		if err != nil {
			f.Fatal(err)
		}
		for _, block := range strings.Split(string(whole), "\n\n") {
			_, rest, _ := strings.Cut(block, "\n")
			text, _, ok := strings.Cut(rest, "\n----")
			if ok {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// checkError checks that a refusal points into the text.
func checkError(t *testing.T, source string, err error) {
	t.Helper()
	e := &Error{}
	if !errors.As(err, &e) {
		t.Fatalf("%q: an error of another kind: %v", source, err)
	}
	if e.Offset < 0 || e.End < e.Offset || e.End > len(source) || e.Position.Line < 1 || e.Column < 0 || e.Message == "" {
		t.Errorf("%q: %+v", source, e)
	}
}

// fuzzRead reads texts: what is refused is refused at a place, and what is read is
// read again as it was written.
func fuzzRead(f *testing.F, read func(string) (ast.Node, error), scripts ...string) {
	for _, s := range scriptTexts(f, scripts...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		n, err := read(source)
		if err != nil {
			checkError(t, source, err)
			return
		}
		roundTrip(t, source, n, read)
	})
}

func FuzzStatement(f *testing.F) {
	fuzzRead(f, statementNode, "queries", "statements", "errors", "names")
}
func FuzzExpression(f *testing.F) { fuzzRead(f, expressionNode, "expressions") }
func FuzzType(f *testing.F)       { fuzzRead(f, typeNode, "types") }

// Pieces lie in the text one behind the other, and hold all of it but semicolons,
// blanks and comments.
func FuzzSplit(f *testing.F) {
	for _, s := range scriptTexts(f, "split", "queries") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		end := 0
		pieces := Split(source)
		for i, p := range pieces {
			if p.Start < end || p.End <= p.Start || p.End > len(source) || p.Text != source[p.Start:p.End] {
				t.Fatalf("%q: piece %d is %+v", source, i, p)
			}
			if !p.Terminated && i < len(pieces)-1 {
				t.Errorf("%q: piece %d of %d is not terminated", source, i, len(pieces))
			}
			end = p.End
		}
		list, err := Statements(source)
		if err == nil && len(list) != len(pieces) {
			t.Errorf("%q: %d statements in %d pieces", source, len(list), len(pieces))
		}
	})
}

// Completing never fails, and what it would replace is before the place.
func FuzzComplete(f *testing.F) {
	for _, s := range scriptTexts(f, "complete", "queries", "statements") {
		before, after, _ := strings.Cut(s, "▮")
		f.Add(before+after, len(before))
	}
	f.Fuzz(func(t *testing.T, source string, cursor int) {
		c := Complete(source, cursor)
		if c.Start < 0 || c.Start > len(source) {
			t.Errorf("%q at %d: %+v", source, cursor, c)
		}
		for _, w := range c.Keywords {
			if !strings.EqualFold(w[:len(c.Prefix)], c.Prefix) {
				t.Errorf("%q at %d: %s is offered for %q", source, cursor, w, c.Prefix)
			}
		}
	})
}
