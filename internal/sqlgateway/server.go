package sqlgateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/sql/session"
)

// Options are what a Server is made of.
type Options struct {
	Config *config.Config
	Engine session.Engine
	// Version is that of Flink whose gateway this is.
	Version string
	// Now is the clock of idle sessions; nil: time.Now.
	Now    func() time.Time
	Logger *slog.Logger
}

// A Server answers requests. Its methods may be called from any goroutine.
type Server struct {
	Options
	routes  []route
	clients *clients
	http    *http.Server

	stop    chan struct{}
	running sync.WaitGroup
	once    sync.Once
}

// headerTimeout bounds how long a client may take to send a request's header.
const headerTimeout = 30 * time.Second

// New makes a server, which looks for idle sessions until it is closed. It listens
// nowhere until Serve is called.
func New(o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{Options: o, stop: make(chan struct{})}
	s.clients = &clients{
		engine: o.Engine, limit: config.SQLGatewaySessionMaxNum.In(o.Config), idle: config.SQLGatewaySessionIdleTimeout.In(o.Config),
		now: o.Now, temporary: config.TempDirs(o.Config)[0], open: map[string]*client{},
	}
	s.routes = s.table()
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: headerTimeout, IdleTimeout: config.RestIdlenessTimeout.In(o.Config),
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
	}
	if s.clients.idle > 0 {
		s.running.Go(s.sweep)
	}
	return s
}

// sweep closes idle sessions until the server is closed.
func (s *Server) sweep() {
	ticker := time.NewTicker(max(s.clients.idle/10, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
			for _, handle := range s.clients.closeIdle() {
				s.Logger.Info("session closed, since nobody used it", "session", handle, config.SQLGatewaySessionIdleTimeout.Key, s.clients.idle)
			}
		}
	}
}

// Listen opens the port the configuration names: sql-gateway.endpoint.rest.bind-port,
// where the first free one of its ranges is taken, or else sql-gateway.endpoint.rest.port.
func Listen(c *config.Config) (net.Listener, error) {
	host := config.SQLGatewayBindAddress.In(c)
	ranges, set := config.SQLGatewayBindPort.Lookup(c)
	if !set {
		port := config.SQLGatewayPort.In(c)
		ranges = []config.PortRange{{First: port, Last: port}}
	}
	var taken error
	for _, r := range ranges {
		for p := r.First; p <= r.Last; p++ {
			address := net.JoinHostPort(host, strconv.Itoa(p))
			l, err := net.Listen("tcp", address)
			if err == nil {
				return l, nil
			}
			if !errors.Is(err, syscall.EADDRINUSE) {
				return nil, fmt.Errorf("listen for the SQL gateway on %s: %w", address, err)
			}
			taken = fmt.Errorf("listen for the SQL gateway on %s: the port is in use; stop what uses it or set %s: %w", address, config.SQLGatewayPort.Key, err)
		}
	}
	return nil, taken
}

// Serve answers what comes in on l until Close or Shutdown.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the SQL gateway on %s: %w", l.Addr(), err)
	}
	return nil
}

// Shutdown stops listening, waits for the requests under way, or for ctx, and closes all
// sessions.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	return errors.Join(err, s.Close())
}

// Close ends the server and its sessions at once.
func (s *Server) Close() error {
	err := s.http.Close()
	s.once.Do(func() { close(s.stop) })
	s.running.Wait()
	s.clients.closeAll()
	return err
}
