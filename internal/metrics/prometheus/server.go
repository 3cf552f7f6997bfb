package prometheus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/weirstream/weir/internal/metrics"
)

// Options say what a Server shows.
type Options struct {
	// Metrics gives what there is now; it is called for each look.
	Metrics func(ctx context.Context) ([]metrics.Group, error)
	// KeepLabels leaves the values of labels as they are; see Text.
	KeepLabels bool
	Logger     *slog.Logger
}

// A Server answers Prometheus, on any path.
type Server struct {
	http  http.Server
	ended sync.WaitGroup
}

// Serve answers what comes in on l, which is then the server's, until Close.
func Serve(l net.Listener, o Options) *Server {
	s := &Server{}
	s.http = http.Server{Handler: handler(o), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	s.ended.Go(func() {
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			o.Logger.Error("metrics are no longer served to Prometheus", "address", l.Addr(), "error", err)
		}
	})
	return s
}

func handler(o Options) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "metrics can only be read", http.StatusMethodNotAllowed)
			return
		}
		groups, err := o.Metrics(r.Context())
		if err != nil {
			o.Logger.Warn("no metrics for Prometheus", "error", err)
			http.Error(w, fmt.Sprintf("no metrics now: %v", err), http.StatusServiceUnavailable)
			return
		}
		text := Text(groups, !o.KeepLabels)
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Content-Length", length(text))
		if r.Method == http.MethodGet {
			_, _ = w.Write(text) // who asked is gone, and there is nobody to tell
		}
	})
}

// Close ends the server and the looks under way.
func (s *Server) Close() error {
	err := s.http.Close()
	s.ended.Wait()
	return err
}
