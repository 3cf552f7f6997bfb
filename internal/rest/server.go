package rest

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"
	"uuid"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/program"
	"github.com/weirstream/weir/internal/resourcemanager"
	"github.com/weirstream/weir/internal/status"
)

// FlinkVersion is the version of Flink whose API this is; tools parse it.
const FlinkVersion = "2.3.0"

// Jobs is what the server asks of the Dispatcher, from any goroutine. The
// errors are the Dispatcher's.
type Jobs interface {
	Submit(ctx context.Context, graph *jobgraph.Graph) error
	Cancel(ctx context.Context, id ident.JobID) error
	Checkpoint(ctx context.Context, id ident.JobID, full bool) (int64, error)
	// Savepoint returns when the savepoint is complete and the job has ended, if it
	// is to.
	Savepoint(ctx context.Context, id ident.JobID, s jobmaster.Savepoint) (fs.Location, error)
	// Require sets how parallel the vertices of a job are to be, all of them.
	Require(ctx context.Context, id ident.JobID, wish map[ident.VertexID]execgraph.Bounds) error
	Job(ctx context.Context, id ident.JobID) (execgraph.View, error)
	// Jobs gives all jobs, the newest first.
	Jobs(ctx context.Context) ([]execgraph.View, error)
}

// TaskManagers is what the server asks of the ResourceManager, from any
// goroutine.
type TaskManagers interface {
	TaskManagers(ctx context.Context) ([]resourcemanager.View, error)
}

// A Sibling answers requests for the paths that it serves.
type Sibling interface {
	http.Handler
	Serves(path string) bool
}

// Options are what a Server is made of.
type Options struct {
	Config       *config.Config
	Jobs         Jobs
	TaskManagers TaskManagers
	// Ask asks an operator's coordinator; nil: no job can be submitted as a graph.
	Ask func(ctx context.Context, id ident.JobID, operator ident.OperatorID, payload []byte) ([]byte, error)

	// Programs are the uploaded programs; nil: no program can be submitted.
	// Planner runs them; nil: one with the usual limits.
	Programs *program.Store
	Planner  *program.Planner
	// Publish makes a program's bytes available to the TaskManagers; it is
	// called before a job that needs them is submitted. Nil: they need none.
	Publish func(ctx context.Context, p program.Program, sha256 string) error
	// NewJobID draws the id of a job whose submitter gave none; nil: at random.
	NewJobID func() ident.JobID

	// Files is where savepoints are.
	Files fs.FileSystem

	// Logs is the JobManager's log directory and LogFile the name of its log
	// in there; nil: it writes none.
	Logs    iofs.FS
	LogFile string
	// OpenLogs reaches the log directory of a TaskManager on this host.
	OpenLogs func(dir string) iofs.FS

	// Process gives the newest figures of this process; nil: nobody measures.
	Process func() *status.ProcessFigures

	// Sibling is another API on the same port; nil: there is none.
	Sibling Sibling
	// Fallback answers GET requests for paths that are not the API's, such as
	// the files of a web interface; nil: they are not found.
	Fallback http.Handler

	// Version is Weir's; Commit and Built say what it was built from and when.
	Version, Commit string
	Built           time.Time
	// Now is the clock of ages and durations in answers; nil: time.Now.
	Now    func() time.Time
	Logger *slog.Logger
}

// A Server answers requests. Its methods may be called from any goroutine.
type Server struct {
	Options
	routes     []route
	http       *http.Server
	maxContent int64
	timeout    time.Duration
	operations *operations
}

// headerTimeout bounds how long a client may take to send a request's header:
// who opens a connection and says nothing must not keep it.
const headerTimeout = 30 * time.Second

// New makes a server. It listens nowhere until Serve is called.
func New(o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Planner == nil {
		o.Planner = &program.Planner{Store: o.Programs}
	}
	if o.NewJobID == nil {
		o.NewJobID = func() ident.JobID { return ident.JobID{ID: ident.ID(uuid.NewV4())} }
	}
	s := &Server{
		Options: o, maxContent: int64(config.RestServerMaxContentLength.In(o.Config)),
		timeout: config.WebTimeout.In(o.Config), operations: newOperations(config.RestAsyncStoreDuration.In(o.Config), o.Now),
	}
	s.routes = s.table()
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: headerTimeout, IdleTimeout: config.RestIdlenessTimeout.In(o.Config),
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
	}
	return s
}

// Listen opens the port the configuration names: rest.bind-port, where the
// first free one of its ranges is taken, or else rest.port.
func Listen(c *config.Config) (net.Listener, error) {
	host := config.RestBindAddress.In(c)
	ranges, set := config.RestBindPort.Lookup(c) // or rest.port, on which it falls back
	if !set {
		port := config.RestPort.In(c)
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
				return nil, fmt.Errorf("listen for REST on %s: %w", address, err)
			}
			taken = fmt.Errorf("listen for REST on %s: the port is in use; stop what uses it or set %s: %w", address, config.RestPort.Key, err)
		}
	}
	if len(ranges) > 1 || ranges[0].First < ranges[0].Last {
		return nil, fmt.Errorf("no port of %s is free: %w", config.RestBindPort.Key, taken)
	}
	return nil, taken
}

// Serve answers what comes in on l until Close or Shutdown.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve REST on %s: %w", l.Addr(), err)
	}
	return nil
}

// Shutdown stops listening and waits for the requests under way, or for ctx,
// after which it ends them. Operations that they have begun are given up.
func (s *Server) Shutdown(ctx context.Context) error {
	defer s.operations.close()
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}

// Close ends the server at once.
func (s *Server) Close() error {
	defer s.operations.close()
	return s.http.Close()
}

// hostOf is the address under which the client reached the server.
func hostOf(r *http.Request) string {
	if r.Host != "" {
		return r.Host
	}
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		return a.String()
	}
	host, _ := os.Hostname()
	return host
}
