package config

import "github.com/weirstream/weir/internal/memory"

// Directories and logs of every process.
var (
	TmpDirs = declare(paths, Option[[]string]{
		Key: "io.tmp.dirs", NoDefault: true, Effect: ProcessRestart,
		OldKeys: []string{"taskmanager.tmp.dirs"},
		Doc:     "The directories for temporary files. Without it, tmp in WEIR_HOME.",
	})
	BlobStorageDirectory = declare(text, Option[string]{
		Key: "blob.storage.directory", NoDefault: true, Effect: ProcessRestart,
		Doc: "The directory for uploaded programs and other artifacts. Without it, blobs in WEIR_HOME.",
	})
	LogDirectory = declare(text, Option[string]{
		Key: "env.log.dir", NoDefault: true, Effect: ProcessRestart,
		Doc: "The directory for log files. Without it, log in WEIR_HOME.",
	})
	LogLevel = declare(choice[string]("TRACE", "DEBUG", "INFO", "WARN", "ERROR"), Option[string]{
		Key: "weir.log.level", Default: "INFO", Effect: OnHangup,
		OldKeys: []string{"env.log.level"},
		Doc:     "The least severity that is logged. A process that gets SIGHUP takes the value it then finds. The processes of jobs log INFO and above.",
	})
	LogMaxFiles = declare(integer, Option[int]{
		Key: "env.log.max", Default: 10, Effect: ProcessRestart, check: between(0, 1000),
		Doc: "How many older log files of a process are kept.",
	})
	LogMaxFileSize = declare(size, Option[Size]{
		Key: "weir.log.max-file-size", Default: 64 * memory.MB, Effect: ProcessRestart, check: atLeast(64 * memory.KB),
		Doc: "The size at which a log file is closed and a new one begun.",
	})
	PIDDirectory = declare(text, Option[string]{
		Key: "env.pid.dir", NoDefault: true, Effect: Now,
		Doc: "The directory for pid files and sockets. Without it, run in WEIR_HOME.",
	})
)
