package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const aJob, aTrigger = "717b651e86af2a356f6a1dec991c9f28", "77b5d7c7f42ad3638721c7b430bf4a3a"

// operationsServer answers each operation with a result, and notes what is asked.
type operationsServer struct {
	result string
	asked  []string
}

func (s *operationsServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		fmt.Fprintf(w, `{"status":{"id":"COMPLETED"},"operation":%s}`, s.result)
		return
	}
	body, _ := io.ReadAll(r.Body)
	s.asked = append(s.asked, r.URL.Path+" "+string(body))
	fmt.Fprintf(w, `{"request-id":%q}`, aTrigger)
}

// What is printed is what Flink's command line prints, which scripts read.
func TestSavepointVerbs(t *testing.T) {
	t.Setenv("WEIR_HOME", t.TempDir())
	jobs := "/v1/jobs/" + aJob
	at := `{"location":"file:/data/sp/savepoint-717b65-6e6e2717ae30"}`
	for _, c := range []struct{ args, result, asked, out string }{
		{"savepoint " + aJob + " file:///data/sp", at, jobs + `/savepoints {"target-directory":"file:///data/sp","cancel-job":false,"formatType":"CANONICAL"}`,
			"Triggering savepoint for job " + aJob + ".\nWaiting for response...\nSavepoint completed. Path: file:/data/sp/savepoint-717b65-6e6e2717ae30\n" +
				"You can resume your program from this savepoint with the run command.\n"},
		{"savepoint -type native " + aJob, at, jobs + `/savepoints {"cancel-job":false,"formatType":"NATIVE"}`, "Triggering savepoint for job"},
		{"savepoint -detached " + aJob + " /sp", at, jobs + `/savepoints {"target-directory":"/sp","cancel-job":false,"formatType":"CANONICAL"}`,
			"Triggering savepoint in detached mode for job " + aJob + ".\nSuccessfully trigger manual savepoint, triggerId: " + aTrigger + "\n"},
		{"savepoint -dispose file:///sp/a", `{}`, `/v1/savepoint-disposal {"savepoint-path":"file:///sp/a"}`,
			"Disposing savepoint 'file:///sp/a'.\nWaiting for response...\nSavepoint 'file:///sp/a' disposed.\n"},
		{"savepoint -d file:///sp/a", `{}`, `/v1/savepoint-disposal {"savepoint-path":"file:///sp/a"}`, "Disposing savepoint"},
		{"stop -p file:///data/sp " + aJob, at, jobs + `/stop {"targetDirectory":"file:///data/sp","drain":false,"formatType":"CANONICAL"}`,
			"Suspending job \"" + aJob + "\" with a CANONICAL savepoint.\nTriggering stop-with-savepoint for job " + aJob + ".\nWaiting for response...\n" +
				"Savepoint completed. Path: file:/data/sp/savepoint-717b65-6e6e2717ae30\n"},
		{"stop --drain " + aJob, at, jobs + `/stop {"drain":true,"formatType":"CANONICAL"}`, "Draining job \"" + aJob + "\" with a CANONICAL savepoint.\n"},
		{"stop -p " + aJob, at, jobs + `/stop {"drain":false,"formatType":"CANONICAL"}`, "Suspending job"},
		{"stop -detached " + aJob, at, jobs + `/stop {"drain":false,"formatType":"CANONICAL"}`, "Suspending job \"" + aJob + "\" with a CANONICAL savepoint.\n" +
			"Triggering stop-with-savepoint in detached mode for job " + aJob + ".\nSuccessfully trigger stop-with-savepoint in detached mode, triggerId: " + aTrigger + "\n"},
		{"checkpoint " + aJob, `{"checkpointId":14}`, jobs + `/checkpoints {"checkpointType":"CONFIGURED"}`,
			"Triggering checkpoint for job " + aJob + ".\nWaiting for response...\nCheckpoint 14 for job " + aJob + " completed.\n" +
				"You can resume your program from this checkpoint with the run command.\n"},
		{"checkpoint -full " + aJob, `{"checkpointId":16}`, jobs + `/checkpoints {"checkpointType":"FULL"}`,
			"Triggering checkpoint for job " + aJob + ".\nWaiting for response...\nCheckpoint(FULL) 16 for job " + aJob + " completed.\n"},
		{"cancel -s file:///data/sp " + aJob, at, jobs + `/savepoints {"target-directory":"file:///data/sp","cancel-job":true,"formatType":"CANONICAL"}`,
			"DEPRECATION WARNING: Cancelling a job with savepoint is deprecated. Use \"stop\" instead.\n" +
				"Cancelling job " + aJob + " with CANONICAL savepoint to file:///data/sp.\nCancelled job " + aJob + ". Savepoint stored in file:/data/sp/savepoint-717b65-6e6e2717ae30.\n"},
		{"cancel -s " + aJob, at, jobs + `/savepoints {"cancel-job":true,"formatType":"CANONICAL"}`, "DEPRECATION WARNING"},
	} {
		s := &operationsServer{result: c.result}
		server := httptest.NewServer(s)
		var out, err bytes.Buffer
		code := Main(append(strings.Fields(c.args), "-m", server.Listener.Addr().String()), &out, &err)
		server.Close()
		if code != 0 || !strings.HasPrefix(out.String(), c.out) || len(s.asked) != 1 || s.asked[0] != c.asked {
			t.Errorf("weir %s: code %d\n%s%s\nasked %q", c.args, code, &out, &err, s.asked)
		}
	}
}

// A failure is told with its cause, without the names of classes.
func TestFailedSavepointVerbs(t *testing.T) {
	t.Setenv("WEIR_HOME", t.TempDir())
	failed := func(lines string) string {
		return fmt.Sprintf(`{"failure-cause":{"class":"java.util.concurrent.CompletionException","stack-trace":"java.util.concurrent.CompletionException: %s"}}`, lines)
	}
	for _, c := range []struct {
		args, result, err string
		code              int
	}{
		{"savepoint " + aJob, failed(`org.apache.flink.runtime.messages.FlinkJobNotFoundException: Could not find Flink job (x)\nCaused by: org.apache.flink.runtime.messages.FlinkJobNotFoundException: Could not find Flink job (x)\n`),
			"Failed to trigger a savepoint for the job " + aJob + ".\nCould not find Flink job (x)\n", 3},
		{"stop " + aJob, failed(`a.b.CheckpointException: IO-problem detected.\nCaused by: a.b.CheckpointException: IO-problem detected.\nCaused by: java.io.IOException: no space left\n`),
			"Could not stop with a savepoint job \"" + aJob + "\".\nIO-problem detected.\nCaused by: no space left\n", 1},
	} {
		server := httptest.NewServer(&operationsServer{result: c.result})
		var out, err bytes.Buffer
		code := Main(append(strings.Fields(c.args), "-m", server.Listener.Addr().String()), &out, &err)
		server.Close()
		if code != c.code || err.String() != c.err {
			t.Errorf("weir %s: code %d, want %d\n%s", c.args, code, c.code, &err)
		}
	}
}
