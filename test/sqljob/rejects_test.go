package sqljob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/sqlrun"
	"github.com/weirstream/weir/internal/sql/session"
)

// TestRejectedRowsOfLargeFiles reads a file in parts on two workers, twice: each bad row
// is in the side table once, with the number of its line.
func TestRejectedRowsOfLargeFiles(t *testing.T) {
	m := start(t)
	cfg, err := config.New(map[string]string{"execution.runtime-mode": "batch", "parallelism.default": "2", "execution.batch.adaptive.auto-parallelism.enabled": "false"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var text bytes.Buffer
	const lines, each = 400_000, 1000
	for i := range lines {
		if i%each == each/2 {
			fmt.Fprintf(&text, "{\"id\":\"bad %d\"}\n", i+1)
		} else {
			fmt.Fprintf(&text, "{\"id\":%d,\"text\":\"some more\"}\n", i+1)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a.json"), text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	s, err := sqlrun.NewEngine(cfg, sqlrun.NewCluster(sqlrun.Local{Dispatcher: m.Dispatcher()})).Open(ctx, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Execute(ctx, "CREATE TABLE events (id BIGINT, text STRING) WITH ('connector'='filesystem','format'='json','scan.bad-rows'='reject','path'='"+dir+"')", nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := numbers(t, ctx, s, "SELECT COUNT(*), COUNT(text) FROM events"); got != fmt.Sprint([]int64{lines - lines/each, lines - lines/each}) {
			t.Errorf("rows: %s", got)
		}
		bad := "SELECT COUNT(*), SUM(line), SUM(CASE WHEN reason = '''bad ' || CAST(line AS STRING) || ''' is no BIGINT' THEN 1 ELSE 0 END) FROM events$rejects"
		sum := int64(0)
		for i := each / 2; i < lines; i += each {
			sum += int64(i + 1)
		}
		if got := numbers(t, ctx, s, bad); got != fmt.Sprint([]int64{lines / each, sum, lines / each}) {
			t.Errorf("rejected rows: %s", got)
		}
	}
	kept, err := filepath.Glob(dir + "/.rejects/*/*.json")
	if err != nil || len(kept) < 2 {
		t.Errorf("the file was read in %d parts (%v)", len(kept), err)
	}
}

// numbers runs a query of one row of BIGINT and INT.
func numbers(t *testing.T, ctx context.Context, s session.Session, query string) string {
	t.Helper()
	r, err := s.Execute(ctx, query, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Rows.Close()
	var all []int64
	for {
		b, err := r.Rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return fmt.Sprint(all)
		}
		if err != nil {
			t.Fatal(err)
		}
		b = b.Compact()
		for i := range b.N {
			for _, c := range b.Cols {
				if c.I64 != nil {
					all = append(all, c.I64[i])
				} else {
					all = append(all, int64(c.I32[i]))
				}
			}
		}
	}
}
