package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/memory"
)

// Each memory option refuses what is no size or no part, and names itself, what
// was written and what is allowed.
func TestWrongMemoryValues(t *testing.T) {
	for _, key := range memory.Keys() {
		wrong := []string{"1.5g", "-1m", "lots", "1 potato", ""}
		if strings.HasSuffix(key, ".fraction") {
			wrong = []string{"half", "0,4", "NaN", ""}
		}
		for _, value := range wrong {
			_, err := New(map[string]string{key: value})
			var bad *Error
			if !errors.As(err, &bad) || len(bad.Problems) != 1 {
				t.Errorf("%s: %q: %v", key, value, err)
				continue
			}
			p := bad.Problems[0]
			if p.Key != key || p.Value != value || !strings.Contains(p.What, `"`+value+`"`) || !strings.HasPrefix(p.Fix, "allowed: ") {
				t.Errorf("%s: %q: %+v", key, value, p)
			}
		}
	}
}

// Memory that does not add up is told in Flink's words, with the names of the
// parts and their sizes.
func TestContradictingMemory(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"taskmanager.memory.process.size: 768m", "exceed configured Total Flink Memory (320.000mb (335544320 bytes))"},
		{"taskmanager.memory.process.size: 1g\ntaskmanager.memory.task.heap.size: 1g", "Task Heap Memory (1024.000mb (1073741824 bytes))"},
		{"taskmanager.memory.process.size: 1g\ntaskmanager.memory.flink.size: 2g", "Total Process Memory"},
		{"taskmanager.memory.process.size: 2g\ntaskmanager.memory.network.fraction: 1.5", "taskmanager.memory.network.fraction"},
		{"taskmanager.memory.process.size: 2g\ntaskmanager.memory.managed.fraction: -0.1", "taskmanager.memory.managed.fraction"},
		{"taskmanager.memory.process.size: 2g\ntaskmanager.memory.network.min: 2g\ntaskmanager.memory.network.max: 1g", "min value must be less or equal to max value"},
		{"taskmanager.memory.managed.size: 1g", "need to be configured explicitly"},
		{"jobmanager.memory.process.size: 10m", "exceed configured Total Process Memory (10.000mb (10485760 bytes))"},
		{"jobmanager.memory.flink.size: 64m", "Total Flink Memory"},
	} {
		path := filepath.Join(t.TempDir(), "f.yaml")
		if err := os.WriteFile(path, []byte(c.file+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Check(path, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.file, err, c.want)
		}
	}
}

// A file with ten problems tells all ten, each with the line it is in.
func TestTenProblemsAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ten.yaml")
	const file = `rest.port: many
heartbeat:
  interval: 10 parsecs
  timeout: soon
taskmanager:
  numberOfTaskSlots: 0
  memory:
    process.size: 1.5g
    fraction: 0.5
restart-strategy.type: sometimes
restart-strategy.fixed-delay.attempts: -3
web.submit.enable: perhaps
paralelism.default: 4
`
	if err := os.WriteFile(path, []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Check(path, nil)
	var bad *Error
	if !errors.As(err, &bad) {
		t.Fatalf("got %v", err)
	}
	if !strings.HasPrefix(err.Error(), "invalid configuration, 10 problems:\n") || len(bad.Problems) != 10 {
		t.Errorf("%d problems: %v", len(bad.Problems), err)
	}
	for i, p := range bad.Problems[1:] {
		if _, before := bad.Problems[i].place(); before == 0 {
			t.Errorf("%+v has no line", p)
		} else if _, line := p.place(); line <= before {
			t.Errorf("line %d stands after line %d", line, before)
		}
	}
	for line, text := range map[string]string{
		"1": `rest.port: "many" is no valid integer`, "3": "heartbeat.interval: ", "4": "heartbeat.timeout: ", "6": "taskmanager.numberOfTaskSlots: ",
		"8": "taskmanager.memory.process.size: ", "9": "taskmanager.memory.fraction: Flink has removed this option", "10": "restart-strategy.type: ",
		"11": "restart-strategy.fixed-delay.attempts: ", "12": "web.submit.enable: ", "13": "paralelism.default: unknown option; did you mean parallelism.default?",
	} {
		if !strings.Contains(err.Error(), "\n  "+path+":"+line+": "+text) {
			t.Errorf("line %s does not say %q:\n%v", line, text, err)
		}
	}
}
