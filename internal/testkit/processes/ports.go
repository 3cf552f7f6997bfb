package processes

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
)

// The ports that FreePorts gives are from firstPort on, and end where the system begins
// to choose: lastPort where it does not say.
const firstPort, lastPort = 12000, 32000

// FreePorts gives ports of this host at which nobody listens. Unlike those that the
// system chooses, it does not choose them for others either: they are still free when a
// process comes to listen at them, or comes back to them.
func FreePorts(n int) ([]string, error) {
	var all []string
	var last error
	for try := 0; len(all) < n; try++ {
		if try == 100*n {
			return nil, fmt.Errorf("find %d free ports: %w", n, last)
		}
		port := strconv.Itoa(firstPort + rand.IntN(endOfPorts()-firstPort))
		if slices.Contains(all, port) {
			continue
		}
		var l net.Listener
		if l, last = net.Listen("tcp", ":"+port); last != nil {
			continue // in use
		}
		if last = l.Close(); last == nil {
			all = append(all, port)
		}
	}
	return all, nil
}

// endOfPorts is the first port that is not to be given: the system gives it to those who
// ask for any.
func endOfPorts() int {
	text, _ := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range") // on other systems they begin later
	begin, _, _ := strings.Cut(string(text), "\t")
	if first, err := strconv.Atoi(begin); err == nil && first > firstPort {
		return min(first, lastPort)
	}
	return lastPort
}
