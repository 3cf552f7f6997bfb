package sqlrun_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Joins with a side that is brought to all subtasks give the same as those whose sides are
// both moved, and run in the task that reads the other side.
func TestSmallSidesAreBroughtToAll(t *testing.T) {
	var facts, few, others strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&facts, "%d,%d,f%d\n", i%23, i%7, i)
	}
	for i := range 20 {
		fmt.Fprintf(&few, "%d,%d,d%d\n", i, i%5, i)
		fmt.Fprintf(&others, "%d,%d,\n", i+100, i)
	}
	for _, query := range []string{
		"SELECT COUNT(*), MIN(few.name), MAX(facts.name) FROM facts JOIN few ON facts.a = few.a",
		"SELECT COUNT(*), COUNT(few.name), SUM(few.b) FROM facts LEFT JOIN few ON facts.a = few.a",
		"SELECT COUNT(*), COUNT(facts.a), SUM(few.b) FROM facts RIGHT JOIN few ON facts.a = few.a AND few.b > 2",
		"SELECT COUNT(*), COUNT(facts.a), COUNT(few.a) FROM few FULL JOIN facts ON facts.a = few.a",
		"SELECT COUNT(*), MIN(name) FROM facts WHERE a IN (SELECT a FROM few WHERE b = 1)",
		"SELECT COUNT(*), MIN(name) FROM facts WHERE a NOT IN (SELECT a FROM few WHERE b = 1)",
		"SELECT COUNT(*), MIN(name) FROM few WHERE NOT EXISTS (SELECT * FROM facts WHERE facts.a = few.a AND facts.b = few.b)",
		"SELECT COUNT(*), SUM(x.b), SUM(y.b) FROM facts JOIN few x ON facts.a = x.a JOIN few y ON facts.b = y.a",
		"SELECT few.b, COUNT(*) FROM facts JOIN few ON facts.a = few.a GROUP BY few.b",
		"SELECT COUNT(*) FROM facts JOIN (SELECT a, COUNT(*) AS n FROM facts GROUP BY a) g ON facts.a = g.a WHERE g.n > 869",
		"SELECT COUNT(*) FROM facts JOIN others ON facts.a = others.a",
		"SELECT COUNT(*) FROM facts WHERE b > (SELECT AVG(b) FROM few)",
	} {
		var all []string
		for _, threshold := range []string{"67108864", "-1"} {
			s := open(t)
			for _, set := range []string{"'parallelism.default' = '2'", "'execution.batch.adaptive.auto-parallelism.enabled' = 'false'", "'table.optimizer.join.broadcast-threshold' = '" + threshold + "'"} {
				answer(t.Context(), s, "SET "+set)
			}
			plain := ",'csv.disable-quote-character'='true'" // so that files are cut
			table(t, s, "facts", "a INT, b INT, name STRING", plain, facts.String())
			table(t, s, "few", "a INT, b INT, name STRING", plain, few.String())
			table(t, s, "others", "a INT, b INT, name STRING", plain, others.String())
			lines := strings.Split(answer(t.Context(), s, query), "\n")
			slices.Sort(lines)
			all = append(all, strings.Join(lines, "\n"))
			if plan := answer(t.Context(), s, "EXPLAIN "+query); strings.Contains(query, "facts JOIN few") && strings.Contains(plan, "broadcast") != (threshold != "-1") {
				t.Errorf("%s with a threshold of %s:\n%s", query, threshold, plan)
			}
		}
		if all[0] != all[1] || strings.Contains(all[0], "error") {
			t.Errorf("%s gives\n%s\nand without\n%s", query, all[0], all[1])
		}
	}
}
