package master

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/addressfile"
)

// A RESTServer answers the REST API; a *rest.Server is one.
type RESTServer interface {
	// Serve answers what comes in on l until Shutdown.
	Serve(l net.Listener) error
	// Shutdown waits for the requests under way, or for ctx, and ends them.
	Shutdown(ctx context.Context) error
}

// server is REST being served.
type server struct {
	rest    RESTServer
	address string // as clients know it, host:port
	file    string // the address file
	ended   chan struct{}
}

// ServeREST serves REST on l, which is then the master's, and writes down where
// clients and the commands on this host find the process. It is called at most
// once.
func (m *Master) ServeREST(l net.Listener, rest RESTServer) error {
	address, err := m.advertised(l)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	s := &server{rest: rest, address: address, ended: make(chan struct{}),
		file: addressfile.Path(config.RunDir(m.config), os.Getpid())}
	go func() { // ends with Shutdown, for which closeREST waits
		defer close(s.ended)
		if err := rest.Serve(l); err != nil {
			m.log.Error("the REST API has ended", "address", address, "error", err)
		}
	}()
	m.mu.Lock()
	m.server = s
	m.mu.Unlock()
	if err := m.belongings.AddAll(s.file); err != nil { // its draft too
		return err
	}
	if err := addressfile.Write(s.file, addressfile.Addresses{REST: address, RPC: m.RPCAddress()}); err != nil {
		return err
	}
	m.log.Info("REST API is served", "address", "http://"+address)
	return nil
}

// advertised is the address clients use: rest.address with the port that is
// listened on, unless another port leads there.
func (m *Master) advertised(l net.Listener) (string, error) {
	tcp, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return "", fmt.Errorf("serve REST: %s is no TCP address", l.Addr())
	}
	port := tcp.Port
	_, bound := config.RestBindPort.Lookup(m.config)
	if p, set := config.RestPort.Lookup(m.config); bound && set && p != 0 {
		port = p
	}
	return net.JoinHostPort(config.RestAddress.In(m.config), strconv.Itoa(port)), nil
}

// RESTAddress is where clients reach the REST API, host:port; empty before
// ServeREST.
func (m *Master) RESTAddress() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.server == nil {
		return ""
	}
	return m.server.address
}

func (m *Master) closeREST(ctx context.Context) error {
	m.mu.Lock()
	s := m.server
	m.mu.Unlock()
	if s == nil {
		return nil
	}
	err := errors.Join(addressfile.Remove(s.file), s.rest.Shutdown(ctx))
	<-s.ended
	return err
}
