package sqlrun_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckTable(t *testing.T) {
	s := open(t)
	table(t, s, "c", "id INT, v STRING, d DECIMAL(4, 1), twice AS id * 2", "", "1,\"a,b\",1.5\nx,,\n", "3,c,2\n4,d,3\n")
	got := answer(t.Context(), s, "CHECK TABLE c")
	want := `1 | id | INT | 1 | 1 | <NULL>
1 | v | STRING | a,b | a,b | <NULL>
1 | d | DECIMAL(4, 1) | 1.5 | 1.5 | <NULL>
2 | id | INT | x | <NULL> | `
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "3 | d | DECIMAL(4, 1) | 2 | 2.0 | <NULL>\n") || !strings.Contains(got, "\n2 | d | DECIMAL(4, 1) | <NULL> | <NULL> | <NULL>\n") {
		t.Errorf("got\n%s", got)
	}
	table(t, s, "bad", "id INT, v STRING", "", "1,a\n2\n")
	got = answer(t.Context(), s, "CHECK TABLE bad")
	if !strings.HasPrefix(got, "1 | id | INT | 1 | 1 | <NULL>\n") || !strings.Contains(got, "\n2 | <NULL> | <NULL> | <NULL> | <NULL> | table ") || !strings.Contains(got, "0.csv, line 2, byte 4: the record has 1 values") {
		t.Errorf("got\n%s", got)
	}
	dir := filepath.Join(t.TempDir(), "p=1")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(`{"a": [1, 2]}`+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	run(t, s, fmt.Sprintf("CREATE TABLE j (a ARRAY<INT>, p INT) PARTITIONED BY (p) WITH ('connector'='filesystem', 'path'='%s', 'format'='json')", filepath.Dir(dir)))
	if got, want := answer(t.Context(), s, "CHECK TABLE j"), "1 | a | ARRAY<INT> | [1, 2] | [1, 2] | <NULL>\n1 | p | INT | 1 | 1 | <NULL>\n"; got != want {
		t.Errorf("got\n%s", got)
	}
	run(t, s, "CREATE TABLE g (n INT) WITH ('connector'='datagen', 'fields.n.kind'='sequence', 'fields.n.start'='7', 'fields.n.end'='8')",
		"CREATE TABLE k (a INT) WITH ('connector'='kafka')", "CREATE TABLE n (a INT) WITH ('connector'='filesystem', 'path'='/none', 'format'='csv')")
	for statement, want := range map[string]string{
		"CHECK TABLE g":       "1 | n | INT | <NULL> | 7 | <NULL>\n2 | n | INT | <NULL> | 8 | <NULL>\n",
		"CHECK TABLE k":       "there is no connector 'kafka'",
		"CHECK TABLE n":       "/none: no such file or directory",
		"CHECK TABLE nowhere": "nowhere",
	} {
		if got := answer(t.Context(), s, statement); !strings.Contains(got, want) {
			t.Errorf("%s gives %s, want %s", statement, got, want)
		}
	}
}
