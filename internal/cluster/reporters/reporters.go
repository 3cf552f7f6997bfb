// Package reporters opens the endpoints where a JobManager's or TaskManager's
// metrics are read.
//
// It promises that an endpoint which cannot be opened is logged with its key and
// costs the process nothing else, as in Flink, and that Close leaves neither a
// port nor a goroutine. It never measures anything.
package reporters

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"syscall"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/metrics"
	"github.com/weirstream/weir/internal/metrics/prometheus"
)

// A Set is the endpoints of one process.
type Set struct {
	servers   []*prometheus.Server
	addresses []string
}

// Open opens the endpoints that the configuration describes. An endpoint that
// names no host listens on the one given. Collect is called whenever somebody
// reads.
func Open(cfg *config.Config, host string, collect func(context.Context) ([]metrics.Group, error), log *slog.Logger) *Set {
	s := &Set{}
	for _, r := range config.PrometheusReporters(cfg) {
		at := host
		if r.Host != "" {
			at = r.Host
		}
		l, err := listen(at, r)
		if err != nil {
			log.Error("metrics are not served to Prometheus", "reporter", r.Name, "error", err)
			continue
		}
		log.Info("metrics are served to Prometheus", "reporter", r.Name, "address", "http://"+l.Addr().String()+"/metrics")
		s.addresses = append(s.addresses, l.Addr().String())
		s.servers = append(s.servers, prometheus.Serve(l, prometheus.Options{Metrics: collect, KeepLabels: !r.FilterLabels, Logger: log}))
	}
	return s
}

// listen takes the first of the reporter's ports that is free.
func listen(host string, r config.PrometheusReporter) (net.Listener, error) {
	key := "metrics.reporter." + r.Name + ".port"
	var last error
	for _, ports := range r.Ports {
		for port := ports.First; port <= ports.Last; port++ {
			l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
			if err == nil {
				return l, nil
			}
			if !errors.Is(err, syscall.EADDRINUSE) {
				return nil, fmt.Errorf("listen for Prometheus (%s): %w", key, err)
			}
			last = err
		}
	}
	return nil, fmt.Errorf("every port that %s allows is in use: %w", key, last)
}

// Addresses are where the endpoints are reached, host:port, in the order of
// their names.
func (s *Set) Addresses() []string { return s.addresses }

// Close closes the endpoints.
func (s *Set) Close() error {
	var problems []error
	for _, server := range s.servers {
		problems = append(problems, server.Close())
	}
	s.servers = nil
	return errors.Join(problems...)
}
