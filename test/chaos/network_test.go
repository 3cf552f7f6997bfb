package chaos

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// network is a bridge on this machine and network namespaces on it, one for each
// TaskManager. The master listens on the bridge's own address.
type network struct {
	id    int
	nodes int
	mu    sync.Mutex
	lost  map[[2]int]int // how many faults let packets from one node to another get lost; guarded by mu
}

// newNetwork makes a network with n namespaces, or says why it cannot. It is
// removed when the test ends.
func newNetwork(t *testing.T, n int) (*network, error) {
	for _, tool := range []string{"ip", "nsenter", "unshare", "mount"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, err
		}
	}
	w := &network{id: os.Getpid() % 100_000, nodes: n, lost: map[[2]int]int{}}
	t.Cleanup(w.remove)
	steps := []string{
		"ip link add " + w.bridge() + " type bridge",
		"ip addr add " + w.address(-1) + "/24 dev " + w.bridge(),
		"ip link set " + w.bridge() + " up",
	}
	for node := range n {
		space, outer, inner := w.space(node), w.link(node), w.inner(node)
		steps = append(steps,
			"ip netns add "+space,
			"ip link add "+outer+" type veth peer name "+inner+" netns "+space,
			"ip link set "+outer+" master "+w.bridge()+" up",
			"ip -n "+space+" addr add "+w.address(node)+"/24 dev "+inner,
			"ip -n "+space+" link set "+inner+" up",
			"ip -n "+space+" link set lo up",
			// Machines that filter bridged packets would let nobody through.
			w.inside(node)+"ip route get "+w.address(-1),
		)
	}
	for _, step := range steps {
		if err := do(step); err != nil {
			w.remove()
			return nil, err
		}
	}
	return w, nil
}

func (w *network) bridge() string        { return fmt.Sprintf("wc%d", w.id) }
func (w *network) space(node int) string { return fmt.Sprintf("weir-chaos-%d-%d", w.id, node) }
func (w *network) link(node int) string  { return fmt.Sprintf("wc%d-%d", w.id, node) }
func (w *network) inner(node int) string { return w.link(node) + "i" }

// inside is what runs a command in the place of a node; the master is at home.
func (w *network) inside(node int) string {
	if node < 0 {
		return ""
	}
	return "nsenter --net=/run/netns/" + w.space(node) + " "
}

// device is where a node's packets leave it.
func (w *network) device(node int) string {
	if node < 0 {
		return w.bridge()
	}
	return w.inner(node)
}

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
	return do("ip link set " + w.link(node) + state)
}

// lose lets everything from one node to another get lost, or ends that when no
// other fault wants it. The sender takes a link address for the receiver's that
// nobody has, so it notices nothing.
func (w *network) lose(from, to int, on bool) error {
	where := w.address(to) + " dev " + w.device(from)
	w.mu.Lock()
	defer w.mu.Unlock()
	way := [2]int{from, to}
	if on {
		w.lost[way]++
		return do(w.inside(from) + "ip neigh replace " + where + " lladdr 02:00:00:00:00:01 nud permanent")
	}
	if w.lost[way]--; w.lost[way] > 0 {
		return nil
	}
	return do(w.inside(from) + "ip neigh del " + where)
}

// slow lets a node send and receive only some kilobytes a second, or ends that.
func (w *network) slow(node int, on bool) error {
	what := " root tbf rate 128kbit burst 4kb latency 300ms"
	change := "replace"
	if !on {
		what, change = " root", "del"
	}
	return errors.Join(
		do("tc qdisc "+change+" dev "+w.link(node)+what),
		do(w.inside(node)+"tc qdisc "+change+" dev "+w.inner(node)+what))
}

// remove removes what there is of the network.
func (w *network) remove() {
	for node := range w.nodes {
		do("ip link del " + w.link(node))
		do("ip netns del " + w.space(node))
	}
	do("ip link del " + w.bridge())
}

// do runs a command whose arguments have no spaces.
func do(command string) error {
	words := strings.Fields(command)
	text, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", command, err, strings.TrimSpace(string(text)))
	}
	return nil
}

// networkKinds are the faults of the network that can be injected here. The test's
// output says why others cannot.
func networkKinds(c *cluster) (kinds []*kind) {
	if c.net != nil {
		kinds = append(kinds,
			&kind{"cut TaskManager off", 2, (*faults).cutNetwork},
			&kind{"lose what a TaskManager sends", 2, func(f *faults) (bool, error) { return f.lose(true) }},
			&kind{"lose what is sent to a TaskManager", 2, func(f *faults) (bool, error) { return f.lose(false) }},
			&kind{"cut two TaskManagers from each other", 2, (*faults).part})
		if err := errors.Join(c.net.slow(0, true), c.net.slow(0, false)); err != nil {
			c.t.Logf("the network is not slowed down in this run: %v", err)
		} else {
			kinds = append(kinds, &kind{"slow network of a TaskManager", 2, (*faults).slowNetwork})
		}
	}
	if err := canReset(); err != nil {
		c.t.Logf("connections are not reset in this run: %v", err)
	} else {
		kinds = append(kinds, &kind{"reset connections", 2, (*faults).resetConnections})
	}
	return kinds
}

func (f *faults) cutNetwork() (bool, error) {
	place, ok := f.place()
	if !ok {
		return false, nil
	}
	f.later(f.lasts(), func() error { return f.c.net.cut(place, false) })
	return true, f.c.net.cut(place, true)
}

// lose lets all get lost that a TaskManager sends to the master and the other
// TaskManagers, or all they send to it.
func (f *faults) lose(sent bool) (bool, error) {
	place, ok := f.place()
	if !ok {
		return false, nil
	}
	all := func(on bool) (err error) {
		for other := -1; other < len(f.c.managers); other++ {
			from, to := place, other
			if !sent {
				from, to = other, place
			}
			if other != place {
				err = errors.Join(err, f.c.net.lose(from, to, on))
			}
		}
		return err
	}
	f.later(f.lasts(), func() error { return all(false) })
	return true, all(true)
}

// part cuts two TaskManagers from each other, and neither from the master.
func (f *faults) part() (bool, error) {
	one, ok := f.place()
	if !ok {
		return false, nil
	}
	other, ok := f.place()
	if !ok {
		delete(f.harmed, one)
		return false, nil
	}
	both := func(on bool) error {
		return errors.Join(f.c.net.lose(one, other, on), f.c.net.lose(other, one, on))
	}
	f.later(f.lasts(), func() error { return both(false) })
	return true, both(true)
}

func (f *faults) slowNetwork() (bool, error) {
	place, ok := f.place()
	if !ok {
		return false, nil
	}
	f.later(f.lasts(), func() error { return f.c.net.slow(place, false) })
	return true, f.c.net.slow(place, true)
}

// resetConnections resets all connections of a TaskManager to others, or, where
// TaskManagers have no namespaces, those of all of them to the master.
func (f *faults) resetConnections() (bool, error) {
	place, ok := f.place()
	if !ok {
		return false, nil
	}
	delete(f.harmed, place) // it is over at once
	if f.c.net != nil {
		return true, do(f.c.net.inside(place) + "ss -K -t state established")
	}
	return true, reset(f.c.rpcPort)
}

// reset resets the connections to a port of this machine.
func reset(port string) error { return do("ss -K -t state established dport = :" + port) }

// canReset says why connections cannot be reset here; nil: they can.
func canReset() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return err
	}
	defer conn.Close()
	other, err := l.Accept()
	if err != nil {
		return err
	}
	defer other.Close()
	if err := reset(strconv.Itoa(l.Addr().(*net.TCPAddr).Port)); err != nil {
		return err
	}
	if _, err := conn.Write([]byte{1}); err == nil {
		return errors.New("ss -K has left a connection as it was: the kernel cannot do it, or the user may not")
	}
	return nil
}
