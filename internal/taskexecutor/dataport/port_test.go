package dataport

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/shuffle/handshake"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

var (
	cluster = ident.ClusterID{ID: ident.ID{1}}
	job     = ident.JobID{ID: ident.ID{2}}
)

// place is a port with the workers it knows.
type place struct {
	port *Port
	dir  string

	mu      sync.Mutex // guards workers
	workers map[ident.JobID]string
}

func newPlace(t *testing.T, change func(*Options)) *place {
	dir, err := os.MkdirTemp("", "port")
	if err != nil {
		t.Fatal(err)
	}
	p := &place{dir: dir, workers: map[ident.JobID]string{}}
	o := Options{Listeners: []net.Listener{listen(t, "tcp", "127.0.0.1:0"), listen(t, "unix", filepath.Join(dir, "data.sock"))},
		Host: "localhost", Resource: "te-1", Cluster: cluster,
		Handoff: func(j ident.JobID) (string, bool) {
			p.mu.Lock()
			defer p.mu.Unlock()
			path, ok := p.workers[j]
			return path, ok
		}}
	if change != nil {
		change(&o)
	}
	p.port = Serve(o)
	t.Cleanup(func() {
		if err := p.port.Close(); err != nil {
			t.Error(err)
		}
		os.RemoveAll(dir)
	})
	return p
}

func listen(t *testing.T, network, address string) net.Listener {
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// announce says that the job has a worker with a socket at the path.
func (p *place) announce(path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.workers[job] = path
}

// worker takes one connection, accepts it and sends back what it gets.
func (p *place) worker(t *testing.T) {
	path := filepath.Join(p.dir, "worker.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			u, err := l.AcceptUnix()
			if err != nil {
				return
			}
			conn, h, err := handshake.ReceiveConn(u)
			u.Close()
			if err != nil {
				t.Error(err)
				return
			}
			if h.Job != job || h.Source != "te-2" {
				t.Errorf("hello %+v", h)
			}
			if err := handshake.Accept(conn); err != nil {
				t.Error(err)
			}
			_, _ = io.Copy(conn, conn)
			conn.Close()
		}
	})
	t.Cleanup(func() {
		l.Close()
		running.Wait()
	})
}

func (p *place) dial(t *testing.T, network string) net.Conn {
	address := strings.TrimPrefix(p.port.Addresses()[0], "unix:")
	if network == "tcp" {
		address = p.port.TCP()
	}
	conn, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

var hello = handshake.Hello{Version: handshake.Version, Cluster: cluster, Job: job, Target: "te-1", Source: "te-2", BufferSize: 32 << 10}

func echo(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := handshake.Open(context.Background(), conn, hello); err != nil {
		t.Fatal(err)
	}
	exchange(t, conn)
}

// exchange sends data over a connection that was accepted, and gets it back.
func exchange(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := conn.Write([]byte("data")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4)
	if _, err := io.ReadFull(conn, b); err != nil || string(b) != "data" {
		t.Fatalf("%q, %v", b, err)
	}
	conn.Close()
}

func TestConnectionReachesItsWorker(t *testing.T) {
	p := newPlace(t, nil)
	p.announce(filepath.Join(p.dir, "worker.sock"))
	p.worker(t)
	echo(t, p.dial(t, "tcp"))
	echo(t, p.dial(t, "unix"))
}

func TestConnectionWaitsForItsWorker(t *testing.T) {
	asked := make(chan struct{})
	var p *place
	var once sync.Once
	p = newPlace(t, func(o *Options) {
		find := o.Handoff
		o.Handoff = func(j ident.JobID) (string, bool) {
			once.Do(func() { close(asked) })
			return find(j)
		}
	})
	conn := p.dial(t, "tcp")
	var starting sync.WaitGroup
	starting.Go(func() {
		<-asked // in vain
		p.announce(filepath.Join(p.dir, "worker.sock"))
		p.worker(t)
	})
	echo(t, conn)
	starting.Wait()
}

func TestRefusals(t *testing.T) {
	p := newPlace(t, func(o *Options) { o.WorkerTimeout = time.Millisecond })
	for _, test := range []struct {
		change func(*handshake.Hello)
		status handshake.Status
		want   string
	}{
		{func(h *handshake.Hello) { h.Version = 9 }, handshake.Refused, "not 9"},
		{func(h *handshake.Hello) { h.Target = "te-3" }, handshake.Refused, "this is TaskManager te-1, not te-3"},
		{func(h *handshake.Hello) { h.Cluster.ID[0] = 7 }, handshake.Refused, "belongs to cluster 01"},
		{func(h *handshake.Hello) {}, handshake.NotYet, "has no worker at TaskManager te-1"},
	} {
		h := hello
		test.change(&h)
		err := handshake.Open(context.Background(), p.dial(t, "tcp"), h)
		refused := (*handshake.RefusedError)(nil)
		if !errors.As(err, &refused) || refused.Status != test.status || !strings.Contains(refused.Reason, test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
	p.announce(filepath.Join(p.dir, "nobody.sock"))
	if err := handshake.Open(context.Background(), p.dial(t, "tcp"), hello); err == nil || !strings.Contains(err.Error(), "takes no connections") {
		t.Errorf("%v", err)
	}
}

func TestGarbageCostsItsOwnConnection(t *testing.T) {
	p := newPlace(t, func(o *Options) { o.HelloTimeout = time.Second })
	p.announce(filepath.Join(p.dir, "worker.sock"))
	p.worker(t)
	for _, text := range []string{"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "WEIRDATA", "", strings.Repeat("\xff", 5000)} {
		conn := p.dial(t, "tcp")
		_, _ = conn.Write([]byte(text))
		if b, err := io.ReadAll(conn); len(b) != 0 {
			t.Errorf("%q was answered %q, %v", text, b, err)
		}
	}
	// A hello that comes after the time for it is said again, as by a real peer.
	for try := 1; ; try++ {
		conn := p.dial(t, "tcp")
		err := handshake.Open(context.Background(), conn, hello)
		if err == nil {
			exchange(t, conn)
			return
		}
		if try == 20 {
			t.Fatal(err)
		}
	}
}

func TestCloseEndsWhatWaits(t *testing.T) {
	p := newPlace(t, nil)
	silent, waiting := p.dial(t, "tcp"), p.dial(t, "unix")
	encoded, err := hello.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := waiting.Write(encoded); err != nil {
		t.Fatal(err)
	}
	if err := p.port.Close(); err != nil {
		t.Error(err)
	}
	for _, conn := range []net.Conn{silent, waiting} {
		if b, _ := io.ReadAll(conn); len(b) != 0 {
			t.Errorf("answered %q", b)
		}
	}
}
