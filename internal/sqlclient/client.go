package sqlclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/internal/sqlgateway/client"
)

// A Client carries out statements at a gateway and prints what comes of them. One
// goroutine uses it.
type Client struct {
	Gateway *client.Client
	Out     io.Writer
	// Terminal is what a person sits at; nil: nobody does.
	Terminal *os.File
	// Color allows escape codes in messages.
	Color bool
	// History is the file of statements that were typed.
	History string
	// Interrupts tells of each Ctrl-C while a statement runs; nil: none comes.
	Interrupts <-chan os.Signal
	// Progress, if set, says how far a job is, in a few words.
	Progress func(ctx context.Context, job string) string
}

// ErrFailed says that a statement failed, of which the user has been told.
var ErrFailed = errors.New("a statement failed")

// errQuit ends the client.
var errQuit = errors.New("quit")

// Executing says that a file is read and not a person.
func (c *Client) Executing() {
	c.info("Executing SQL from file.")
	c.printf("\nCommand history file path: %s\n", c.History)
}

// Failed is ErrFailed, with the place of the statement: what is wrong with it has been
// told, with places that count from its own beginning.
type Failed struct {
	Line      int // of the text, from 1, in which the statement begins
	Statement string
}

func (f *Failed) Error() string {
	first, rest, _ := strings.Cut(f.Statement, "\n")
	if runes := []rune(first); len(runes) > maxFirst {
		first, rest = string(runes[:maxFirst]), "more"
	}
	if rest != "" {
		first += " …"
	}
	return fmt.Sprintf("the statement in line %d failed: %s", f.Line, first)
}

// maxFirst is how much of the first line of a statement that has failed is shown.
const maxFirst = 120

func (f *Failed) Unwrap() error { return ErrFailed }

// Script carries out the statements of a text, up to the first that fails, which it
// returns as a Failed.
func (c *Client) Script(ctx context.Context, text string) error {
	return c.lastPart(ctx, text, 1)
}

// lastPart carries out what is left of a text, from that line on.
func (c *Client) lastPart(ctx context.Context, text string, line int) error {
	err := c.part(ctx, text, line)
	if errors.Is(err, errQuit) {
		return nil
	}
	if err == nil {
		c.printf("%s", prompt)
	}
	return err
}

// part carries out statements that begin in that line of a text. When ctx ends no other
// begins, and whether the last has given all its rows is not known.
func (c *Client) part(ctx context.Context, text string, line int) error {
	for _, p := range parse.Split(text) {
		c.printf("%s", prompt)
		switch err := c.run(ctx, p.Text); {
		case errors.Is(err, ErrFailed):
			return &Failed{Line: line + strings.Count(text[:p.Start], "\n"), Statement: p.Text}
		case err != nil:
			return err
		case ctx.Err() != nil:
			return fmt.Errorf("carry out statements: %w", context.Cause(ctx))
		}
		c.printf("\n")
	}
	return nil
}

// Init carries out the statements of a text, which may only prepare the session. name is
// where the text is from.
func (c *Client) Init(ctx context.Context, name, text string) error {
	for _, p := range parse.Split(text) {
		if err := c.Gateway.Configure(ctx, p.Text); err != nil {
			c.printf("Failed to initialize from sql script: %s. Please refer to the LOG for detailed error messages.\n", name)
			return fmt.Errorf("initialize from %s: %s", name, client.Root(err))
		}
	}
	c.printf("Successfully initialized from sql script: %s\n", name)
	return nil
}

// run carries one statement out. The user is told when it fails, and ErrFailed returned.
func (c *Client) run(ctx context.Context, statement string) error {
	switch command := bare(statement); strings.ToUpper(command) {
	case "QUIT", "EXIT":
		c.info("Exiting Flink SQL CLI Client...")
		return errQuit
	case "HELP":
		c.printf("%s", help())
		return nil
	case "CLEAR":
		if c.Terminal != nil {
			c.printf("\x1b[H\x1b[2J")
		}
		return nil
	}
	s, err := c.execute(ctx, statement)
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) {
		c.info("Query interrupted")
		if ctx.Err() != nil {
			return fmt.Errorf("carry out a statement: %w", context.Cause(ctx))
		}
		return ErrFailed
	}
	text := client.Root(err)
	if gateway, ok := errors.AsType[*client.Error](err); ok && s.verbose {
		text = "org.apache.flink.runtime.rest.util.RestClientException: [" + strings.Join(gateway.Texts, ", ") + "]"
	}
	c.failed(text)
	return ErrFailed
}

// execute carries a statement out and prints its result.
func (c *Client) execute(ctx context.Context, statement string) (settings, error) {
	began := time.Now()
	all, err := c.Gateway.Settings(ctx)
	if err != nil {
		return settings{}, err
	}
	s, broken := settingsOf(all)
	ctx, stop := c.interruptible(ctx)
	defer stop()
	r, err := c.await(ctx, s, statement)
	if err != nil {
		return s, err
	}
	defer r.Close()
	if r.Query {
		if broken != nil {
			return s, broken
		}
		return s, c.showQuery(ctx, r, s, began)
	}
	return s, c.showOther(ctx, r, s)
}

// interruptible gives a context that ends when the user interrupts.
func (c *Client) interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	if c.Interrupts == nil {
		return ctx, cancel
	}
	for len(c.Interrupts) > 0 { // what was pressed before does not count
		<-c.Interrupts
	}
	done := make(chan struct{})
	go func() { // ends with the statement
		defer close(done)
		select {
		case <-c.Interrupts:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel()
		<-done
	}
}

// await carries the statement out. What takes long shows that it still goes on.
func (c *Client) await(ctx context.Context, s settings, statement string) (*client.Result, error) {
	p := c.progress(ctx)
	defer p.stop()
	return c.Gateway.Execute(ctx, statement)
}

// showOther prints what came of a statement that is no query.
func (c *Client) showOther(ctx context.Context, r *client.Result, s settings) error {
	rows, err := all(ctx, r)
	switch {
	case err != nil:
		return err
	case r.Job != "" && s.dmlSync:
		c.info("Complete execution of the SQL update statement.")
	case r.Job != "":
		c.info("Submitting SQL update statement to the cluster...")
		c.info("SQL update statement has been successfully submitted to the cluster:")
		c.printf("Job ID: %s\n\n", r.Job)
	case !r.Content:
		c.info("Execute statement succeeded.")
	case len(rows) == 0:
		c.printf("Empty set\n")
	default:
		const noLimit = 1<<31 - 1
		c.printTable(byContent(c.Out, r.Columns, rows, "", noLimit), rows)
		c.printf("%s in set\n", counted(len(rows)))
	}
	return nil
}

func (c *Client) printTable(t *tableau, rows []client.Row) {
	t.header()
	for _, row := range rows {
		t.row(row)
	}
	t.rule()
}

// all pulls every row.
func all(ctx context.Context, r *client.Result) ([]client.Row, error) {
	var rows []client.Row
	for {
		more, err := r.Next(ctx)
		rows = append(rows, more...)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
	}
}

func counted(n int) string {
	if n > 1 {
		return fmt.Sprintf("%d rows", n)
	}
	return fmt.Sprintf("%d row", n)
}
