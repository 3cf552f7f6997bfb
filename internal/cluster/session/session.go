//go:build unix

// Package session runs the two kinds of process a session cluster is made of:
// a JobManager that serves REST, and a TaskManager. Each function here is the
// whole life of one process.
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
	// Started, if set, is told when the process is ready: for a JobManager with
	// the address of its REST API, for a TaskManager with its name.
	Started func(what string)
}

// openLog opens the log of the process. In the background only the file is
// written: standard error goes to a file, too, and is kept for what is not
// logged, such as the stack of a crash.
func openLog(o Options, role string) (*slog.Logger, *logging.File, int, error) {
	level, err := logging.ParseLevel(config.LogLevel.In(o.Config))
	if err != nil {
		return nil, nil, 0, err
	}
	number, err := strconv.Atoi(os.Getenv(local.NumberVariable))
	if background := err == nil; background {
		o.Stderr = io.Discard
	}
	log, file, err := logging.Open(logging.Options{
		Dir: config.LogDir(o.Config), Role: role, Number: number, Level: level, Stderr: o.Stderr,
		MaxFileSize: int64(config.LogMaxFileSize.In(o.Config)), MaxFiles: config.LogMaxFiles.In(o.Config),
	})
	if err != nil {
		return nil, nil, 0, fmt.Errorf("open the log: %w", err)
	}
	log.Info("starting", "role", role, "version", o.Version, "commit", o.Commit, "pid", os.Getpid())
	for key, value := range o.Config.Entries() {
		if config.Secret(key) {
			value = config.Hidden
		}
		log.Info("setting", "key", key, "value", value)
	}
	for _, ignored := range o.Config.Ignored() {
		log.Warn("setting without effect", "key", ignored.Key, "reason", ignored.Why)
	}
	return log, file, number, nil
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
