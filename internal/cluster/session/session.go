//go:build unix

// Package session runs the kinds of process a session cluster is made of: a
// JobManager that serves REST, a TaskManager, an SQL gateway, and the history server
// that stays when they are gone. Each function here is the whole life of one process.
//
// It promises that a process logs from its first step, that it ends cleanly when
// its context does, in bounded time, and that what keeps it from starting is
// returned and not only logged. It never exits by itself and never handles
// signals: the command does.
package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/local"
	"github.com/weirstream/weir/internal/logging"
	"github.com/weirstream/weir/internal/memory"
)

// Options say what the process is besides its configuration.
type Options struct {
	Config *config.Config
	// Version is the release, Commit and Built what the binary was made from.
	Version, Commit string
	Built           time.Time
	// Stderr gets every line of the log too, unless the process runs in the
	// background; nil: os.Stderr.
	Stderr io.Writer
	// Reread gives the configuration when it was read again, or why it was not;
	// nil: it never is.
	Reread <-chan Reread
	// Started, if set, is told when the process is ready: for a JobManager with
	// the address of its REST API, for a TaskManager with its name.
	Started func(what string)
}

// processLog is the log of a process, whose level follows the configuration.
type processLog struct {
	*slog.Logger
	file   *logging.File
	level  slog.LevelVar
	number int // which process of its role on this host
	stop   chan struct{}
	done   sync.WaitGroup
}

// openLog opens the log of the process. In the background only the file is
// written: standard error goes to a file, too, and is kept for what is not
// logged, such as the stack of a crash.
func openLog(o Options, role string) (*processLog, error) {
	l := &processLog{stop: make(chan struct{})}
	level, err := logging.ParseLevel(config.LogLevel.In(o.Config))
	if err != nil {
		return nil, err
	}
	l.level.Set(level)
	l.number, err = strconv.Atoi(os.Getenv(local.NumberVariable))
	if background := err == nil; background {
		o.Stderr = io.Discard
	}
	l.Logger, l.file, err = logging.Open(logging.Options{
		Dir: config.LogDir(o.Config), Role: role, Number: l.number, Level: &l.level, Stderr: o.Stderr,
		MaxFileSize: int64(config.LogMaxFileSize.In(o.Config)), MaxFiles: config.LogMaxFiles.In(o.Config),
	})
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	l.Info("starting", "role", role, "version", o.Version, "commit", o.Commit, "pid", os.Getpid())
	for key, value := range o.Config.Entries() {
		if config.Secret(key) {
			value = config.Hidden
		}
		l.Info("setting", "key", key, "value", value)
	}
	for _, ignored := range o.Config.Ignored() {
		l.Warn("setting without effect", "key", ignored.Key, "reason", ignored.Why)
	}
	l.done.Go(func() { l.follow(o.Config, o.Reread) }) // ends with close
	return l, nil
}

func (l *processLog) close() error {
	close(l.stop)
	l.done.Wait()
	return l.file.Close()
}

// limitMemory makes the garbage collector aim at a size of this process.
func limitMemory(size memory.Size) {
	if os.Getenv("GOMEMLIMIT") == "" && size > 0 {
		debug.SetMemoryLimit(int64(size))
	}
}

// ending gives the time a process has to end cleanly.
func ending(cfg *config.Config) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.Background(), config.ClusterServicesShutdownTimeout.In(cfg), errSlowEnd)
}

var errSlowEnd = errors.New("it took longer than " + config.ClusterServicesShutdownTimeout.Key)
