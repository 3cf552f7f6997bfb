// Package dataport is where the data connections of a TaskManager arrive: it
// finds out which job a connection is for and passes the socket on to that
// job's worker, which carries the data.
//
//	other host ──TCP───┐            ┌──▶ worker of job A
//	                   ├─ Port ─────┤  (the socket itself)
//	this host ──unix───┘            └──▶ worker of job B
//
// It promises that a connection for a worker that is still starting waits for
// it a bounded time, that whoever comes for another cluster or TaskManager is
// refused with the reason, and that garbage costs its own connection and nothing
// else. It never reads or writes data. It meets the operating system, so it has
// goroutines and locks of its own.
package dataport

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/shuffle/handshake"
)

// Options are what a Port is made of.
type Options struct {
	// Listeners are TCP and unix sockets that listen; the Port closes them.
	Listeners []net.Listener
	// Host is what others call this host, for the address of the TCP socket.
	Host     string
	Resource ident.ResourceID
	Cluster  ident.ClusterID // zero: connections of any cluster may come
	// Handoff gives the unix socket on which a job's worker takes connections.
	// It is called from several goroutines.
	Handoff func(job ident.JobID) (path string, ok bool)
	// HelloTimeout is how long a connection may take to say what it is for: 5 s.
	HelloTimeout time.Duration
	// WorkerTimeout is how long a connection waits for its worker: 20 s.
	WorkerTimeout time.Duration
	Logger        *slog.Logger
}

// maxWaiting is how many connections may be between their arrival and their
// worker. One more is closed, and its peer asks again.
const maxWaiting = 4096

// retryDelay lies between two looks for a worker that is still starting.
const retryDelay = 10 * time.Millisecond

// Port takes data connections. Its methods may be called from anywhere.
type Port struct {
	options   Options
	addresses []string
	tcp       string
	accepting sync.WaitGroup
	serving   sync.WaitGroup
	stop      chan struct{} // closed by Close

	mu      sync.Mutex // guards the fields below
	waiting map[net.Conn]struct{}
	closed  bool
}

// Serve begins to take connections.
func Serve(o Options) *Port {
	if o.HelloTimeout <= 0 {
		o.HelloTimeout = 5 * time.Second
	}
	if o.WorkerTimeout <= 0 {
		o.WorkerTimeout = 20 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Port{options: o, stop: make(chan struct{}), waiting: map[net.Conn]struct{}{}}
	for _, l := range o.Listeners {
		switch at := l.Addr().(type) {
		case *net.UnixAddr:
			p.addresses = slices.Insert(p.addresses, 0, "unix:"+at.Name)
		case *net.TCPAddr:
			p.tcp = net.JoinHostPort(o.Host, strconv.Itoa(at.Port))
			p.addresses = append(p.addresses, p.tcp)
		}
		p.accepting.Go(func() { p.accept(l) })
	}
	return p
}

// Addresses are where others reach the port, unix sockets first.
func (p *Port) Addresses() []string { return slices.Clone(p.addresses) }

// TCP is the address of the TCP socket, "host:port"; empty: there is none.
func (p *Port) TCP() string { return p.tcp }

// Close closes the port and all connections that have not found their worker,
// and returns when nothing of it runs.
func (p *Port) Close() error {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.stop)
	}
	for conn := range p.waiting { // order: closing has none
		conn.Close()
	}
	p.mu.Unlock()
	var problems []error
	for _, l := range p.options.Listeners {
		if err := l.Close(); !errors.Is(err, net.ErrClosed) {
			problems = append(problems, err)
		}
	}
	p.accepting.Wait()
	p.serving.Wait()
	return errors.Join(problems...)
}

// accept takes connections until the listener is closed. An error such as "too
// many open files" passes, so it goes on after a pause.
func (p *Port) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			p.options.Logger.Warn("a data connection could not be accepted", "error", err)
			if !p.pause(100 * time.Millisecond) {
				return
			}
			continue
		}
		if !p.enter(conn) {
			conn.Close()
			continue
		}
		p.serving.Go(func() {
			defer p.leave(conn)
			p.serve(conn)
		})
	}
}

func (p *Port) enter(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.waiting) >= maxWaiting {
		return false
	}
	p.waiting[conn] = struct{}{}
	return true
}

// leave closes what is left of a connection here; passed on, it lives in the
// worker.
func (p *Port) leave(conn net.Conn) {
	p.mu.Lock()
	delete(p.waiting, conn)
	p.mu.Unlock()
	conn.Close()
}

// pause waits, and reports false when the port was closed meanwhile.
func (p *Port) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-p.stop:
		return false
	}
}

// serve finds the worker of one connection.
func (p *Port) serve(conn net.Conn) {
	hello, err := handshake.ReadHello(conn, p.options.HelloTimeout)
	if err != nil {
		p.options.Logger.Info("a connection to the data port was closed", "peer", conn.RemoteAddr().String(), "error", err)
		return
	}
	if reason := p.unwanted(hello); reason != "" {
		p.refuse(conn, hello, handshake.Refused, reason)
		return
	}
	deadline := time.Now().Add(p.options.WorkerTimeout)
	for {
		err := p.pass(conn, hello)
		if err == nil {
			return
		}
		if !time.Now().Before(deadline) {
			p.refuse(conn, hello, handshake.NotYet, err.Error())
			return
		}
		if !p.pause(retryDelay) {
			return
		}
	}
}

// unwanted says why a connection is refused, or nothing.
func (p *Port) unwanted(h handshake.Hello) string {
	cluster := p.options.Cluster
	switch {
	case h.Version != handshake.Version:
		return fmt.Sprintf("this TaskManager speaks version %d of the data protocol, not %d", handshake.Version, h.Version)
	case h.Target != p.options.Resource:
		return fmt.Sprintf("this is TaskManager %s, not %s", p.options.Resource, h.Target)
	case !cluster.IsZero() && h.Cluster != cluster:
		return fmt.Sprintf("this TaskManager belongs to cluster %s, not %s", cluster, h.Cluster)
	}
	return ""
}

func (p *Port) refuse(conn net.Conn, h handshake.Hello, status handshake.Status, reason string) {
	p.options.Logger.Warn("data connection refused", "job", h.Job.String(), "peer", h.Source, "reason", reason)
	_ = handshake.Refuse(conn, status, reason) // a peer that is gone needs no reason
}

// pass gives the connection to the worker of its job.
func (p *Port) pass(conn net.Conn, h handshake.Hello) error {
	path, ok := p.options.Handoff(h.Job)
	if !ok {
		return fmt.Errorf("job %s has no worker at TaskManager %s", h.Job, p.options.Resource)
	}
	u, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return fmt.Errorf("the worker of job %s at TaskManager %s takes no connections: %w", h.Job, p.options.Resource, err)
	}
	defer u.Close()
	if err := handshake.SendConn(u, conn, h); err != nil {
		return fmt.Errorf("pass a connection to the worker of job %s: %w", h.Job, err)
	}
	return nil
}
