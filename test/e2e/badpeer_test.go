package e2e

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// strangers connect to every port of the cluster and do not speak what is spoken
// there.
func strangers(c *cluster) []row {
	var overview struct {
		Managers []struct {
			Path string `json:"path"`
			Data int    `json:"dataPort"`
		} `json:"taskmanagers"`
	}
	c.get("/taskmanagers", &overview)
	m := overview.Managers[0]
	host, port := c.rpc(c.pids[0])
	managerHost, _, _ := net.SplitHostPort(m.Path)
	sockets, _ := filepath.Glob(filepath.Join(c.home, "run", "tm-*.sock"))
	if len(sockets) != 1 {
		c.t.Fatalf("the sockets for data are %q", sockets)
	}
	workers, _ := filepath.Glob(filepath.Join(c.home, "tmp", "tm-*", "workers", "*", "*.sock"))
	ports := map[string][2]string{
		"REST":                    {"tcp", c.rest},
		"the JobManager's RPC":    {"tcp", net.JoinHostPort(host, port)},
		"the TaskManager's RPC":   {"tcp", m.Path},
		"the data port":           {"tcp", fmt.Sprintf("%s:%d", managerHost, m.Data)},
		"the data socket":         {"unix", sockets[0]},
		"a socket of the witness": {"unix", workers[0]},
	}
	var rows []row
	for where, at := range ports {
		rows = append(rows,
			row{"random bytes to " + where, send(at, random()), 0, nil},
			row{"a TLS hello to " + where, send(at, hello()), 0, nil},
			row{"HTTP to " + where, send(at, []byte("GET / HTTP/1.0\r\n\r\n")), 0, nil},
			row{"silence to " + where, silence(at), 0, nil})
	}
	return rows
}

// random gives bytes that begin no protocol; each run has others.
func random() []byte {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, seed))
	all := []byte(fmt.Sprintf("\xff\xfe%x", seed))
	for range 4096 {
		all = append(all, byte(r.Uint32()))
	}
	return all
}

// hello is the beginning of a TLS connection.
func hello() []byte {
	client, server := net.Pipe()
	go func() { // ends when the pipe is closed
		tls.Client(client, &tls.Config{ServerName: "localhost"}).Handshake()
		client.Close()
	}()
	defer server.Close()
	first := make([]byte, 4096)
	n, _ := server.Read(first)
	return first[:n]
}

// send sends bytes and waits until the other side lets go of the connection.
func send(at [2]string, text []byte) func(*cluster) answer {
	return func(c *cluster) answer {
		conn, err := net.Dial(at[0], at[1])
		if err != nil {
			c.t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(patience))
		conn.Write(text) // it may be cut off before it is read
		if half, ok := conn.(interface{ CloseWrite() error }); ok {
			half.CloseWrite()
		}
		got, err := io.ReadAll(conn)
		if err != nil && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
			return answer{1, fmt.Sprintf("it sent %q: %v", text, err)}
		}
		return answer{0, string(got)}
	}
}

// silence holds a connection on which nothing is said until the row is over.
func silence(at [2]string) func(*cluster) answer {
	return func(c *cluster) answer {
		conn, err := net.Dial(at[0], at[1])
		if err != nil {
			c.t.Fatal(err)
		}
		c.t.Cleanup(func() { conn.Close() })
		return answer{}
	}
}

// commands are command lines that cannot be carried out, or are interrupted.
func commands(c *cluster) []row {
	nobody := strings.Repeat("1", 32)
	says := func(code int, args []string, texts ...string) row {
		return row{"weir " + strings.ReplaceAll(strings.Join(args, " "), c.rest, "REST"), func(c *cluster) answer { return c.says(args...) }, code, texts}
	}
	return []row{
		says(2, []string{"frobnicate"}, `"frobnicate" is not a valid action.`),
		says(3, []string{"cancel", "-m", c.rest, nobody}, "Could not cancel job "+nobody+".\nJob could not be found."),
		says(2, []string{"cancel", "-m", c.rest, "xyz"}, `Cannot parse JobID from "xyz"`),
		says(1, []string{"list", "-m", "localhost:1"}, "Failed to retrieve job list.\n", "connection refused", "Is the cluster running?"),
		says(2, []string{"list", "-m", "localhost"}, "want HOST:PORT"),
		says(78, []string{"list", "-D", "rest.prot=1"}, "rest.prot: unknown option; did you mean rest.port?"),
		says(2, []string{"run", "-m", c.rest}, "no program given"),
		{"a second cluster of one home", func(c *cluster) answer { return c.says(append([]string{"cluster", "start"}, c.options...)...) }, 1, []string{
			"a cluster is running already: jobmanager 1", "weir cluster stop"}},
		{"weir run, interrupted", func(c *cluster) answer {
			job, got := c.interrupted()
			if state := c.state(job); state != "RUNNING" {
				c.t.Errorf("the job is %s, want it to go on", state)
			}
			c.cancel(job)
			return got
		}, 130, []string{"Interrupted. Job ", "goes on", "weir cancel"}},
		{"weir run -sae, interrupted", func(c *cluster) answer {
			job, got := c.interrupted("-sae")
			if state := c.state(job); state != "CANCELED" {
				c.t.Errorf("the job is %s, want it canceled", state)
			}
			return got
		}, 130, []string{"Interrupted. Cancelled job "}},
	}
}

// interrupted runs a job, attached, and interrupts the command once it runs.
func (c *cluster) interrupted(flags ...string) (job string, got answer) {
	c.t.Helper()
	a := c.attach(flags, "misbehave", "fine")
	c.running(a.job)
	a.cmd.Process.Signal(os.Interrupt)
	return a.job, a.wait()
}

// attachment is a run that follows its job.
type attachment struct {
	job    string
	cmd    *exec.Cmd
	out    *bufio.Reader
	errOut bytes.Buffer
}

// attach runs a program and returns when it has been submitted. The caller waits
// for its end.
func (c *cluster) attach(flags []string, program string, arguments ...string) *attachment {
	c.t.Helper()
	args := append(append([]string{"run", "-m", c.rest}, flags...), filepath.Join(bin, program))
	a := &attachment{cmd: exec.Command(filepath.Join(bin, "weir"), append(args, arguments...)...)}
	a.cmd.Env = append(os.Environ(), "WEIR_HOME="+c.home)
	a.cmd.Stderr = &a.errOut
	out, err := a.cmd.StdoutPipe()
	if err == nil {
		err = a.cmd.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	a.out = bufio.NewReader(out)
	line, err := a.out.ReadString('\n')
	m := submitted.FindStringSubmatch(line)
	if m == nil {
		a.cmd.Process.Kill()
		got := a.wait()
		c.t.Fatalf("run said %q, error %v, %s", line, err, got.text)
	}
	a.job = m[1]
	return a
}

// wait waits for the end of the command.
func (a *attachment) wait() answer {
	rest, _ := io.ReadAll(a.out)
	a.cmd.Wait()
	return answer{a.cmd.ProcessState.ExitCode(), string(rest) + a.errOut.String()}
}

// taskManagers are those a master does not take.
func taskManagers(t *testing.T, c *cluster) []row {
	_, port := c.rpc(c.pids[0])
	join := func(weir string, options ...string) func(*cluster) answer {
		return func(c *cluster) answer {
			args := []string{"taskmanager", "-D", "jobmanager.rpc.port=" + port}
			for _, o := range options {
				args = append(args, "-D", o)
			}
			cmd := exec.Command(weir, args...)
			cmd.Env = append(os.Environ(), "WEIR_HOME="+c.home)
			text, err := cmd.CombinedOutput()
			if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
				c.t.Fatal(err)
			}
			return answer{cmd.ProcessState.ExitCode(), string(text)}
		}
	}
	weir := filepath.Join(bin, "weir")
	rows := []row{
		{"TaskManager of another cluster", join(weir, "cluster.id=00000000000000000000000000000b22"), 1, []string{
			"refused this TaskManager", "00000000000000000000000000000b22", "00000000000000000000000000000a11"}},
		{"TaskManager with the name of another", join(weir, "cluster.id=0a11"), 78, []string{"cluster.id", "0a11"}},
	}
	if testing.Short() {
		return rows
	}
	old := filepath.Join(t.TempDir(), "weir")
	build := exec.Command("go", "build", "-ldflags", "-X github.com/weirstream/weir/internal/cli.Version=0.0.9", "-o", old, "github.com/weirstream/weir/cmd/weir")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, text)
	}
	return append(rows, row{"TaskManager of another version", join(old, "cluster.id=00000000000000000000000000000a11"), 1, []string{"refused this TaskManager", "0.0.9"}})
}

// configurations keep a process from starting.
func configurations(t *testing.T) []row {
	taken, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	with := func(verb string, options ...string) func(*cluster) answer {
		args := strings.Fields(verb)
		for _, o := range options {
			args = append(args, "-D", o)
		}
		return func(c *cluster) answer { return c.says(args...) }
	}
	return []row{
		{"REST port in use", with("jobmanager", "rest.port="+port, "jobmanager.rpc.port=0"), 1, []string{"rest.port", port, "in use"}},
		{"RPC port in use", with("jobmanager", "rest.port=0", "jobmanager.rpc.port="+port), 1, []string{"jobmanager.rpc.port", port, "in use"}},
		{"cluster with a REST port in use", with("cluster start", "rest.port="+port, "jobmanager.rpc.port=0"), 1, []string{
			"the cluster did not start: jobmanager 1: it ended with exit code 1", "the last lines of ", "rest.port", port}},
		{"cluster with an RPC port in use", with("cluster start", "rest.port=0", "jobmanager.rpc.port="+port), 1, []string{
			"the cluster did not start: jobmanager 1", "the last lines of ", "jobmanager.rpc.port", port}},
		{"data port in use", with("cluster start", "rest.port=0", "jobmanager.rpc.port=0", "taskmanager.data.port="+port), 1, []string{
			"the cluster did not start: taskmanager 1", "the last lines of ", "taskmanager.data.port", port}},
		{"unknown key", with("cluster start", "rest.prot=1"), 78, []string{"rest.prot: unknown option; did you mean rest.port?"}},
		{"wrong unit", with("taskmanager", "heartbeat.interval=5 parsecs"), 78, []string{"heartbeat.interval", `"5 parsecs"`, "such as 10 s"}},
		{"several problems", with("jobmanager", "rest.prot=1", "jobmanager.rpc.port=x", "taskmanager.memory.process.size=12q"), 78, []string{
			"3 problems", "rest.prot", "jobmanager.rpc.port", "taskmanager.memory.process.size"}},
		{"too little memory", with("taskmanager", "taskmanager.memory.process.size=100m"), 78, []string{"exceed configured Total Process Memory"}},
		{"file that is no YAML", func(c *cluster) answer {
			dir := c.t.TempDir()
			writeFile(c.t, dir+"/config.yaml", "rest:\n\tport: [1\n")
			return c.says("cluster", "start", "--config-dir", dir)
		}, 78, []string{"config.yaml", "line"}},
		{"directory that is not there", with("cluster start --config-dir /nowhere"), 78, []string{"/nowhere"}},
		{"home that is a file", func(c *cluster) answer {
			file := filepath.Join(c.t.TempDir(), "home")
			writeFile(c.t, file, "")
			of := *c
			of.home = file
			return of.says("cluster", "start", "-D", "rest.port=0", "-D", "jobmanager.rpc.port=0")
		}, 1, []string{"not a directory"}},
		{"stop of nothing", with("cluster stop"), 0, []string{"No cluster runs."}},
	}
}
