package alignment

import (
	"encoding/json/v2"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/coordinator/alignment/message"
)

// job is the coordinators of a job, by name.
type job struct {
	t     *testing.T
	named map[string]coordinator.Coordinator
	all   []coordinator.Coordinator
}

func (j *job) add(name, group string, drift, parallelism int) {
	j.t.Helper()
	c, err := Factory(coordinator.Context{
		Spec: fmt.Sprintf(`{"group":%q,"driftMillis":%d}`, group, drift), Parallelism: parallelism,
		Peers: func() []coordinator.Coordinator { return j.all },
	})
	if err != nil {
		j.t.Fatal(err)
	}
	c.Start()
	j.named[name], j.all = c, append(j.all, c)
}

// report gives what a subtask is told.
func (j *job) report(name string, subtask int, r message.Report) (told string) {
	text, err := json.Marshal(r)
	if err != nil {
		j.t.Fatal(err)
	}
	j.named[name].HandleRequest(subtask, 0, text, func(payload []byte, err error) {
		var a message.Answer
		switch {
		case err != nil:
			told = err.Error()
		case json.Unmarshal(payload, &a) != nil:
			told = "broken: " + string(payload)
		case a.Allowed == noWatermark:
			told = "nothing"
		case a.Allowed == math.MaxInt64:
			told = "everything"
		default:
			told = fmt.Sprint(a.Allowed)
		}
	})
	return told
}

func TestAGroupStaysTogether(t *testing.T) {
	j := &job{t: t, named: map[string]coordinator.Coordinator{}}
	j.add("fast", "orders", 100, 2)
	j.add("slow", "orders", 500, 1)
	j.add("other", "payments", 7, 1)
	at := func(name string, subtask int, watermark int64) func() string {
		return func() string { return j.report(name, subtask, message.Report{Watermark: watermark}) }
	}
	idle := func(name string, subtask int) func() string {
		return func() string { return j.report(name, subtask, message.Report{Watermark: 1, Idle: true}) }
	}
	after := func(change func(), ask func() string) func() string {
		return func() string { change(); return ask() }
	}
	fast, slow := func() coordinator.Following { return j.named["fast"].(coordinator.Following) }, func() coordinator.Following { return j.named["slow"].(coordinator.Following) }
	for i, step := range []struct {
		what, want string
		ask        func() string
	}{
		{"others have not reported", "nothing", at("fast", 0, 1000)},
		{"one has not", "nothing", at("slow", 0, 1000)},
		{"one has no watermark", "nothing", at("fast", 1, noWatermark)},
		{"all have one", "1000", at("fast", 1, 900)},
		{"each has a drift of its own", "1400", at("slow", 0, 910)},
		{"the least one moves", "1010", at("fast", 1, 950)},
		{"that was a repetition", "1010", at("fast", 1, 950)},
		{"another group has no say", "12", at("other", 0, 5)},
		{"who is idle holds nobody", "1050", after(func() { idle("slow", 0)() }, at("fast", 0, 1040))},
		{"and is held only by others", "1450", idle("slow", 0)},
		{"it is back", "320", at("slow", 0, -180)},
		{"one has failed: others wait where it was", "-80", after(func() { slow().SubtaskFailed(0, 0) }, at("fast", 0, 1050))},
		{"it begins anew: nobody knows where", "nothing", after(func() { slow().Reset(0) }, at("fast", 0, 1050))},
		{"from further back", "200", at("slow", 0, -300)},
		{"it has ended", "1050", after(func() { slow().SubtaskFinished(0) }, at("fast", 0, 1060))},
		{"and runs again, all the same", "nothing", after(func() { slow().Reset(0) }, at("fast", 0, 1060))},
		{"all are idle", "everything", after(func() { idle("fast", 0)(); idle("fast", 1)() }, idle("slow", 0))},
		{"at the end of time", "everything", at("fast", 0, math.MaxInt64)},
		{"all have ended", "everything", after(func() { fast().SubtaskFinished(0); fast().SubtaskFinished(1) }, idle("slow", 0))},
		{"who is that", "subtask 2 says how far it has come, there are 2", at("fast", 2, 1)},
		{"the job has ended", "the job has ended", after(func() { fast().Close() }, at("fast", 0, 1))},
	} {
		if got := step.ask(); got != step.want {
			t.Errorf("step %d: %s: told %s, want %s", i, step.what, got, step.want)
		}
	}
}

// A new coordinator, after the master has been lost, knows what it needs when all have
// reported.
func TestANewCoordinatorWaitsForAll(t *testing.T) {
	j := &job{t: t, named: map[string]coordinator.Coordinator{}}
	j.add("fast", "orders", 100, 1)
	j.add("slow", "orders", 100, 1)
	if got := j.report("fast", 0, message.Report{Watermark: 1000}); got != "nothing" {
		t.Errorf("the first one may go to %s", got)
	}
	if got := j.report("slow", 0, message.Report{Watermark: 50}); got != "150" {
		t.Errorf("the last one may go to %s", got)
	}
}

func TestSpecificationsThatMakeNoSense(t *testing.T) {
	for spec, want := range map[string]string{
		`{`:                            "read its specification",
		`{"group":"","driftMillis":1}`: `group "" and drift 1 ms`,
		`{"group":"a"}`:                `group "a" and drift 0 ms`,
	} {
		if _, err := Factory(coordinator.Context{Spec: spec}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"watermark":1}`), 0)
	f.Add([]byte(`{"watermark":-9223372036854775808,"idle":true}`), 1)
	f.Add([]byte(`[]`), -1)
	f.Fuzz(func(t *testing.T, payload []byte, subtask int) {
		j := &job{t: t, named: map[string]coordinator.Coordinator{}}
		j.add("a", "g", 1, 2)
		answered := 0
		j.named["a"].HandleRequest(subtask, 0, payload, func([]byte, error) { answered++ })
		if answered != 1 {
			t.Errorf("answered %d times", answered)
		}
	})
}
