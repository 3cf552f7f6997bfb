//go:build unix

package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/master"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/logging"
	"github.com/weirstream/weir/internal/program"
	"github.com/weirstream/weir/internal/rest"
	"github.com/weirstream/weir/internal/sqlgateway"
)

// JobManager runs a JobManager until ctx ends, which is no error, or until it
// cannot go on. A configuration that cannot be used gives a *config.Error.
func JobManager(ctx context.Context, o Options) (err error) {
	log, err := openLog(o, "jobmanager")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.close()) }()
	j := &jobManager{options: o, log: log.Logger, file: log.file}
	if err := j.start(); err != nil {
		log.Error("JobManager did not start", "error", err)
		return errors.Join(err, j.close())
	}
	if o.Started != nil {
		o.Started(j.master.RESTAddress())
	}
	<-ctx.Done()
	err = j.close()
	log.Info("JobManager ended", "error", err)
	return err
}

// jobManager is the process.
type jobManager struct {
	options Options
	log     *slog.Logger
	file    *logging.File
	master  *master.Master
	sql     *sqlgateway.Server // nil: it is not served here
}

// start opens the REST port first: that another cluster has it is what goes
// wrong most often, and should cost nothing.
func (j *jobManager) start() error {
	cfg := j.options.Config
	listener, err := rest.Listen(cfg)
	if err != nil {
		return fmt.Errorf("start the JobManager: %w", err)
	}
	archive, err := archiving(j.options, j.log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	if j.master, err = master.Start(cfg, master.Options{Version: j.options.Version, Archive: archive, Logger: j.log}); err != nil {
		return errors.Join(err, listener.Close())
	}
	limitMemory(j.master.Memory().HeapLimit())
	server, err := j.server()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	return j.master.ServeREST(listener, server)
}

func (j *jobManager) server() (*rest.Server, error) {
	o, cfg := j.options, j.options.Config
	submissions := newSubmissions(j.master)
	r := rest.Options{
		Config: cfg, Jobs: submissions, Ask: submissions.Request, TaskManagers: j.master, Process: j.master.Process, NewJobID: newJobID, Files: j.master.Files(),
		Logs: os.DirFS(config.LogDir(cfg)), LogFile: filepath.Base(j.file.Path()),
		OpenLogs: func(dir string) fs.FS { return os.DirFS(dir) },
		Version:  o.Version, Commit: o.Commit, Built: o.Built, Logger: j.log, Sibling: j.gateway(),
	}
	if config.WebSubmitEnable.In(cfg) {
		dir, err := j.uploadDirectory()
		if err != nil {
			return nil, err
		}
		if r.Programs, err = program.Open(dir); err != nil {
			return nil, err
		}
		r.Planner = &program.Planner{Store: r.Programs}
		r.Publish = submissions.publish
	}
	return rest.New(r), nil
}

// uploadDirectory is where uploaded programs are: web.upload.dir, which stays,
// or a directory that goes with the process.
func (j *jobManager) uploadDirectory() (string, error) {
	cfg := j.options.Config
	if dir := config.WebUploadDir.In(cfg); dir != "" {
		return filepath.Join(dir, "programs"), nil
	}
	parent := config.WebTmpDir.In(cfg)
	if parent == "" {
		parent = config.TempDirs(cfg)[0]
	}
	dir := filepath.Join(parent, fmt.Sprintf("weir-web-%08x", rand.Uint32()))
	if err := j.master.Belongings().Directory(dir); err != nil {
		return "", fmt.Errorf("for uploaded programs (%s): %w", config.WebTmpDir.Key, err)
	}
	return dir, nil
}

func newJobID() ident.JobID {
	return ident.JobID{ID: ident.New(rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))}
}

func (j *jobManager) close() error {
	var err error
	if j.sql != nil {
		err = j.sql.Close()
	}
	if j.master == nil {
		return err
	}
	ctx, cancel := ending(j.options.Config)
	defer cancel()
	return errors.Join(err, j.master.Close(ctx))
}
