package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/weirstream/weir/internal/cluster/session"
)

// errTerminalGone ends a process whose terminal is gone.
var errTerminalGone = errors.New("the terminal is gone")

// hangups turns the signal SIGHUP into another look at the configuration, for a
// process that runs until ctx ends.
//
// A process in a terminal also gets the signal when its terminal is gone. It then
// ends, unless it was started to go on, as by nohup. What stop waits for ends with
// ctx.
func (p *invocation) hangups(ctx context.Context, end context.CancelCauseFunc) (reread <-chan session.Reread, stop func()) {
	attends := !signal.Ignored(syscall.SIGHUP) && hasTerminal()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	out := make(chan session.Reread)
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
			}
			if attends && !hasTerminal() {
				end(errTerminalGone)
				return
			}
			cfg, err := p.config()
			select {
			case <-ctx.Done():
			case out <- session.Reread{Config: cfg, Err: err}:
			}
		}
	})
	return out, func() {
		signal.Stop(signals)
		done.Wait()
	}
}

// hasTerminal reports whether a terminal controls this process, which is no
// longer so once the terminal is gone.
func hasTerminal() bool {
	f, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	_ = f.Close() // nothing was written
	return true
}
