package config

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/memory"
)

func must(t *testing.T, kv map[string]string) *Config {
	t.Helper()
	c, err := New(kv)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaultsHoldWithoutSettings(t *testing.T) {
	for _, c := range []*Config{nil, must(t, nil)} {
		if got := RestPort.In(c); got != 8081 {
			t.Errorf("rest.port = %d", got)
		}
		if got := HeartbeatTimeout.In(c); got != 50*time.Second {
			t.Errorf("heartbeat.timeout = %v", got)
		}
		if _, set := TaskManagerProcessSize.Lookup(c); set {
			t.Error("process size is set by nobody, yet Lookup says so")
		}
	}
}

func TestNamesOfAnOption(t *testing.T) {
	tests := []struct {
		name string
		kv   map[string]string
		want any
		got  func(*Config) any
	}{
		{"own name", map[string]string{"rest.port": "1"}, 1, func(c *Config) any { return RestPort.In(c) }},
		{"old name", map[string]string{"web.port": "2"}, 2, func(c *Config) any { return RestPort.In(c) }},
		{"new wins over old", map[string]string{"rest.port": "1", "web.port": "2"}, 1, func(c *Config) any { return RestPort.In(c) }},
		{"old of two options", map[string]string{"web.port": "2"}, PortRange{2, 2}, func(c *Config) any { return RestBindPort.In(c)[0] }},
		{"fallback", map[string]string{"rest.port": "3"}, PortRange{3, 3}, func(c *Config) any { return RestBindPort.In(c)[0] }},
		{"fallback to an address", map[string]string{"jobmanager.rpc.address": "h"}, "h", func(c *Config) any { return RestAddress.In(c) }},
		{"map by members", map[string]string{"pipeline.global-job-parameters.a": "x,y", "pipeline.global-job-parameters.b.c": "2"}, "b.c:2,a:x,y",
			func(c *Config) any {
				m := PipelineGlobalJobParameters.In(c)
				return "b.c:" + m["b.c"] + ",a:" + m["a"]
			}},
		{"Get resolves names", map[string]string{"taskmanager.memory.size": "1g"}, "1g", func(c *Config) any { v, _ := c.Get("taskmanager.memory.managed.size"); return v }},
		{"user key", map[string]string{"weir.user.colour": "red"}, "red", func(c *Config) any { v, _ := c.Get("weir.user.colour"); return v }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.got(must(t, tt.kv)); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestPrecedence(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rest.port: 1\nheartbeat:\n  interval: 1 s\nparallelism.default: 2\nweb.refresh-interval: 9 s\n")
	t.Setenv(PropertiesVariable, "# a comment\n\nrest.port: 3\n  parallelism.default: \"4\" \nheartbeat.timeout: 3 s # short\n")
	c, err := Load(dir, []string{"web.port=5", "web.submit.enable=false", "pipeline.operator-chaining"})
	if err != nil {
		t.Fatal(err)
	}
	if got := RestPort.In(c); got != 5 {
		t.Errorf("rest.port = %d: an old name given later must win", got)
	}
	if got := ParallelismDefault.In(c); got != 4 {
		t.Errorf("parallelism = %d", got)
	}
	if HeartbeatInterval.In(c) != time.Second || HeartbeatTimeout.In(c) != 3*time.Second || WebSubmitEnable.In(c) || !PipelineOperatorChaining.In(c) {
		t.Error("a setting got lost")
	}
	if got := c.Origin("heartbeat.interval"); !strings.HasSuffix(got, "config.yaml:3") {
		t.Errorf("origin %q", got)
	}
	if _, ok := c.Map()["rest.port"]; ok {
		t.Error("rest.port was replaced by web.port, yet is still listed")
	}
}

func write(t *testing.T, dir, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, FileName), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestWithLeavesTheOriginalAlone(t *testing.T) {
	before := must(t, map[string]string{"web.port": "1"})
	after, err := RestPort.Set(before, 2)
	if err != nil {
		t.Fatal(err)
	}
	if RestPort.In(before) != 1 || RestPort.In(after) != 2 {
		t.Errorf("before %d, after %d", RestPort.In(before), RestPort.In(after))
	}
	if _, err := before.With("rest.port", "many"); err == nil {
		t.Error("a wrong value was taken")
	}
	sized, err := TaskManagerProcessSize.Set(nil, 3*memory.GB)
	if err != nil || TaskManagerProcessSize.In(sized) != 3*memory.GB {
		t.Errorf("size %v, %v", TaskManagerProcessSize.In(sized), err)
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rest.prot: 8081\ntaskmanager:\n  numberOfTaskSlots: many\n")
	t.Setenv(PropertiesVariable, "no colon here\nheartbeat.interval: 10 parsecs\n")
	_, err := Load(dir, []string{"taskmanager.memory.process.size=1.5g", "=x", "s3.secret-key=hush", "heartbeat.timeout=soon"})
	var bad *Error
	if !errors.As(err, &bad) {
		t.Fatalf("got %v", err)
	}
	want := []string{
		"rest.prot", "taskmanager.numberOfTaskSlots", PropertiesVariable + ":1", "heartbeat.interval",
		"-D", "heartbeat.timeout", "taskmanager.memory.process.size",
	}
	var got []string
	for _, p := range bad.Problems {
		name := p.Key
		if name == "" {
			name = p.Origin
		}
		got = append(got, name)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got %v\nwant %v\n%v", got, want, err)
	}
	for _, text := range []string{
		"did you mean rest.port?", `"many" is no valid integer`, "config.yaml:3", `"10 parsecs" is no valid duration`,
		"Cannot read memory size from config option 'taskmanager.memory.process.size'.", "Memory size unit '.5g' does not match any of the recognized units: (b | bytes) / (k | kb | kibibytes)",
	} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("missing %q in\n%v", text, err)
		}
	}
	if strings.Contains(err.Error(), "hush") {
		t.Error("a secret is shown")
	}
}

func TestEveryOptionHasADoc(t *testing.T) {
	for _, info := range Options() {
		if info.Doc == "" || info.Key == "" || info.Type == "" || info.Forms == "" {
			t.Errorf("%+v lacks something", info)
		}
		if info.Default != "(none)" {
			if _, err := registry[info.Key].read(info.Default); err != nil {
				t.Errorf("%s: the default %q is not accepted: %v", info.Key, info.Default, err)
			}
		}
	}
}

func TestMemoryModelReadsAConfig(t *testing.T) {
	t.Setenv(PropertiesVariable, "")
	dir := t.TempDir()
	if err := WriteDefault(dir); err != nil {
		t.Fatal(err)
	}
	c, err := Load(dir, []string{"taskmanager.memory.size=300m"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := memory.TaskManager(c)
	if err != nil {
		t.Fatal(err)
	}
	if m.Process != 1728*memory.MB || m.Managed != 300*memory.MB {
		t.Errorf("%+v", m)
	}
	if j, err := memory.JobManager(c); err != nil || j.Heap != memory.GB {
		t.Errorf("%+v, %v", j, err)
	}
}

// What goes with a job is what takes effect with it, and the program's own keys.
func TestJobSettings(t *testing.T) {
	c := must(t, map[string]string{
		"parallelism.default": "4", "execution.buffer-timeout": "5 ms", "weir.user.colour": "red", "pipeline.global-job-parameters.a": "b",
		"rest.port": "1", "taskmanager.numberOfTaskSlots": "2", "pipeline.object-reuse": "true", "classloader.resolve-order": "child-first",
	})
	want := map[string]string{
		"parallelism.default": "4", "execution.buffer-timeout": "5 ms", "weir.user.colour": "red", "pipeline.global-job-parameters.a": "b",
	}
	if got := c.JobSettings(); !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	if got := (*Config)(nil).JobSettings(); len(got) != 0 {
		t.Errorf("no configuration gives %v", got)
	}
}
