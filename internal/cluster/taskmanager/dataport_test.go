//go:build unix

package taskmanager

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/shuffle/handshake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const self = ident.ResourceID("tm-1")

var (
	ours  = ident.ClusterID{ID: ident.ID{1}}
	known = ident.JobID{ID: ident.ID{2}}
)

// port opens a data port that hands connections of the known job to worker.
func port(t *testing.T) (p *dataPort, worker *net.UnixListener) {
	t.Helper()
	dir := t.TempDir()
	worker, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "w"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { worker.Close() })
	local, err := net.Listen("unix", filepath.Join(dir, "d"))
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	p = servePort(portOptions{
		listeners: []net.Listener{local, tcp}, host: "localhost", cluster: ours, self: self, log: slog.New(slog.DiscardHandler),
		handoff: func(job ident.JobID) (string, bool) { return worker.Addr().String(), job == known },
	})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, worker
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	network := "tcp"
	if path, isUnix := strings.CutPrefix(address, "unix:"); isUnix {
		network, address = "unix", path
	}
	conn, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func TestAConnectionReachesItsWorker(t *testing.T) {
	p, worker := port(t)
	if len(p.addresses) != 2 || !strings.HasPrefix(p.addresses[0], "unix:") || p.addresses[1] != p.tcp {
		t.Fatalf("addresses %v", p.addresses)
	}
	for _, address := range p.addresses {
		conn := dial(t, address)
		opened := make(chan error, 1)
		hello := handshake.Hello{Version: handshake.Version, Cluster: ours, Job: known, Target: self, Source: "tm-2"}
		go func() { opened <- handshake.Open(t.Context(), conn, hello) }()
		u, err := worker.AcceptUnix()
		if err != nil {
			t.Fatal(err)
		}
		passed, got, err := handshake.ReceiveConn(u)
		if err != nil || got != hello {
			t.Fatalf("received %v, error %v", got, err)
		}
		u.Close()
		if err := errors.Join(handshake.Accept(passed), <-opened); err != nil {
			t.Error(err)
		}
		if _, err := passed.Write([]byte("x")); err != nil {
			t.Error(err)
		}
		if n, err := io.ReadFull(conn, make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("%s: %d bytes, error %v", address, n, err)
		}
		passed.Close()
	}
}

func TestWhoIsRefused(t *testing.T) {
	p, worker := port(t)
	good := handshake.Hello{Version: handshake.Version, Cluster: ours, Job: known, Target: self}
	for _, c := range []struct {
		change func(*handshake.Hello)
		status handshake.Status
		reason string
	}{
		{func(h *handshake.Hello) { h.Version++ }, handshake.Refused, "version"},
		{func(h *handshake.Hello) { h.Cluster = ident.ClusterID{} }, handshake.Refused, "another cluster"},
		{func(h *handshake.Hello) { h.Target = "tm-9" }, handshake.Refused, "wanted was tm-9"},
		{func(h *handshake.Hello) { h.Job = ident.JobID{} }, handshake.NotYet, "no worker of job"},
		{func(*handshake.Hello) { worker.Close() }, handshake.NotYet, "takes no connections"},
	} {
		h := good
		c.change(&h)
		err := handshake.Open(t.Context(), dial(t, p.tcp), h)
		var refused *handshake.RefusedError
		if !errors.As(err, &refused) || refused.Status != c.status || !strings.Contains(refused.Reason, c.reason) {
			t.Errorf("want %q, got %v", c.reason, err)
		}
	}
	stranger := dial(t, p.tcp)
	if _, err := stranger.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(stranger); err != nil && !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
		t.Errorf("a stranger: %v", err)
	}
	dial(t, p.tcp) // says nothing; the port's Close must not wait for it
}

func TestALongPathGetsAnotherSocket(t *testing.T) {
	short := t.TempDir()
	path, remove, err := socketPath(short, "00ff00")
	if err != nil || path != filepath.Join(short, "tm-00ff00.sock") {
		t.Errorf("path %s, error %v", path, err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	path, remove, err = socketPath(filepath.Join(short, strings.Repeat("long/", 20)), "00ff00")
	if err != nil || len(path) > maxSocketPath {
		t.Errorf("path %s, error %v", path, err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := remove(); err != nil {
		t.Error(err)
	}
}
