package walk

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/testkit/processes"
)

// bin holds the binary and the scripts beside it.
var bin string

func built(m *testing.M) int {
	dir, err := os.MkdirTemp("", "weir-walk-")
	if err == nil {
		defer os.RemoveAll(dir)
		bin = dir
		err = os.CopyFS(dir, os.DirFS("../../../bin"))
	}
	if err == nil {
		err = processes.Build(dir, "cmd/weir")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// walker is who walks: a home directory, in which the commands run, and a cluster that is
// configured there.
type walker struct {
	t    *testing.T
	home string
	rest string // host:port
	host string
}

// newWalker makes a home with the configuration that weir begins with, but for free ports
// and two slots. The cluster that a
// script leaves behind is stopped.
func newWalker(t *testing.T) *walker {
	t.Helper()
	home, err := os.MkdirTemp("", "weir") // paths of unix sockets are short
	if err != nil {
		t.Fatal(err)
	}
	w := &walker{t: t, home: home}
	if w.host, err = os.Hostname(); err != nil {
		t.Fatal(err)
	}
	ports, err := processes.FreePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	w.rest = "localhost:" + ports[0]
	conf := filepath.Join(home, "conf")
	if err := config.WriteDefault(conf); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(conf, config.FileName)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	own := strings.NewReplacer("port: 8081\n", "port: "+ports[0]+"\n", "port: 6123\n", "port: "+ports[1]+"\n", "numberOfTaskSlots: 1\n", "numberOfTaskSlots: 2\n")
	if err := os.WriteFile(file, []byte(own.Replace(string(text))), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.end(t) })
	return w
}

// end stops what runs and looks for leftovers.
func (w *walker) end(t *testing.T) {
	w.t = t
	out := w.shell("taskmanager.sh stop-all\njobmanager.sh stop-all")
	if t.Failed() {
		t.Logf("%s", out)
		logs, _ := filepath.Glob(filepath.Join(w.home, "log", "*.log"))
		for _, l := range logs {
			text, _ := os.ReadFile(l)
			t.Logf("%s:\n%s", filepath.Base(l), text[max(0, len(text)-3000):])
		}
	}
	for _, p := range (processes.Home{Dir: w.home, Bin: bin}).Processes() {
		t.Errorf("left behind: %s", p)
	}
	os.RemoveAll(w.home)
}

// shell runs commands in the home directory and gives what they print.
func (w *walker) shell(commands string) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", commands)
	cmd.Dir = w.home
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "WEIR_") && !strings.HasPrefix(v, "PATH=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "WEIR_HOME="+w.home, "PWD="+w.home, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "LC_ALL=C")
	for name, thing := range map[string]string{"JOB": ":job", "TASKMANAGER": ":taskmanager"} {
		if strings.Contains(commands, "$"+name) {
			cmd.Env = append(cmd.Env, name+"="+w.thing(thing))
		}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() < 0 {
		w.t.Fatalf("%s\n%v\n%s", commands, err, out.String())
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		fmt.Fprintf(&out, "exit code %d\n", code)
	}
	return w.plain(out.String())
}

// ask sends a GET request; status 0: nobody listens.
func (w *walker) ask(path string) (status int, body string, answer any) {
	w.t.Helper()
	for _, name := range []string{":job", ":taskmanager"} {
		if strings.Contains(path, name) {
			path = strings.ReplaceAll(path, name, w.thing(name))
		}
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	response, err := client.Get("http://" + w.rest + path)
	if err != nil {
		return 0, err.Error(), nil
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	if err != nil {
		w.t.Fatalf("GET %s: %v: %s", path, err, text)
	}
	return response.StatusCode, string(text), answer
}

// thing gives the id of the last job or of the TaskManager.
func (w *walker) thing(name string) string {
	w.t.Helper()
	path, list, field := "/jobs/overview", "jobs", "jid"
	if name == ":taskmanager" {
		path, list, field = "/taskmanagers", "taskmanagers", "id"
	}
	_, body, answer := w.ask(path)
	if all, _ := at(answer, list+"."+field).([]any); len(all) > 0 {
		return all[0].(string)
	}
	w.t.Fatalf("there is no %s: %s", name, body)
	return ""
}

// varying are parts of a text that differ from run to run, and what is shown.
var varying = []struct {
	pattern *regexp.Regexp
	shown   string
}{
	{regexp.MustCompile(`127\.0\.0\.1:\d+-[0-9a-f]+`), "TASKMANAGER"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`\b[0-9a-f]{32}\b`), "JOB"},
	{regexp.MustCompile(`pid:? \d+`), "pid PID"},
	{regexp.MustCompile(`\d+\.\d+ seconds`), "0.01 seconds"},
	{regexp.MustCompile(`\d+ B produced`), "N B produced"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+`), "TIME"},
	{regexp.MustCompile(`\d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d`), "TIME"},
	{regexp.MustCompile(`Command history file path: \S+`), "Command history file path: HISTORY"},
}

// plain is a text without what differs from run to run. Rows of a table, which may come
// in any order, are sorted.
func (w *walker) plain(text string) string {
	text = strings.NewReplacer(w.home, "$PWD", w.rest, "localhost:8081", "host "+w.host, "host HOST").Replace(text)
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.shown)
	}
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); i++ {
		first := i
		for i < len(lines) && strings.HasPrefix(lines[i], "| ") {
			i++
		}
		slices.Sort(lines[first:i])
	}
	return strings.Join(lines, "")
}

// at gives the value of a field, with dots between its parts; of lists those of all items.
func at(value any, field string) any {
	if field == "" {
		return value
	}
	switch v := value.(type) {
	case []any:
		all := make([]any, len(v))
		for i, item := range v {
			all[i] = at(item, field)
		}
		return all
	case map[string]any:
		first, rest, _ := strings.Cut(field, ".")
		return at(v[first], rest)
	}
	return nil
}

// show writes a field and its value, the fields of an object one by one.
func show(out *strings.Builder, field string, value any) {
	if object, is := value.(map[string]any); is && len(object) > 0 {
		var keys []string
		for key := range object {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			show(out, field+"."+key, object[key])
		}
		return
	}
	text := fmt.Sprint(value)
	switch value := value.(type) {
	case string:
		text = value
	default:
		if written, err := json.Marshal(value, json.Deterministic(true)); err == nil {
			text = string(written)
		}
	}
	fmt.Fprintf(out, "%s: %s\n", field, text)
}
