package e2e

import (
	"encoding/json/v2"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// A row is one piece of bad input and what it must get. In every row no answer
// is 500, nothing new is left behind, no process but the job's own ends, and the
// next good request works.
type row struct {
	what string
	do   func(c *cluster) answer
	code int      // HTTP status, or exit code
	says []string // parts of the text
}

// answer is what came back: a status and body, or an exit code and what was
// printed.
type answer struct {
	code int
	text string
}

// TestBadInput is the table of what should not be sent to a cluster, row by row.
func TestBadInput(t *testing.T) {
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		c := start(t, 1, "task.cancellation.timeout=1000", "rest.server.max-content-length=67108864", "weir.log.max-file-size=1mb")
		c.works()
		witness := c.detached("misbehave", "slow")
		c.running(witness)
		c.table(t, slices.Concat(requests(c), uploads(), inputs(t), programs(), strangers(c), commands(c)))
		if state := c.state(witness); state != "RUNNING" {
			t.Errorf("the witness is %s, want it running", state)
		}
		c.works()
		c.weir("cancel", "-m", c.rest, witness)
	})
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		c := start(t, 1, smallMemory...)
		c.works()
		c.table(t, memory())
		c.works()
	})
	t.Run("TaskManager", func(t *testing.T) {
		t.Parallel()
		c := start(t, 1, "cluster.id=00000000000000000000000000000a11")
		c.table(t, taskManagers(t, c))
		c.works()
	})
	t.Run("start", func(t *testing.T) {
		t.Parallel()
		c := home(t)
		c.table(t, configurations(t))
		c.begin(1)
		c.works()
	})
}

// table tries the rows one after the other.
func (c *cluster) table(t *testing.T, rows []row) {
	t.Helper()
	before := c.things()
	for _, r := range rows {
		t.Run(r.what, func(t *testing.T) {
			c := c.in(t)
			got := r.do(c)
			if got.code != r.code {
				t.Errorf("got code %d, want %d:\n%s", got.code, r.code, got.text)
			}
			for _, text := range r.says {
				if !strings.Contains(got.text, text) {
					t.Errorf("it does not say %q:\n%s", text, got.text)
				}
			}
			if testing.Verbose() {
				t.Logf("%d %.1500s", got.code, got.text)
			}
			c.asBefore(before)
		})
	}
}

// asBefore checks that a row has left nothing, and has ended nothing.
func (c *cluster) asBefore(before []string) {
	c.t.Helper()
	c.nothingNew(before)
	now := c.processes()
	for _, thing := range before {
		if !strings.HasPrefix(thing, "/") && !slices.Contains(now, thing) {
			c.t.Errorf("this process has ended: %s", thing)
		}
	}
	for _, pid := range c.pids {
		if err := syscall.Kill(pid, 0); err != nil {
			c.t.Errorf("process %d of the cluster has ended: %v", pid, err)
		}
	}
	if len(c.pids) > 0 {
		if got := c.managers(); len(got) != len(c.pids)-1 {
			c.t.Errorf("the next good request finds the TaskManagers %v", got)
		}
	}
}

// post sends JSON, or what was meant to be some.
func post(method, path, body string) func(*cluster) answer {
	return func(c *cluster) answer {
		status, text := c.ask(method, path, "application/json", strings.NewReader(body))
		return answer{status, text}
	}
}

func get(path string) func(*cluster) answer { return post("GET", path, "") }

// requests are what is wrong with a request to the REST API. Package rest tries
// many more of them without a cluster.
func requests(c *cluster) []row {
	program := c.program("misbehave")
	run := "/jars/" + program + "/run"
	nobody := strings.Repeat("1", 32)
	return []row{
		{"unknown path", get("/nope"), 404, []string{"Unable to load requested file /nope."}},
		{"unknown method", post("PUT", "/jobs", "{}"), 404, []string{"Not found: /jobs"}},
		{"unknown job", get("/jobs/" + nobody), 404, []string{nobody}},
		{"status of an unknown job", get("/jobs/" + nobody + "/status"), 404, []string{nobody}},
		{"cancel of an unknown job", post("PATCH", "/jobs/"+nobody+"?mode=cancel", "{}"), 404, []string{nobody}},
		{"malformed id", get("/jobs/xyz"), 400, []string{"Cannot resolve path parameter (jobid) from value", "xyz"}},
		{"unknown TaskManager", get("/taskmanagers/nobody"), 404, []string{"nobody"}},
		{"a log outside", get("/jobmanager/logs/..%2fconf%2fconfig.yaml"), 404, nil},
		{"broken JSON", post("POST", run, `{"parallelism":`), 400, []string{"JarRunRequestBody"}},
		{"JSON of another type", post("POST", run, `{"parallelism":"many"}`), 400, []string{"parallelism is ", "; allowed is a whole number."}},
		{"a list for an object", post("POST", run, `[]`), 400, []string{"JarRunRequestBody"}},
		{"deep JSON", post("POST", run, strings.Repeat(`{"a":`, 100_000)), 400, []string{"JarRunRequestBody"}},
		{"huge JSON", post("POST", run, `{"entryClass":"`+strings.Repeat("x", 68<<20)+`"}`), 413, nil},
		{"program that is not there", post("POST", "/jars/nope/run", "{}"), 404, []string{"nope"}},
		{"delete what is not there", post("DELETE", "/jars/nope", ""), 400, []string{"nope"}},
		{"unknown setting of a job", post("POST", run, `{"programArgsList":["fine"],"flinkConfiguration":{"paralelism.default":"1"}}`), 400, []string{"paralelism.default", "parallelism.default"}},
		{"wrong setting of a job", post("POST", run, `{"programArgsList":["fine"],"flinkConfiguration":{"heartbeat.interval":"5 parsecs"}}`), 400, []string{"heartbeat.interval", "5 parsecs"}},
		{"no parallelism", post("POST", run, `{"programArgsList":["fine"],"parallelism":0}`), 400, []string{"Parallelism must be at least one"}},
		{"huge parallelism", post("POST", run, `{"programArgsList":["fine"],"parallelism":2000000000}`), 400, []string{"parallelism"}},
		{"a job twice", c.again(program), 400, []string{"already been submitted"}},
	}
}

// program uploads a program and gives its id.
func (c *cluster) program(name string) string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(bin, name))
	if err != nil {
		c.t.Fatal(err)
	}
	var answer struct {
		Filename string `json:"filename"`
	}
	got := upload(name, func() []byte { return text })(c)
	if err := json.Unmarshal([]byte(got.text), &answer); err != nil || got.code != 200 {
		c.t.Fatalf("upload of %s: %d, %s", name, got.code, got.text)
	}
	return filepath.Base(answer.Filename)
}

// programs lists the names of the uploaded programs.
func (c *cluster) programs() (names []string) {
	c.t.Helper()
	var answer struct {
		Files []struct {
			Name string `json:"name"`
		} `json:"files"`
	}
	c.get("/jars", &answer)
	for _, f := range answer.Files {
		names = append(names, f.Name)
	}
	return names
}

// What weir run uploads it takes away, and a program that somebody uploaded stays
// and is used.
func TestRunLeavesNoProgram(t *testing.T) {
	t.Parallel()
	c := start(t, 1)
	c.works()
	job := c.detached("misbehave", "slow")
	if names := c.programs(); len(names) != 0 {
		t.Errorf("left behind: %q", names)
	}
	c.running(job)
	c.cancel(job)
	c.until("its worker is gone", func() bool { return len(c.workers()) == 0 })
	if out, errOut, code := c.run(nil, "misbehave", "no-execute"); code == 0 {
		t.Errorf("%s%s", out, errOut)
	}
	if names := c.programs(); len(names) != 0 {
		t.Errorf("left behind by a run that failed: %q", names)
	}
	c.program("misbehave")
	c.detachedAndCanceled("misbehave")
	if names := c.programs(); len(names) != 1 || names[0] != "misbehave" {
		t.Errorf("the programs are %q, want the one that was uploaded", names)
	}
}

func (c *cluster) detachedAndCanceled(name string) {
	c.t.Helper()
	workers := c.workers()
	job := c.detached(name, "fine")
	c.cancel(job)
	c.until("its worker is gone", func() bool { return slices.Equal(c.workers(), workers) })
}

// cancel ends a job and waits until it has ended.
func (c *cluster) cancel(job string) {
	c.t.Helper()
	if out, errOut, code := c.weir("cancel", "-m", c.rest, job); code != 0 {
		c.t.Errorf("cancel: code %d\n%s%s", code, out, errOut)
	}
	c.until("canceled", func() bool { return c.state(job) == "CANCELED" })
}

// again submits a job under an id that was used before.
func (c *cluster) again(program string) func(*cluster) answer {
	return func(c *cluster) answer {
		body := fmt.Sprintf(`{"programArgsList":["fine"],"jobId":"%s"}`, strings.Repeat("a", 32))
		if first := post("POST", "/jars/"+program+"/run", body)(c); first.code != 200 {
			return first
		}
		second := post("POST", "/jars/"+program+"/run", body)(c)
		c.cancel(strings.Repeat("a", 32))
		return second
	}
}
