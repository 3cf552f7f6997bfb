package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster/failover"
	"github.com/weirstream/weir/internal/status"
)

// script is one job under a script. Its commands are the events:
//
//	job [STRATEGY …]     makes the job of its lines: "name parallelism [<- producer:all|pointwise|blocking-all …] [in group] [max N]";
//	                     parallelism "?" is decided later; edges for that: blocking-broadcast, blocking-forward;
//	                     STRATEGY: fixed:ATTEMPTS:DELAY, exponential:DELAY, full, or of sizes least:N, volume:N, sources:N, otherwise:N; balance;
//	                     late: laid out by the slots there are
//	start [N …], cancel, suspend  N: parallelisms of a late graph
//	rescale, await, layout RESTART N …  of a late graph
//	grant R SLOT@TM …    requests R get slots
//	refuse R …           requests R cannot be met
//	lose SLOT …          slots are gone
//	report TASK STATE [HOW]  of "a0": subtask 0 of vertex a; "a0#1": its attempt 1; how it failed:
//	                     peer: a peer was lost; died: with its process; fatal;
//	                     unread:TASK: what that had produced could not be read
//	                     with FINISHED: bytes:1,2;3 are the sizes of subpartitions, of each produced data set; else they are 0
//	sized V [SPLITS BYTES]  what source V has to read, or that it cannot say
//	all STATE [TASK …]   reports of all these tasks, or of all that are deployed and not in that state
//	deploy-failed TASK, task-lost TASK, fail
//	gone TM [TASK …]     what these tasks, or all, had produced on the TaskManager is lost
//	due RESTART [after DURATION]  the pause is over, that long after the last event
//	known TASK STATE     whether a report would count
//	show                 states of the job and all its tasks, and the failures
type script struct {
	s     *Scheduler
	graph *execgraph.Graph
	slots map[string]*execgraph.Slot
	now   time.Time
}

func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{slots: map[string]*execgraph.Slot{}, now: time.Unix(1000, 0)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
	})
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	s.now = s.now.Add(time.Second)
	var args []string
	for _, a := range d.CmdArgs {
		args = append(args, a.String())
	}
	switch d.Cmd {
	case "job":
		lay := execgraph.New
		if i := slices.Index(args, "late"); i >= 0 {
			lay, args = execgraph.NewLate, slices.Delete(args, i, i+1)
		}
		graph, err := lay(parseJob(t, d.Input), ident.GraphID{ID: ident.ID{7}}, s.now, s.now)
		if err != nil {
			t.Fatal(err)
		}
		s.graph, s.s = graph, newScheduler(t, graph, args)
		return fmt.Sprintf("%d regions\n", len(graph.Regions))
	case "show":
		return s.show()
	case "known":
		state, _ := status.ParseExecution(args[1])
		return fmt.Sprintln(s.s.Knows(s.attempt(t, args[0]), state))
	}
	var out strings.Builder
	for _, ev := range s.events(t, d.Cmd, args) {
		for _, effect := range s.s.Apply(ev, s.now) {
			fmt.Fprintln(&out, show(effect))
		}
	}
	return out.String()
}

func (s *script) events(t *testing.T, cmd string, args []string) []Event {
	boom := &status.Failure{Kind: status.FailureError, Message: "boom"}
	switch cmd {
	case "start":
		return []Event{Start{Layouts: layouts(t, args)}}
	case "rescale":
		return []Event{Rescale{Reason: "more slots"}}
	case "await":
		return []Event{AwaitSlots{}}
	case "layout":
		return []Event{LayOut{Restart: RestartID(request(t, args[0])), Layouts: layouts(t, args[1:])}}
	case "cancel":
		return []Event{CancelJob{}}
	case "suspend":
		return []Event{Suspend{}}
	case "fail":
		return []Event{FailJob{Cause: boom}}
	case "grant":
		var events []Event
		for i := 0; i+1 < len(args); i += 2 {
			name, tm, _ := strings.Cut(args[i+1], "@")
			slot := s.slots[name]
			if slot == nil {
				slot = &execgraph.Slot{Allocation: ident.AllocationID{ID: ident.ID{byte(len(s.slots) + 1)}}, TaskManager: ident.ResourceID(tm)}
				s.slots[name] = slot
			}
			events = append(events, SlotGranted{Request: request(t, args[i]), Slot: slot})
		}
		return events
	case "refuse":
		ev := SlotsRefused{Cause: &status.Failure{Kind: status.FailureSlots, Message: "no slots"}}
		for _, a := range args {
			ev.Requests = append(ev.Requests, request(t, a))
		}
		return []Event{ev}
	case "lose":
		ev := SlotsLost{Cause: &status.Failure{Kind: status.FailureLost, Message: "tm lost"}}
		for _, a := range args {
			ev.Allocations = append(ev.Allocations, s.slots[a].Allocation)
		}
		return []Event{ev}
	case "gone":
		ev := OutputsLost{TaskManager: ident.ResourceID(args[0])}
		for _, a := range args[1:] {
			ev.Attempts = append(ev.Attempts, s.attempt(t, a))
		}
		return []Event{ev}
	case "due":
		if len(args) > 2 {
			after, err := time.ParseDuration(args[2])
			if err != nil {
				t.Fatal(err)
			}
			s.now = s.now.Add(after)
		}
		return []Event{RestartDue{Restart: RestartID(request(t, args[0]))}}
	case "all":
		return s.all(t, args)
	case "report":
		state, ok := status.ParseExecution(args[1])
		if !ok {
			t.Fatalf("state %q", args[1])
		}
		ev := TaskReport{Attempt: s.attempt(t, args[0]), State: state}
		if state == status.Finished {
			ev.Sizes = s.sizes(t, ev.Attempt, args[2:])
		}
		if state == status.Failed {
			ev.Failure = boom
			if len(args) > 2 {
				ev.Failure = s.failure(t, args[2])
			}
		}
		return []Event{ev}
	case "sized":
		for _, v := range s.graph.Vertices {
			if v.Job.Name != args[0] {
				continue
			}
			ev := SourceSized{Vertex: v.Job.ID}
			if len(args) > 2 {
				ev.Splits = &execgraph.Splits{Count: int(request(t, args[1])), Bytes: int64(request(t, args[2]))}
			}
			return []Event{ev}
		}
	case "deploy-failed":
		return []Event{DeployFailed{Attempt: s.attempt(t, args[0]), Cause: boom}}
	case "task-lost":
		return []Event{TaskLost{Attempt: s.attempt(t, args[0]), Cause: boom}}
	}
	t.Fatalf("unknown command %q", cmd)
	return nil
}

// sizes are those of what an attempt has produced.
func (s *script) sizes(t *testing.T, attempt ident.AttemptID, args []string) [][]int64 {
	var all [][]int64
	e := s.graph.Attempt(attempt)
	if e == nil || e.Slot == nil {
		return nil
	}
	for _, p := range s.graph.Deployment(e).Partitions {
		all = append(all, make([]int64, p.Subpartitions))
	}
	for _, a := range args {
		for i, set := range strings.Split(strings.TrimPrefix(a, "bytes:"), ";") {
			all[i] = nil
			for n := range strings.SplitSeq(set, ",") {
				all[i] = append(all[i], int64(request(t, n)))
			}
		}
	}
	return all
}

func (s *script) failure(t *testing.T, how string) *status.Failure {
	how, of, _ := strings.Cut(how, ":")
	switch how {
	case "peer":
		return &status.Failure{Kind: status.FailureConsumer, Message: "connection reset by peer"}
	case "died":
		return &status.Failure{Kind: status.FailureExit, Message: "exit code 3", Exit: 3}
	case "fatal":
		return &status.Failure{Kind: status.FailureError, Message: "never", Fatal: true}
	case "unread":
		return &status.Failure{Kind: status.FailurePartition, Message: "checksum", Partition: s.attempt(t, of).String()}
	}
	t.Fatalf("unknown failure %q", how)
	return nil
}

// all makes reports of several tasks.
func (s *script) all(t *testing.T, args []string) []Event {
	state, ok := status.ParseExecution(args[0])
	if !ok {
		t.Fatalf("state %q", args[0])
	}
	var events []Event
	for _, v := range s.graph.Vertices {
		for _, sub := range v.Subtasks {
			e := sub.Current
			named := slices.Contains(args[1:], label(e))
			if named || len(args) == 1 && e.Deployed() && !e.State().Terminal() && e.State() != state {
				events = append(events, TaskReport{Attempt: e.ID, State: state, Sizes: s.sizes(t, e.ID, nil)})
			}
		}
	}
	return events
}

func newScheduler(t *testing.T, graph *execgraph.Graph, args []string) *Scheduler {
	var backoff Backoff = failover.None{}
	var strategy Failover = failover.NewRegion(graph)
	balance := false
	var sizing Sizing
	for _, a := range args {
		words := strings.Split(a, ":")
		span := func(i int) time.Duration {
			d, err := time.ParseDuration(words[i])
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		switch words[0] {
		case "fixed":
			backoff = failover.NewFixedDelay(int(request(t, words[1])), span(2))
		case "exponential":
			backoff = failover.NewExponentialDelay(failover.Exponential{Initial: span(1), Max: time.Hour, Multiplier: 2, Reset: time.Hour,
				Attempts: failover.Endless}, nil)
		case "balance":
			balance = true
		case "least":
			sizing.Least = int(request(t, words[1]))
		case "volume":
			sizing.Volume = int64(request(t, words[1]))
		case "sources":
			sizing.Sources = int(request(t, words[1]))
		case "otherwise":
			sizing.Otherwise = int(request(t, words[1]))
		case "full":
			strategy = failover.NewFull(graph)
		default:
			t.Fatalf("unknown strategy %q", a)
		}
	}
	s := New(graph, backoff, strategy, sizing)
	if balance {
		s.BalanceTasks()
	}
	return s
}

// layouts are those of a late graph's vertices.
func layouts(t *testing.T, parallelisms []string) (all []execgraph.Layout) {
	for _, p := range parallelisms {
		all = append(all, execgraph.Layout{Parallelism: int(request(t, p)), Why: "by slots"})
	}
	return all
}

func request(t *testing.T, text string) RequestID {
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return RequestID(n)
}

// attempt finds the attempt of "a0" or "a0#1".
func (s *script) attempt(t *testing.T, text string) ident.AttemptID {
	task, number, _ := strings.Cut(text, "#")
	for _, v := range s.graph.Vertices {
		for _, sub := range v.Subtasks {
			if label(sub.Current) == task {
				id := sub.Current.ID
				if number != "" {
					fmt.Sscan(number, &id.Attempt)
				}
				return id
			}
		}
	}
	t.Fatalf("no task %q", text)
	return ident.AttemptID{}
}

func label(e *execgraph.Execution) string {
	return fmt.Sprintf("%s%d", e.Vertex.Parent.Job.Name, e.Vertex.Subtask)
}

func show(effect Effect) string {
	reason := func(text string) string {
		if text == "" {
			return ""
		}
		return " (" + text + ")"
	}
	switch f := effect.(type) {
	case RequestSlots:
		words := []string{fmt.Sprintf("region %d requests", f.Region.Index)}
		for _, r := range f.Requests {
			word := fmt.Sprintf("%d=%s/%d", r.ID, r.Group, r.Index)
			if !r.Before.IsZero() {
				word += fmt.Sprintf("(slot %d)", r.Before.ID[0])
			}
			words = append(words, word)
		}
		return strings.Join(words, " ")
	case WithdrawRequests:
		return fmt.Sprint("withdraw ", f.Requests)
	case ReturnSlot:
		return fmt.Sprintf("return slot %d", f.Allocation.ID[0])
	case Deploy:
		return fmt.Sprintf("deploy %s in slot %d on %s", label(f.Execution), f.Execution.Slot.Allocation.ID[0], f.Execution.Slot.TaskManager)
	case CancelTask:
		return "stop " + label(f.Execution)
	case RestartAfter:
		return fmt.Sprintf("restart %d after %s", f.Restart, f.Delay)
	case AskLayout:
		return fmt.Sprintf("ask for the layout of restart %d", f.Restart)
	case ReleaseOutputs:
		words := []string{"release"}
		for _, e := range f.Executions {
			words = append(words, fmt.Sprintf("%s#%d", label(e), e.ID.Attempt))
		}
		return strings.Join(words, " ")
	case TasksReset:
		words := []string{"reset"}
		for _, e := range f.Executions {
			words = append(words, fmt.Sprintf("%s#%d", label(e), e.ID.Attempt))
		}
		return strings.Join(words, " ")
	case LaidOut:
		l := f.Vertex.Layout()
		return fmt.Sprintf("%s is %d %v: %s", f.Vertex.Job.Name, l.Parallelism, l.Shares, l.Why)
	case TaskChanged:
		return fmt.Sprintf("%s %s -> %s%s", label(f.Execution), f.From, f.To, reason(f.Reason))
	case JobChanged:
		return fmt.Sprintf("job %s -> %s%s", f.From, f.To, reason(f.Reason))
	}
	return fmt.Sprintf("%T", effect)
}

func (s *script) show() string {
	var out strings.Builder
	v := s.graph.View()
	fmt.Fprintf(&out, "job %s", v.State)
	for _, vertex := range s.graph.Vertices {
		for _, sub := range vertex.Subtasks {
			fmt.Fprintf(&out, " %s=%s", label(sub.Current), sub.Current.State())
			if n := sub.Current.ID.Attempt; n > 0 {
				fmt.Fprintf(&out, "#%d", n)
			}
		}
	}
	fmt.Fprintln(&out)
	for _, f := range v.Failures {
		fmt.Fprintf(&out, "failure of %q: %s\n", f.Task, f.Failure.Error())
		for _, c := range f.Concurrent {
			fmt.Fprintf(&out, "  and of %q: %s\n", c.Task, c.Failure.Error())
		}
		for _, c := range f.Folded {
			fmt.Fprintf(&out, "  hence of %q: %s\n", c.Task, c.Failure.Error())
		}
		fmt.Fprintf(&out, "  %s\n", f.Decision)
	}
	for _, line := range s.s.Waiting() {
		fmt.Fprintln(&out, line)
	}
	return out.String()
}

// parseJob reads lines "name parallelism [<- producer:edge …] [in group]".
func parseJob(t *testing.T, text string) *jobgraph.Graph {
	g := &jobgraph.Graph{Job: ident.JobID{ID: ident.ID{1}}, Name: "test"}
	byName := map[string]*jobgraph.Vertex{}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		words := strings.Fields(line)
		v := &jobgraph.Vertex{ID: ident.VertexID{ID: ident.ID{1, byte(i)}}, Name: words[0], MaxParallelism: 128, SlotSharingGroup: "default"}
		if words[1] != "?" {
			v.Parallelism, v.Why = int(request(t, words[1])), "given"
		}
		for rest := words[2:]; len(rest) > 0; rest = rest[1:] {
			if rest[0] == "<-" {
				continue
			}
			if rest[0] == "in" {
				v.SlotSharingGroup, rest = rest[1], rest[1:]
				continue
			}
			if rest[0] == "max" {
				v.MaxParallelism, rest = int(request(t, rest[1])), rest[1:]
				continue
			}
			from, edge, _ := strings.Cut(rest[0], ":")
			ship := map[string]string{"blocking-broadcast": "BROADCAST", "blocking-forward": "FORWARD"}[edge]
			set := &jobgraph.DataSet{ID: ident.DataSetID{ID: ident.ID{2, byte(i), byte(len(v.Inputs))}},
				Type: jobgraph.Pipelined, Distribution: jobgraph.Pointwise, Consumer: v.ID}
			if strings.HasSuffix(edge, "all") || ship == "BROADCAST" {
				set.Distribution = jobgraph.AllToAll
			}
			if strings.HasPrefix(edge, "blocking") {
				set.Type = jobgraph.Blocking
			}
			if byName[from] == nil {
				t.Fatalf("line %q: no vertex %q", line, from)
			}
			byName[from].Produces = append(byName[from].Produces, set)
			v.Inputs = append(v.Inputs, &jobgraph.Edge{DataSet: set.ID, Source: byName[from].ID, Distribution: set.Distribution, Ship: ship})
		}
		byName[v.Name] = v
		g.Vertices = append(g.Vertices, v)
	}
	return g
}
