package sqlclient

import (
	"context"
	"fmt"
	"time"
)

// patience is how long a statement takes before its progress is shown, and between one
// look at it and the next.
const patience = time.Second

// A progress is a line on the terminal that says that a statement goes on.
type progress struct{ stop func() }

// progress shows how long a statement has run.
func (c *Client) progress(ctx context.Context) progress { return c.progressOf(ctx, "") }

// progressOf shows how far a job is too, if that can be found out. It must be stopped
// before anything else is printed.
func (c *Client) progressOf(ctx context.Context, job string) progress {
	if c.Terminal == nil {
		return progress{func() {}}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { // ends when it is stopped
		defer close(done)
		c.showProgress(ctx, job)
	}()
	return progress{func() {
		cancel()
		<-done
	}}
}

func (c *Client) showProgress(ctx context.Context, job string) {
	began, shown := time.Now(), false
	ticker := time.NewTicker(patience)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			if shown {
				c.printf("\r\x1b[K")
			}
			return
		case <-ticker.C:
		}
		line := fmt.Sprintf("%d s", int(time.Since(began).Seconds()))
		if job != "" && c.Progress != nil {
			if text := c.Progress(ctx, job); text != "" {
				line += ", " + text
			}
		}
		c.printf("\r\x1b[K%s", line)
		shown = true
	}
}
