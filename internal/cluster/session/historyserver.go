//go:build unix

package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/archive"
	"github.com/weirstream/weir/internal/cluster/history"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/rest"
)

// HistoryServer runs a history server until ctx ends: it serves the REST API from
// the archives of jobs. A configuration that cannot be used gives a *config.Error.
func HistoryServer(ctx context.Context, o Options) (err error) {
	watched, err := historyOptions(o.Config)
	if err != nil {
		return err
	}
	log, err := openLog(o, "historyserver")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.close()) }()
	address := net.JoinHostPort(config.HistoryServerWebAddress.In(o.Config), strconv.Itoa(config.HistoryServerWebPort.In(o.Config)))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		err = fmt.Errorf("start the history server on %s (%s, %s): %w", address, config.HistoryServerWebAddress.Key, config.HistoryServerWebPort.Key, err)
		log.Error("history server did not start", "error", err)
		return err
	}
	watched.Logger = log.Logger
	watcher := history.New(watched)
	watcher.Refresh(time.Now())
	server := rest.NewHistory(rest.Options{Config: o.Config, Version: o.Version, Commit: o.Commit, Built: o.Built, Logger: log.Logger}, watcher)
	var running sync.WaitGroup
	running.Go(func() { watcher.Run(ctx) })
	running.Go(func() {
		if err := server.Serve(listener); err != nil {
			log.Error("the REST API has ended", "error", err)
		}
	})
	log.Info("history server started", "address", "http://"+listener.Addr().String(), "directories", watched.Directories)
	if o.Started != nil {
		o.Started(listener.Addr().String())
	}
	<-ctx.Done()
	end, cancel := ending(o.Config)
	defer cancel()
	err = server.Shutdown(end)
	running.Wait()
	log.Info("history server ended", "error", err)
	return err
}

// historyOptions reads what is to be watched, or lists all that is wrong with it.
func historyOptions(cfg *config.Config) (history.Options, error) {
	o := history.Options{
		Interval: config.HistoryServerRefreshInterval.In(cfg), RetainedTime: config.HistoryServerRetainedTime.In(cfg),
		RetainedJobs: max(0, config.HistoryServerRetainedJobs.In(cfg)),
	}
	key := config.HistoryServerDirectories.Key
	var problems []config.Problem
	for _, location := range config.HistoryServerDirectories.In(cfg) {
		dir, err := archive.Directory(location)
		if err != nil {
			problems = append(problems, config.Problem{Origin: cfg.Origin(key), Key: key, Value: location, What: err.Error()})
		}
		o.Directories = append(o.Directories, dir)
	}
	if len(o.Directories) == 0 {
		fix := "set it to the directory that " + config.ArchiveDirectory.Key + " names for the JobManager"
		if dir := config.ArchiveDirectory.In(cfg); dir != "" {
			fix += ", " + dir
		}
		problems = append(problems, config.Problem{Key: key, What: "the history server is told of no directory with archives", Fix: fix})
	}
	if len(problems) > 0 {
		return o, &config.Error{Problems: problems}
	}
	return o, nil
}

// archiving gives what writes a job that has ended into the directory the
// configuration names; nil: none is named.
func archiving(o Options, log *slog.Logger) (func(execgraph.View) error, error) {
	location := config.ArchiveDirectory.In(o.Config)
	if location == "" {
		return nil, nil
	}
	dir, err := archive.Directory(location)
	if err != nil {
		key := config.ArchiveDirectory.Key
		return nil, &config.Error{Problems: []config.Problem{{Origin: o.Config.Origin(key), Key: key, Value: location, What: err.Error()}}}
	}
	answering := rest.Options{Config: o.Config, Version: o.Version, Commit: o.Commit, Built: o.Built, Logger: log}
	return func(v execgraph.View) error {
		answers, err := rest.Archive(answering, v)
		if err != nil {
			return err
		}
		entries := make([]archive.Entry, len(answers))
		for i, a := range answers {
			entries[i] = archive.Entry(a)
		}
		return archive.Write(dir, v.Job, entries)
	}, nil
}
