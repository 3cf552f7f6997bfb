package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/weirstream/weir/internal/shuffle/handshake"
)

const (
	// attemptTimeout bounds one dialing and its handshake.
	attemptTimeout = 30 * time.Second
	// A peer whose worker does not run yet is asked again after firstRetry,
	// then after twice as long each time, up to lastRetry.
	firstRetry, lastRetry = 100 * time.Millisecond, 10 * time.Second
)

// Dial connects to the first of the addresses that can be reached: unix sockets
// ("unix:/path") before TCP ("host:port"), because they cost less, and the path
// is there only if the peer is on this host.
func Dial(ctx context.Context, addrs []string) (net.Conn, error) {
	var dialer net.Dialer
	var failures []error
	for _, addr := range unixFirst(addrs) {
		network, where := "tcp", addr
		if path, ok := strings.CutPrefix(addr, "unix:"); ok {
			network, where = "unix", path
		}
		conn, err := dialer.DialContext(ctx, network, where)
		if err == nil {
			return conn, nil
		}
		failures = append(failures, err)
	}
	if len(failures) == 0 {
		return nil, errors.New("no address to dial")
	}
	return nil, errors.Join(failures...)
}

func unixFirst(addrs []string) []string {
	sorted := slices.Clone(addrs)
	slices.SortStableFunc(sorted, func(a, b string) int {
		return rank(a) - rank(b)
	})
	return sorted
}

func rank(addr string) int {
	if strings.HasPrefix(addr, "unix:") {
		return 0
	}
	return 1
}

// connect dials the link's addresses until one accepts its hello. While the
// peer answers that it is not ready yet, it asks again, as long as a request
// may wait for its partition.
func (l *link) connect(ctx context.Context) (net.Conn, string, error) {
	deadline := time.Now().Add(l.env.wait)
	for retry := firstRetry; ; retry = min(2*retry, lastRetry) {
		conn, addr, err := l.attempt(ctx)
		if err == nil {
			return conn, addr, nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return nil, "", cause
		}
		var refused *handshake.RefusedError
		if !errors.As(err, &refused) || refused.Status != handshake.NotYet || !l.expects() || time.Now().Add(retry).After(deadline) {
			return nil, "", err
		}
		select {
		case <-time.After(retry):
		case <-ctx.Done():
			return nil, "", context.Cause(ctx)
		}
	}
}

// attempt tries each address once. A path may exist on this host and belong to
// another TaskManager, so a refusal is no reason not to try the next.
func (l *link) attempt(ctx context.Context) (net.Conn, string, error) {
	failures := []error{}
	for _, addr := range unixFirst(l.addresses) {
		conn, err := l.attemptAt(ctx, addr)
		if err == nil {
			return conn, addr, nil
		}
		failures = append(failures, fmt.Errorf("%s: %w", addr, err))
	}
	if len(failures) == 0 {
		return nil, "", errors.New("no address to dial")
	}
	return nil, "", errors.Join(failures...)
}

func (l *link) attemptAt(ctx context.Context, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	conn, err := l.env.dial(ctx, []string{addr})
	if err != nil {
		return nil, err
	}
	hello := handshake.Hello{Version: handshake.Version, Cluster: l.env.cluster, Job: l.env.job, Target: l.target, Source: l.env.self, BufferSize: l.env.pool.size}
	if err := handshake.Open(ctx, conn, hello); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}
