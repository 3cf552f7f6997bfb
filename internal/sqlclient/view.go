package sqlclient

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/weirstream/weir/internal/sqlgateway/client"
)

// view lets a person look at the rows of a query while they come.
func (c *Client) view(ctx context.Context, r *client.Result, s settings) error {
	ctx, cancel := context.WithCancel(ctx)
	changes := s.mode == changelogMode
	rows := &store{changes: changes, limit: s.rows}
	var pulling sync.WaitGroup
	pulling.Go(func() { pull(ctx, r, rows) })
	defer pulling.Wait()
	defer cancel()
	restore, err := raw(c.Terminal)
	if err != nil {
		return err
	}
	c.printf("\x1b[?1049h\x1b[?25l")
	err = c.look(ctx, newScreen(r.Columns, changes, s.columns), rows)
	c.printf("\x1b[?25h\x1b[?1049l")
	if broken := restore(); err == nil {
		err = broken
	}
	if err == nil {
		c.info("Result retrieval cancelled.")
	}
	return err
}

// pull takes rows until there are no more, or ctx ends.
func pull(ctx context.Context, r *client.Result, into *store) {
	for {
		rows, err := r.Next(ctx)
		if ctx.Err() != nil {
			return
		}
		into.add(rows, err)
		if err != nil {
			return
		}
	}
}

// look draws the screen and follows the keys until the view is left or the query fails.
func (c *Client) look(ctx context.Context, s *screen, rows *store) error {
	var drawn string
	var next time.Time
	for ctx.Err() == nil {
		s.columns, s.height = size(c.Terminal)
		every := intervals[s.interval].every
		if len(s.rows) == 0 && every > 0 { // the first rows are shown when they come
			every = min(every, intervals[1].every)
		}
		if now := time.Now(); every >= 0 && !now.Before(next) {
			next = now.Add(every)
			if err := s.update(rows, now); err != nil {
				return err
			}
		}
		if text := strings.Join(s.draw(), "\x1b[K\r\n") + "\x1b[K\x1b[J"; text != drawn {
			c.printf("\x1b[H%s", text)
			drawn = text
		}
		k, err := key(c.Terminal)
		if err != nil {
			return err
		}
		leave, refresh := s.press(k)
		if leave {
			return nil
		}
		if refresh {
			next = time.Time{}
		}
	}
	return nil
}

// update takes what the store holds now.
func (s *screen) update(rows *store, now time.Time) error {
	all, _, err := rows.snapshot()
	if err != nil {
		return err
	}
	s.rows, s.updated = all, now.Format("15:04:05.000")
	return nil
}
