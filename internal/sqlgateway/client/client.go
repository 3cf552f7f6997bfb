package client

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// heartbeat is how often the gateway is told that the session is in use.
const heartbeat = time.Minute

// A Client has a session at a gateway. Its methods may be called from any goroutine.
type Client struct {
	http    *http.Client
	base    string // of the gateway, with the version
	session string // path of the session

	stop    chan struct{}
	running sync.WaitGroup
	once    sync.Once
}

// Options are what a session begins with.
type Options struct {
	Name     string
	Settings map[string]string
}

// Dial opens a session at the gateway at host:port, or at a URL.
func Dial(ctx context.Context, address string, o Options) (*Client, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 2, IdleConnTimeout: 10 * time.Second}
	return open(ctx, &Client{http: &http.Client{Transport: transport}, base: strings.TrimSuffix(address, "/")}, o)
}

// Embed opens a session at a gateway within this process.
func Embed(ctx context.Context, gateway http.Handler, o Options) (*Client, error) {
	return open(ctx, &Client{http: &http.Client{Transport: direct{gateway}}, base: "http://embedded"}, o)
}

func open(ctx context.Context, c *Client, o Options) (*Client, error) {
	version, err := c.negotiate(ctx)
	if err != nil {
		return nil, err
	}
	c.base += "/v" + strconv.Itoa(version)
	var opened struct {
		Handle string `json:"sessionHandle"`
	}
	body := map[string]any{"sessionName": o.Name, "properties": o.Settings}
	if err := c.call(ctx, http.MethodPost, "/sessions", body, &opened); err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	c.session, c.stop = "/sessions/"+opened.Handle, make(chan struct{})
	c.running.Go(c.beat)
	return c, nil
}

// newest is the newest version of the API that is known here, oldest the first that has
// all that is asked for.
const oldest, newest = 2, 4

// negotiate gives the newest version that both sides know.
func (c *Client) negotiate(ctx context.Context) (int, error) {
	var known struct {
		Versions []string `json:"versions"`
	}
	if err := c.call(ctx, http.MethodGet, "/v1/api_versions", nil, &known); err != nil {
		return 0, fmt.Errorf("ask the gateway for its versions: %w", err)
	}
	for v := newest; v >= oldest; v-- {
		if slices.Contains(known.Versions, "V"+strconv.Itoa(v)) {
			return v, nil
		}
	}
	return 0, fmt.Errorf("the gateway knows the versions %s of its API; one from V%d to V%d is needed", strings.Join(known.Versions, ", "), oldest, newest)
}

// beat keeps the session until the client is closed.
func (c *Client) beat() {
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-c.stop:
			return
		case <-ticker.C:
			ctx, cancel := context.WithTimeout(context.Background(), heartbeat)
			_ = c.call(ctx, http.MethodPost, c.session+"/heartbeat", nil, nil) // the next statement tells
			cancel()
		}
	}
}

// Close ends the session.
func (c *Client) Close(ctx context.Context) error {
	var err error
	c.once.Do(func() {
		close(c.stop)
		c.running.Wait()
		err = c.call(ctx, http.MethodDelete, c.session, nil, nil)
		c.http.CloseIdleConnections()
	})
	return err
}

// Settings gives all keys and values that hold in the session.
func (c *Client) Settings(ctx context.Context) (map[string]string, error) {
	var got struct {
		Properties map[string]string `json:"properties"`
	}
	err := c.call(ctx, http.MethodGet, c.session, nil, &got)
	return got.Properties, err
}

// Configure carries out a statement that prepares the session.
func (c *Client) Configure(ctx context.Context, statement string) error {
	return c.call(ctx, http.MethodPost, c.session+"/configure-session", map[string]any{"statement": statement}, nil)
}

// Complete gives what may stand at a place of a statement, counted in bytes.
func (c *Client) Complete(ctx context.Context, statement string, position int) ([]string, error) {
	units := 0
	for _, r := range statement[:position] {
		if units++; r > 0xffff {
			units++
		}
	}
	var got struct {
		Candidates []string `json:"candidates"`
	}
	err := c.call(ctx, http.MethodGet, c.session+"/complete-statement", map[string]any{"statement": statement, "position": units}, &got)
	return got.Candidates, err
}

// call sends a request and reads the answer into a struct, unless it is nil.
func (c *Client) call(ctx context.Context, method, path string, body, into any) error {
	text := []byte("{}")
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return fmt.Errorf("write a request for %s: %w", path, err)
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("ask the gateway: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := c.http.Do(r)
	if err != nil {
		return fmt.Errorf("ask the gateway: %w", err)
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("read the gateway's answer: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return failed(answer.StatusCode, got)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(got, into); err != nil {
		return fmt.Errorf("read the gateway's answer to %s %s: %w", method, path, err)
	}
	return nil
}

// An Error is what the gateway refused a request with.
type Error struct {
	Status int
	Texts  []string
}

func (e *Error) Error() string { return strings.Join(e.Texts, "\n") }

func failed(status int, body []byte) error {
	var told struct {
		Errors []string `json:"errors"`
	}
	if json.Unmarshal(body, &told) != nil || len(told.Errors) == 0 {
		return &Error{status, []string{fmt.Sprintf("The gateway answered with status %d: %.200s", status, body)}}
	}
	return &Error{status, told.Errors}
}

// Root gives the last cause of an error, as the gateway tells it.
func Root(err error) string {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err.Error()
	}
	text := e.Texts[len(e.Texts)-1]
	if i := strings.LastIndex(text, "Caused by: "); i >= 0 {
		text = text[i+len("Caused by: "):]
	}
	text, _, _ = strings.Cut(text, "\n\tat ")
	text, _, _ = strings.Cut(text, "\n\t... ")
	return strings.TrimSpace(text)
}
