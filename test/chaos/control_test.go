package chaos

import (
	"encoding/json/v2"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// disturbed runs a job with state on a cluster of its own, kills workers while it
// runs, three if it runs long enough, and gives the oracle's last verdict.
func disturbed(t *testing.T, program string, j exactJob, arguments ...string) string {
	t.Helper()
	c := start(&failures{T: t}, 2)
	f := &faults{c: c, random: rand.New(rand.NewPCG(1, 2)), injected: map[string]int{}, harmed: map[int]bool{}}
	dir := t.TempDir()
	output, checkpoints := filepath.Join(dir, "out"), filepath.Join(dir, "checkpoints")
	id := c.submit(program, strconv.Itoa(splits), checkpointed+" execution.checkpointing.dir="+checkpoints+" "+j.options,
		append([]string{j.kind, strconv.Itoa(splits), strconv.Itoa(j.n), output}, arguments...)...)
	kills := 0
	for kills < 3 && c.runs(id) {
		before := glob("checkpoints/*/chk-*/_metadata", running{output: output})
		c.until("a checkpoint", func() string {
			if after := glob("checkpoints/*/chk-*/_metadata", running{output: output}); len(after) > 0 && strings.Join(after, "") != strings.Join(before, "") || c.ended(id) {
				return ""
			}
			return "none has been completed"
		})
		// Some time after a checkpoint there is something to lose.
		<-time.After(100 * time.Millisecond)
		_, ok, err := f.signalWorker(syscall.SIGKILL)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			kills++
		}
	}
	if kills == 0 {
		t.Fatal("the job has finished before a worker was killed")
	}
	c.finished(id)
	return judge(j, output, "final")
}

// TestAPlainSinkIsFound: a sink that takes no part in checkpoints writes records
// again that were written before a failure, and the oracle says so.
func TestAPlainSinkIsFound(t *testing.T) {
	verdict := disturbed(t, "streams", exactJob{kind: "counted", n: 4000, options: "execution.checkpointing.interval=500ms execution.buffer-timeout.interval=1ms"}, "plainly")
	if !strings.Contains(verdict, " doubled:") || strings.Contains(verdict, " lost:") {
		t.Errorf("got %q, want records that are doubled, and none lost", verdict)
	}
	t.Log(verdict)
}

// TestALostBarrierIsFound: tasks that do not wait for the barriers of all their
// inputs lose records after a failure, and the oracle says so.
func TestALostBarrierIsFound(t *testing.T) {
	program := changed(t, "streams", "internal/task/alignment.go", "a.missing++", "a.missing = 1")
	verdict := disturbed(t, program, exactJob{kind: "counted", n: 4000})
	if !strings.Contains(verdict, " lost:") {
		t.Errorf("got %q, want records that are lost", verdict)
	}
	t.Log(verdict)
}

// changed builds one of the programs with another text in a file of the engine,
// which has the old one exactly once, and gives the program's name. The file itself
// stays as it is.
func changed(t *testing.T, program, file, old, text string) (name string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", file))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), old); n != 1 {
		t.Fatalf("%s has %q %d times, want once", file, old, n)
	}
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	replacement := write("changed.go", []byte(strings.Replace(string(source), old, text, 1)))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: replacement}})
	if err != nil {
		t.Fatal(err)
	}
	name = program + "-changed"
	build := exec.Command("go", "build", "-overlay", write("overlay.json", overlay), "-o", filepath.Join(bin, name), "./"+program)
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, said)
	}
	return name
}
