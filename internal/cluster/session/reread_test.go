//go:build unix

package session_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/session"
)

// lineSink hands on each line of a log.
type lineSink chan string

func (l lineSink) Write(line []byte) (int, error) {
	l <- string(bytes.TrimSpace(line))
	return len(line), nil
}

// A configuration that is read again changes the level of the log at once; what
// else has changed is named.
func TestTheLevelFollowsTheConfiguration(t *testing.T) {
	t.Setenv(config.HomeVariable, t.TempDir())
	load := func(dynamic ...string) *config.Config {
		t.Helper()
		cfg, err := config.Load("", append(dynamic, "historyserver.archive.fs.dir="+t.TempDir(), "historyserver.web.port=0"))
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	ctx, cancel := context.WithCancel(t.Context())
	reread, log, ended := make(chan session.Reread), make(lineSink), make(chan error, 1)
	go func() {
		ended <- session.HistoryServer(ctx, session.Options{Config: load(), Stderr: log, Reread: reread})
	}()
	until := func(want string) {
		t.Helper()
		for line := range log {
			if strings.Contains(line, want) {
				return
			}
		}
	}
	until("history server started")
	reread <- session.Reread{Config: load("weir.log.level=DEBUG", "historyserver.archive.fs.refresh-interval=1 h", "pipeline.object-reuse=true", "python.executable=py", "weir.user.x=1", "execution.buffer-timeout.interval=1")}
	until(`msg="configuration read again" levelFrom=INFO levelTo=DEBUG`)
	var changed []string
	for len(changed) < 3 {
		changed = append(changed, <-log)
	}
	for _, want := range []string{
		`key=execution.buffer-timeout.interval takesEffect="with the next job"`,
		`key=historyserver.archive.fs.dir takesEffect="after a restart of the process"`,
		`key=historyserver.archive.fs.refresh-interval takesEffect="after a restart of the process"`,
	} {
		if !slices.ContainsFunc(changed, func(line string) bool { return strings.HasSuffix(line, want) }) {
			t.Errorf("%s is not told in %q", want, changed)
		}
	}
	reread <- session.Reread{Config: load("weir.log.level=ERROR")}
	until(`level=ERROR msg="configuration read again" levelFrom=DEBUG levelTo=ERROR`)
	reread <- session.Reread{Config: load("weir.log.level=WARN")}
	until(`levelFrom=ERROR levelTo=WARN`)
	reread <- session.Reread{Err: errors.New("invalid configuration: rest.prot")}
	until(`level=WARN msg="the configuration is not taken over, everything stays as it is" error="invalid configuration: rest.prot"`)
	cancel()
	for {
		select {
		case <-log:
			continue
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
			return
		}
	}
}
