package session

import (
	"context"
	"errors"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// An Engine carries out the statements of any number of sessions. Its methods may be
// called from any goroutine.
type Engine interface {
	// Open begins a session. The settings stand above those of the engine, and are not
	// checked until a statement needs them.
	Open(ctx context.Context, o Options) (Session, error)
}

// Options are what a session begins with.
type Options struct {
	// Name is what the user calls the session; it may be empty.
	Name string
	// Settings are its own keys and values.
	Settings map[string]string
	// Resources is the value of table.resources.download-dir, a directory of the
	// session's own that nobody has made; empty: it has none.
	Resources string
}

// A Session is what names and settings a user's statements see. Execute, Configure and
// Complete are called one at a time, the others from any goroutine.
type Session interface {
	// Execute carries out one statement, with the settings above the session's for it
	// alone. It returns when the statement has had its effect: a query or an INSERT when
	// its job is submitted, or, with table.dml-sync, when the INSERT's job has ended.
	// When ctx ends before, the statement is given up and its job cancelled.
	Execute(ctx context.Context, statement string, settings map[string]string) (*Result, error)
	// Configure carries out a statement that prepares the session: SET, USE, CREATE and
	// their like. Any other is refused with ErrNotConfiguring.
	Configure(ctx context.Context, statement string) error
	// Complete gives what may stand at a place of an unfinished statement, counted in
	// bytes.
	Complete(ctx context.Context, statement string, position int) ([]string, error)
	// Settings gives all keys and values that hold in the session. It is called often
	// and must not wait for a statement.
	Settings() map[string]string
	// Close ends the session and the jobs of its queries; jobs of INSERT go on.
	Close() error
}

// ErrNotConfiguring refuses a statement that does not prepare a session.
var ErrNotConfiguring = errors.New("the statement does not configure a session")

// A Result is what came of a statement.
type Result struct {
	// Schema are the columns of the rows.
	Schema []types.Field
	// Content says that the rows tell something; if not, they say no more than OK.
	Content bool
	// Query says that the rows are a query's, which may have no end.
	Query bool
	// Job is the job the statement began, in hexadecimal; empty: none.
	Job string
	// Rows are to be closed.
	Rows Rows
	// Show writes value i of a column, which is not NULL, as results show it, in the
	// session's time zone.
	Show func(t types.Type, c *batch.Column, i int) string
}

// Rows are pulled by one goroutine.
type Rows interface {
	// Next waits for rows; the batch may be empty, and is the caller's until the next
	// call. At the end the error is io.EOF; when ctx ends, its error, and Next may be
	// called again.
	Next(ctx context.Context) (*batch.Columns, error)
	// Close cancels the job of a query that has not ended. It may be called at any time,
	// also while Next waits, and more than once.
	Close() error
}

// Beyond gives a context that ends so much time after ctx has, for what is to be carried
// through, or at least known to be done or not, though nobody waits for it any more.
func Beyond(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	beyond, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-beyond.Done():
		case <-time.After(d):
			cancel()
		}
	})
	return beyond, func() {
		stop()
		cancel()
	}
}

// GaveUp reports whether an error says no more than that ctx has ended: what waited may be
// called again. A failure that comes when ctx ends is told apart from that.
func GaveUp(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}
