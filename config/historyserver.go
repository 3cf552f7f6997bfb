package config

import (
	"errors"
	"time"
)

// Where ended jobs are written down, and the history server that shows them.
var (
	ArchiveDirectory = declare(text, Option[string]{
		Key: "jobmanager.archive.fs.dir", NoDefault: true, Effect: ProcessRestart,
		Doc: "The directory in which the JobManager leaves one file for each job that has ended, for the history server: a path, or a file: URI. Without it, none is written.",
	})
	HistoryServerDirectories = declare(locations, Option[[]string]{
		Key: "historyserver.archive.fs.dir", NoDefault: true, Effect: ProcessRestart,
		Doc: "The directories with archives of jobs that the history server watches.",
	})
	HistoryServerRefreshInterval = declare(duration, Option[time.Duration]{
		Key: "historyserver.archive.fs.refresh-interval", Default: 10 * time.Second, Effect: ProcessRestart, check: positive,
		Doc: "How often the history server looks for new archives.",
	})
	HistoryServerRetainedJobs = declare(integer, Option[int]{
		Key: "historyserver.archive.retained-jobs", Default: -1, Effect: ProcessRestart, check: retained,
		Doc: "How many archives the history server leaves in each directory: it deletes the oldest beyond that. -1 keeps all.",
	})
	HistoryServerRetainedTime = declare(duration, Option[time.Duration]{
		Key: "historyserver.archive.retained-ttl", NoDefault: true, Effect: ProcessRestart, check: positive,
		Doc: "How long after it was written the history server deletes an archive. Without it, never.",
	})
	HistoryServerWebAddress = declare(text, Option[string]{
		Key: "historyserver.web.address", Default: "localhost", Effect: ProcessRestart,
		Doc: "The address the history server listens on. It is the loopback unless set; 0.0.0.0 means every interface.",
	})
	HistoryServerWebPort = declare(integer, Option[int]{
		Key: "historyserver.web.port", Default: 8082, Effect: ProcessRestart, check: between(0, 65535),
		Doc: "The port the history server listens on; 0 = any free port.",
	})
	HistoryServerWebRefreshInterval = declare(duration, Option[time.Duration]{
		Key: "historyserver.web.refresh-interval", Default: 10 * time.Second, Effect: ProcessRestart, check: positive,
		Doc: "How often the history server's web interface fetches new figures.",
	})
)

func retained(n int) error {
	if n != -1 && n < 1 {
		return errors.New("must be at least 1, or -1 to keep all")
	}
	return nil
}
