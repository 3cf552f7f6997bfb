//go:build unix

package taskmanager

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/shuffle/handshake"
)

const (
	// helloTimeout bounds how long a new connection may take to say what it
	// wants.
	helloTimeout = 10 * time.Second
	// acceptPause is the pause after a failed accept, such as for want of file
	// descriptors.
	acceptPause = 50 * time.Millisecond
	// maxStrangers bounds the connections that have not said what they want.
	maxStrangers = 1024
)

// portOptions say where connections come in and whom they are for.
type portOptions struct {
	listeners []net.Listener
	host      string // under which others reach the TCP port
	cluster   ident.ClusterID
	self      ident.ResourceID
	// handoff gives the socket on which the worker of a job takes connections.
	handoff func(job ident.JobID) (path string, ok bool)
	log     *slog.Logger
}

// A dataPort takes the connections on which records arrive, hears which job they
// are for and passes each on to the worker of the job. No record goes through
// this process.
type dataPort struct {
	portOptions
	addresses []string // "unix:/path" first
	tcp       string   // host:port
	tasks     sync.WaitGroup

	mu        sync.Mutex // guards the fields below
	closed    bool
	strangers map[net.Conn]struct{}
}

// servePort begins to accept. The port must be closed.
func servePort(o portOptions) *dataPort {
	p := &dataPort{portOptions: o, strangers: map[net.Conn]struct{}{}}
	for _, l := range o.listeners {
		switch at := l.Addr().(type) {
		case *net.UnixAddr:
			p.addresses = append(p.addresses, "unix:"+at.Name)
		case *net.TCPAddr:
			p.tcp = net.JoinHostPort(o.host, strconv.Itoa(at.Port))
			p.addresses = append(p.addresses, p.tcp)
		}
		p.tasks.Go(func() { p.accept(l) })
	}
	return p
}

func (p *dataPort) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			p.log.Warn("a data connection was not accepted", "address", l.Addr().String(), "error", err)
			time.Sleep(acceptPause)
		case !p.enter(conn):
			_ = conn.Close()
		default:
			p.tasks.Go(func() {
				p.serve(conn)
				p.leave(conn)
			})
		}
	}
}

func (p *dataPort) enter(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.strangers) >= maxStrangers {
		return false
	}
	p.strangers[conn] = struct{}{}
	return true
}

func (p *dataPort) leave(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.strangers, conn)
}

// serve hears what a connection wants and passes it on, or says why not.
func (p *dataPort) serve(conn net.Conn) {
	hello, err := handshake.ReadHello(conn, helloTimeout)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			p.log.Debug("a stranger at the data port", "error", err)
		}
		_ = conn.Close()
		return
	}
	status, reason := p.pass(conn, hello)
	if reason == "" {
		return
	}
	if err := handshake.Refuse(conn, status, reason); err != nil {
		p.log.Debug("a data connection could not be refused", "error", err)
	}
	_ = conn.Close()
}

// pass gives the connection away; otherwise it says why not, and the connection
// is still this process's.
func (p *dataPort) pass(conn net.Conn, hello handshake.Hello) (handshake.Status, string) {
	switch {
	case hello.Version != handshake.Version:
		return handshake.Refused, fmt.Sprintf("this TaskManager speaks version %d of the data protocol, the peer version %d", handshake.Version, hello.Version)
	case hello.Cluster != p.cluster:
		return handshake.Refused, "this TaskManager belongs to another cluster"
	case hello.Target != p.self:
		return handshake.Refused, fmt.Sprintf("this is TaskManager %s, wanted was %s", p.self, hello.Target)
	}
	path, ok := p.handoff(hello.Job)
	if !ok {
		return handshake.NotYet, fmt.Sprintf("no worker of job %s runs on TaskManager %s", hello.Job, p.self)
	}
	if err := sendTo(path, conn, hello); err != nil {
		return handshake.NotYet, fmt.Sprintf("the worker of job %s takes no connections: %v", hello.Job, err)
	}
	return handshake.Accepted, ""
}

func sendTo(path string, conn net.Conn, hello handshake.Hello) error {
	worker, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return err
	}
	defer worker.Close() // it has carried all it will
	return handshake.SendConn(worker, conn, hello)
}

// Close stops listening, closes the connections that have not been passed on,
// and returns when no goroutine is left.
func (p *dataPort) Close() error {
	var problems []error
	for _, l := range p.listeners {
		problems = append(problems, l.Close())
	}
	p.mu.Lock()
	p.closed = true
	for conn := range p.strangers { // order: closing has none
		_ = conn.Close()
	}
	p.mu.Unlock()
	p.tasks.Wait()
	return errors.Join(problems...)
}
