package filesystem

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/connector/files"
	"github.com/weirstream/weir/internal/memory"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/expr"
)

// written says when the files of a table are closed, and what tells that they are there.
type written struct {
	size     memory.Size   // of a file; 0: none was set
	interval time.Duration // from a file's first row; 0: none was set
	// announced says that a file of no bytes, called success, is made where there are new
	// files.
	announced bool
	success   string
}

// sinkOptions are those of tables that are written. Those without an effect are Flink's for
// streams, which say when it looks and how long it waits.
var sinkOptions = []string{"sink.rolling-policy.file-size", "sink.rolling-policy.rollover-interval", "sink.rolling-policy.inactivity-interval",
	"sink.rolling-policy.check-interval", "sink.partition-commit.trigger", "sink.partition-commit.delay", "sink.partition-commit.watermark-time-zone",
	"sink.partition-commit.policy.kind", "sink.partition-commit.success-file.name"}

// set takes an option; known is false if it is none of these.
func (w *written) set(key, value string) (known bool, err error) {
	switch key {
	case "sink.rolling-policy.file-size":
		if w.size, err = memory.Parse(value); err == nil && w.size <= 0 {
			err = fmt.Errorf("'%s' is not more than nothing", value)
		}
	case "sink.rolling-policy.rollover-interval":
		if w.interval, err = config.ParseDuration(value); err == nil && w.interval < time.Millisecond {
			err = fmt.Errorf("'%s' is less than a millisecond", value)
		}
	case "sink.rolling-policy.inactivity-interval", "sink.rolling-policy.check-interval", "sink.partition-commit.delay":
		_, err = config.ParseDuration(value)
	case "sink.partition-commit.trigger":
		if value != "process-time" && value != "partition-time" {
			err = fmt.Errorf("'%s' is neither process-time nor partition-time", value)
		}
	case "sink.partition-commit.watermark-time-zone":
		_, err = time.LoadLocation(value)
	case "sink.partition-commit.policy.kind":
		w.announced, err = policies(value)
	case "sink.partition-commit.success-file.name":
		if w.success = value; value != filepath.Base(value) || !filepath.IsLocal(value) || value == "." {
			err = fmt.Errorf("'%s' is no name of a file", value)
		}
	default:
		return false, nil
	}
	return true, err
}

// policies reads what is done when rows are committed.
func policies(text string) (announced bool, err error) {
	for kind := range strings.SplitSeq(text, ",") {
		switch kind = strings.TrimSpace(kind); kind {
		case "success-file":
			announced = true
		case "metastore":
			//lint:ignore ST1005 Flink's words
			return false, errors.New("Can not configure a 'metastore' partition commit policy for a file system table. You can only configure 'metastore' partition commit policy for a hive table.")
		case "custom":
			return false, errors.New("'custom' is a class of Java; there is success-file")
		default:
			return false, fmt.Errorf("'%s' is not known; there is success-file", kind)
		}
	}
	return announced, nil
}

// settled says when files are closed, and what tells that they are there; empty: nothing
// does. Time closes the files of streams only.
func (w *written) settled(table string, session *expr.Session) (rolling files.Rolling, success string, err error) {
	rolling.Size = int64(w.size)
	if session.Streaming {
		rolling.Interval = w.interval
	}
	switch {
	case !w.announced:
		return rolling, "", nil
	case session.Streaming:
		return rolling, "", fmt.Errorf("table %s: option 'sink.partition-commit.policy.kind': a stream has no end that a file could tell of; SET 'execution.runtime-mode' = 'batch', or remove the option", table)
	}
	return rolling, cmp.Or(w.success, "_SUCCESS"), nil
}

// most bounds the subtasks of a sink; 0: it does not. Who knows all new files removes old
// ones, and tells of the new ones.
func most(overwrite bool, success string) int {
	if overwrite || success != "" {
		return 1
	}
	return 0
}

// keep lets a task that ends well leave the directory of a table, which can be read though it
// may have no rows. It is called before the sink is built, which takes an empty one away.
func keep(c *operator.Context, table, dir string) {
	c.OnClose(func(failed bool) {
		if failed {
			return
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			operator.Abort(fmt.Errorf("write table %s: %w", table, err))
		}
	})
}
