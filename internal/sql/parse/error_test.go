package parse

import (
	"errors"
	"testing"

	"github.com/weirstream/weir/internal/sql/ast"
)

func TestNearest(t *testing.T) {
	names := []string{"price", "auction", "dateTime", "id", "name"}
	for w, want := range map[string]string{
		"prcie": "price", "action": "auction", "datetime": "dateTime", "ID": "id", "nmae": "name", "x": "", "price": "",
		"bidder": "", "auctoin": "auction", "": "",
	} {
		if got := Nearest(w, names); got != want {
			t.Errorf("%q: %q, not %q", w, got, want)
		}
	}
}

func TestNewError(t *testing.T) {
	source := "SELECT a,\n  größe + prcie\nFROM t"
	s, err := Statement(source)
	if err != nil {
		t.Fatal(err)
	}
	var column ast.Node
	ast.Walk(s, func(n ast.Node) bool {
		if id, ok := n.(*ast.Identifier); ok && id.Parts[0].Text == "prcie" {
			column = n
		}
		return true
	})
	e := NewError(source, column.Range(), "there is no column prcie")
	want := "line 2, column 11: there is no column prcie\n    größe + prcie\n            ^^^^^"
	if e.Error() != want {
		t.Errorf("%s\nnot\n%s", e, want)
	}
	if u := e.Until(source); u != (ast.Position{Line: 2, Column: 15}) {
		t.Errorf("it ends at %+v", u)
	}
}

func TestErrorSaysWhatWasExpected(t *testing.T) {
	_, err := Statement("DROP TABEL t")
	e := &Error{}
	if !errors.As(err, &e) || e.Suggestion != "TABLE" || len(e.Expected) == 0 || e.Offset != 5 || e.End != 10 {
		t.Errorf("%+v", err)
	}
}
