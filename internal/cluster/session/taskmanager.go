//go:build unix

package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/weirstream/weir/internal/cluster/taskmanager"
)

// TaskManager runs a TaskManager until ctx ends, which is no error, or until it
// cannot go on. A configuration that cannot be used gives a *config.Error.
func TaskManager(ctx context.Context, o Options) (err error) {
	log, err := openLog(o, "taskmanager")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.close()) }()
	t, err := taskmanager.Start(o.Config, taskmanager.Options{Version: o.Version, Number: log.number, Logger: log.Logger, LogFile: log.file.Path()})
	if err != nil {
		log.Error("TaskManager did not start", "error", err)
		return err
	}
	limitMemory(t.AgentMemory())
	if o.Started != nil {
		o.Started(string(t.ID()))
	}
	cause := "it was told to end"
	var fatal error
	select {
	case <-ctx.Done():
	case fatal = <-t.Fatal():
		cause = fatal.Error()
		fatal = fmt.Errorf("TaskManager %s cannot go on: %w", t.ID(), fatal)
	}
	end, cancel := ending(o.Config)
	defer cancel()
	err = errors.Join(fatal, t.Close(end, cause))
	log.Info("TaskManager ended", "error", err)
	return err
}
