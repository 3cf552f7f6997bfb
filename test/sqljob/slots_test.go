package sqljob_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/sqlrun"
	"github.com/weirstream/weir/internal/sql/session"
)

// TestMoreTasksThanSlots runs queries of five tasks on two slots, two at a time, after the
// time in which a ResourceManager waits for TaskManagers: tasks of batches wait for slots.
func TestMoreTasksThanSlots(t *testing.T) {
	m := start(t, "resourcemanager.standalone.start-up-time=1 ms")
	cfg, err := config.New(map[string]string{"execution.runtime-mode": "batch", "parallelism.default": "5", "execution.batch.adaptive.auto-parallelism.enabled": "false"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i := range 5 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte(strings.Repeat("1\n", 1000)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	engine := sqlrun.NewEngine(cfg, sqlrun.NewCluster(sqlrun.Local{Dispatcher: m.Dispatcher()}))
	ask := func() error {
		s, err := engine.Open(ctx, session.Options{})
		if err != nil {
			return err
		}
		defer s.Close()
		if _, err := s.Execute(ctx, "CREATE TABLE t (a BIGINT) WITH ('connector'='filesystem','format'='csv','path'='"+dir+"')", nil); err != nil {
			return err
		}
		r, err := s.Execute(ctx, "SELECT COUNT(*), SUM(a) FROM t", nil)
		if err != nil {
			return err
		}
		defer r.Rows.Close()
		_, err = r.Rows.Next(ctx)
		return err
	}
	for err := ask(); err != nil; err = ask() { // until the TaskManager is there
		if !strings.Contains(err.Error(), "have 0") {
			t.Fatal(err)
		}
	}
	answers := make(chan error)
	const queries = 8
	for range queries {
		go func() { answers <- ask() }()
	}
	for range queries {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
}
