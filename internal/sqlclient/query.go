package sqlclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weirstream/weir/internal/sqlgateway/client"
)

// showQuery prints the rows of a query, or lets a person look at them.
func (c *Client) showQuery(ctx context.Context, r *client.Result, s settings, began time.Time) error {
	switch {
	case s.mode == tableauMode, c.Terminal == nil && !s.modeGiven:
		if s.batch {
			return c.showBatch(ctx, r, s, began)
		}
		return c.showStream(ctx, r, s, began)
	case c.Terminal == nil:
		//lint:ignore ST1005 Flink's words
		return errors.New(onlyTableau)
	}
	return c.view(ctx, r, s)
}

// showBatch prints all rows when the last has come, which says how wide the columns are.
func (c *Client) showBatch(ctx context.Context, r *client.Result, s settings, began time.Time) error {
	p := c.progressOf(ctx, r.Job)
	rows, err := all(ctx, r)
	p.stop()
	if interrupted(ctx, err) {
		c.printf("Query terminated, received a total of %s\n", counted(len(rows)))
		return nil
	}
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		c.printf("Empty set%s\n", s.cost(began))
		return nil
	}
	c.printTable(byContent(c.Out, r.Columns, rows, nullText, s.columns), rows)
	c.printf("%s in set%s\n", counted(len(rows)), s.cost(began))
	return nil
}

// showStream prints rows as they come.
func (c *Client) showStream(ctx context.Context, r *client.Result, s settings, began time.Time) error {
	t := byType(c.Out, r.Columns, s.columns)
	t.header()
	n := 0
	for {
		rows, err := r.Next(ctx)
		for _, row := range rows {
			t.row(row)
		}
		n += len(rows)
		switch {
		case interrupted(ctx, err):
			c.printf("Query terminated, received a total of %s\n", counted(n))
			return nil
		case errors.Is(err, io.EOF):
			if n > 0 {
				t.rule()
			}
			c.printf("Received a total of %s%s\n", counted(n), s.cost(began))
			return nil
		case err != nil:
			return err
		}
	}
}

func interrupted(ctx context.Context, err error) bool {
	return err != nil && errors.Is(err, context.Canceled) && ctx.Err() != nil
}

// cost is how long a query has taken, if that is to be told.
func (s settings) cost(began time.Time) string {
	if !s.timeCost {
		return ""
	}
	return fmt.Sprintf(" (%.2f seconds)", time.Since(began).Seconds())
}
