package sqlclient

import (
	"strings"
	"testing"
)

func TestBare(t *testing.T) {
	for text, want := range map[string]string{"quit;": "quit", " -- x\n EXIT /* y */ ; ": "EXIT", "SET 'a'='--b;';": "SET 'a'='--b;'"} {
		if got := bare(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestTyped(t *testing.T) {
	for text, want := range map[string]bool{"SELECT": false, "SELECT 1;": true, "quit": true, "EXECUTE STATEMENT SET BEGIN INSERT a;": false, "SELECT ';": false, "": true} {
		if typed(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// FuzzHighlight checks that colours change nothing else.
func FuzzHighlight(f *testing.F) {
	for _, text := range []string{"select 'a", "/* ", "`;`--"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := codes.ReplaceAllString(highlight(text), ""); got != text && !strings.Contains(text, "\x1b") {
			t.Errorf("%q gives %q", text, got)
		}
	})
}
