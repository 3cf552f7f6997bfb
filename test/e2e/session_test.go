package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json/v2"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
)

// countWords is the independent count: no Weir in it.
func countWords(root string) (map[string]int, error) {
	counts := map[string]int{}
	return counts, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, word := range strings.FieldsFunc(string(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			counts[strings.ToLower(word)]++
		}
		return err
	})
}

var goSource = sync.OnceValues(func() (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	return filepath.Join(strings.TrimSpace(string(root)), "src"), err
})

var expected = sync.OnceValues(func() (map[string]int, error) {
	root, err := goSource()
	if err != nil {
		return nil, err
	}
	return countWords(root)
})

// compare checks the part files below dir against the independent count.
func compare(dir string) error {
	want, err := expected()
	if err != nil {
		return err
	}
	parts, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return err
	}
	got := map[string]int{}
	for _, part := range parts {
		text, err := os.ReadFile(part)
		if err != nil {
			return err
		}
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			word, count, ok := strings.Cut(lines.Text(), "\t")
			n, err := strconv.Atoi(count)
			if _, twice := got[word]; !ok || err != nil || twice {
				return fmt.Errorf("%s: bad line, or a word that came before: %q", part, lines.Text())
			}
			got[word] = n
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d distinct words in %d parts, want %d", len(got), len(parts), len(want))
	}
	for word, n := range want {
		if got[word] != n {
			return fmt.Errorf("%q: counted %d times, want %d", word, got[word], n)
		}
	}
	return nil
}

// parallelisms are those the words are counted at.
func parallelisms() []int {
	if testing.Short() {
		return []int{2}
	}
	return []int{1, 2, 4, 7}
}

// placed lists the TaskManagers at which every vertex of the job has tasks.
func (c *cluster) placed(job string) []string {
	c.t.Helper()
	var detail struct {
		Vertices []struct {
			ID          string `json:"id"`
			Name        string `json:"name"`
			Parallelism int    `json:"parallelism"`
		} `json:"vertices"`
	}
	c.get("/jobs/"+job, &detail)
	var all []string
	for i, v := range detail.Vertices {
		var answer struct {
			Managers []struct {
				ID    string         `json:"taskmanager-id"`
				Tasks map[string]int `json:"status-counts"`
			} `json:"taskmanagers"`
		}
		c.get("/jobs/"+job+"/vertices/"+v.ID+"/taskmanagers", &answer)
		var ids []string
		tasks := 0
		for _, m := range answer.Managers {
			ids = append(ids, m.ID)
			for _, n := range m.Tasks {
				tasks += n
			}
		}
		slices.Sort(ids)
		if tasks != v.Parallelism || i > 0 && !slices.Equal(ids, all) {
			c.t.Errorf("vertex %s has %d of %d tasks at %v, the one before is at %v", v.Name, tasks, v.Parallelism, ids, all)
		}
		all = ids
	}
	return all
}

// TestSession is the session of the README.
func TestSession(t *testing.T) {
	t.Parallel()
	root, err := goSource()
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, 2, "taskmanager.load-balance.mode=SLOTS")
	for _, p := range parallelisms() {
		output := filepath.Join(t.TempDir(), "counts")
		out, errOut, code := c.run([]string{"-p", strconv.Itoa(p), "-D", "execution.batch.adaptive.auto-parallelism.enabled=false"}, "wordcount", "--", "--input", root+"/**/*.go", "--output", output)
		m := submitted.FindStringSubmatch(out)
		if code != 0 || m == nil || !strings.Contains(out, "Program execution finished\nJob with JobID "+m[1]+" has finished.\nJob Runtime: ") {
			t.Fatalf("parallelism %d: code %d\n%s%s", p, code, out, errOut)
		}
		if err := compare(output); err != nil {
			t.Errorf("parallelism %d: %v", p, err)
		}
		// From two on the keyBy crosses processes.
		if managers, want := c.placed(m[1]), min(p, 2); len(managers) != want {
			t.Errorf("parallelism %d: the tasks were at %v, want %d TaskManagers", p, managers, want)
		}
	}
	endless := c.detached("misbehave", "slow")
	c.running(endless)
	done := len(parallelisms())
	if out, errOut, code := c.weir("list", "-a", "-m", c.rest); code != 0 ||
		!strings.Contains(out, endless+" : misbehave slow (RUNNING)") || strings.Count(out, "word count (FINISHED)") != done {
		t.Errorf("list -a: code %d\n%s%s", code, out, errOut)
	}
	var overview struct {
		Running  int `json:"jobs-running"`
		Finished int `json:"jobs-finished"`
		Managers int `json:"taskmanagers"`
	}
	c.get("/overview", &overview)
	if overview.Running != 1 || overview.Finished != done || overview.Managers != 2 {
		t.Errorf("/overview: %+v", overview)
	}
	for range 2 { // the second time the job is canceled already
		if out, errOut, code := c.weir("cancel", "-m", c.rest, endless); code != 0 || !strings.Contains(out, "Cancelled job "+endless+".") {
			t.Errorf("cancel: code %d\n%s%s", code, out, errOut)
		}
		c.until("canceled", func() bool { return c.state(endless) == "CANCELED" })
	}
	c.until("workers gone", func() bool { return len(c.workers()) == 0 })
}

// TestProgramDirectory runs, and shows the plan of, a program that is built first.
func TestProgramDirectory(t *testing.T) {
	t.Parallel()
	c := start(t, 1)
	source := filepath.Join("..", "..", "examples", "wordcount")
	// The first build compiles all that the program is made of.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	for _, program := range []string{source, filepath.Join(bin, "wordcount")} {
		if out, errOut, code := c.command(ctx, "info", "-p", "3", program, "--input", "x"); code != 0 ||
			!strings.Contains(out, `"pact": "Data Source"`) || !strings.Contains(out, `"parallelism": 3`) {
			t.Errorf("info %s: code %d\n%s%s", program, code, out, errOut)
		}
	}
	input := t.TempDir()
	writeFile(t, input+"/text", "to be or not to be\n")
	if out, errOut, code := c.command(ctx, "run", "-m", c.rest, source, "--input", input+"/*", "--output", input+"/counts"); code != 0 {
		t.Errorf("run: code %d\n%s%s", code, out, errOut)
	}
	if got := lines(t, input+"/counts"); !slices.Equal(got, []string{"be\t2", "not\t1", "or\t1", "to\t2"}) {
		t.Errorf("counted %q", got)
	}
}

// TestEmbedded runs the same program by itself.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	root, err := goSource()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parallelisms() {
		output := filepath.Join(t.TempDir(), "counts")
		cmd := exec.Command(filepath.Join(bin, "wordcount"), "--input", root+"/**/*.go", "--output", output)
		cmd.Env = append(os.Environ(), fmt.Sprintf(`WEIR_SETTINGS={"parallelism.default":"%d"}`, p))
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("parallelism %d: %v\n%s", p, err, text)
		}
		if err := compare(output); err != nil {
			t.Errorf("parallelism %d: %v", p, err)
		}
	}
}

// TestJSON checks that what is printed for programs can be read by them.
func TestJSON(t *testing.T) {
	t.Parallel()
	c := start(t, 1)
	c.works()
	var jobs []struct {
		ID    string `json:"jid"`
		State string `json:"state"`
	}
	c.readJSON(&jobs, "list", "-a", "-m", c.rest, "--json")
	var status struct {
		Processes []struct {
			Role    string `json:"role"`
			PID     int    `json:"pid"`
			Running bool   `json:"running"`
		} `json:"processes"`
		REST     string `json:"rest"`
		Overview struct {
			TaskManagers int `json:"taskmanagers"`
		} `json:"overview"`
	}
	c.readJSON(&status, append([]string{"cluster", "status", "--json"}, c.options...)...)
	var version map[string]string
	c.readJSON(&version, "version", "--json")
	if len(jobs) != 1 || jobs[0].State != "FINISHED" || len(status.Processes) != 2 || status.Processes[0].PID != c.pids[0] ||
		!status.Processes[1].Running || status.REST != c.rest || status.Overview.TaskManagers != 1 || version["version"] == "" {
		t.Errorf("read %+v, %+v, %v", jobs, status, version)
	}
}

func (c *cluster) readJSON(into any, args ...string) {
	c.t.Helper()
	out, errOut, code := c.weir(args...)
	if err := json.Unmarshal([]byte(out), into); err != nil || code != 0 {
		c.t.Errorf("weir %s: code %d, %v\n%s%s", strings.Join(args, " "), code, err, out, errOut)
	}
}

// Two clusters on one host, told apart by their homes, do not meet.
func TestTwoClusters(t *testing.T) {
	t.Parallel()
	a, b := start(t, 1), start(t, 1)
	job := a.detached("misbehave", "slow")
	a.running(job)
	if out, _, code := b.weir("list", "-a", "-m", b.rest); code != 0 || strings.Contains(out, job) {
		t.Errorf("the other cluster lists: code %d\n%s", code, out)
	}
	if slices.Equal(a.managers(), b.managers()) || len(a.managers()) != 1 || len(b.managers()) != 1 {
		t.Errorf("the TaskManagers are %v and %v", a.managers(), b.managers())
	}
	if out, errOut, code := b.weir(append([]string{"cluster", "stop"}, b.options...)...); code != 0 || strings.Count(out, "Stopped ") != 2 {
		t.Errorf("cluster stop: code %d\n%s%s", code, out, errOut)
	}
	if state := a.state(job); state != "RUNNING" {
		t.Errorf("after the end of the other cluster the job is %s", state)
	}
	a.works()
}
