package sqlrun_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestTablesThatAreReplacedWhileTheyAreRead has a query begin together with each statement
// that replaces the files of its table, or some of them: it finds the rows from before or
// those from after, and all of them.
func TestTablesThatAreReplacedWhileTheyAreRead(t *testing.T) {
	for _, test := range []struct{ format, clause string }{
		{"csv", ""}, {"parquet", ""}, {"csv", " PARTITIONED BY (p)"},
	} {
		s, other := open(t), open(t)
		create := fmt.Sprintf("CREATE TABLE r (n INT, p INT)%s WITH ('connector'='filesystem','path'='%s','format'='%s')", test.clause, t.TempDir(), test.format)
		for _, got := range []string{answer(t.Context(), s, create), answer(t.Context(), other, create)} {
			if got != "OK\n" {
				t.Fatal(got)
			}
		}
		overwrite := func(n int) string {
			return answer(t.Context(), other, fmt.Sprintf("INSERT OVERWRITE r SELECT %d, p FROM (VALUES (1), (2), (3)) AS v (p)", n))
		}
		if got := overwrite(0); strings.Contains(got, "rror") {
			t.Fatal(got)
		}
		for n := range 12 {
			var written string
			var writing sync.WaitGroup
			writing.Go(func() { written = overwrite(n + 1) })
			got := answer(t.Context(), s, "SELECT MIN(n), MAX(n), COUNT(*) FROM r")
			writing.Wait()
			_, got, _ = strings.Cut(got, "\n")
			if want := []string{fmt.Sprintf("%d | %d | 3\n", n, n), fmt.Sprintf("%d | %d | 3\n", n+1, n+1)}; !slices.Contains(want, got) {
				t.Errorf("%s%s: got %q, want one of %q; %s", test.format, test.clause, got, want, written)
			}
		}
	}
}
