package checkpoint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/state/keygroup"
)

// makeJob reads the options and the vertices of a job.
func (s *script) makeJob(t *testing.T, args []string, lines string) {
	opts := Options{
		Version: "test", Interval: 10 * time.Second, FirstDelay: time.Second, Timeout: time.Minute, MaxConcurrent: 1, Retained: 1,
		Directory: "mem:/ckpt", ExactlyOnce: true, AfterFinish: true, History: 10, Backend: "hashmap",
	}
	for _, a := range args {
		key, value, _ := strings.Cut(a, "=")
		span, _ := time.ParseDuration(value)
		n, _ := strconv.Atoi(value)
		switch key {
		case "interval":
			opts.Interval = span
		case "timeout":
			opts.Timeout = span
		case "min-pause":
			opts.MinPause = span
		case "max-concurrent":
			opts.MaxConcurrent = n
		case "tolerable":
			opts.Tolerable = n
		case "retained":
			opts.Retained = n
		case "retention":
			opts.Retention = map[string]Retention{"delete-on-cancel": DeleteOnCancel, "retain-on-cancel": RetainOnCancel}[value]
		case "unaligned":
			opts.Unaligned, opts.AlignedTimeout = true, span
		case "incremental":
			opts.Incremental = true
		case "in-memory":
			opts.Directory = ""
		case "not-after-finish":
			opts.AfterFinish = false
		case "at-least-once":
			opts.ExactlyOnce = false
		default:
			t.Fatalf("unknown option %q", key)
		}
	}
	s.graph = parseGraph(t, lines)
	s.c = New(opts, s.graph)
	s.manual = map[string]bool{}
}

// parseGraph reads lines "name parallelism [coordinated] [<- producer:kind …]".
func parseGraph(t interface{ Fatalf(string, ...any) }, lines string) *jobgraph.Graph {
	g := &jobgraph.Graph{Name: "test", Job: ident.JobID{ID: ident.ID{15: 1}}}
	names := map[string]*jobgraph.Vertex{}
	for i, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		words := strings.Fields(line)
		parallelism, err := strconv.Atoi(words[1])
		if err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		id := ident.ID{0: 0xbc, 1: byte(i)}
		o := &jobgraph.Operator{ID: ident.OperatorID{ID: id}, Name: words[0]}
		v := &jobgraph.Vertex{ID: ident.VertexID{ID: id}, Name: words[0], Parallelism: parallelism,
			MaxParallelism: keygroup.DefaultMax(parallelism), Operators: []*jobgraph.Operator{o}}
		for _, word := range words[2:] {
			producer, kind, isEdge := strings.Cut(word, ":")
			switch {
			case word == "coordinated":
				o.Coordinator = &jobgraph.Coordinator{Kind: "test"}
			case isEdge:
				d := jobgraph.AllToAll
				if kind == "pointwise" {
					d = jobgraph.Pointwise
				}
				v.Inputs = append(v.Inputs, &jobgraph.Edge{Source: names[producer].ID, Distribution: d})
			}
		}
		names[words[0]] = v
		g.Vertices = append(g.Vertices, v)
	}
	return g
}

// rescale gives a vertex another parallelism.
func (s *script) rescale(t *testing.T, args []string) {
	g := *s.graph
	g.Vertices = nil
	for _, v := range s.graph.Vertices {
		other := *v
		if v.Name == args[0] {
			other.Parallelism = int(number(t, args[1]))
		}
		g.Vertices = append(g.Vertices, &other)
	}
	s.graph = &g
	s.apply(Rescaled{Graph: &g})
}

func (s *script) recovery(t *testing.T, args []string) Event {
	ev := Recover{}
	for _, a := range args {
		key, value, _ := strings.Cut(a, "=")
		switch key {
		case "from":
			ev.From = &Origin{Location: fs.Location(value)}
		case "claim":
			ev.From.Claim = ClaimIt
		case "allow":
			ev.From.AllowNonRestored = true
		default:
			id := number(t, a)
			ev.Stored = append(ev.Stored, Pointer{Checkpoint: id, Location: s.c.directory().Join(fmt.Sprintf("chk-%d", id))})
		}
	}
	return ev
}

// read is the answer to a ReadMetadata: of a snapshot with one operator, that of
// the first vertex.
func (s *script) read(t *testing.T, args []string) Event {
	at := fs.Location(strings.Replace(args[0], "JOB", string(s.c.directory()), 1))
	if args[1] == "damaged" {
		return MetadataRead{Location: at, Err: &snapshot.CorruptError{Location: at.Join(snapshot.MetadataName), Offset: 24, What: "it is damaged"}}
	}
	v := s.graph.Vertices[0]
	keyed := snapshot.KeyedState{Last: 127}
	for _, name := range args[2:] {
		keyed.Files = append(keyed.Files, snapshot.KeyedFile{Handle: snapshot.Handle{Location: at.Join(name), Length: 1}})
	}
	o := snapshot.OperatorState{ID: v.Operators[0].ID, Name: v.Name, Parallelism: 1, MaxParallelism: 128, Subtasks: []snapshot.SubtaskState{{Keyed: []snapshot.KeyedState{keyed}}}}
	m := &snapshot.Metadata{Checkpoint: number(t, args[1]), Operators: []snapshot.OperatorState{o}}
	if !strings.Contains(string(at), "chk-") {
		m.Kind = snapshot.Savepoint
	}
	if slices.Contains(args, "other") {
		m.Operators[0].ID = ident.OperatorID{ID: ident.ID{9}}
	}
	return MetadataRead{Location: at, Metadata: m, Dir: at}
}

func (s *script) request(t *testing.T, args []string) Event {
	r := Request{ID: RequestID(number(t, args[0]))}
	switch args[1] {
	case "checkpoint":
	case "savepoint":
		r.Kind, r.Target = snapshot.Savepoint, "mem:/sp"
	case "stop", "drain":
		r.Kind, r.Target, r.Stop = snapshot.SyncSavepoint, "mem:/sp", Suspend
		if args[1] == "drain" {
			r.Stop = Drain
		}
	default:
		t.Fatalf("unknown kind %q", args[1])
	}
	for _, a := range args[2:] {
		key, value, _ := strings.Cut(a, "=")
		switch key {
		case "full":
			r.Full = true
		case "native":
			r.Format = snapshot.Native
		case "cancel":
			r.Stop = Cancel
		case "target":
			r.Target = fs.Location(value)
		}
	}
	return r
}

func (s *script) show() {
	c := s.c
	fmt.Fprintf(&s.out, "queue:")
	for _, w := range c.queue {
		fmt.Fprintf(&s.out, " %d", w.ID)
	}
	fmt.Fprintf(&s.out, "\npending:")
	for _, p := range c.pending {
		fmt.Fprintf(&s.out, " %d", p.id)
	}
	fmt.Fprintf(&s.out, "\ncompleted:")
	for _, e := range c.completed {
		fmt.Fprintf(&s.out, " %d", e.id)
	}
	v := c.View()
	fmt.Fprintf(&s.out, "\ncounts: %+v\n", v.Counts)
	if due := c.Deadline(); !due.IsZero() {
		fmt.Fprintf(&s.out, "next in %s\n", due.Sub(s.now))
	}
	for _, h := range v.History {
		fmt.Fprintf(&s.out, "%d %s %s %d/%d", h.ID, h.Kind, h.Status, h.Acknowledged, h.Count)
		if h.Discarded {
			fmt.Fprint(&s.out, " discarded")
		}
		if h.Failure != "" {
			fmt.Fprintf(&s.out, ": %s", h.Failure)
		}
		fmt.Fprintln(&s.out)
	}
}

func (s *script) names(attempts []ident.AttemptID) string {
	var words []string
	for _, a := range attempts {
		words = append(words, s.name(a))
	}
	return strings.Join(words, " ")
}

// name is vertex/subtask, with the attempt's number unless that is the first.
func (s *script) name(a ident.AttemptID) string {
	name := a.Vertex.String()
	for _, v := range s.graph.Vertices {
		if v.ID == a.Vertex {
			name = v.Name
		}
	}
	name += fmt.Sprintf("/%d", a.Subtask)
	if a.Attempt > 0 {
		name += fmt.Sprintf("#%d", a.Attempt)
	}
	return name
}

func (s *script) operators(all []ident.OperatorID) string {
	var words []string
	for _, o := range all {
		words = append(words, "coordinator of "+s.name(ident.AttemptID{Vertex: ident.VertexID(o)}))
	}
	return strings.ReplaceAll(strings.Join(words, " "), "/0", "")
}

func (s *script) effect(effect Effect) string {
	words := func(parts ...string) string {
		return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " ")
	}
	unless := func(zero bool, format string, args ...any) string {
		if zero {
			return ""
		}
		return fmt.Sprintf(format, args...)
	}
	switch e := effect.(type) {
	case DrawID:
		return fmt.Sprintf("draw id %d after %d", e.Serial, e.After)
	case Locate:
		return fmt.Sprintf("locate %d in %s", e.Checkpoint, e.Target)
	case SnapshotCoordinators:
		return fmt.Sprintf("ask %d: %s", e.Checkpoint, s.operators(e.Operators))
	case TriggerTasks:
		b := e.Barrier
		return words(fmt.Sprintf("trigger %d %s in %s:", b.Checkpoint, b.Kind, b.Dir), s.names(e.Attempts), unless(b.Base == 0, "on %d", b.Base), unless(!b.Drain, "drain"),
			unless(!b.Unaligned, "unaligned after %d ms", b.AlignedTimeoutMillis), unless(b.ExactlyOnce, "at least once"), unless(b.Format == 0, "native"))
	case WriteMetadata:
		return fmt.Sprintf("write %d in %s: %s", e.Checkpoint, e.Dir, describe(e.Metadata))
	case Store:
		return fmt.Sprintf("store %d: %s", e.Checkpoint, e.Location)
	case Discard:
		return words(fmt.Sprintf("discard #%d:", e.ID), unless(e.Unstore == 0, "unstore %d", e.Unstore), string(e.Metadata), unless(len(e.Files) == 0, "files %s", e.Files), unless(e.Tree == "", "tree %s", e.Tree))
	case NotifyComplete:
		return words(fmt.Sprintf("complete %d (subsumed %d):", e.Checkpoint, e.Subsumed), s.names(e.Attempts), s.operators(e.Operators))
	case NotifyAborted:
		return words(fmt.Sprintf("aborted %d (completed %d):", e.Checkpoint, e.Completed), s.names(e.Attempts), s.operators(e.Operators))
	case Answer:
		if e.Err != nil {
			return fmt.Sprintf("answer %d: error: %s", e.Request, e.Err)
		}
		return fmt.Sprintf("answer %d: %d at %s", e.Request, e.Checkpoint, e.Location)
	case FailJob:
		return words(unless(e.Cause.Fatal, "fail job:"), unless(!e.Cause.Fatal, "fail job for good:"), e.Cause.Error())
	case FailTask:
		return fmt.Sprintf("fail task %s: %s", s.name(e.Attempt), e.Cause.Error())
	case ReadMetadata:
		return fmt.Sprintf("read %s", e.Location)
	case Restore:
		var vertices []ident.AttemptID
		for _, v := range e.Vertices {
			vertices = append(vertices, ident.AttemptID{Vertex: v})
		}
		return words(fmt.Sprintf("restore %d:", e.Checkpoint), unless(!e.Global, "all"), strings.ReplaceAll(s.names(vertices), "/0", ""))
	case Acknowledged:
		if e.Outcome == Success {
			return fmt.Sprintf("acknowledged %d by %s", e.Checkpoint, s.name(e.Attempt))
		}
		return fmt.Sprintf("acknowledged %d by %s: %s", e.Checkpoint, s.name(e.Attempt), e.Outcome)
	case Report:
		return words(fmt.Sprintf("%s: %s", e.Level, e.Message), unless(e.Checkpoint == 0, "%d", e.Checkpoint), unless(e.Err == nil, "(%v)", e.Err))
	}
	return fmt.Sprintf("%T", effect)
}

// describe says which subtasks of which operators have finished and how many
// files there are.
func describe(m *snapshot.Metadata) string {
	var words []string
	files := 0
	for h := range m.Handles() {
		if h.Location != "" {
			files++
		}
	}
	for _, o := range m.Operators {
		word := o.Name
		for i, s := range o.Subtasks {
			if s.Finished {
				word += fmt.Sprintf(" %d finished", i)
			}
		}
		if o.Finished {
			word += " finished"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ") + fmt.Sprintf("; %d files", files)
}
