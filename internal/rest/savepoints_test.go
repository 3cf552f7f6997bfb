package rest

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/storage"
)

const trigger = "dddddddddddddddddddddddddddddddd"

// said asks for the status of an operation.
func said(t *testing.T, s *Server, path string) string {
	t.Helper()
	w := ask(t, s, http.MethodGet, path, "")
	return fmt.Sprintf("%d %s", w.Code, w.Body)
}

// A savepoint is asked for once, however often its trigger id comes, and its result
// is there for a while.
func TestSavepointOverREST(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.config["rest.async.store-duration"] = "1 min"
		w.jobs.hold = make(chan struct{})
		s := w.server(t)
		now := epoch
		s.operations.now = func() time.Time { return now }
		job := "/jobs/" + running.String()
		for _, path := range []string{"/savepoints", "/savepoints", "/stop"} {
			body := `{"target-directory":"file:///sp","targetDirectory":"file:///sp","formatType":"NATIVE","triggerId":"` + trigger + `"}`
			if got := ask(t, s, http.MethodPost, job+path, body); got.Code != 202 || !strings.Contains(got.Body.String(), trigger) {
				t.Fatalf("%s: %d %s", path, got.Code, got.Body)
			}
		}
		synctest.Wait()
		if got := said(t, s, job+"/savepoints/"+trigger); got != `200 {"status":{"id":"IN_PROGRESS"},"operation":null}` {
			t.Errorf("under way: %s", got)
		}
		close(w.jobs.hold)
		synctest.Wait()
		if got := said(t, s, job+"/savepoints/"+trigger); got != `200 {"status":{"id":"COMPLETED"},"operation":{"location":"file:/sp/savepoint-1"}}` {
			t.Errorf("done: %s", got)
		}
		if all := w.jobs.savepoints; len(all) != 1 || all[0] != (jobmaster.Savepoint{Target: "file:/sp", Format: snapshot.Native}) {
			t.Errorf("asked for %+v", all)
		}
		for _, other := range []string{"/jobs/" + finished.String() + "/savepoints/", job + "/checkpoints/"} {
			if got := said(t, s, other+trigger); !strings.HasPrefix(got, "404") || !strings.Contains(got, "operation with triggerId="+trigger+" for job") {
				t.Errorf("of another: %s", got)
			}
		}
		now = now.Add(time.Minute)
		if got := said(t, s, job+"/savepoints/"+trigger); !strings.HasPrefix(got, "404") {
			t.Errorf("after the time it is kept: %s", got)
		}
	})
}

// What a person asks for reaches the job as it was asked for.
func TestWaysToAskForSavepoints(t *testing.T) {
	for _, c := range []struct {
		path, body string
		settings   map[string]string
		want       jobmaster.Savepoint
	}{
		{"savepoints", `{"target-directory":"/sp"}`, nil, jobmaster.Savepoint{Target: "file:/sp"}},
		{"savepoints", `{"cancel-job":true}`, map[string]string{"state.savepoints.dir": "/default"}, jobmaster.Savepoint{Target: "file:/default", Stop: checkpoint.Cancel}},
		{"stop", `{"targetDirectory":"file:/sp"}`, nil, jobmaster.Savepoint{Target: "file:/sp", Stop: checkpoint.Suspend}},
		{"stop", `{"targetDirectory":"file:/sp","drain":"true"}`, nil, jobmaster.Savepoint{Target: "file:/sp", Stop: checkpoint.Drain}},
	} {
		w := newWorld()
		for key, value := range c.settings {
			w.config[key] = value
		}
		s := w.server(t)
		if got := ask(t, s, http.MethodPost, "/jobs/"+running.String()+"/"+c.path, c.body); got.Code != 202 {
			t.Errorf("%s: %d %s", c.body, got.Code, got.Body)
		}
		s.operations.wait.Wait()
		if all := w.jobs.savepoints; len(all) != 1 || all[0] != c.want {
			t.Errorf("%s %s: asked for %+v, want %+v", c.path, c.body, all, c.want)
		}
	}
	// The job's own settings name a directory, and the cluster's do not.
	w := newWorld()
	w.jobs.views[len(w.jobs.views)-1].Plan.Configuration["execution.checkpointing.savepoint-dir"] = "/own"
	s := w.server(t)
	if got := ask(t, s, http.MethodPost, "/jobs/"+running.String()+"/savepoints", ""); got.Code != 202 {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	s.operations.wait.Wait()
	if all := w.jobs.savepoints; len(all) != 1 || all[0].Target != "file:/own" {
		t.Errorf("asked for %+v", all)
	}
}

// Why there is no savepoint is told as Flink tells it, and in a form that clients in
// Java can throw.
func TestFailedSavepointOverREST(t *testing.T) {
	for _, c := range []struct {
		err   error
		lines string
	}{
		{&checkpoint.Error{Reason: checkpoint.Expired}, "org.apache.flink.runtime.checkpoint.CheckpointException: Checkpoint expired before completing."},
		{&checkpoint.Error{Reason: checkpoint.IOProblem, Cause: errors.New("no space left on device")},
			"org.apache.flink.runtime.checkpoint.CheckpointException: An Exception occurred while triggering the checkpoint. IO-problem detected.\nCaused by: java.io.IOException: no space left on device\n"},
		{&jobmaster.StoppingError{Job: running, Savepoint: "file:/sp/savepoint-1"}, "A savepoint has been created at: file:/sp/savepoint-1, but the corresponding job " + running.String() + " failed during stopping."},
		{&jobmaster.NotStreamingError{Job: batch}, "java.lang.IllegalStateException: Job " + batch.String() + " is not a streaming job."},
	} {
		w := newWorld()
		w.jobs.refusal = c.err
		s := w.server(t)
		ask(t, s, http.MethodPost, "/jobs/"+running.String()+"/stop", `{"targetDirectory":"/sp","triggerId":"`+trigger+`"}`)
		s.operations.wait.Wait()
		var body struct {
			Operation struct {
				Location string
				Cause    throwable `json:"failure-cause"`
			} `json:"operation"`
		}
		if err := json.Unmarshal(ask(t, s, http.MethodGet, "/jobs/"+running.String()+"/savepoints/"+trigger, "").Body.Bytes(), &body); err != nil {
			t.Fatal(err)
		}
		cause := body.Operation.Cause
		if body.Operation.Location != "" || cause.Class != "java.util.concurrent.CompletionException" || !strings.Contains(cause.Stack, c.lines) || len(cause.Serialized) == 0 {
			t.Errorf("%v: %+v", c.err, body)
		}
	}
}

// A savepoint that is disposed of is gone; a second time there is none.
func TestDisposal(t *testing.T) {
	w := newWorld()
	s := w.server(t)
	dir := fs.Location("mem:/sp/savepoint-1")
	if _, err := storage.Write(t.Context(), w.files, dir, &snapshot.Metadata{Checkpoint: 1, Kind: snapshot.Savepoint, Triggered: epoch}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"status":{"id":"COMPLETED"},"operation":{}}`,
		`Could not dispose savepoint mem:/sp/savepoint-1.\nCaused by: java.io.FileNotFoundException: Cannot find checkpoint or savepoint file/directory 'mem:/sp/savepoint-1' on file system 'mem'.`,
	} {
		got := ask(t, s, http.MethodPost, "/savepoint-disposal", `{"savepoint-path":"mem:/sp/savepoint-1"}`)
		var begun struct {
			Request ident.ID `json:"request-id"`
		}
		if err := json.Unmarshal(got.Body.Bytes(), &begun); err != nil || got.Code != 200 {
			t.Fatalf("%d %s, %v", got.Code, got.Body, err)
		}
		s.operations.wait.Wait()
		if got := said(t, s, "/savepoint-disposal/"+begun.Request.String()); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if left, err := w.files.List(t.Context(), "mem:/"); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// A server that ends gives up the savepoints that it waits for.
func TestOperationsEndWithTheServer(t *testing.T) {
	w := newWorld()
	w.jobs.hold = make(chan struct{})
	s := w.server(t)
	ask(t, s, http.MethodPost, "/jobs/"+running.String()+"/savepoints", `{"target-directory":"/sp","triggerId":"`+trigger+`"}`)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := said(t, s, "/jobs/"+running.String()+"/savepoints/"+trigger); !strings.Contains(got, errEnding.Error()) {
		t.Error(got)
	}
}
