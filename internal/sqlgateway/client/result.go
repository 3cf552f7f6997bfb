package client

import (
	"context"
	"encoding/json/jsontext"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sqlgateway/wire"
	"github.com/weirstream/weir/types"
)

// A Row is one row of a result; a field that is nil is NULL.
type Row struct {
	Kind   batch.RowKind
	Fields []*string
}

// A Result is what came of a statement. One goroutine pulls its rows.
type Result struct {
	Columns []types.Field
	// Query says that the rows are a query's, Content that they tell something.
	Query, Content bool
	// Job is the job the statement began; empty: none.
	Job string

	client    *Client
	operation string // path
	next      string // path of the next page; empty: there is none
	idle      bool   // the page before had no rows
	first     []Row  // those that came with the answer
	err       error
}

// page is an answer with results.
type page struct {
	ResultType string `json:"resultType"`
	Query      bool   `json:"isQueryResult"`
	Job        string `json:"jobID"`
	Kind       string `json:"resultKind"`
	Results    struct {
		Columns []struct {
			Name    string         `json:"name"`
			Type    jsontext.Value `json:"logicalType"`
			Comment string         `json:"comment"`
		} `json:"columns"`
		Data []struct {
			Kind   string    `json:"kind"`
			Fields []*string `json:"fields"`
		} `json:"data"`
	} `json:"results"`
	Next string `json:"nextResultUri"`
}

// Execute carries a statement out, and gives its result once the statement has had its
// effect. If ctx ends before, the statement is cancelled.
func (c *Client) Execute(ctx context.Context, statement string) (*Result, error) {
	handle, err := c.beginStatement(ctx, statement)
	if err != nil {
		return nil, err
	}
	r := &Result{client: c, operation: c.session + "/operations/" + handle}
	r.next = r.operation + "/result/0?rowFormat=PLAIN_TEXT"
	for {
		p, err := r.fetch(ctx)
		switch {
		case err != nil:
			r.Close()
			return nil, err
		case p.ResultType != "NOT_READY":
			return r, r.begin(p)
		}
		if err := pause(ctx); err != nil {
			r.Close()
			return nil, err
		}
	}
}

// beginStatement hands a statement over and gives the handle by which it is cancelled. So
// it waits for that beyond the end of ctx, though not for long.
func (c *Client) beginStatement(ctx context.Context, statement string) (handle string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	beyond, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-beyond.Done():
		case <-time.After(closeTimeout):
			cancel()
		}
	})
	defer stop()
	var begun struct {
		Handle string `json:"operationHandle"`
	}
	body := map[string]any{"statement": statement, "executionTimeout": 0}
	err = c.call(beyond, http.MethodPost, c.session+"/statements", body, &begun)
	return begun.Handle, err
}

// begin takes the first page.
func (r *Result) begin(p *page) error {
	r.Query, r.Content, r.Job = p.Query, p.Kind == "SUCCESS_WITH_CONTENT", p.Job
	for _, c := range p.Results.Columns {
		t, err := wire.ParseType(c.Type)
		if err != nil {
			r.Close()
			return fmt.Errorf("read the type of column %s: %w", c.Name, err)
		}
		r.Columns = append(r.Columns, types.Field{Name: c.Name, Type: t, Comment: c.Comment})
	}
	r.first, r.err = rows(p)
	return nil
}

// between is how long the client waits before it asks again for what was not there. A
// gateway may have waited before it said so.
const between = 5 * time.Millisecond

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(between):
		return nil
	}
}

// Next gives some rows, or none if none have come yet. At the end the error is io.EOF.
func (r *Result) Next(ctx context.Context) ([]Row, error) {
	if r.first != nil || r.err != nil {
		first, err := r.first, r.err
		r.first = nil
		return first, err
	}
	if r.next == "" {
		return nil, io.EOF
	}
	if r.idle {
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
	p, err := r.fetch(ctx)
	if err != nil {
		return nil, err
	}
	r.idle = len(p.Results.Data) == 0
	return rows(p)
}

// fetch gets the next page.
func (r *Result) fetch(ctx context.Context) (*page, error) {
	p := &page{}
	if err := r.client.call(ctx, http.MethodGet, r.next, nil, p); err != nil {
		return nil, err
	}
	r.next = ""
	if p.Next != "" && p.ResultType != "EOS" {
		u, err := url.Parse(p.Next)
		if err != nil {
			return nil, fmt.Errorf("read where the next page is: %w", err)
		}
		_, path, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/") // after the version
		r.next = "/" + path + "?rowFormat=PLAIN_TEXT"
	}
	return p, nil
}

func rows(p *page) ([]Row, error) {
	var all []Row
	for _, d := range p.Results.Data {
		kind, ok := wire.ParseRowKind(d.Kind)
		if !ok {
			return nil, fmt.Errorf("read a row: %q is no row kind", d.Kind)
		}
		all = append(all, Row{kind, d.Fields})
	}
	return all, nil
}

// closeTimeout bounds how long a statement is asked to end.
const closeTimeout = 10 * time.Second

// Close gives the statement up: a query whose rows have not ended is cancelled.
func (r *Result) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = r.client.call(ctx, http.MethodDelete, r.operation+"/close", nil, nil) // the session's end closes it too
}
