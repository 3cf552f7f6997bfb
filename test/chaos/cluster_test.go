package chaos

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/weirstream/weir/internal/testkit/processes"
)

// patience bounds every wait; none asserts that it took less.
const patience = 5 * time.Minute

// silence is how long a process may be silent before it counts as lost.
const silence = 1500 * time.Millisecond

// settings are the options of every process.
var settings = []string{
	"taskmanager.numberOfTaskSlots=3",
	"heartbeat.interval=300 ms", fmt.Sprintf("heartbeat.timeout=%d ms", silence.Milliseconds()),
	"restart-strategy.type=fixed-delay", "restart-strategy.fixed-delay.attempts=1000000", "restart-strategy.fixed-delay.delay=50 ms",
}

// process is a process of the cluster, which the test has started.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has been waited for
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// alive says whether the process has not been waited for yet.
func (p *process) alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// cluster is a master and TaskManagers.
type cluster struct {
	t        *failures
	dir      string // what is removed in the end
	home     processes.Home
	net      *network // nil where the machine has none
	rest     string   // host:port
	ports    []string // at which every master listens, for REST and RPC
	rpcPort  string
	master   *process
	masters  int // how many there have been
	managers []*process
	options  []string // of every TaskManager, beside settings
	ever     []int    // the ids of all that were started
}

// start starts a cluster with n TaskManagers that have these options. When the test
// ends its processes are ended, and nothing of it may be left.
func start(t *failures, n int, options ...string) *cluster {
	dir, err := os.MkdirTemp("", "weir") // paths of unix sockets are short: t.TempDir's would be too long
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, dir: dir, home: processes.Home{Dir: dir, Bin: bin}, options: options}
	if c.net, err = newNetwork(t.T, n); err != nil {
		t.Logf("the network is not cut in this run, because it cannot be made: %v", err)
	} else {
		// Where the path of a socket would be too long it is made below TMPDIR, of
		// which every TaskManager has one of its own: they speak over the network.
		c.home.Dir = filepath.Join(dir, strings.Repeat("long", 20))
	}
	t.Cleanup(c.stop)
	for _, directory := range []string{filepath.Join(c.home.Dir, "log"), c.sockets()} {
		if err := os.MkdirAll(directory, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	c.launchMaster()
	c.managers = make([]*process, n)
	for i := range n {
		c.launchManager(i)
	}
	c.allRegistered()
	return c
}

// sockets is where each TaskManager sees a directory of its own.
func (c *cluster) sockets() string { return filepath.Join(c.dir, "sockets") }

// launchMaster starts the master; later ones listen where the first one did.
func (c *cluster) launchMaster() {
	c.t.Helper()
	if c.ports == nil {
		var err error
		if c.ports, err = processes.FreePorts(2); err != nil {
			c.t.Fatal(err)
		}
	}
	options := []string{"rest.port=" + c.ports[0], "jobmanager.rpc.port=" + c.ports[1]}
	if c.net != nil {
		options = append(options, "jobmanager.bind-host="+c.net.address(-1), "jobmanager.rpc.address="+c.net.address(-1))
	}
	c.master = c.launch(nil, "jobmanager", options...)
	c.masters++
	var at struct {
		REST string `json:"rest"`
		RPC  string `json:"rpc"`
	}
	c.until("the master serves", func() string {
		if !c.master.alive() {
			c.t.Fatalf("the master (pid %d) has ended by itself: %s", c.master.pid(), c.master.cmd.ProcessState)
		}
		text, err := os.ReadFile(filepath.Join(c.home.Dir, "run", fmt.Sprintf("jobmanager-%d.address", c.master.pid())))
		if err == nil {
			err = json.Unmarshal(text, &at)
		}
		return says(err)
	})
	c.rest = at.REST
	var err error
	if _, c.rpcPort, err = net.SplitHostPort(at.RPC); err != nil {
		c.t.Fatal(err)
	}
}

// launchManager starts the TaskManager of a place, with the options it always
// has. The first one comes back under the name it had, the others under new ones.
func (c *cluster) launchManager(i int) {
	options := append([]string{"jobmanager.rpc.port=" + c.rpcPort}, c.options...)
	if i == 0 {
		options = append(options, "taskmanager.resource-id=first")
	}
	var wrap []string
	if c.net != nil {
		options = append(options, "jobmanager.rpc.address="+c.net.address(-1), "taskmanager.bind-host="+c.net.address(i))
		wrap = append(strings.Fields(c.net.inside(i)), "unshare", "--mount", "sh", "-c", `mount -t tmpfs weir "$TMPDIR" && exec "$@"`, "sh")
	}
	c.managers[i] = c.launch(wrap, "taskmanager", options...)
}

// launch starts a process. A wrapping command must become the process.
func (c *cluster) launch(wrap []string, role string, options ...string) *process {
	c.t.Helper()
	args := []string{role}
	for _, o := range append(append([]string{}, settings...), options...) {
		args = append(args, "-D", o)
	}
	cmd := c.home.Command(context.Background(), args...)
	if wrap != nil {
		wrapped := exec.Command(wrap[0], append(wrap[1:], cmd.Args...)...)
		wrapped.Env = append(cmd.Env, "TMPDIR="+c.sockets())
		cmd = wrapped
	}
	log, err := os.Create(filepath.Join(c.home.Dir, "log", fmt.Sprintf("output-%s-%d", role, len(c.ever))))
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	c.ever = append(c.ever, cmd.Process.Pid)
	go func() {
		cmd.Wait()
		close(p.ended)
	}()
	return p
}

// stop ends the cluster and checks that nothing is left of it.
func (c *cluster) stop() {
	if c.t.Failed() {
		c.showLogs()
	}
	for _, p := range append(c.managers, c.master) {
		if p == nil || !p.alive() {
			continue
		}
		p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.ended:
		case <-time.After(patience / 3):
			c.t.Errorf("process %d did not end within %s of SIGTERM", p.pid(), patience/3)
			p.cmd.Process.Kill()
			<-p.ended
		}
	}
	limit := time.Now().Add(patience / 3)
	left := c.home.Things(c.ever, false)
	for poll := time.Tick(50 * time.Millisecond); len(left) > 0 && time.Now().Before(limit); <-poll {
		left = c.home.Things(c.ever, false)
	}
	for _, thing := range left {
		c.t.Errorf("left behind: %s", thing)
	}
	if !c.t.Failed() {
		os.RemoveAll(c.dir)
	}
}

func (c *cluster) showLogs() {
	logs, _ := filepath.Glob(filepath.Join(c.home.Dir, "log", "*"))
	c.t.Logf("the logs are kept in %s", filepath.Join(c.home.Dir, "log"))
	for _, l := range logs {
		text, _ := os.ReadFile(l)
		c.t.Logf("%s:\n%s", filepath.Base(l), text[max(0, len(text)-3000):])
	}
}

// until polls until missing says nothing.
func (c *cluster) until(what string, missing func() string) {
	c.t.Helper()
	limit := time.Now().Add(patience)
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for said := missing(); said != ""; said = missing() {
		if time.Now().After(limit) {
			c.t.Fatalf("not within %s: %s: %s", patience, what, said)
		}
		<-poll.C
	}
}

func says(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// text reads a REST answer. It is asked for only when the master is well: it
// must answer.
func (c *cluster) text(path string) string {
	c.t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	response, err := client.Get("http://" + c.rest + path)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		c.t.Fatalf("GET %s: status %d, %v: %s", path, response.StatusCode, err, text)
	}
	return string(text)
}

func (c *cluster) get(path string, into any) {
	c.t.Helper()
	if text := c.text(path); json.Unmarshal([]byte(text), into) != nil {
		c.t.Fatalf("GET %s: %s", path, text)
	}
}

// allRegistered waits until the master knows exactly the TaskManagers there are.
func (c *cluster) allRegistered() {
	c.t.Helper()
	c.until("all TaskManagers registered", func() string {
		for i, p := range c.managers {
			if !p.alive() {
				c.t.Fatalf("TaskManager %d (pid %d) has ended by itself: %s", i, p.pid(), p.cmd.ProcessState)
			}
		}
		var answer struct {
			Managers []struct {
				ID string `json:"id"`
			} `json:"taskmanagers"`
		}
		if c.get("/taskmanagers", &answer); len(answer.Managers) != len(c.managers) {
			return fmt.Sprintf("registered are %v, want %d", answer.Managers, len(c.managers))
		}
		return ""
	})
}

var submitted = regexp.MustCompile(`Job has been submitted with JobID ([0-9a-f]{32})`)

// submit submits a job of one of the programs, with options that have no spaces,
// and gives its id.
func (c *cluster) submit(program, parallelism, options string, arguments ...string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	args := []string{"run", "-m", c.rest, "-d", "-p", parallelism}
	for _, o := range strings.Fields(options) {
		args = append(args, "-D", o)
	}
	args = append(append(args, filepath.Join(bin, program)), arguments...)
	out, errOut, code, err := c.home.Run(ctx, args...)
	m := submitted.FindStringSubmatch(out)
	if err != nil || code != 0 || m == nil {
		c.t.Fatalf("weir %s: code %d, %v\n%s%s", strings.Join(args, " "), code, err, out, errOut)
	}
	return m[1]
}

// job is what REST shows of a job.
type job struct {
	State    string `json:"state"`
	Vertices []struct {
		ID          string         `json:"id"`
		Name        string         `json:"name"`
		Parallelism int            `json:"parallelism"`
		Tasks       map[string]int `json:"tasks"`
		Metrics     struct {
			Read int64 `json:"read-records"`
		} `json:"metrics"`
	} `json:"vertices"`
}

// look reads a job, which must not have failed.
func (c *cluster) look(id string) (j job) {
	c.t.Helper()
	c.get("/jobs/"+id, &j)
	if j.State == "FAILED" || j.State == "CANCELED" {
		c.t.Fatalf("job %s is %s: %s", id, j.State, c.text("/jobs/"+id+"/exceptions"))
	}
	return j
}

// running waits until every task of the job runs.
func (c *cluster) running(id string) {
	c.t.Helper()
	if !c.runs(id) {
		c.t.Fatalf("job %s has finished", id)
	}
}

// runs waits until every task of the job runs. It is false when the job has finished: a
// bounded one does, however slow who watches it is.
func (c *cluster) runs(id string) (runs bool) {
	c.t.Helper()
	c.until("all tasks running", func() string {
		j := c.look(id)
		if j.State == "FINISHED" {
			return ""
		}
		for _, v := range j.Vertices {
			if v.Tasks["RUNNING"] != v.Parallelism {
				return fmt.Sprintf("job %s is %s, %s: %v", id, j.State, v.Name, v.Tasks)
			}
		}
		if j.State != "RUNNING" || len(j.Vertices) == 0 {
			return "job " + id + " is " + j.State
		}
		runs = true
		return ""
	})
	return runs
}

// ended says whether the job has finished.
func (c *cluster) ended(id string) bool {
	c.t.Helper()
	return c.look(id).State == "FINISHED"
}

// progresses waits until the job's tasks have read more records from one another
// than at first.
func (c *cluster) progresses(id string) {
	c.t.Helper()
	least := int64(-1) // what the present attempts have read when they were first seen
	c.until("records to arrive", func() string {
		var read int64
		for _, v := range c.look(id).Vertices {
			read += v.Metrics.Read
		}
		if least < 0 || read < least { // a new attempt counts from 0
			least = read
		}
		if read == least {
			return fmt.Sprintf("job %s: %d records have been read, and no more", id, read)
		}
		return ""
	})
}

// finished waits until the job has finished.
func (c *cluster) finished(id string) {
	c.t.Helper()
	c.until("job finished", func() string {
		if j := c.look(id); j.State != "FINISHED" {
			return fmt.Sprintf("job %s is %s: %+v", id, j.State, j.Vertices)
		}
		return ""
	})
}

// subtask is what REST shows of a subtask's newest attempt.
type subtask struct {
	Attempt     int    `json:"attempt"`
	TaskManager string `json:"taskmanager-id"`
}

// subtasks gives all subtasks of a job.
func (c *cluster) subtasks(id string) (all []subtask) {
	c.t.Helper()
	for _, v := range c.look(id).Vertices {
		var vertex struct {
			Subtasks []subtask `json:"subtasks"`
		}
		c.get("/jobs/"+id+"/vertices/"+v.ID, &vertex)
		all = append(all, vertex.Subtasks...)
	}
	return all
}

// attempt gives the newest attempt of any of the job's tasks: how often it was
// restarted.
func (c *cluster) attempt(id string) (newest int) {
	c.t.Helper()
	for _, s := range c.subtasks(id) {
		newest = max(newest, s.Attempt)
	}
	return newest
}

// onlyJob waits until a job of the given parallelism is all that occupies slots
// and has workers.
func (c *cluster) onlyJob(id string, parallelism int) {
	c.t.Helper()
	c.until("no slot and no worker of other jobs", func() string {
		var overview struct {
			Total     int `json:"slots-total"`
			Available int `json:"slots-available"`
		}
		if c.get("/overview", &overview); overview.Total-overview.Available != parallelism {
			return fmt.Sprintf("%d of %d slots are free, and %d in use by job %s", overview.Available, overview.Total, parallelism, id)
		}
		managers := map[string]bool{}
		for _, s := range c.subtasks(id) {
			managers[s.TaskManager] = true
		}
		if workers := c.home.Workers(); len(workers) != len(managers) {
			return fmt.Sprintf("workers are %d, and job %s runs on %d TaskManagers", workers, id, len(managers))
		}
		return ""
	})
}
