package logging

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

// The keys that mean the same thing in every line.
const (
	KeyComponent   = "component"
	KeyJob         = "job"
	KeyVertex      = "vertex"
	KeySubtask     = "subtask"
	KeyAttempt     = "attempt"
	KeyCheckpoint  = "checkpoint"
	KeyTaskManager = "taskManager"
	KeyFrom        = "from"
	KeyTo          = "to"
	KeyReason      = "reason"
	KeyError       = "error"
)

// LevelTrace is below slog.LevelDebug.
const LevelTrace = slog.LevelDebug - 4

// Options say where and what a process logs.
type Options struct {
	// Dir is the log directory; it is made when missing. Empty means no file.
	Dir string
	// Role is what the process is: jobmanager, taskmanager, …
	Role string
	// Number tells processes of one role on one host apart.
	Number int
	// Host is the name of the machine; empty means its own name.
	Host string
	// Level is the least severity that is written; nil means INFO. A
	// *slog.LevelVar may change it later.
	Level slog.Leveler
	// MaxFileSize is the size in bytes at which a file is full. Zero means
	// 64 MB.
	MaxFileSize int64
	// MaxFiles is the number of full files that are kept besides the one
	// being written. Zero keeps none.
	MaxFiles int
	// Stderr receives every line too; nil means os.Stderr, io.Discard none.
	Stderr io.Writer
}

const defaultMaxFileSize = 64 << 20

// Open opens the log. The caller closes the File, after which lines go to
// standard error only. The File is nil when Dir is empty.
func Open(o Options) (*slog.Logger, *File, error) {
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	if o.MaxFileSize == 0 {
		o.MaxFileSize = defaultMaxFileSize
	}
	if o.Level == nil {
		o.Level = slog.LevelInfo
	}
	var file *File
	out := lanes{{to: o.Stderr}}
	if o.Dir != "" {
		name, err := o.fileName()
		if err != nil {
			return nil, nil, err
		}
		if file, err = openFile(filepath.Join(o.Dir, name), o.MaxFileSize, o.MaxFiles); err != nil {
			return nil, nil, err
		}
		file.lane = &lane{to: file}
		out = append(out, file.lane)
	}
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: o.Level, ReplaceAttr: nameTrace})), file, nil
}

// fileName is weir-ROLE-NUMBER-HOST.log.
func (o Options) fileName() (string, error) {
	host := o.Host
	if host == "" {
		var err error
		if host, err = os.Hostname(); err != nil {
			return "", fmt.Errorf("name the log file after the host: %w", err)
		}
	}
	name := fmt.Sprintf("weir-%s-%d-%s.log", o.Role, o.Number, host)
	if strings.ContainsAny(name, "/\\\x00") {
		return "", fmt.Errorf("log file name %q: role and host must not hold separators of paths", name)
	}
	return name, nil
}

func nameTrace(_ []string, a slog.Attr) slog.Attr {
	if level, ok := a.Value.Any().(slog.Level); ok && a.Key == slog.LevelKey && level == LevelTrace {
		return slog.String(slog.LevelKey, LevelName(level))
	}
	return a
}

// ParseLevel reads TRACE, DEBUG, INFO, WARN or ERROR, in either case.
func ParseLevel(name string) (slog.Level, error) {
	if strings.EqualFold(name, "TRACE") {
		return LevelTrace, nil
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return 0, fmt.Errorf("log level %q: allowed are TRACE, DEBUG, INFO, WARN, ERROR", name)
	}
	return level, nil
}

// LevelName is the name of a level as ParseLevel reads it.
func LevelName(level slog.Level) string {
	if level == LevelTrace {
		return "TRACE"
	}
	return level.String()
}
