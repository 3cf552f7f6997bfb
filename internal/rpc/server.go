package rpc

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/actor"
)

// Options say how a process takes part in the network.
type Options struct {
	// Listen is where to listen: "host:port", with port 0 for any free one, or
	// "unix:/path".
	Listen string
	// Advertise is the process address others reach this one under. Empty: what
	// it listens on, which must then name a host.
	Advertise string
	// Logger gets what happens to connections. Nil: nobody.
	Logger *slog.Logger
}

const (
	// dialTimeout bounds connecting to a process that does not answer at all.
	dialTimeout = 10 * time.Second
	// closeGrace bounds how long Close waits for peers to take the last frames: long
	// enough for one on a machine that has much to do.
	closeGrace = 2 * time.Second
	// keepAlive is how long a silent connection is left alone before the peer
	// is asked whether it lives; it has as long to answer.
	keepAlive = 10 * time.Second
	// window is how much one process sends ahead of what the other has read.
	window = 4 << 20
)

// Server is the System of a process that speaks gRPC with others.
//
// From each process to each other one it has called there is one connection
// with one stream: calls go one way, answers the other. So the calls of one
// process to another arrive in order, and a process that dies is noticed by
// all it was connected with. A connection is made by the first call that needs
// it and again by the next one after it broke; there is no back-off.
type Server struct {
	self      string
	instance  string // differs in each life of a process
	log       *slog.Logger
	grpc      *grpc.Server
	door      *door
	endpoints endpoints
	local     book // calls to this process itself
	watches   watches

	mu          sync.Mutex // guards the fields below
	closed      bool
	connections map[string]*connection // by process; those not known to be broken
	sessions    map[string]*session    // by their keys

	tasks sync.WaitGroup
	ended chan struct{} // closed when Close has done its work
}

var _ System = (*Server)(nil)

// Listen starts a process's share of the network. Whoever starts it must Close
// it.
func Listen(o Options) (*Server, error) {
	s := &Server{
		instance:    rand.Text(),
		log:         o.Logger,
		connections: map[string]*connection{},
		sessions:    map[string]*session{},
		ended:       make(chan struct{}),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	listener, err := listen(o.Listen)
	if err != nil {
		return nil, err
	}
	if s.self, err = selfAddress(o, listener.Addr()); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s.door = newDoor(listener, s.log)
	s.grpc = grpc.NewServer(
		grpc.ForceServerCodecV2(frameCodec{}),
		grpc.MaxRecvMsgSize(maxFrame), grpc.MaxSendMsgSize(maxFrame),
		grpc.StaticStreamWindowSize(window), grpc.StaticConnWindowSize(window),
		grpc.ConnectionTimeout(dialTimeout),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: keepAlive, Timeout: keepAlive}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: keepAlive / 2, PermitWithoutStream: true}),
		grpc.WaitForHandlers(true),
	)
	s.grpc.RegisterService(&grpc.ServiceDesc{
		ServiceName: serviceName,
		HandlerType: (*any)(nil),
		Streams: []grpc.StreamDesc{{
			StreamName: streamName, ServerStreams: true, ClientStreams: true,
			Handler: func(_ any, stream grpc.ServerStream) error { return s.accept(stream) },
		}},
	}, s)
	s.tasks.Go(func() {
		if err := s.grpc.Serve(s.door); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			s.log.Error("listening ended", "process", s.self, "cause", err)
		}
	})
	return s, nil
}

// listen opens the socket that an Options.Listen names.
func listen(at string) (net.Listener, error) {
	network, address, err := splitProcess(at)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", at, err)
	}
	return listener, nil
}

func selfAddress(o Options, at net.Addr) (string, error) {
	if o.Advertise != "" {
		_, _, err := splitProcess(o.Advertise)
		return o.Advertise, err
	}
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		return o.Listen, nil
	}
	if tcp.IP.IsUnspecified() {
		return "", fmt.Errorf("listen on %s: an address to advertise is needed, because others cannot connect to %s", o.Listen, tcp.IP)
	}
	return tcp.String(), nil
}

// maxSocketPath is the longest path a unix socket can have on Linux.
const maxSocketPath = 107

// splitProcess gives the network and the address in it of a process address.
func splitProcess(process string) (network, address string, err error) {
	if path, ok := strings.CutPrefix(process, "unix:"); ok {
		if path == "" || len(path) > maxSocketPath {
			return "", "", fmt.Errorf("process address %q: a socket's path has 1 to %d bytes, this one %d", process, maxSocketPath, len(path))
		}
		return "unix", path, nil
	}
	if _, _, err := net.SplitHostPort(process); err != nil {
		return "", "", fmt.Errorf("process address %q: want host:port or unix:/path", process)
	}
	return "tcp", process, nil
}

// Self is the address others reach this process under.
func (s *Server) Self() string { return s.self }

// Serve makes an endpoint reachable.
func (s *Server) Serve(endpoint string, loop actor.Loop, h Handler) {
	s.endpoints.serve(endpoint, loop, h)
}

// Withdraw ends the endpoint.
func (s *Server) Withdraw(endpoint string) { s.endpoints.withdraw(endpoint) }

// Call sends the call over the connection to its process, made now if there is
// none, or delivers it at once if the process is this one.
func (s *Server) Call(loop actor.Loop, to Address, c Call, resp proto.Message, then func(error)) {
	p := newPending(loop, to, c, resp, then)
	if to.Process == s.self {
		if err := s.local.enter(p); err != nil {
			p.settle(nil, err)
			return
		}
		callLocally(&s.endpoints, p, c)
		return
	}
	if _, _, err := splitProcess(to.Process); err != nil {
		p.settle(nil, fmt.Errorf("%w: %w", ErrUnreachable, err))
		return
	}
	for {
		conn := s.connection(to.Process)
		if conn == nil {
			p.settle(nil, s.hasEnded())
			return
		}
		if conn.book.enter(p) == nil {
			conn.send(p, c)
			return
		}
		// The connection broke since it was looked up; it is no longer in the
		// table, so the next round makes a new one.
	}
}

// connection gives the connection to a process, or nil after Close.
func (s *Server) connection(process string) *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	conn := s.connections[process]
	if conn == nil {
		ctx, cancel := context.WithCancelCause(context.Background())
		conn = &connection{server: s, process: process, cancel: cancel, out: newOutbox()}
		s.connections[process] = conn
		s.tasks.Go(func() { conn.run(ctx) })
	}
	return conn
}

// drop takes a broken connection out of the table.
func (s *Server) drop(conn *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.connections[conn.process] == conn {
		delete(s.connections, conn.process)
	}
}

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// hasEnded is what a call from this process gets once it is closed.
func (s *Server) hasEnded() error {
	return fmt.Errorf("process %s, the caller, has ended: %w", s.self, ErrUnreachable)
}

// Watch waits for the break of a connection from or to the process.
func (s *Server) Watch(loop actor.Loop, process string, lost func(error)) (stop func()) {
	if process == s.self {
		return func() {}
	}
	return s.watches.add(process, loop, lost)
}

// Close ends this process's share of the network and returns when none of its
// goroutines is left. Frames that were handed over before are still sent, as
// far as the peers take them within closeGrace; then open calls, in both
// directions, fail.
func (s *Server) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		<-s.ended
		return
	}
	s.closed = true
	var ways []interface{ finish() }
	var connections []*connection
	for _, conn := range s.connections {
		ways, connections = append(ways, conn), append(connections, conn)
	}
	for _, in := range s.sessions {
		ways = append(ways, in)
	}
	s.mu.Unlock()

	s.watches.clear()
	s.endpoints.close(fmt.Errorf("process %s ended: %w", s.self, ErrDisconnected))
	for _, way := range ways {
		way.finish()
	}
	s.door.shut()
	cut := make(chan struct{})
	grace := time.AfterFunc(closeGrace, func() {
		defer close(cut)
		for _, conn := range connections {
			conn.cancel(s.hasEnded())
		}
		s.grpc.Stop()
	})
	s.grpc.GracefulStop()
	s.tasks.Wait()
	if !grace.Stop() {
		<-cut
	}
	s.local.close(s.hasEnded(), func(*pending) error { return s.hasEnded() })
	close(s.ended)
}
