package e2e

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/testkit/processes"
)

// bin is where TestMain has built the binaries.
var bin string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "weir-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin = dir
	if err := processes.Build(dir, "cmd/weir", "examples/wordcount", "examples/orders", "examples/payments", "test/e2e/misbehave", "test/e2e/ledger"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// patience bounds every wait of these tests; none asserts that it took less.
const patience = 2 * time.Minute

// cluster is a running cluster of one test.
type cluster struct {
	t    *testing.T
	home string
	rest string // host:port
	pids []int  // the master's, then the TaskManagers'
	ever []int  // all that pids has held
	// options follow every verb.
	options []string
}

// start starts a cluster with n TaskManagers; it is stopped, and searched for
// leftovers, when the test ends.
func start(t *testing.T, n int, options ...string) *cluster {
	t.Helper()
	c := home(t)
	c.begin(n, options...)
	return c
}

// home gives a home without a cluster.
func home(t *testing.T) *cluster {
	t.Helper()
	// Paths of unix sockets are short: t.TempDir's would be too long.
	dir, err := os.MkdirTemp("", "weir")
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, home: dir}
	t.Cleanup(c.stop)
	return c
}

// in gives the cluster to a subtest.
func (c *cluster) in(t *testing.T) *cluster {
	of := *c
	of.t = t
	return &of
}

// begin starts the cluster of a home.
func (c *cluster) begin(n int, options ...string) {
	c.t.Helper()
	t := c.t
	c.options, c.pids = nil, nil
	for _, o := range append([]string{"rest.port=0", "jobmanager.rpc.port=0", "taskmanager.numberOfTaskSlots=4"}, options...) {
		c.options = append(c.options, "-D", o)
	}
	out, errOut, code := c.weir(append([]string{"cluster", "start", "--taskmanagers", strconv.Itoa(n)}, c.options...)...)
	if code != 0 {
		t.Fatalf("cluster start: code %d\n%s%s", code, out, errOut)
	}
	c.rest = regexp.MustCompile(`http://(\S+)`).FindStringSubmatch(out)[1]
	for _, m := range regexp.MustCompile(`pid (\d+)`).FindAllStringSubmatch(out, -1) {
		pid, _ := strconv.Atoi(m[1])
		c.pids, c.ever = append(c.pids, pid), append(c.ever, pid)
	}
	if len(c.pids) != n+1 {
		t.Fatalf("cluster start printed %d process ids, want %d:\n%s", len(c.pids), n+1, out)
	}
}

// stop ends the cluster and checks that nothing is left of it.
func (c *cluster) stop() {
	out, errOut, code := c.weir(append([]string{"cluster", "stop"}, c.options...)...)
	if code != 0 {
		c.t.Errorf("cluster stop: code %d\n%s%s", code, out, errOut)
	}
	if c.t.Failed() {
		c.showLogs()
	}
	c.pids = nil
	for _, thing := range c.things() {
		c.t.Errorf("left behind: %s", thing)
	}
	os.RemoveAll(c.home)
}

func (c *cluster) of() processes.Home { return processes.Home{Dir: c.home, Bin: bin} }

// things lists what there is of the cluster besides its logs.
func (c *cluster) things() []string { return c.of().Things(c.ever, len(c.pids) > 0) }

// nothingNew waits until there is nothing of the cluster that was not there
// before.
func (c *cluster) nothingNew(before []string) {
	c.t.Helper()
	c.untilSays(func() string {
		added := slices.DeleteFunc(c.things(), func(thing string) bool { return slices.Contains(before, thing) })
		if len(added) == 0 {
			return ""
		}
		return fmt.Sprintf("left behind: %q", added)
	})
}

func (c *cluster) showLogs() {
	logs, _ := filepath.Glob(filepath.Join(c.home, "log", "*"))
	for _, l := range logs {
		text, _ := os.ReadFile(l)
		c.t.Logf("%s:\n%s", filepath.Base(l), text[max(0, len(text)-4000):])
	}
}

// processes lists the processes whose environment names this cluster's home.
func (c *cluster) processes() []string { return c.of().Processes() }

// workers lists the ids of the worker processes.
func (c *cluster) workers() []int { return c.of().Workers() }

// weir runs the binary with the cluster's home.
func (c *cluster) weir(args ...string) (out, errOut string, code int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return c.command(ctx, args...)
}

func (c *cluster) command(ctx context.Context, args ...string) (out, errOut string, code int) {
	out, errOut, code, err := c.of().Run(ctx, args...)
	if err != nil {
		c.t.Fatal(err)
	}
	return out, errOut, code
}

// run submits a program; flags come before it, arguments after it.
func (c *cluster) run(flags []string, program string, arguments ...string) (out, errOut string, code int) {
	args := append([]string{"run", "-m", c.rest}, flags...)
	args = append(args, filepath.Join(bin, program))
	return c.weir(append(args, arguments...)...)
}

var submitted = regexp.MustCompile(`Job has been submitted with JobID ([0-9a-f]{32})`)

// detached submits a program and gives its job's id.
func (c *cluster) detached(program string, arguments ...string) string {
	c.t.Helper()
	out, errOut, code := c.run([]string{"-d"}, program, arguments...)
	m := submitted.FindStringSubmatch(out)
	if code != 0 || m == nil {
		c.t.Fatalf("run -d %s: code %d\n%s%s", program, code, out, errOut)
	}
	return m[1]
}

// ask sends a request. An answer of 500 is always a fault.
func (c *cluster) ask(method, path, contentType string, body io.Reader) (status int, text string) {
	c.t.Helper()
	request, err := http.NewRequest(method, "http://"+c.rest+path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	if response.StatusCode >= 500 {
		c.t.Errorf("%s %s: status %d: %s", method, path, response.StatusCode, answer)
	}
	return response.StatusCode, string(answer)
}

// get reads a REST answer.
func (c *cluster) get(path string, into any) {
	c.t.Helper()
	status, text := c.ask("GET", path, "", nil)
	if status != http.StatusOK {
		c.t.Fatalf("GET %s: status %d: %s", path, status, text)
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		c.t.Fatalf("GET %s: %v: %s", path, err, text)
	}
}

// until polls until done holds.
func (c *cluster) until(what string, done func() bool) {
	c.t.Helper()
	c.untilSays(func() string {
		if done() {
			return ""
		}
		return what
	})
}

// untilSays polls until missing says nothing.
func (c *cluster) untilSays(missing func() string) {
	c.t.Helper()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	limit := time.Now().Add(patience)
	for what := missing(); what != ""; what = missing() {
		if time.Now().After(limit) {
			c.t.Fatalf("not within %s: %s", patience, what)
		}
		<-poll.C
	}
}

// state gives a job's state.
func (c *cluster) state(job string) string {
	var answer struct {
		State string `json:"state"`
	}
	c.get("/jobs/"+job, &answer)
	return answer.State
}

// running waits until every task of the job runs.
func (c *cluster) running(job string) {
	c.t.Helper()
	c.until("all tasks running", func() bool {
		var answer struct {
			State    string `json:"state"`
			Vertices []struct {
				Parallelism int            `json:"parallelism"`
				Tasks       map[string]int `json:"tasks"`
			} `json:"vertices"`
		}
		c.get("/jobs/"+job, &answer)
		if answer.State == "FAILED" || answer.State == "FINISHED" {
			c.t.Fatalf("job %s is %s, want it running: %s", job, answer.State, c.cause(job))
		}
		for _, v := range answer.Vertices {
			if v.Tasks["RUNNING"] != v.Parallelism {
				return false
			}
		}
		return len(answer.Vertices) > 0
	})
}

// cause gives the whole exception history as text.
func (c *cluster) cause(job string) string {
	c.t.Helper()
	_, text := c.ask("GET", "/jobs/"+job+"/exceptions", "", nil)
	return text
}

// addresses are what a master has written down.
type addresses struct {
	REST string `json:"rest"`
	RPC  string `json:"rpc"`
}

func (c *cluster) addressFile(master int) string {
	return filepath.Join(c.home, "run", fmt.Sprintf("jobmanager-%d.address", master))
}

// address is where the master with the process id listens.
func (c *cluster) address(master int) (at addresses) {
	c.t.Helper()
	text, err := os.ReadFile(c.addressFile(master))
	if err == nil {
		err = json.Unmarshal(text, &at)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return at
}

// rpc is where TaskManagers reach the master with the process id.
func (c *cluster) rpc(master int) (host, port string) {
	c.t.Helper()
	host, port, err := net.SplitHostPort(c.address(master).RPC)
	if err != nil {
		c.t.Fatal(err)
	}
	return host, port
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// lines gives the lines of all files in a directory, sorted.
func lines(t *testing.T, dir string) []string {
	t.Helper()
	all, err := processes.Lines(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
