//go:build unix

package taskmanager

import (
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/belongings"
	"github.com/weirstream/weir/internal/rpc"
)

// candidates gives the ports of a list, in order.
func candidates(ranges []config.PortRange) iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, r := range ranges {
			for p := r.First; p <= r.Last; p++ {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// listen opens the RPC port: the first free one that is allowed.
func listen(cfg *config.Config, log *slog.Logger) (*rpc.Server, error) {
	key, ports := config.TaskManagerRPCPort.Key, config.TaskManagerRPCPort.In(cfg)
	if bind, set := config.TaskManagerRPCBindPort.Lookup(cfg); set {
		key, ports = config.TaskManagerRPCBindPort.Key, []config.PortRange{{First: bind, Last: bind}}
	}
	bindHost := config.TaskManagerBindHost.In(cfg)
	var last error
	for port := range candidates(ports) {
		system, err := listenAt(cfg, bindHost, port, log)
		if err == nil {
			return system, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("%s, %s: %w", config.TaskManagerBindHost.Key, key, err)
		}
		last = err
	}
	return nil, fmt.Errorf("every port that %s allows is in use; stop what uses it or set %s: %w", key, key, last)
}

// listenAt opens one port. The address others use has to be known before listening: if
// it is configured, a port that the system is to choose is chosen first.
func listenAt(cfg *config.Config, bindHost string, port int, log *slog.Logger) (*rpc.Server, error) {
	host := config.TaskManagerHost.In(cfg)
	if host == "" {
		return rpc.Listen(rpc.Options{Listen: net.JoinHostPort(bindHost, strconv.Itoa(port)), Logger: log})
	}
	const attempts = 5 // another process may take the chosen port meanwhile
	for attempt := 1; ; attempt++ {
		at := port
		if at == 0 {
			var err error
			if at, err = freePort(bindHost); err != nil {
				return nil, err
			}
		}
		system, err := rpc.Listen(rpc.Options{Listen: net.JoinHostPort(bindHost, strconv.Itoa(at)), Advertise: net.JoinHostPort(host, strconv.Itoa(at)), Logger: log})
		if port != 0 || attempt == attempts || !errors.Is(err, syscall.EADDRINUSE) {
			return system, err
		}
	}
}

// freePort finds a port that is free now.
func freePort(host string) (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// maxSocketPath is the longest path that every system takes for a unix socket.
const maxSocketPath = 100

// socketPath gives the path of the socket for data from this host, in the run
// directory, or in a directory of its own where that path would be too long. It
// belongs to no other process, and goes with this one.
func socketPath(run, suffix string, register *belongings.Register) (path string, err error) {
	path = filepath.Join(run, "tm-"+suffix+".sock")
	if len(path) <= maxSocketPath {
		return path, register.Add(path)
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("weir-%s-%08x", suffix, rand.Uint32()))
	if err := register.Directory(dir); err != nil {
		return "", fmt.Errorf("make a directory for a socket: %w", err)
	}
	return filepath.Join(dir, "data.sock"), nil
}

// listenData opens the port where records arrive, and the socket.
func listenData(cfg *config.Config, socket string) ([]net.Listener, error) {
	port := config.TaskManagerDataPort.In(cfg)
	key, ports := config.TaskManagerDataPort.Key, []config.PortRange{{First: port, Last: port}}
	if bind, set := config.TaskManagerDataBindPort.Lookup(cfg); set {
		key, ports = config.TaskManagerDataBindPort.Key, bind
	}
	local, err := net.Listen("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("listen for records: %w", err)
	}
	var last error
	for port := range candidates(ports) {
		l, err := net.Listen("tcp", net.JoinHostPort(config.TaskManagerBindHost.In(cfg), strconv.Itoa(port)))
		if err == nil {
			return []net.Listener{local, l}, nil
		}
		last = err
		if !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	what := fmt.Errorf("listen for records (%s): %w", key, last)
	if errors.Is(last, syscall.EADDRINUSE) {
		what = fmt.Errorf("listen for records: every port that %s allows is in use; stop what uses it or set %s: %w", key, key, last)
	}
	return nil, errors.Join(what, local.Close())
}
