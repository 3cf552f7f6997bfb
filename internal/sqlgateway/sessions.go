package sqlgateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"
	"uuid"

	"github.com/weirstream/weir/internal/sql/session"
)

// A client is a session with its operations.
type client struct {
	session session.Session

	mu         sync.Mutex
	operations map[string]*operation
	last       <-chan struct{} // closed when the statement that was begun last has ended
	used       time.Time
}

// clients are the sessions there are. Its methods may be called from any goroutine.
type clients struct {
	engine session.Engine
	limit  int
	idle   time.Duration // after which a session is closed; 0: never
	now    func() time.Time
	// temporary is the directory below which sessions may keep files.
	temporary string

	mu sync.Mutex
	// open has nil for a session that begins. It is nil itself once all are closed; then
	// none begins any more.
	open map[string]*client
}

// begin opens a session and gives its handle.
func (c *clients) begin(ctx context.Context, name string, settings map[string]string) (string, error) {
	handle := uuid.NewV4().String()
	if err := c.reserve(handle); err != nil {
		return "", err
	}
	s, err := c.engine.Open(ctx, session.Options{Name: name, Settings: settings, Resources: filepath.Join(c.temporary, "sql-gateway-"+handle)})
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil:
		delete(c.open, handle)
		return "", err
	case c.open == nil: // closed meanwhile
		return "", errors.Join(errClosed, s.Close())
	}
	c.open[handle] = &client{session: s, operations: map[string]*operation{}, last: ended, used: c.now()}
	return handle, nil
}

// errClosed refuses a session that would not be closed any more.
var errClosed = &session.Error{Class: gatewayClass, Text: "Failed to create session, the gateway is being closed."}

// reserve takes the place of a session.
func (c *clients) reserve(handle string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		return errClosed
	}
	if len(c.open) >= c.limit {
		return &session.Error{Class: gatewayClass, Text: fmt.Sprintf("Failed to create session, the count of active sessions exceeds the max count: %d (sql-gateway.session.max-num)", c.limit)}
	}
	c.open[handle] = nil
	return nil
}

// find gives a session, and counts as its use.
func (c *clients) find(handle string) (*client, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.open[handle]
	if s == nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = c.now()
	return s, true
}

// close ends a session; it reports false if there is none.
func (c *clients) close(handle string) (bool, error) {
	c.mu.Lock()
	s := c.open[handle]
	if s != nil {
		delete(c.open, handle)
	}
	c.mu.Unlock()
	if s == nil {
		return false, nil
	}
	return true, s.close()
}

// closeIdle ends the sessions that nobody has used for long and that run no statement.
func (c *clients) closeIdle() []string {
	if c.idle <= 0 {
		return nil
	}
	before := c.now().Add(-c.idle)
	idle := map[string]*client{}
	c.mu.Lock()
	for handle, s := range c.open {
		if s != nil && s.idleSince(before) {
			idle[handle] = s
			delete(c.open, handle) // at once: who finds a session may use it
		}
	}
	c.mu.Unlock()
	handles := slices.Sorted(maps.Keys(idle))
	for _, handle := range handles {
		_ = idle[handle].close() // nobody is there who could be told
	}
	return handles
}

// closeAll ends every session; none begins any more.
func (c *clients) closeAll() {
	c.mu.Lock()
	open := c.open
	c.open = nil
	c.mu.Unlock()
	for _, s := range open {
		if s != nil { // one that begins closes itself
			_ = s.close() // nobody is there who could be told
		}
	}
}

func (s *client) idleSince(before time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.used.Before(before) {
		return false
	}
	for _, o := range s.operations {
		if status, _, _ := o.state(); status == running || status == pending {
			return false
		}
	}
	return true
}

// ended is what a session's first statement waits for.
var ended = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// execute begins a statement, which waits for those before it, and gives the handle of
// its operation.
func (s *client) execute(run func(ctx context.Context) (*session.Result, error)) string {
	handle := uuid.NewV4().String()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.operations == nil { // the session was closed meanwhile: nothing is carried out
		return handle
	}
	after := make(chan struct{})
	s.operations[handle] = begin(handle, s.last, after, run)
	s.last = after
	return handle
}

// inTurn does something with the session when the statements before are done, and says how
// it ended. It is given up when ctx ends, or the session is closed; then it may still be
// under way.
func (s *client) inTurn(ctx context.Context, do func(ctx context.Context) error) (handle, status string, err error) {
	handle = s.execute(func(ctx context.Context) (*session.Result, error) { return nil, do(ctx) })
	o, ok := s.operation(handle)
	if !ok {
		return handle, closed, nil
	}
	defer s.closeOperation(handle)
	select {
	case <-o.done:
	case <-ctx.Done():
		return handle, canceled, ctx.Err()
	}
	status, _, err = o.state()
	return handle, status, err
}

// operation gives one of the session's.
func (s *client) operation(handle string) (*operation, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.operations[handle]
	return o, ok
}

// closeOperation forgets an operation. One that is not there is closed already.
func (s *client) closeOperation(handle string) {
	s.mu.Lock()
	o := s.operations[handle]
	delete(s.operations, handle)
	s.mu.Unlock()
	if o != nil {
		o.close()
	}
}

func (s *client) close() error {
	s.mu.Lock()
	operations := s.operations
	s.operations = nil
	last := s.last
	s.mu.Unlock()
	for _, o := range operations {
		o.close()
	}
	<-last // the statements end, since they were given up
	return s.session.Close()
}
