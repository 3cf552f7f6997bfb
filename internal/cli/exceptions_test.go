package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// history is what a cluster answers about a job whose worker died.
const history = `{"exceptionHistory":{"entries":[
{"exceptionName":"ProcessSignal","stacktrace":"the job's process was killed by SIGKILL\nWhile: run words","timestamp":1700000000000,
 "taskName":"Map (2/4) - execution #1","endpoint":"localhost:36119","taskManagerId":"tm-1","attempt":1,"cause":"the job's process was killed by SIGKILL",
 "chain":["run words"],"process":{"exit-code":-1,"signal":"SIGKILL","peak-memory":52428800,"stderr":"last\nwords"},
 "record":{"origin":"books/emma.txt, byte 4711","value":"a line"},"decision":"restarted 4 tasks after 1s (restart 2, X)",
 "concurrentExceptions":[{"taskName":"Map (1/4) - execution #1","attempt":1,"cause":"out of luck"}],
 "folded":[{"taskName":"Sink (1/4) - execution #1","attempt":1,"cause":"connection reset"},{"cause":"b"},{"cause":"c"},{"cause":"d"},{"cause":"e"}]},
{"exceptionName":"Error","stacktrace":"no file matches\nmore","timestamp":1700000000000,"cause":"","decision":"not restarted because of a test","concurrentExceptions":[],"folded":[]}
],"truncated":false}}`

func TestExceptions(t *testing.T) {
	t.Setenv("WEIR_HOME", t.TempDir())
	utc := time.Local
	time.Local = time.UTC
	defer func() { time.Local = utc }()
	const unknown, quiet, failed = "00000000000000000000000000000001", "00000000000000000000000000000002", "00000000000000000000000000000003"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.Contains(r.URL.Path, unknown):
			w.WriteHeader(http.StatusNotFound)
			w.Write([]byte(`{"errors":["Job not found"]}`))
		case strings.Contains(r.URL.Path, quiet):
			w.Write([]byte(`{"exceptionHistory":{"entries":[],"truncated":false}}`))
		default:
			w.Write([]byte(history))
		}
	}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	for _, test := range []struct {
		args, out, err string
		code           int
	}{
		{"exceptions", "", "Missing JobID. Specify a JobID to explain a job.", 2},
		{"exceptions " + unknown, "", "Job not found", 3},
		{"exceptions " + quiet, "Job " + quiet + " has had no failure.\n", "", 0},
		{"exceptions --json " + quiet, "[]\n", "", 0},
		{"exceptions " + failed, `Map (2/4), attempt 1, failed: the job's process was killed by SIGKILL
  decision   restarted 4 tasks after 1s (restart 2, X)
  when       2023-11-14 22:13:20.000
  where      TaskManager tm-1 (localhost:36119)
  while      run words
  record     books/emma.txt, byte 4711: a line
  process    killed by SIGKILL, had used 50.000mb (52428800 bytes) at most
  stderr     last
             words
  also       Map (1/4), attempt 1, failed: out of luck
  hence      Sink (1/4), attempt 1, failed: connection reset
  hence      The job failed: b
  hence      The job failed: c
  hence      and 2 more

The job failed: no file matches
  decision   not restarted because of a test
  when       2023-11-14 22:13:20.000
`, "", 0},
		{"exceptions --json " + failed, `[{"cause":"the job's process was killed by SIGKILL","task":"Map (2/4)","attempt":1,"taskManager":"tm-1","time":1700000000000,` +
			`"process":{"exitCode":-1,"signal":"SIGKILL","peakMemory":52428800,"stderr":"last\nwords"},"record":{"origin":"books/emma.txt, byte 4711","value":"a line"},` +
			`"decision":"restarted 4 tasks after 1s (restart 2, X)","folded":[{"cause":"connection reset","task":"Sink (1/4)","attempt":1,"taskManager":"","time":0},`, "", 0},
	} {
		var out, errors bytes.Buffer
		code := Main(append([]string{"-m", address}, strings.Fields(test.args)...), &out, &errors)
		same := out.String() == test.out
		if strings.Contains(test.args, "--json 0000000000000000000000000000000"+"3") {
			same = strings.HasPrefix(out.String(), test.out)
		}
		if code != test.code || !same || !strings.Contains(errors.String(), test.err) {
			t.Errorf("weir %s: code %d, want %d\noutput %s\nwant   %s\nerrors %s", test.args, code, test.code, out.String(), test.out, errors.String())
		}
	}
}
