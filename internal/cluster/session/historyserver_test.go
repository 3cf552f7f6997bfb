//go:build unix

package session_test

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/client"
	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/local"
	"github.com/weirstream/weir/internal/cluster/session"
)

// historyServer runs a history server of a directory until the test ends.
func historyServer(t *testing.T, dir string) (address string) {
	t.Helper()
	cfg, err := config.Load("", []string{"historyserver.archive.fs.dir=" + dir, "historyserver.web.port=0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	started, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- session.HistoryServer(ctx, session.Options{
			Config: cfg, Version: "test", Stderr: io.Discard, Started: func(what string) { started <- what },
		})
	}()
	select {
	case address = <-started:
	case err := <-ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return address
}

func get(t *testing.T, address, path string) (int, string) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := c.Get("http://" + address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

var now = regexp.MustCompile(`"now":\d+`)

// everything asks for all there is to see of jobs, by path.
func everything(t *testing.T, address string, jobs []string) map[string]string {
	t.Helper()
	answers := map[string]string{}
	ask := func(path string) string {
		code, text := get(t, address, path)
		answers[path] = fmt.Sprint(code, " ", now.ReplaceAllString(text, `"now":0`))
		return text
	}
	for _, job := range jobs {
		path := "/jobs/" + job
		var detail client.Detail
		if err := json.Unmarshal([]byte(ask(path)), &detail); err != nil {
			t.Fatal(err)
		}
		for _, below := range []string{"plan", "config", "exceptions", "accumulators", "status", "execution-result", "checkpoints", "jobmanager/config"} {
			ask(path + "/" + below)
		}
		for _, v := range detail.Vertices {
			vertex := path + "/vertices/" + v.ID
			ask(vertex)
			for _, below := range []string{"subtasktimes", "taskmanagers", "accumulators", "subtasks/accumulators", "subtasks/0", "subtasks/0/attempts/0", "subtasks/7"} {
				ask(vertex + "/" + below)
			}
		}
	}
	return answers
}

// What a cluster said of its jobs when they had ended, a history server says
// when the cluster is gone.
func TestAHistoryServerAnswersForAClusterThatIsGone(t *testing.T) {
	archives := filepath.Join(t.TempDir(), "archives")
	c, o, home := cluster(t, 1, "jobmanager.archive.fs.dir=file://"+archives)
	in, out := filepath.Join(home, "in.txt"), filepath.Join(home, "out")
	if err := os.WriteFile(in, []byte("to be or not to be\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var jobs []string
	for _, r := range []client.RunRequest{
		{Arguments: []string{"count", in, out}, Parallelism: 2}, {Arguments: []string{"fails"}}, {Arguments: []string{"exits"}},
	} {
		job := run(t, c, r)
		end(t, c, job)
		jobs = append(jobs, job)
	}
	cancelled, _ := endless(t, c, 2)
	if err := c.Cancel(t.Context(), cancelled); err != nil {
		t.Fatal(err)
	}
	end(t, c, cancelled)
	jobs = append(jobs, cancelled)
	unended, _ := endless(t, c, 2)
	want := everything(t, c.Address(), jobs)
	if _, err := local.Stop(o); err != nil {
		t.Fatal(err)
	}

	files, err := os.ReadDir(archives)
	if err != nil || len(files) != len(jobs) {
		t.Fatalf("the archives are %v, error %v", files, err)
	}
	broken := filepath.Join(archives, strings.Repeat("ab", 16))
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := historyServer(t, archives)
	for path, answer := range everything(t, address, jobs) {
		if answer != want[path] {
			t.Errorf("%s:\n%s\nthe cluster said\n%s", path, answer, want[path])
		}
	}
	history := client.New(address)
	defer history.Close()
	listed, err := history.Jobs(t.Context())
	if err != nil || len(listed) != len(jobs) {
		t.Fatalf("listed %+v, error %v", listed, err)
	}
	for _, j := range listed {
		if !slices.Contains(jobs, j.ID) || !client.Ended(j.State) {
			t.Errorf("listed: %+v", j)
		}
	}
	if code, text := get(t, address, "/jobs/"+unended); code != 404 || !strings.Contains(text, "Could not find Flink job ("+unended+")") {
		t.Errorf("a job that had not ended: %d %s", code, text)
	}
	log, _ := filepath.Glob(filepath.Join(home, "log", "weir-historyserver-*.log"))
	if len(log) != 1 {
		t.Fatalf("the logs are %v", log)
	}
	text, err := os.ReadFile(log[0])
	if err != nil || strings.Count(string(text), "an archive is left out") != 1 || !strings.Contains(string(text), broken) {
		t.Errorf("the broken archive is not named in\n%s, error %v", text, err)
	}
}

func TestAHistoryServerIsToldOfDirectories(t *testing.T) {
	t.Setenv(config.HomeVariable, t.TempDir())
	for setting, want := range map[string]string{
		"jobmanager.archive.fs.dir=/var/archives":                 "set it to the directory that jobmanager.archive.fs.dir names for the JobManager, /var/archives",
		"historyserver.archive.fs.dir=/a,hdfs:///b,s3://bucket/c": "s3://bucket/c: archives are kept in local or mounted directories",
	} {
		cfg, err := config.Load("", []string{setting})
		if err != nil {
			t.Fatal(err)
		}
		err = session.HistoryServer(t.Context(), session.Options{Config: cfg, Stderr: io.Discard})
		if _, refused := errors.AsType[*config.Error](err); !refused || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", setting, err, want)
		}
	}
}
