package sqlclient

import (
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // statements, | between, the last with ~ if it is not complete
	}{
		{"", ""}, {" \n;; -- x\n /* ; */ ;", ""}, {"-- only a comment", ""},
		{"SELECT 1;", "SELECT 1;"}, {"SELECT 1", "SELECT 1~"}, {"a;b ;\nc", "a;|b ;|c~"},
		{"SELECT ';' , \";\", `;` -- ;\n FROM /* ; */ t;x", "SELECT ';' , \";\", `;` -- ;\n FROM /* ; */ t;|x~"},
		{"SELECT 'it''s; ';", "SELECT 'it''s; ';"}, {"SELECT 'a;", "SELECT 'a;~"}, {"/* a;", "/* a;~"},
		{"-- a comment\n/* block */ SHOW TABLES; -- trailing\n;\nSHOW CATALOGS;", "-- a comment\n/* block */ SHOW TABLES;|SHOW CATALOGS;"},
		{"EXECUTE STATEMENT SET BEGIN INSERT a; INSERT b; END; SELECT 1;", "EXECUTE STATEMENT SET BEGIN INSERT a; INSERT b; END;|SELECT 1;"},
		{"explain statement set begin insert a; end;x;", "explain statement set begin insert a; end;|x;"},
		{"BEGIN STATEMENT SET; INSERT a; END; x;", "BEGIN STATEMENT SET;|INSERT a;|END;|x;"},
		{"EXECUTE STATEMENT SET BEGIN INSERT a SELECT CASE WHEN b THEN c END FROM d;", "EXECUTE STATEMENT SET BEGIN INSERT a SELECT CASE WHEN b THEN c END FROM d;~"},
		{"SELECT 1 - - 2; SELECT 4 / 2;", "SELECT 1 - - 2;|SELECT 4 / 2;"},
		{"SELECT /*+ OPTIONS('a'=';') */ 1;", "SELECT /*+ OPTIONS('a'=';') */ 1;"},
	} {
		var got []string
		for _, p := range Split(c.text) {
			text := p.text
			if !p.complete {
				text += "~"
			}
			got = append(got, text)
		}
		if s := strings.Join(got, "|"); s != c.want {
			t.Errorf("%q: %q, want %q", c.text, s, c.want)
		}
	}
}

func TestBare(t *testing.T) {
	for text, want := range map[string]string{"quit;": "quit", " -- x\n EXIT /* y */ ; ": "EXIT", "SET 'a'='--b;';": "SET 'a'='--b;'"} {
		if got := bare(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// FuzzSplit checks that the statements of a text are all of it but for semicolons, space
// and comments, and that each is one statement.
func FuzzSplit(f *testing.F) {
	for _, text := range []string{"a;b", "'", "/*", "`;`;", "EXECUTE STATEMENT SET BEGIN a; END;", "x--y\n;"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, p := range Split(text) {
			i := strings.Index(text[at:], p.text)
			if i < 0 {
				t.Fatalf("%q is not in %q", p.text, text[at:])
			}
			at += i + len(p.text)
			if again := Split(p.text); len(again) != 1 || again[0] != p {
				t.Fatalf("%q gives %v", p.text, again)
			}
		}
	})
}
