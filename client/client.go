// Package client is the Go client of a cluster's REST API, which is Flink's.
//
// It promises that every call is one request with the caller's context, that an
// answer of the server that is an error is an *Error with the server's own text,
// and that nothing is retried unless the method says so. It never interprets
// more of an answer than it returns.
package client

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client talks to one cluster. It is safe for concurrent use.
type Client struct {
	address string
	base    string
	http    *http.Client
}

// New makes a client of the cluster whose REST server is at address, host:port.
func New(address string) *Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 4, IdleConnTimeout: idle}
	return &Client{address: address, base: "http://" + address + "/v1", http: &http.Client{Transport: transport}}
}

// idle is for how long a connection is kept that nobody uses: shorter than any server keeps
// it, which would close it just when the next request is on its way.
const idle = 10 * time.Second

// Address is the address of the cluster's REST server, host:port.
func (c *Client) Address() string { return c.address }

// Close lets go of idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Error is what the server answered instead of what was asked for.
type Error struct {
	Status int      // HTTP status
	Errors []string // the server's texts, the cause first
}

func (e *Error) Error() string {
	if len(e.Errors) == 0 && e.Status == http.StatusRequestEntityTooLarge {
		return "what was sent is larger than the cluster accepts; its rest.server.max-content-length is the limit"
	}
	if len(e.Errors) == 0 {
		return fmt.Sprintf("the server answered with status %d", e.Status)
	}
	return strings.TrimSpace(strings.Join(e.Errors, "\n"))
}

// IsStatus says that err is the server's answer with the given HTTP status.
func IsStatus(err error, status int) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == status
}

// call sends a request and reads the JSON answer into into.
func (c *Client) call(ctx context.Context, method, path string, body io.Reader, contentType string, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("read the cluster's answer to %s %s: %w", method, path, err)
	}
	if response.StatusCode >= 300 {
		e := &Error{Status: response.StatusCode}
		var told struct {
			Errors []string `json:"errors"`
		}
		if json.Unmarshal(text, &told) == nil {
			e.Errors = told.Errors
		}
		return e
	}
	if into == nil {
		return nil
	}
	if raw, ok := into.(*octets); ok {
		*raw = text
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read the cluster's answer to %s %s: %w", method, path, err)
	}
	return nil
}

func (c *Client) get(ctx context.Context, path string, into any) error {
	return c.call(ctx, http.MethodGet, path, nil, "", into)
}

// Overview is the state of the cluster.
type Overview struct {
	TaskManagers   int    `json:"taskmanagers"`
	SlotsTotal     int    `json:"slots-total"`
	SlotsAvailable int    `json:"slots-available"`
	JobsRunning    int    `json:"jobs-running"`
	JobsFinished   int    `json:"jobs-finished"`
	JobsCancelled  int    `json:"jobs-cancelled"`
	JobsFailed     int    `json:"jobs-failed"`
	Version        string `json:"flink-version"`
}

// Overview gives the state of the cluster.
func (c *Client) Overview(ctx context.Context) (Overview, error) {
	var o Overview
	return o, c.get(ctx, "/overview", &o)
}

// Job is a job as the list of jobs shows it. Times are Unix milliseconds; EndTime
// is -1 while the job runs.
type Job struct {
	ID        string         `json:"jid"`
	Name      string         `json:"name"`
	State     string         `json:"state"`
	StartTime int64          `json:"start-time"`
	EndTime   int64          `json:"end-time"`
	Duration  int64          `json:"duration"`
	Tasks     map[string]int `json:"tasks"`
}

// Jobs lists the jobs the cluster knows, running and ended.
func (c *Client) Jobs(ctx context.Context) ([]Job, error) {
	var answer struct {
		Jobs []Job `json:"jobs"`
	}
	return answer.Jobs, c.get(ctx, "/jobs/overview", &answer)
}

// Detail is a job with its vertices.
type Detail struct {
	ID       string         `json:"jid"`
	Name     string         `json:"name"`
	State    string         `json:"state"`
	Start    int64          `json:"start-time"`
	End      int64          `json:"end-time"`
	Duration int64          `json:"duration"`
	Counts   map[string]int `json:"status-counts"`
	Vertices []Vertex       `json:"vertices"`
	// LastRescale is the newest time for which a job whose parallelism follows the
	// slots there are did not run; nil: there was none.
	LastRescale *Rescale `json:"lastRescale"`
}

// A Rescale is a time for which a job did not run: until its tasks had ended, until
// new ones were placed, and until those ran.
type Rescale struct {
	Cause     string `json:"triggerCause"`
	Stopped   int64  `json:"stoppedTimestampInMillis"`
	Changes   string `json:"changes"` // of parallelisms; empty: none
	Outage    int64  `json:"outageInMillis"`
	Ending    int64  `json:"endingInMillis"`
	Placing   int64  `json:"placingInMillis"`
	Deploying int64  `json:"deployingInMillis"`
}

// Vertex is one vertex of a job, with the records it has read and written. Its
// parallelism is -1 while it is not decided; Reason says where it comes from, and
// is empty until then.
type Vertex struct {
	ID             string `json:"id"`
	Name           string `json:"name"`
	Parallelism    int    `json:"parallelism"`
	MaxParallelism int    `json:"maxParallelism"`
	Reason         string `json:"parallelismReason"`
	// Splits are what a source has to read; nil: nobody has said.
	Splits  *Splits        `json:"splits"`
	Status  string         `json:"status"`
	Tasks   map[string]int `json:"tasks"`
	Metrics struct {
		ReadRecords  int64 `json:"read-records"`
		WriteRecords int64 `json:"write-records"`
	} `json:"metrics"`
}

// Splits are the pieces of a source's input.
type Splits struct {
	Count int   `json:"count"`
	Bytes int64 `json:"bytes"`
}

// Job gives a job with its vertices.
func (c *Client) Job(ctx context.Context, id string) (Detail, error) {
	var d Detail
	return d, c.get(ctx, "/jobs/"+url.PathEscape(id), &d)
}

// Status gives the name of a job's state.
func (c *Client) Status(ctx context.Context, id string) (string, error) {
	var answer struct {
		Status string `json:"status"`
	}
	return answer.Status, c.get(ctx, "/jobs/"+url.PathEscape(id)+"/status", &answer)
}

// Cancel asks the cluster to cancel a job. A job that has been canceled already
// is no error.
func (c *Client) Cancel(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodPatch, "/jobs/"+url.PathEscape(id)+"?mode=cancel", strings.NewReader("{}"), jsonType, nil)
}

const jsonType = "application/json; charset=UTF-8"

// Exception is one entry of a job's exception history, newest first.
type Exception struct {
	Name        string `json:"exceptionName"`
	StackTrace  string `json:"stacktrace"`
	Timestamp   int64  `json:"timestamp"`
	Task        string `json:"taskName"`
	Endpoint    string `json:"endpoint"`
	TaskManager string `json:"taskManagerId"`
	// Cause is the innermost cause on one line; Weir's own field.
	Cause string `json:"cause"`
	// Chain are the texts around Cause, outermost first.
	Chain []string `json:"chain"`
	// Attempt is the number of the task's attempt; nil: the failure is of no one task.
	Attempt *int `json:"attempt"`
	// Process is set when the job's process died.
	Process *ProcessEnd `json:"process"`
	// Record is the record that was being processed, when known.
	Record *Record `json:"record"`
	// Decision is what was done about the failure: "restarted …" or "not restarted
	// because …".
	Decision string `json:"decision"`
	// Concurrent are the failures of other tasks in the same restart decision,
	// Folded those that only followed from this one.
	Concurrent []Exception `json:"concurrentExceptions"`
	Folded     []Exception `json:"folded"`
}

// ProcessEnd is how a process died.
type ProcessEnd struct {
	Exit       int    `json:"exit-code"`
	Signal     string `json:"signal"`      // empty: none killed it
	PeakMemory int64  `json:"peak-memory"` // bytes; 0: not known
	Stderr     string `json:"stderr"`      // its last lines
}

// Record is a record as people find it again.
type Record struct {
	Origin string `json:"origin"`
	Value  string `json:"value"`
}

// Exceptions gives a job's exception history, newest first.
func (c *Client) Exceptions(ctx context.Context, id string) ([]Exception, error) {
	var answer struct {
		History struct {
			Entries []Exception `json:"entries"`
		} `json:"exceptionHistory"`
	}
	return answer.History.Entries, c.get(ctx, "/jobs/"+url.PathEscape(id)+"/exceptions", &answer)
}

// Program is an uploaded program.
type Program struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Uploaded int64  `json:"uploaded"`
}

// Programs lists the uploaded programs.
func (c *Client) Programs(ctx context.Context) ([]Program, error) {
	var answer struct {
		Files []Program `json:"files"`
	}
	return answer.Files, c.get(ctx, "/jars", &answer)
}

// Upload sends a program under name and gives the id it can be run by.
func (c *Client) Upload(ctx context.Context, name string, program io.Reader) (id string, err error) {
	pr, pw := io.Pipe()
	form := multipart.NewWriter(pw)
	sent := make(chan struct{})
	go func() { // ends when the request has read, or dropped, the pipe
		defer close(sent)
		part, err := form.CreateFormFile("jarfile", name)
		if err == nil {
			_, err = io.Copy(part, program)
		}
		if err == nil {
			err = form.Close()
		}
		pw.CloseWithError(err)
	}()
	var answer struct {
		Filename string `json:"filename"`
	}
	err = c.call(ctx, http.MethodPost, "/jars/upload", pr, form.FormDataContentType(), &answer)
	pr.CloseWithError(errors.New("the upload has ended"))
	<-sent
	return answer.Filename[strings.LastIndexByte(answer.Filename, '/')+1:], err
}

// RunRequest says how to run an uploaded program.
type RunRequest struct {
	Arguments   []string `json:"programArgsList,omitempty"`
	Parallelism int      `json:"parallelism,omitzero"`
	JobID       string   `json:"jobId,omitzero"`
	// Savepoint is what the job begins with, a savepoint or a retained checkpoint;
	// AllowNonRestored lets state go that the program has no operator for. ClaimMode is
	// NO_CLAIM or CLAIM; empty: what the configuration says.
	Savepoint        string `json:"savepointPath,omitzero"`
	AllowNonRestored bool   `json:"allowNonRestoredState,omitzero"`
	ClaimMode        string `json:"claimMode,omitzero"`

	Configuration map[string]string `json:"flinkConfiguration,omitempty"`
}

// Run runs an uploaded program and gives the id of its job.
func (c *Client) Run(ctx context.Context, program string, r RunRequest) (job string, err error) {
	body, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	var answer struct {
		JobID string `json:"jobid"`
	}
	return answer.JobID, c.call(ctx, http.MethodPost, "/jars/"+url.PathEscape(program)+"/run", bytes.NewReader(body), jsonType, &answer)
}

// Delete removes an uploaded program.
func (c *Client) Delete(ctx context.Context, program string) error {
	return c.call(ctx, http.MethodDelete, "/jars/"+url.PathEscape(program), nil, "", nil)
}

// Ended says whether a job in the given state will not change any more.
func Ended(state string) bool {
	return state == "FINISHED" || state == "FAILED" || state == "CANCELED" || state == "SUSPENDED"
}

// Wait polls a job until it has ended, quickly at first, and gives its last
// state. observe, if not nil, is told each state seen.
func (c *Client) Wait(ctx context.Context, id string, observe func(state string)) (string, error) {
	for pause := 2 * time.Millisecond; ; pause = min(pause+pause/4+time.Millisecond, 100*time.Millisecond) {
		state, err := c.Status(ctx, id)
		if err != nil {
			return "", err
		}
		if observe != nil {
			observe(state)
		}
		if Ended(state) {
			return state, nil
		}
		select {
		case <-ctx.Done():
			return state, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}
