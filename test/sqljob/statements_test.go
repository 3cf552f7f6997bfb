package sqljob_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/weirstream/weir/client"
	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/master"
	"github.com/weirstream/weir/internal/cluster/sqlrun"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rest"
	"github.com/weirstream/weir/internal/sql/session"
)

// remote gives the cluster as it is reached by its REST API.
func remote(t *testing.T, m *master.Master, cfg *config.Config) sqlrun.Remote {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := rest.New(rest.Options{Config: cfg, Jobs: m.Dispatcher(), Ask: m.Dispatcher().Request, TaskManagers: m})
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	r := sqlrun.Remote{Client: client.New(l.Addr().String())}
	t.Cleanup(func() {
		r.Close()
		if err := errors.Join(server.Close(), <-served); err != nil {
			t.Error(err)
		}
	})
	return r
}

// bothWays opens a session of batches on a cluster twice: within its JobManager, and by its
// REST API.
func bothWays(t *testing.T, settings map[string]string, test func(ctx context.Context, t *testing.T, at sqlrun.Master, s session.Session)) {
	m := start(t)
	cfg, err := config.New(map[string]string{"execution.runtime-mode": "batch", "table.local-time-zone": "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]sqlrun.Master{"local": sqlrun.Local{Dispatcher: m.Dispatcher()}, "remote": remote(t, m, cfg)} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), hang)
			defer cancel()
			s, err := sqlrun.NewEngine(cfg, sqlrun.NewCluster(at)).Open(ctx, session.Options{Settings: settings})
			if err != nil {
				t.Fatal(err)
			}
			test(ctx, t, at, s)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestStatementsRunOnACluster(t *testing.T) {
	bothWays(t, nil, func(ctx context.Context, t *testing.T, at sqlrun.Master, s session.Session) {
		r, err := s.Execute(ctx, "SELECT a, COUNT(*) AS c FROM (VALUES (1),(2),(2)) AS t(a) GROUP BY a", nil)
		if err != nil {
			t.Fatal(err)
		}
		rows, sum := 0, int64(0)
		for {
			b, err := r.Rows.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			b = b.Compact()
			for i := range b.N {
				rows++
				sum += int64(b.Cols[0].I32[i]) * b.Cols[1].I64[i]
			}
		}
		if rows != 2 || sum != 5 || len(r.Job) != 32 || strings.Trim(r.Job, "0") == "" {
			t.Errorf("%d rows with %d of job %s", rows, sum, r.Job)
		}
		if err := r.Rows.Close(); err != nil {
			t.Error(err)
		}
		if r, err = s.Execute(ctx, "SELECT CAST('x' AS INT)", nil); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Rows.Next(ctx); err == nil || !strings.Contains(err.Error(), "'x'") {
			t.Errorf("the error is %v", err)
		}
		if r, err = s.Execute(ctx, "SELECT CAST('y' AS INT)", nil); err != nil {
			t.Fatal(err)
		}
		id, err := ident.Parse(r.Job)
		if err != nil {
			t.Fatal(err)
		}
		if err := at.Wait(ctx, ident.JobID{ID: id}); err == nil || !strings.Contains(err.Error(), "'y'") {
			t.Errorf("the error is %v", err)
		}
		// The session is closed without an error: the job of a query that nobody has read has
		// ended by itself.
	})
}
