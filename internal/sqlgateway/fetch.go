package sqlgateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/session"
)

const (
	// pageRows is how many rows a page has at most.
	pageRows = 5000
	// patience is how long a request waits for a result or its next row before it is
	// answered that there is none yet.
	patience = 100 * time.Millisecond
	// gathering is how long a page with rows waits for more of them.
	gathering = 2 * time.Millisecond
)

// A page is some rows of a result.
type page struct {
	batches []*batch.Columns
	end     bool
}

// pages are the rows of an operation as they are asked for: the page with the current
// token is made of new rows, the one before is kept for who did not get it.
type pages struct {
	token int64 // of the next page
	last  page  // the one before
	rest  *batch.Columns
	drawn bool // the rows have ended
	err   error
	over  atomic.Bool // that they have ended was told
}

// ended reports whether the end was told. It may be called from any goroutine.
func (p *pages) ended() bool { return p.over.Load() }

// page gives the rows for a token, and the token after them. It is called with the
// operation's fetching held.
func (p *pages) page(ctx context.Context, rows session.Rows, token int64) (page, int64, error) {
	switch {
	case token == p.token:
	case token == p.token-1:
		return p.last, p.token, nil
	case p.token == 0:
		return page{}, 0, &session.Error{Class: session.ClassExecution, Text: fmt.Sprintf("Expecting token to be 0, but found %d.", token)}
	default:
		return page{}, 0, &session.Error{Class: session.ClassExecution, Text: fmt.Sprintf("Expecting token to be %d or %d, but found %d.", p.token, p.token-1, token)}
	}
	next := p.next(ctx, rows)
	if len(next.batches) == 0 && p.err != nil {
		return page{}, 0, &session.Error{Class: session.ClassExecution, Text: "Error while retrieving result.", Cause: p.err}
	}
	if next.end {
		p.over.Store(true)
		return next, 0, nil
	}
	p.last = next
	p.token++
	return next, p.token, nil
}

// next draws up to a page of rows. It waits for the first of them, but not long.
func (p *pages) next(ctx context.Context, rows session.Rows) page {
	var made page
	wait, n := patience, 0
	for n < pageRows {
		b := p.draw(ctx, rows, wait)
		if b == nil {
			break
		}
		if b.Len() == 0 {
			continue
		}
		if over := n + b.Len() - pageRows; over > 0 {
			b, p.rest = cut(b, b.Len()-over)
		}
		made.batches = append(made.batches, b)
		n += b.Len()
		wait = gathering
	}
	made.end = n == 0 && p.drawn
	return made
}

// draw gives the next batch, or nil when none came in time or none will come.
func (p *pages) draw(ctx context.Context, rows session.Rows, wait time.Duration) *batch.Columns {
	if b := p.rest; b != nil {
		p.rest = nil
		return b
	}
	if p.drawn || p.err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	b, err := rows.Next(ctx)
	switch {
	case err == nil:
		return b
	case errors.Is(err, io.EOF):
		p.drawn = true
	case !session.GaveUp(ctx, err):
		p.err = err
	}
	return nil
}

// cut splits a batch before its n-th row.
func cut(b *batch.Columns, n int) (head, tail *batch.Columns) {
	sel := b.Sel
	if sel == nil {
		sel = make([]int32, b.N)
		for i := range sel {
			sel[i] = int32(i)
		}
	}
	h, t := *b, *b
	h.Sel, t.Sel = sel[:n:n], sel[n:]
	return &h, &t
}
