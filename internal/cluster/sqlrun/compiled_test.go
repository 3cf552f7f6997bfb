package sqlrun_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A plan that was compiled is executed by sessions that know nothing of its statement.
func TestCompiledPlans(t *testing.T) {
	for _, mode := range []string{"batch", "streaming"} {
		s := open(t)
		run(t, s, "SET 'execution.runtime-mode' = '"+mode+"'")
		in := table(t, s, "f", "a INT, b STRING", "", "1,x\n2,y\n", "3,z\n")
		out := filepath.Join(t.TempDir(), "out")
		sink := "CREATE TABLE o (a INT, b STRING, c TIMESTAMP(3)) WITH ('connector'='filesystem', 'path'='" + out + "', 'format'='csv')"
		run(t, s, sink)
		file := filepath.Join(t.TempDir(), "plans", "p.json")
		insert := " FOR INSERT INTO o SELECT a + 10, UPPER(b), CAST(NOW() AS TIMESTAMP(3)) FROM f WHERE a > 1"
		run(t, s, "COMPILE PLAN '"+file+"'"+insert)
		if got := answer(t.Context(), s, "COMPILE PLAN '"+file+"'"+insert); !strings.Contains(got, "Cannot overwrite the plan file '"+file+"'") {
			t.Error(got)
		}
		run(t, s, "COMPILE PLAN '"+file+"' IF NOT EXISTS"+insert)

		other := open(t) // without a table
		if mode == "batch" {
			run(t, other, "SET 'execution.runtime-mode' = 'streaming'")
		}
		if got := answer(t.Context(), other, "EXECUTE PLAN '"+file+"'"); !strings.Contains(got, "SET 'execution.runtime-mode' = '"+mode+"'") {
			t.Error(got)
		}
		run(t, other, "SET 'execution.runtime-mode' = '"+mode+"'", "EXECUTE PLAN '"+file+"'", sink, "SET 'execution.runtime-mode' = 'batch'")
		if got := answer(t.Context(), other, "SELECT a, b, c > TIMESTAMP '2020-01-01 00:00:00' FROM o ORDER BY a"); !strings.HasSuffix(got, "12 | Y | TRUE\n13 | Z | TRUE\n") {
			t.Errorf("%s: %s", mode, got)
		}

		// The source's options are those of now; its columns must be those of then.
		more := table(t, s, "g", "a INT, b STRING", "", "7,seven\n")
		if in == more {
			t.Fatal(in)
		}
		run(t, s, "ALTER TABLE f SET ('path'='"+more+"')", "EXECUTE PLAN 'file://"+file+"'", "SET 'execution.runtime-mode' = 'batch'")
		if got := answer(t.Context(), s, "SELECT MAX(a), COUNT(*) FROM o"); !strings.HasSuffix(got, "17 | 3\n") {
			t.Errorf("%s: %s", mode, got)
		}
		run(t, s, "SET 'execution.runtime-mode' = '"+mode+"'", "ALTER TABLE f ADD (c INT)")
		if got := answer(t.Context(), s, "EXECUTE PLAN '"+file+"'"); !strings.Contains(got, "default_catalog.default_database.f has other columns") {
			t.Error(got)
		}

		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(text), "UPPER", "LOWER", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := answer(t.Context(), other, "EXECUTE PLAN '"+file+"'"); !strings.Contains(got, "it was changed since COMPILE PLAN wrote it") {
			t.Error(got)
		}
		run(t, other, "SET 'table.plan.force-recompile' = 'true'", "CREATE TABLE b (a INT) WITH ('connector'='blackhole')",
			"COMPILE AND EXECUTE PLAN '"+file+"' FOR STATEMENT SET BEGIN INSERT INTO b VALUES (1); INSERT INTO b SELECT 2; END")
	}
}
