package gateway

import (
	"reflect"
	"testing"

	"github.com/weirstream/weir/internal/status"
)

// TestFailureTravels sends a failure with every field set, so that a field that
// is added is not forgotten here. An error's identity does not leave its process.
func TestFailureTravels(t *testing.T) {
	f := &status.Failure{Kind: status.FailureSignal, Message: "killed", Chain: []string{"run words"}, Stack: "goroutine 1", Stderr: "last words",
		Exit: 3, Signal: "SIGKILL", PeakMemory: 1 << 20, Fatal: true, Partition: "attempt", Record: &status.Record{Origin: "in.txt, byte 7", Value: "x"}}
	for v, i := reflect.ValueOf(*f), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() && v.Type().Field(i).Name != "Err" {
			t.Errorf("field %s is not set by this test", v.Type().Field(i).Name)
		}
	}
	if got := FailureFromProto(FailureToProto(f)); !reflect.DeepEqual(got, f) {
		t.Errorf("got  %+v\nwant %+v", got, f)
	}
	if FailureFromProto(FailureToProto(nil)) != nil {
		t.Error("no failure became one")
	}
}
