package config

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestKeysWithoutEffectAreListedWithAReason(t *testing.T) {
	tests := []struct{ key, value, why string }{
		{"classloader.resolve-order", "child-first", "class loaders"},
		{"env.java.opts.all", "-Xmx1g", "no Java virtual machine"},
		{"state.backend.changelog.enabled", "true", "old name of state.changelog.enabled: there is no state changelog"},
		{"kubernetes.jobmanager.annotations.team", "a", "no Kubernetes"},
		{"metrics.reporter.prom.port", "9249", "does not say what the reporter is"},
		{"s3.anything", "x", "no object stores"},
		{"$internal.pipeline.job-id", "x", "Flink's own"},
		{"pipeline.object-reuse", "true", "never copy"},
		{"jobmanager.adaptive-scheduler.prefer-minimal-taskmanagers", "true", "takes the slots it is given"},
	}
	kv := map[string]string{"rest.port": "1", "web.port": "2", "restart-strategy.type": "none", "weir.user.x": "y"}
	for _, tt := range tests {
		kv[tt.key] = tt.value
	}
	whys := map[string]string{}
	for _, ignored := range must(t, kv).Ignored() {
		whys[ignored.Key] = ignored.Why
	}
	for _, tt := range tests {
		if why, ok := whys[tt.key]; !ok || !strings.Contains(why, tt.why) {
			t.Errorf("%s: %q, want %q", tt.key, why, tt.why)
		}
		delete(whys, tt.key)
	}
	if want := "it is the old name of rest.port, which is set too"; whys["web.port"] != want {
		t.Errorf("web.port: %q", whys["web.port"])
	}
	delete(whys, "web.port")
	if len(whys) > 0 {
		t.Errorf("ignored too: %v", whys)
	}
}

func TestUnknownKeysAreRefusedWithASuggestion(t *testing.T) {
	for key, want := range map[string]string{
		"rest.prot":                      "did you mean rest.port?",
		"REST.PORT":                      "did you mean rest.port?",
		"numberOfTaskSlots":              "did you mean taskmanager.numberOfTaskSlots?",
		"taskmanager.numberOfTaskSlot":   "did you mean taskmanager.numberOfTaskSlots?",
		"table.exec.mini-batch.enable":   "did you mean table.exec.mini-batch.enabled?",
		"env.log.lvl":                    "did you mean env.log.level?",
		"taskmanager.memory.process.siz": "did you mean taskmanager.memory.process.size?",
		"weir.log.levle":                 "did you mean weir.log.level?",
		"my.own.setting.of.no.relation":  "options of your own program begin with weir.user.",
		"weir.user.":                     "",
		"":                               "",
	} {
		_, err := New(map[string]string{key: "x"})
		if err == nil || !strings.Contains(err.Error(), "unknown option") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", key, err, want)
		}
	}
}

func TestDeclaredNamesAreFlinks(t *testing.T) {
	k := known()
	for key := range registry {
		if strings.HasPrefix(key, "weir.") {
			continue
		}
		if !k.exact[key] {
			t.Errorf("%s is declared and not among Flink's names: a mistyped key?", key)
		}
	}
	for old, owners := range formerNames {
		if len(owners) == 0 || registry[old] != nil {
			t.Errorf("%s is both an old and a present name", old)
		}
	}
	for key, option := range registry {
		_, fallbacks := option.otherNames()
		for _, f := range fallbacks {
			if registry[f] == nil {
				t.Errorf("%s falls back on %s, which is not declared", key, f)
			}
		}
	}
}

// TestEveryKnownKeyHasAReason holds the table of reasons complete: no key that
// Flink has, and no family of them, is answered with a sentence that fits all.
func TestEveryKnownKeyHasAReason(t *testing.T) {
	k := known()
	names := slices.Concat(slices.Sorted(maps.Keys(k.exact)), k.families, openPrefixes)
	for _, key := range names {
		if member := strings.TrimSuffix(key, ".") + ".x"; memberOf(member) == "" {
			if why, isKnown := whyWithoutEffect(member); isKnown && why == unexplained {
				t.Errorf("%s has no row in reasons", member)
			}
		}
		if registry[key] == nil && formerNames[key] == nil && k.exact[key] && k.current[key] == "" && reason(key) == unexplained {
			t.Errorf("%s has no row in reasons", key)
		}
	}
	seen := map[string]bool{}
	for _, r := range reasons {
		if seen[r.prefix] {
			t.Errorf("two rows of reasons begin with %q", r.prefix)
		}
		seen[r.prefix] = true
		if !slices.ContainsFunc(names, func(key string) bool { return strings.HasPrefix(key+".", r.prefix) && registry[key] == nil }) {
			t.Errorf("no key without a declaration begins with %q: the row has no use", r.prefix)
		}
	}
}

func TestSecrets(t *testing.T) {
	for key, want := range map[string]bool{"s3.secret-key": true, "security.ssl.rest.key-PASSWORD": true, "rest.port": false} {
		if Secret(key) != want {
			t.Errorf("Secret(%s) = %v", key, !want)
		}
	}
}

func TestValuesOutOfRange(t *testing.T) {
	for key, value := range map[string]string{
		"rest.port": "65536", "taskmanager.numberOfTaskSlots": "0", "parallelism.default": "-1", "pipeline.max-parallelism": "40000",
		"taskmanager.memory.segment-size": "33 kb", "heartbeat.interval": "0", "heartbeat.rpc-failure-threshold": "0",
		"execution.runtime-mode": "sometimes", "web.submit.enable": "yes", "rest.url-prefix": "x", "rest.bind-port": "5-3",
		"taskmanager.memory.managed.fraction": "NaN", "completed-application-store.cache-size": "-1", "web.exception-history-size": "0",
	} {
		_, err := New(map[string]string{key: value})
		var bad *Error
		if !errors.As(err, &bad) || len(bad.Problems) != 1 || bad.Problems[0].Key != key || bad.Problems[0].Value != value || !strings.Contains(bad.Problems[0].Fix, "allowed: ") {
			t.Errorf("%s=%s: %v", key, value, err)
		}
	}
	_, err := New(map[string]string{"rest.port": "65536"})
	if want := `rest.port: "65536" is no valid integer; allowed: a whole number from -2147483648 to 2147483647, which must be from 0 to 65535`; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = New(map[string]string{"heartbeat.timeout": "5 s"})
	if err == nil || !strings.Contains(err.Error(), "the heartbeat timeout (5 s) is shorter than heartbeat.interval (10 s)") {
		t.Errorf("got %v", err)
	}
	_, err = New(map[string]string{"jobmanager.rpc.port": "x", "rest.port": "y"})
	var bad *Error
	if !errors.As(err, &bad) || len(bad.Problems) != 2 {
		t.Errorf("a value others fall back on is reported more than once: %v", err)
	}
}

func TestWriteDefault(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home", "conf")
	for range 2 {
		if err := WriteDefault(dir); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Ignored()) > 0 {
		t.Errorf("the default file has settings without effect: %v", c.Ignored())
	}
	if got := TaskManagerProcessSize.In(c).String(); got != "1728 mb" {
		t.Errorf("process size %s", got)
	}
	write(t, dir, "rest.port: 7\n")
	if err := WriteDefault(dir); err != nil {
		t.Fatal(err)
	}
	if c, err = Load(dir, nil); err != nil || RestPort.In(c) != 7 {
		t.Errorf("a file that existed was changed: %v", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// TestCommentedDefaultsAreTrue takes the comment marks off the lines of the
// default file that are settings, and reads it.
func TestCommentedDefaultsAreTrue(t *testing.T) {
	var b strings.Builder
	for line := range strings.Lines(string(defaultFile)) {
		if at := strings.Index(line, "# "); at >= 0 && strings.Contains(line, ": ") || strings.HasSuffix(line, ":\n") {
			line = strings.Replace(line, "# ", "", 1)
		}
		b.WriteString(line)
	}
	settings, problems := parseYAML([]byte(b.String()), "default.yaml")
	if len(problems) > 0 {
		t.Fatalf("%v in\n%s", problems, b.String())
	}
	if _, err := build(settings, nil); err != nil {
		t.Error(err)
	}
	if settings["weir.log.level"].value != "INFO" || settings["rest.bind-port"].value != "8081-8090" {
		t.Errorf("got %v", settings)
	}
}

func TestMissingAndUnreadableFiles(t *testing.T) {
	t.Setenv(PropertiesVariable, "")
	dir := t.TempDir()
	if _, err := Load(dir, []string{"rest.prot=1"}); err == nil || !strings.Contains(err.Error(), "does not exist") || !strings.Contains(err.Error(), "rest.port") {
		t.Errorf("got %v", err)
	}
	if c, err := Load("", nil); err != nil || RestPort.In(c) != 8081 {
		t.Errorf("no directory: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, FileName), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, nil); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("got %v", err)
	}
}

func TestDirectories(t *testing.T) {
	t.Setenv(HomeVariable, "/w")
	if Home() != "/w" || Dir() != "/w/conf" || LogDir(nil) != "/w/log" || RunDir(nil) != "/w/run" || BlobDir(nil) != "/w/blobs" || TempDirs(nil)[0] != "/w/tmp" {
		t.Error("a directory is not in WEIR_HOME")
	}
	c := must(t, map[string]string{"env.log.dir": "/l", "io.tmp.dirs": "/a,/b"})
	if LogDir(c) != "/l" || len(TempDirs(c)) != 2 {
		t.Error("a configured directory is not used")
	}
	t.Setenv(HomeVariable, "relative")
	if !filepath.IsAbs(Home()) {
		t.Errorf("home %q", Home())
	}
}

func TestDescribe(t *testing.T) {
	info, ok := Describe("web.port")
	if !ok || info.Key == "" || info.Type == "" {
		t.Errorf("%+v, %v", info, ok)
	}
	if info, _ := Describe("heartbeat.timeout"); info.Default != "50 s" || info.Effect.String() != "after a restart of the process" {
		t.Errorf("%+v", info)
	}
	if _, ok := Describe("no.such.key"); ok {
		t.Error("an unknown key is described")
	}
}

// TestBatchDefaultsAreFlinks holds what decides how batch jobs run.
func TestBatchDefaultsAreFlinks(t *testing.T) {
	if got := ExecutionBatchShuffleMode.In(nil); got != ExchangesBlocking {
		t.Errorf("execution.batch-shuffle-mode is %s by default", got)
	}
	if _, set := BatchSourceParallelism.Lookup(nil); set || !BatchAutoParallelism.In(nil) || BatchMinParallelism.In(nil) != 1 ||
		BatchMaxParallelism.In(nil) != 128 || BatchTaskVolume.In(nil) != 16<<20 {
		t.Error("the defaults of execution.batch.adaptive.auto-parallelism are not Flink's")
	}
}
