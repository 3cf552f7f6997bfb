package sqljob_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/cluster/sqlrun"
	"github.com/weirstream/weir/internal/sql/session"
)

// TestAMaterializedTableGoesOnWhereItStopped suspends the stream that fills a table again and
// again, also before it has quite begun, and resumes it: each row is there once.
func TestAMaterializedTableGoesOnWhereItStopped(t *testing.T) {
	settings := map[string]string{"execution.checkpointing.savepoint-dir": t.TempDir(), "execution.checkpointing.interval": "50 ms", "parallelism.default": "1"}
	bothWays(t, settings, func(ctx context.Context, t *testing.T, _ sqlrun.Master, s session.Session) {
		do := func(statement string) {
			t.Helper()
			r, err := s.Execute(ctx, statement, nil)
			if err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
			r.Rows.Close()
		}
		do("CREATE TABLE g (n BIGINT) WITH ('connector'='datagen', 'rows-per-second'='500', 'fields.n.kind'='sequence', 'fields.n.start'='1', 'fields.n.end'='1000000')")
		do("CREATE MATERIALIZED TABLE m WITH ('connector'='filesystem', 'path'='" + t.TempDir() + "', 'format'='csv') AS SELECT n FROM g")
		last := int64(0)
		for round := range 4 {
			if round > 0 {
				do("ALTER MATERIALIZED TABLE m RESUME")
			}
			if round%2 == 0 { // the others are suspended at once
				for count := last; count <= last; {
					count, _ = rowsOf(t, ctx, s)
				}
			}
			do("ALTER MATERIALIZED TABLE m SUSPEND")
			count, distinct := rowsOf(t, ctx, s)
			if most := numbers(t, ctx, s, "SELECT MAX(n) FROM m"); count != distinct || count < last || most != fmt.Sprint([]int64{count}) {
				t.Errorf("round %d: %d rows, %d different ones, the last one %s; before there were %d", round, count, distinct, most, last)
			}
			last = count
		}
		do("DROP MATERIALIZED TABLE m")
	})
}

// rowsOf counts the rows of m, and those that differ.
func rowsOf(t *testing.T, ctx context.Context, s session.Session) (count, distinct int64) {
	t.Helper()
	if _, err := fmt.Sscanf(strings.Trim(numbers(t, ctx, s, "SELECT COUNT(*), COUNT(DISTINCT n) FROM m"), "[]"), "%d %d", &count, &distinct); err != nil {
		t.Fatal(errors.Join(err, ctx.Err()))
	}
	return count, distinct
}
