package execgraph

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/status"
)

func TestTogether(t *testing.T) {
	s := func(states ...status.Execution) status.Execution {
		var tasks [executionStates]int
		for _, one := range states {
			tasks[one]++
		}
		return together(tasks, len(states))
	}
	for _, test := range []struct{ got, want status.Execution }{
		{s(status.Created, status.Scheduled), status.Created},
		{s(status.Deploying), status.Created},
		{s(status.Deploying, status.Running), status.Running},
		{s(status.Initializing, status.Running), status.Initializing},
		{s(status.Finished, status.Created), status.Running},
		{s(status.Finished, status.Finished), status.Finished},
		{s(status.Canceled, status.Finished), status.Canceled},
		{s(status.Canceling, status.Canceled), status.Canceling},
		{s(status.Canceling, status.Failed), status.Failed},
	} {
		if test.got != test.want {
			t.Errorf("got %s, want %s", test.got, test.want)
		}
	}
}

func TestViewDoesNotChange(t *testing.T) {
	g := build(t, "a 2\nb 1 <- a:all")
	at := func(n int) time.Time { return begin.Add(time.Duration(n) * time.Second) }
	g.SetState(status.JobRunning, at(2))
	e := g.Vertices[0].Subtasks[0].Current
	before := g.View()
	g.SetExecution(e, status.Scheduled, at(3))
	g.Bind(e, &Slot{TaskManager: "tm", Host: "host:1"})
	g.SetExecution(e, status.Deploying, at(4))
	g.SetExecution(e, status.Initializing, at(5))
	g.SetExecution(e, status.Running, at(7))
	figures := &status.TaskFigures{Initialization: time.Second}
	g.Measure(e, Metrics{RecordsOut: 4, BusyMillis: 9, Figures: figures})
	g.Measure(e, Metrics{RecordsOut: 5, BusyMillis: 10})
	g.Measure(e, Metrics{RecordsOut: 3, BusyMillis: 5}) // overtaken
	failed := g.RecordFailure(e, &status.Failure{Message: "boom"}, at(8))
	after := g.View()
	g.RecordConcurrent(failed, nil, &status.Failure{Message: "bang"}, at(9))
	g.Fold(failed, nil, &status.Failure{Message: "crash"}, at(9))
	g.Decide(failed, Decision{Restarted: true})

	if before.Vertices[0].Subtasks[0].State != status.Created || len(before.Failures) != 0 {
		t.Errorf("a view changed: %+v", before.Vertices[0].Subtasks[0])
	}
	if before.Vertices[1] != after.Vertices[1] {
		t.Error("a vertex in which nothing changed was described anew")
	}
	if f := after.Failures[0]; len(f.Concurrent)+len(f.Folded) != 0 || f.Decision != nil {
		t.Error("a view got a failure that came later")
	}
	got := &after.Vertices[0].Subtasks[0]
	now := at(10)
	expect := func(what string, got, want any) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	expect("tasks", [2]int{after.Tasks()[status.Running], after.Tasks()[status.Created]}, "[1 2]")
	expect("start", after.Vertices[0].Start, at(4))
	expect("end", after.Vertices[0].End.IsZero(), true)
	expect("duration", after.Vertices[0].Duration(now), "6s")
	expect("job's duration", after.Duration(now), "10s")
	expect("metrics", after.Vertices[0].Metrics.RecordsOut, 5)
	if got.Metrics.Figures != figures {
		t.Error("a report without figures took the last ones away")
	}
	expect("place", [2]string{string(got.TaskManager), got.Host}, "[tm host:1]")
	expect("created for", got.StateDuration(status.Created, now), "2s")
	expect("initializing for", got.StateDuration(status.Initializing, now), "2s")
	expect("running for", got.StateDuration(status.Running, now), "3s")
	expect("never canceled", got.StateDuration(status.Canceled, now), time.Duration(-1))
	expect("task in the history", after.Failures[0].Task, "a (1/2)")
	expect("host in the history", after.Failures[0].Host, "host:1")
}

func TestHistoryIsBounded(t *testing.T) {
	g := build(t, "a 1")
	g.LimitHistory(2)
	for i := range 3 {
		g.RecordFailure(nil, &status.Failure{Message: fmt.Sprint(i)}, begin)
	}
	v := g.View()
	if len(v.Failures) != 2 || v.Failures[0].Failure.Message != "2" || !v.Truncated {
		t.Errorf("%+v truncated %v", v.Failures, v.Truncated)
	}
}

// TestRootIsReplaced finds the cause of a failure after it: what follows from it
// is folded, the decision stays.
func TestRootIsReplaced(t *testing.T) {
	g := build(t, "a 2")
	e, other := g.Vertices[0].Subtasks[0].Current, g.Vertices[0].Subtasks[1].Current
	lost := &status.Failure{Kind: status.FailureConsumer, Message: "reset"}
	id := g.RecordFailure(e, lost, begin)
	g.Decide(id, Decision{Why: "of a test"})
	g.RecordConcurrent(id, other, lost, begin)
	g.RecordConcurrent(id, other, &status.Failure{Kind: status.FailureError, Message: "by chance"}, begin)
	g.ReplaceRoot(id, other, &status.Failure{Kind: status.FailureExit, Message: "died"}, lost,
		func(f *FailureEntry) bool { return f.Failure.Kind == status.FailureConsumer }, begin)
	root, ok := g.Root(id)
	got := fmt.Sprintf("%t %v %s %s", ok, root.Failure, root.Task, root.Decision)
	for _, f := range root.Folded {
		got += fmt.Sprint("; folded ", f.Failure, " of ", f.Task)
	}
	for _, f := range root.Concurrent {
		got += fmt.Sprint("; concurrent ", f.Failure)
	}
	if want := "true died a (2/2) not restarted because of a test; folded reset of a (1/2); folded reset of a (2/2); concurrent by chance"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestAttemptsAreBounded restarts a task more often than it remembers.
func TestAttemptsAreBounded(t *testing.T) {
	g := build(t, "a 1")
	g.LimitAttempts(2)
	v := g.Vertices[0].Subtasks[0]
	for range 5 {
		g.SetExecution(v.Current, status.Canceled, begin)
		g.NewAttempt(v, begin)
	}
	if v.Current.ID.Attempt != 5 || len(v.Earlier) != 2 || v.Earlier[0].ID.Attempt != 3 {
		t.Errorf("attempt %d after %d remembered", v.Current.ID.Attempt, len(v.Earlier))
	}
}

func BenchmarkView(b *testing.B) {
	g, err := New(job("a 128\nb 128 <- a:all\nc 128 <- b:all"), ident.GraphID{}, begin, begin)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		g.View()
	}
}
