package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/weirstream/weir/client"
)

// progress keeps one line on a terminal up to date; elsewhere it is silent.
type progress struct {
	w       *os.File // nil: not a terminal
	ask     func(context.Context) (client.Detail, error)
	last    time.Time
	started time.Time
	shown   bool
}

const progressInterval = 500 * time.Millisecond

func newProgress(w io.Writer, ask func(context.Context) (client.Detail, error)) *progress {
	p := &progress{ask: ask, started: time.Now(), last: time.Now()}
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb" {
			p.w = f
		}
	}
	return p
}

// show prints the job's state and what its sources have read and its sinks were
// given, at most twice a second.
func (p *progress) show(ctx context.Context) {
	if p.w == nil || time.Since(p.last) < progressInterval {
		return
	}
	p.last = time.Now()
	d, err := p.ask(ctx)
	if err != nil {
		return
	}
	running, tasks := 0, 0
	var read, written int64
	for i, v := range d.Vertices {
		tasks += max(0, v.Parallelism)
		running += v.Tasks["RUNNING"]
		if i == 0 {
			read = v.Metrics.ReadRecords
		}
		written = v.Metrics.ReadRecords
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s  %d of %d tasks running  %d records read, %d at the last vertex  %s",
		d.State, running, tasks, read, written, time.Since(p.started).Round(time.Second))
	p.shown = true
}

// clear removes the line.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
