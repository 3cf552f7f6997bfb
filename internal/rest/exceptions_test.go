package rest

import (
	"encoding/json/v2"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/status"
)

// TestDecisionAndWhatFollowed shows a failure with everything that is known of it.
func TestDecisionAndWhatFollowed(t *testing.T) {
	at := time.UnixMilli(1000)
	died := execgraph.FailureEntry{
		Failure: &status.Failure{Kind: status.FailureSignal, Message: "killed", Chain: []string{"run words"}, Signal: "SIGKILL", Exit: -1, PeakMemory: 4096,
			Stderr: "last words", Record: &status.Record{Origin: "a.txt, byte 7", Value: "x"}},
		Time: at, Task: "Map (1/2)", Attempt: ident.AttemptID{Attempt: 3}, TaskManager: "tm", Host: "host:1",
		Folded:   []execgraph.FailureEntry{{Failure: &status.Failure{Kind: status.FailureConsumer, Message: "reset"}, Time: at}},
		Decision: &execgraph.Decision{Restarted: true, Tasks: 2, Delay: time.Second, Attempt: 4, Strategy: "S"},
	}
	got, err := json.Marshal(rootException(died))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"exceptionName":"ProcessSignal","stacktrace":"killed\nWhile: run words\nRecord: a.txt, byte 7: x\nThe end of the process's standard error:\nlast words",` +
		`"timestamp":1000,"failureLabels":{},"taskName":"Map (1/2) - execution #3","endpoint":"host:1","taskManagerId":"tm","concurrentExceptions":[],` +
		`"cause":"killed","chain":["run words"],"kind":"ProcessSignal","attempt":3,` +
		`"process":{"exit-code":-1,"signal":"SIGKILL","peak-memory":4096,"stderr":"last words"},"record":{"origin":"a.txt, byte 7","value":"x"},` +
		`"decision":"restarted 2 tasks after 1s (restart 4, S)","restart":{"attempt":4,"delay":1000,"tasks":2,"strategy":"S"},` +
		`"folded":[{"exceptionName":"PeerLost","stacktrace":"reset","timestamp":1000,"failureLabels":{},"cause":"reset","kind":"PeerLost"}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	died.Decision = &execgraph.Decision{Why: "of a test"}
	if e := rootException(died); e.Decision != "not restarted because of a test" || e.Restart != nil {
		t.Errorf("%+v", e)
	}
}
