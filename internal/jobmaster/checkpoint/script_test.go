package checkpoint

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/record"
	"github.com/weirstream/weir/internal/status"
)

// script is one coordinator under a script. What it asks of its owner is answered
// at once and well, except for the steps that were made manual. Its commands:
//
//	job [OPTION=VALUE …]        makes the coordinator of a job, whose vertices are the lines
//	                            "name parallelism [coordinated] [<- producer:all|pointwise …]"
//	manual [STEP …]             steps answered by the script: draw locate coordinators write store discard read
//	recover [ID …] [from=LOCATION [claim] [allow]]
//	run                         the job is RUNNING, each task that does not run begins anew
//	job-is STATE, task TASK STATE
//	requests FROM TO KIND …     many
//	request N checkpoint|savepoint|stop|drain [full] [native] [cancel] [target=LOCATION]
//	drawn SERIAL ID|error, located ID error, coordinator ID OPERATOR error, written ID error
//	stored ID [error|uncertain], discarded N [error], read LOCATION ID [FILE …]|damaged
//	ack ID TASK|all [FILE …] [union] [gathered] [finished], decline ID TASK REASON, trigger-failed ID TASK
//	restart [VERTEX …]          of these, or all
//	unreadable ID
//	rescale VERTEX PARALLELISM
//	tick DURATION               time passes, with a Tick whenever one is wanted
//	show
//
// A TASK is vertex/subtask: its current attempt. FILEs lie in the job's shared
// directory if they begin with "s", otherwise in the checkpoint's own.
type script struct {
	c      *Coordinator
	graph  *jobgraph.Graph
	now    time.Time
	manual map[string]bool
	nextID int64
	// metadata is what was written, by location, for a later read.
	metadata map[fs.Location]*snapshot.Metadata
	stored   []Pointer
	out      strings.Builder
}

func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{now: time.UnixMilli(1_000_000), metadata: map[fs.Location]*snapshot.Metadata{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.out.Reset()
			s.run(t, d)
			return strings.NewReplacer("mem:/ckpt/"+s.graph.Job.String(), "JOB").Replace(s.out.String())
		})
	})
}

func (s *script) run(t *testing.T, d *datadriven.TestData) {
	var args []string
	for _, a := range d.CmdArgs {
		args = append(args, a.String())
	}
	switch d.Cmd {
	case "job":
		s.makeJob(t, args, d.Input)
	case "manual":
		s.manual = map[string]bool{}
		for _, a := range args {
			s.manual[a] = true
		}
	case "recover":
		s.apply(s.recovery(t, args))
	case "run":
		s.apply(JobStatus{State: status.JobRunning})
		s.begin()
	case "job-is":
		state, _ := status.ParseJob(args[0])
		s.apply(JobStatus{State: state})
	case "task":
		state, _ := status.ParseExecution(args[1])
		s.apply(TaskStatus{Attempt: s.task(t, args[0]), State: state, Cause: &status.Failure{Message: "it broke"}})
	case "tick":
		s.tick(t, args[0])
	case "show":
		s.show()
	case "rescale":
		s.rescale(t, args)
	case "restart":
		r := Restart{Global: len(args) == 0}
		for _, name := range args {
			r.Vertices = append(r.Vertices, s.vertex(t, name).ID)
		}
		s.apply(r)
	case "unreadable":
		s.apply(Unreadable{Checkpoint: number(t, args[0]), Err: &snapshot.CorruptError{Location: "mem:/broken", Offset: 17, What: "it is damaged"}})
	case "request":
		s.apply(s.request(t, args))
	case "requests":
		for n := number(t, args[0]); n <= number(t, args[1]); n++ {
			s.apply(s.request(t, append([]string{strconv.FormatInt(n, 10)}, args[2:]...)))
		}
	default:
		s.apply(s.answer(t, d.Cmd, args))
	}
}

var errTest = errors.New("disk broke")

// answer reads an answer of the owner's, or of a task.
func (s *script) answer(t *testing.T, cmd string, args []string) Event {
	var err error
	if last := args[len(args)-1]; last == "error" || last == "uncertain" {
		err = errTest
	}
	id := int64(0)
	if cmd != "read" {
		id = number(t, args[0])
	}
	switch cmd {
	case "drawn":
		if err != nil {
			return IDDrawn{Serial: Serial(id), Err: err}
		}
		return IDDrawn{Serial: Serial(id), Checkpoint: number(t, args[1])}
	case "located":
		return Located{Checkpoint: id, Dir: fs.Location(fmt.Sprintf("mem:/sp/savepoint-%d", id)), Err: err}
	case "coordinator":
		return CoordinatorSnapshot{Checkpoint: id, Operator: s.operator(t, args[1]), Err: err}
	case "trigger-failed":
		return TriggerFailed{Checkpoint: id, Attempt: s.task(t, args[1]), Err: errors.New("connection refused")}
	case "written":
		return MetadataWritten{Checkpoint: id, Err: err}
	case "stored":
		return Stored{Checkpoint: id, Err: err, Uncertain: args[len(args)-1] == "uncertain"}
	case "discarded":
		return Discarded{Discard: DiscardID(id), Err: err}
	case "decline":
		reason, err := ParseReason(args[2])
		if err != nil {
			t.Fatal(err)
		}
		return Decline{Checkpoint: id, Attempt: s.task(t, args[1]), Reason: reason}
	case "ack":
		return s.ack(t, id, args[1:])
	case "read":
		return s.read(t, args)
	}
	t.Fatalf("unknown command %q", cmd)
	return nil
}

// ack is the acknowledgement of a task; of all but the last of the job it is
// applied here.
func (s *script) ack(t *testing.T, id int64, args []string) Event {
	names := []string{args[0]}
	if args[0] == "all" {
		names = nil
		for i, v := range s.graph.Vertices {
			for subtask := range v.Parallelism {
				if s.c.tasks.states[i][subtask] == status.Running {
					names = append(names, fmt.Sprintf("%s/%d", v.Name, subtask))
				}
			}
		}
	}
	var events []Event
	for _, name := range names {
		a := s.task(t, name)
		state := TaskState{Operator: ident.OperatorID(a.Vertex)}
		for _, word := range args[1:] {
			switch word {
			case "union":
				state.State.Lists = append(state.State.Lists, snapshot.ListState{Name: "u", Mode: snapshot.Union})
			case "gathered":
				state.State.Lists = append(state.State.Lists, snapshot.ListState{Name: "g", Mode: snapshot.Gathered})
			case "finished":
				state.State.Finished = true
			default:
				state.State.Keyed = append(state.State.Keyed, snapshot.KeyedState{
					Last: 127, Files: []snapshot.KeyedFile{{Handle: snapshot.Handle{Location: s.file(id, word), Length: 10}}}})
			}
		}
		events = append(events, Ack{Checkpoint: id, Attempt: a, States: []TaskState{state}, Figures: record.Figures{State: 10, Checkpointed: 10}})
	}
	for _, ev := range events[:len(events)-1] {
		s.apply(ev)
	}
	return events[len(events)-1]
}

func (s *script) file(id int64, name string) fs.Location {
	if strings.HasPrefix(name, "s") {
		return s.c.directory().Join("shared", name)
	}
	return s.c.directory().Join(fmt.Sprintf("chk-%d", id), name)
}

func number(t *testing.T, text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (s *script) vertex(t *testing.T, name string) *jobgraph.Vertex {
	for _, v := range s.graph.Vertices {
		if v.Name == name {
			return v
		}
	}
	t.Fatalf("there is no vertex %q", name)
	return nil
}

func (s *script) operator(t *testing.T, name string) ident.OperatorID {
	return s.vertex(t, name).Operators[0].ID
}

func (s *script) task(t *testing.T, name string) ident.AttemptID {
	vertex, subtask, _ := strings.Cut(name, "/")
	v := s.vertex(t, vertex)
	return s.c.tasks.attempts[s.c.tasks.places[v.ID]][number(t, subtask)]
}

// begin lets every task that does not run begin, as a new attempt.
func (s *script) begin() {
	for i, v := range s.graph.Vertices {
		for subtask := range v.Parallelism {
			state, a := s.c.tasks.states[i][subtask], s.c.tasks.attempts[i][subtask]
			if up(state) {
				continue
			}
			if a.IsZero() {
				a = ident.AttemptID{Graph: ident.GraphID{ID: ident.ID{1}}, Vertex: v.ID, Subtask: subtask, Attempt: -1}
			}
			a.Attempt++
			s.apply(TaskStatus{Attempt: a, State: status.Running})
		}
	}
}

// tick lets time pass.
func (s *script) tick(t *testing.T, text string) {
	by, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	end := s.now.Add(by)
	for {
		due := s.c.Deadline()
		if due.IsZero() || due.After(end) {
			break
		}
		s.now = due
		fmt.Fprintf(&s.out, "at %s\n", s.now.Sub(time.UnixMilli(1_000_000)))
		s.apply(Tick{})
	}
	s.now = end
	s.apply(Tick{})
}

// apply gives the coordinator an event, writes down what it wants done, and
// answers what is not manual.
func (s *script) apply(ev Event) {
	effects := s.c.Apply(ev, s.now)
	checkCoordinator(s.c, s.now)
	for _, e := range effects {
		fmt.Fprintln(&s.out, s.effect(e))
	}
	for _, e := range effects {
		if answer := s.answered(e); answer != nil {
			s.apply(answer)
		}
	}
}

// answered is the owner's answer to an effect; nil: none is due, or the script
// gives it.
func (s *script) answered(e Effect) Event {
	switch e := e.(type) {
	case DrawID:
		if s.manual["draw"] {
			return nil
		}
		s.nextID = max(s.nextID, e.After) + 1
		return IDDrawn{Serial: e.Serial, Checkpoint: s.nextID}
	case Locate:
		if s.manual["locate"] {
			return nil
		}
		return Located{Checkpoint: e.Checkpoint, Dir: e.Target.Join(fmt.Sprintf("savepoint-%d", e.Checkpoint))}
	case SnapshotCoordinators:
		if s.manual["coordinators"] {
			return nil
		}
		for _, o := range e.Operators[1:] {
			s.apply(CoordinatorSnapshot{Checkpoint: e.Checkpoint, Operator: o})
		}
		return CoordinatorSnapshot{Checkpoint: e.Checkpoint, Operator: e.Operators[0]}
	case WriteMetadata:
		s.metadata[e.Dir] = e.Metadata
		if s.manual["write"] {
			return nil
		}
		return MetadataWritten{Checkpoint: e.Checkpoint}
	case Store:
		s.stored = append(s.stored, e.Pointer)
		if s.manual["store"] {
			return nil
		}
		return Stored{Checkpoint: e.Checkpoint}
	case Discard:
		if s.manual["discard"] {
			return nil
		}
		return Discarded{Discard: e.ID}
	case ReadMetadata:
		if m := s.metadata[e.Location]; m != nil && !s.manual["read"] {
			return MetadataRead{Location: e.Location, Metadata: m, Dir: e.Location}
		}
	}
	return nil
}
