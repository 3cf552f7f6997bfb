package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recording is where the answers of genuine Flink lie, beside the module.
const recording = "../../../shared/oracle/sql"

// A sample of the recorded expressions, every 23rd: of all, 99.5 of 100 are answered as
// recorded, or better.
func TestSampleOfExpressions(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(recording, "expressions.tsv"))
	if err != nil {
		t.Skip(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	sample := []string{lines[0]}
	for i := 1; i < len(lines); i += 23 {
		sample = append(sample, lines[i])
	}
	path := filepath.Join(t.TempDir(), "expressions.tsv")
	if err := os.WriteFile(path, []byte(strings.Join(sample, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := compareExpressions(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", c.total)
	if n := c.total; n.equal*1000 < (n.equal+n.differ+n.refused)*995 {
		t.Errorf("%s\n%s", n, strings.Join(c.differences, "\n"))
	}
}

func TestUnescape(t *testing.T) {
	for cell, want := range map[string]string{`a\tb\\n`: "a\tb\\n", `\u0001x`: "\x01x", `\N | 1`: `\N | 1`, `\q`: "q", `\`: `\`} {
		if got := unescape(cell); got != want {
			t.Errorf("%q: %q, want %q", cell, got, want)
		}
	}
}

func TestRowsAreComparedAsSetsWhereNothingOrdersThem(t *testing.T) {
	value := func(v string) answer { return answer{kind: "value", typ: "STRING", value: v} }
	if !sameRows("SELECT LISTAGG(k) FROM t", value("a,b"), value("b,a")) || sameRows("SELECT MAX(k) FROM t", value("a,b"), value("b,a")) || sameRows("SELECT LISTAGG(k) FROM t", value("a,b"), value("b,b")) {
		t.Error("only what is put together of rows has no order")
	}
}
