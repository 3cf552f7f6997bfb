package rpc

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
)

// preface is what every HTTP/2 client says first.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// A door is the listener with a look at who comes in: one that does not begin
// like a gRPC client, such as a browser, a TLS client or a port scanner, is
// noted and let go before gRPC sees a byte of it.
type door struct {
	net.Listener
	log *slog.Logger

	mu     sync.Mutex // guards the fields below
	unsure map[*guest]struct{}
	shutUp bool // no unsure guest is kept any more
	warned bool // the first stranger is a warning, the others are not
}

func newDoor(l net.Listener, log *slog.Logger) *door {
	return &door{Listener: l, log: log, unsure: map[*guest]struct{}{}}
}

// Accept waits for the next connection.
func (d *door) Accept() (net.Conn, error) {
	conn, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	g := &guest{Conn: conn, door: d}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shutUp {
		return nil, fmt.Errorf("%w, after closing %v", net.ErrClosed, conn.Close())
	}
	d.unsure[g] = struct{}{}
	return g, nil
}

// shut closes the connections that have not said who they are: gRPC's graceful
// stop would wait for them.
func (d *door) shut() {
	d.mu.Lock()
	d.shutUp = true
	unsure := d.unsure
	d.unsure = nil
	d.mu.Unlock()
	for g := range unsure {
		g.Conn.Close()
	}
}

func (d *door) forget(g *guest) {
	d.mu.Lock()
	delete(d.unsure, g)
	d.mu.Unlock()
}

func (d *door) noteStranger(g *guest, said []byte) {
	d.mu.Lock()
	level := slog.LevelWarn
	if d.warned {
		level = slog.LevelDebug
	}
	d.warned = true
	d.mu.Unlock()
	looks := "unknown"
	switch {
	case bytes.HasPrefix(said, []byte{0x16, 0x03}):
		looks = "TLS"
	case bytes.HasPrefix(said, []byte("GET ")), bytes.HasPrefix(said, []byte("POST ")), bytes.HasPrefix(said, []byte("HEAD ")):
		looks = "HTTP/1"
	}
	d.log.Log(context.Background(), level, "stranger at the RPC port", "from", g.RemoteAddr().String(), "protocol", looks,
		"said", fmt.Sprintf("%q", said[:min(len(said), len(preface))]))
}

// A guest is one accepted connection. Its reader is one goroutine, as gRPC's is.
type guest struct {
	net.Conn
	door *door
	said int // bytes of the preface seen
}

// Read hands on what is read as long as it is a gRPC client's.
func (g *guest) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if g.said == len(preface) || n == 0 {
		return n, err
	}
	look := p[:min(n, len(preface)-g.said)]
	if string(look) != preface[g.said:g.said+len(look)] {
		g.door.noteStranger(g, append([]byte(preface[:g.said]), p[:n]...))
		return 0, fmt.Errorf("%s does not speak HTTP/2", g.RemoteAddr())
	}
	g.said += len(look)
	if g.said == len(preface) {
		g.door.forget(g)
	}
	return n, err
}

// Close closes the connection.
func (g *guest) Close() error {
	g.door.forget(g)
	return g.Conn.Close()
}
