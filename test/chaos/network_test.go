package chaos

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// network is a bridge on this machine and network namespaces on it, one for each
// TaskManager. The master listens on the bridge's own address.
type network struct {
	id    int
	nodes int
}

// newNetwork makes a network with n namespaces, or says why it cannot. It is
// removed when the test ends.
func newNetwork(t *testing.T, n int) (*network, error) {
	for _, tool := range []string{"ip", "nsenter"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, err
		}
	}
	w := &network{id: os.Getpid() % 100_000, nodes: n}
	t.Cleanup(w.remove)
	steps := []string{
		"link add " + w.bridge() + " type bridge",
		"addr add " + w.address(-1) + "/24 dev " + w.bridge(),
		"link set " + w.bridge() + " up",
	}
	for node := range n {
		space, outer, inner := w.space(node), w.link(node), w.link(node)+"i"
		steps = append(steps,
			"netns add "+space,
			"link add "+outer+" type veth peer name "+inner+" netns "+space,
			"link set "+outer+" master "+w.bridge()+" up",
			"-n "+space+" addr add "+w.address(node)+"/24 dev "+inner,
			"-n "+space+" link set "+inner+" up",
			"-n "+space+" link set lo up",
		)
	}
	for _, step := range steps {
		if err := ip(step); err != nil {
			w.remove()
			return nil, err
		}
	}
	// Machines that filter bridged packets would let nobody through.
	for node := range n {
		ping := exec.Command("nsenter", "--net="+w.path(node), "ip", "route", "get", w.address(-1))
		if text, err := ping.CombinedOutput(); err != nil {
			w.remove()
			return nil, fmt.Errorf("no way from namespace %s to the bridge: %w: %s", w.space(node), err, text)
		}
	}
	return w, nil
}

func (w *network) bridge() string        { return fmt.Sprintf("wc%d", w.id) }
func (w *network) space(node int) string { return fmt.Sprintf("weir-chaos-%d-%d", w.id, node) }
func (w *network) link(node int) string  { return fmt.Sprintf("wc%d-%d", w.id, node) }
func (w *network) path(node int) string  { return "/run/netns/" + w.space(node) }

// address is a node's address, or the master's for -1. The block is the one set
// aside for measurements.
func (w *network) address(node int) string {
	return fmt.Sprintf("198.18.%d.%d", w.id%250, node+2)
}

// cut takes a node off the network, or brings it back.
func (w *network) cut(node int, off bool) error {
	state := " up"
	if off {
		state = " down"
	}
	return ip("link set " + w.link(node) + state)
}

// remove removes what there is of the network.
func (w *network) remove() {
	for node := range w.nodes {
		ip("link del " + w.link(node))
		ip("netns del " + w.space(node))
	}
	ip("link del " + w.bridge())
}

func ip(arguments string) error {
	text, err := exec.Command("ip", strings.Fields(arguments)...).CombinedOutput()
	if err != nil {
		return errors.New("ip " + arguments + ": " + err.Error() + ": " + strings.TrimSpace(string(text)))
	}
	return nil
}
