package cli

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/blob"
	"github.com/weirstream/weir/internal/cluster/local"
	"github.com/weirstream/weir/internal/cluster/master"
	"github.com/weirstream/weir/internal/cluster/taskmanager"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/logging"
	"github.com/weirstream/weir/internal/program"
	"github.com/weirstream/weir/internal/rest"

	"math/rand/v2"
)

// shutdownPatience is how long a process may take to end by itself once told to.
const shutdownPatience = 8 * time.Second

func (p *invocation) jobManager() *cobra.Command {
	return &cobra.Command{
		Use: "jobmanager", Short: "Run a JobManager in the foreground", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.serve(cmd.Context(), local.JobManager, runJobManager)
		},
	}
}

func (p *invocation) taskManager() *cobra.Command {
	return &cobra.Command{
		Use: "taskmanager", Short: "Run a TaskManager in the foreground", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.serve(cmd.Context(), local.TaskManager, runTaskManager)
		},
	}
}

// process is what a foreground process is given.
type process struct {
	config *config.Config
	number int // among the processes of its role on this host
	log    *slog.Logger
	dir    string // of the logs
	file   string // base name of its own log
}

// serve opens the log and runs a process until ctx ends or it cannot go on.
func (p *invocation) serve(ctx context.Context, role string, run func(context.Context, process) error) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	number, _ := strconv.Atoi(os.Getenv(local.NumberVariable)) // none: the only one
	level, err := logging.ParseLevel(config.LogLevel.In(cfg))
	if err != nil {
		return err
	}
	s := process{config: cfg, number: number, dir: config.LogDir(cfg)}
	log, file, err := logging.Open(logging.Options{
		Dir: s.dir, Role: role, Number: number, Level: level,
		MaxFileSize: int64(config.LogMaxFileSize.In(cfg)), MaxFiles: config.LogMaxFiles.In(cfg), Stderr: p.err,
	})
	if err != nil {
		return err
	}
	defer file.Close()
	s.log, s.file = log, filepath.Base(file.Path())
	for _, ignored := range cfg.Ignored() {
		log.Warn("an option has no effect here", "key", ignored.Key, "reason", ignored.Why)
	}
	return run(ctx, s)
}

func runJobManager(ctx context.Context, s process) error {
	m, err := master.Start(s.config, master.Options{Version: Version, Logger: s.log})
	if err != nil {
		return err
	}
	err = serveREST(m, s)
	if err == nil {
		<-ctx.Done()
	}
	ending, stop := context.WithTimeout(context.Background(), shutdownPatience)
	defer stop()
	if closing := m.Close(ending); err == nil {
		err = closing
	}
	return err
}

// serveREST opens the REST port of a master.
func serveREST(m *master.Master, s process) error {
	programs, err := program.Open(uploadDir(s.config))
	if err != nil {
		return err
	}
	server := rest.New(rest.Options{
		Config: s.config, Jobs: m.Dispatcher(), TaskManagers: m, Programs: programs,
		Planner: &program.Planner{Store: programs},
		Publish: func(_ context.Context, p program.Program, sha256 string) error { return publish(m.Blobs(), p, sha256) },
		NewJobID: func() ident.JobID {
			return ident.JobID{ID: ident.New(rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))}
		},
		Logs: os.DirFS(s.dir), LogFile: s.file, OpenLogs: func(dir string) fs.FS { return os.DirFS(dir) },
		Version: Version, Commit: revision(), Built: built(), Logger: s.log,
	})
	l, err := rest.Listen(s.config)
	if err != nil {
		return err
	}
	return m.ServeREST(l, server)
}

// uploadDir is where uploaded programs are kept.
func uploadDir(c *config.Config) string {
	if dir, set := config.WebUploadDir.Lookup(c); set {
		return dir
	}
	return filepath.Join(config.TempDirs(c)[0], "weir-web-upload")
}

// publish makes a program's bytes available to TaskManagers, unless they are.
func publish(blobs *blob.Store, p program.Program, sha256 string) error {
	h, err := blob.ParseHash(sha256)
	if err != nil || blobs.Has(h) {
		return err
	}
	f, err := os.Open(p.Path)
	if err != nil {
		return fmt.Errorf("publish program %s: %w", p.Name, err)
	}
	defer f.Close()
	if _, _, err := blobs.Put(f); err != nil {
		return fmt.Errorf("publish program %s: %w", p.Name, err)
	}
	return nil
}

func runTaskManager(ctx context.Context, s process) error {
	t, err := taskmanager.Start(s.config, taskmanager.Options{Version: Version, Number: s.number, Logger: s.log})
	if err != nil {
		return err
	}
	cause := "the TaskManager was told to end"
	select {
	case <-ctx.Done():
	case err = <-t.Fatal():
		cause = err.Error()
		s.log.Error("the TaskManager cannot go on", logging.KeyError, err)
	}
	ending, stop := context.WithTimeout(context.Background(), shutdownPatience)
	defer stop()
	if closing := t.Close(ending, cause); err == nil {
		err = closing
	}
	return err
}
