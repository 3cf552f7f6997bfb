package cli

import (
	"bytes"
	"encoding/json/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weirstream/weir/client"
)

// sizedJob is what a cluster answers about a job whose source has fewer splits
// than tasks, whose second vertex waits for slots and whose third is not decided.
const sizedJob = `{"jid":"00000000000000000000000000000002","name":"orders","state":"RUNNING","vertices":[
{"name":"Source","parallelism":3,"maxParallelism":128,"status":"FINISHED","tasks":{"FINISHED":3},"parallelismReason":"set by the program","splits":{"count":1,"bytes":36}},
{"name":"Sum","parallelism":2,"maxParallelism":4,"status":"CREATED","tasks":{"SCHEDULED":1,"RUNNING":1},"parallelismReason":"20 MB produced by Source: at most 16 MB a task"},
{"name":"Sink","parallelism":-1,"maxParallelism":4,"status":"CREATED","tasks":{},"parallelismReason":""}]}`

// rescaledJob is what a cluster answers about a job that was rescaled.
const rescaledJob = `{"jid":"00000000000000000000000000000004","name":"orders","state":"RUNNING","vertices":[],"lastRescale":{"triggerCause":"NEW_RESOURCE_AVAILABLE",
"stoppedTimestampInMillis":1795970572579,"changes":"Sum 1 → 3","outageInMillis":251,"endingInMillis":140,"placingInMillis":110,"deployingInMillis":1}}`

// Who waits for a query whose tasks wait for slots is told so.
func TestProgressOfAQuery(t *testing.T) {
	var d client.Detail
	if err := json.Unmarshal([]byte(sizedJob), &d); err != nil {
		t.Fatal(err)
	}
	if got, want := progressOf(&d), "RUNNING, 3 of 5 tasks finished, 1 wait for a slot"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWhy(t *testing.T) {
	t.Setenv("WEIR_HOME", t.TempDir())
	const rescaled = "00000000000000000000000000000004"
	const unknown, sized, failed = "00000000000000000000000000000001", "00000000000000000000000000000002", "00000000000000000000000000000003"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.Contains(r.URL.Path, unknown):
			w.WriteHeader(http.StatusNotFound)
			w.Write([]byte(`{"errors":["Job not found"]}`))
		case strings.HasSuffix(r.URL.Path, "/overview"):
			w.Write([]byte(`{"slots-total":2,"slots-available":1}`))
		case strings.HasSuffix(r.URL.Path, "/exceptions"):
			w.Write([]byte(`{"exceptionHistory":{"entries":[{"taskName":"Sum (1/4) - execution #0","attempt":0,"cause":"need 4 slots, have 2"}]}}`))
		case strings.HasSuffix(r.URL.Path, failed):
			w.Write([]byte(`{"jid":"` + failed + `","name":"orders","state":"FAILED","vertices":[{"name":"Sum","parallelism":4,"tasks":{},"parallelismReason":"set"}]}`))
		case strings.HasSuffix(r.URL.Path, rescaled):
			w.Write([]byte(rescaledJob))
		default:
			w.Write([]byte(sizedJob))
		}
	}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	for _, test := range []struct {
		args, out, err string
		code           int
	}{
		{"why", "", "Missing JobID. Specify a JobID to explain a job.", 2},
		{"why " + unknown, "", "Job not found", 3},
		{"why " + sized, `Job 00000000000000000000000000000002 (orders) is RUNNING.
Source
  parallelism  3: set by the program
  splits       1, fewer than tasks: the others have nothing to read
Sum
  parallelism  2: 20 MB produced by Source: at most 16 MB a task
  waiting      1 of its tasks wait for a slot: the cluster has 2 slots, 1 free
Sink
  parallelism  ?: not decided yet: what it reads is not complete
`, "", 0},
		{"why " + failed, "Job " + failed + " (orders) is FAILED.\nSum (1/4), attempt 0, failed: need 4 slots, have 2\nSum\n  parallelism  4: set\n", "", 0},
		{"why " + rescaled, "Job " + rescaled + " (orders) is RUNNING.\nIt last began anew at 2026-11-29T16:42:52Z (Sum 1 → 3), and did not run for 251 ms: " +
			"140 until its tasks had ended and the pause before a restart was over, 110 until new ones were placed, 1 until those ran.\n", "", 0},
		{"why --json " + sized, `{"job":"` + sized + `","name":"orders","state":"RUNNING","slots":2,"freeSlots":1,"vertices":[` +
			`{"name":"Source","parallelism":3,"maxParallelism":128,"reason":"set by the program","waitingForSlots":0,"splits":1,"withoutSplit":2},` +
			`{"name":"Sum","parallelism":2,"maxParallelism":4,"reason":"20 MB produced by Source: at most 16 MB a task","waitingForSlots":1,"withoutSplit":0},` +
			`{"name":"Sink","parallelism":-1,"maxParallelism":4,"reason":"not decided yet: what it reads is not complete","waitingForSlots":0,"withoutSplit":0}]}` + "\n", "", 0},
	} {
		var out, errOut bytes.Buffer
		code := Main(append(strings.Fields(test.args), "-m", address), &out, &errOut)
		if code != test.code || out.String() != test.out || !strings.Contains(errOut.String(), test.err) {
			t.Errorf("weir %s: code %d, want %d\n%s%s\nwant:\n%s%s", test.args, code, test.code, out.String(), errOut.String(), test.out, test.err)
		}
	}
}
