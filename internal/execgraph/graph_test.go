package execgraph

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/status"
)

// job reads a job of lines "name parallelism [<- producer:edge …] [in group]
// [with colocation]", edge being one of pointwise, all, blocking-pointwise,
// blocking-all.
func job(text string) *jobgraph.Graph {
	g := &jobgraph.Graph{Job: ident.JobID{ID: ident.ID{1}}, Name: "test"}
	byName := map[string]*jobgraph.Vertex{}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		words := strings.Fields(line)
		v := &jobgraph.Vertex{ID: ident.VertexID{ID: ident.ID{1, byte(i)}}, Name: words[0], MaxParallelism: 128, SlotSharingGroup: "default"}
		fmt.Sscan(words[1], &v.Parallelism)
		for rest := words[2:]; len(rest) > 0; rest = rest[1:] {
			switch word := rest[0]; word {
			case "<-":
			case "in":
				v.SlotSharingGroup, rest = rest[1], rest[1:]
			case "with":
				v.CoLocation, rest = rest[1], rest[1:]
			default:
				from, edge, _ := strings.Cut(word, ":")
				producer := byName[from]
				set := &jobgraph.DataSet{ID: ident.DataSetID{ID: ident.ID{2, byte(i), byte(len(v.Inputs))}},
					Type: jobgraph.Pipelined, Distribution: jobgraph.Pointwise, Consumer: v.ID}
				if strings.HasSuffix(edge, "all") {
					set.Distribution = jobgraph.AllToAll
				}
				if strings.HasPrefix(edge, "blocking") {
					set.Type = jobgraph.Blocking
				}
				producer.Produces = append(producer.Produces, set)
				v.Inputs = append(v.Inputs, &jobgraph.Edge{DataSet: set.ID, Source: producer.ID, Distribution: set.Distribution})
			}
		}
		byName[v.Name] = v
		g.Vertices = append(g.Vertices, v)
	}
	return g
}

var begin = time.Unix(1000, 0)

func build(t testing.TB, text string) *Graph {
	t.Helper()
	g, err := New(job(text), ident.GraphID{ID: ident.ID{7}}, begin, begin.Add(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestRegions(t *testing.T) {
	for _, test := range []struct{ name, job, want string }{
		{"forward: a region a subtask", "a 2\nb 2 <- a:pointwise", "a0 b0 | a1 b1"},
		{"keyed: one region", "a 2\nb 2 <- a:all", "a0 a1 b0 b1"},
		{"one all-to-all edge makes one region of all that is connected", "a 2\nb 2 <- a:pointwise\nc 2 <- b:all", "a0 a1 b0 b1 c0 c1"},
		{"not connected", "a 1\nb 2", "a0 | b0 | b1"},
		{"unequal parallelism", "a 3\nb 2 <- a:pointwise", "a0 b0 | a1 a2 b1"},
		{"blocking edge cuts", "a 2\nb 2 <- a:blocking-all", "a0 | a1 | b0 waits a0 a1 | b1 waits a0 a1"},
		{"blocking pointwise", "a 2\nb 2 <- a:blocking-pointwise", "a0 | a1 | b0 waits a0 | b1 waits a1"},
		{"cycle over blocking edges is merged", "a 2\nb 1 <- a:blocking-all\nc 2 <- a:pointwise b:all", "a0 a1 b0 c0 c1"},
		{"order follows the waiting", "a 1\nb 1\nc 1 <- b:blocking-all\nd 1 <- a:pointwise c:blocking-all", "b0 | c0 waits b0 | a0 d0 waits c0"},
		{"co-location joins", "a 2 with x\nb 2 with x", "a0 b0 | a1 b1"},
	} {
		g := build(t, test.job)
		var regions []string
		for i, r := range g.Regions {
			words := names(r.Vertices)
			if len(r.Awaits) > 0 {
				words += " waits " + names(r.Awaits)
			}
			if r.Index != i {
				t.Errorf("%s: region %d has index %d", test.name, i, r.Index)
			}
			for _, v := range r.Vertices {
				if v.Region != r {
					t.Errorf("%s: %s does not know its region", test.name, v.Name())
				}
			}
			regions = append(regions, words)
		}
		if got := strings.Join(regions, " | "); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

func names(vertices []*Vertex) string {
	var words []string
	for _, v := range vertices {
		words = append(words, fmt.Sprintf("%s%d", v.Parent.Job.Name, v.Subtask))
	}
	return strings.Join(words, " ")
}

func TestNewRefuses(t *testing.T) {
	for _, test := range []struct {
		name, job string
		change    func(*jobgraph.Graph)
		want      string
	}{
		{"nothing", "a 1", func(g *jobgraph.Graph) { g.Vertices = nil }, "has no vertices"},
		{"no parallelism", "a -1", nil, `vertex "a": parallelism is -1`},
		{"open and pipelined", "a 0\nb 1 <- a:all", nil, "all data sets must be BLOCKING"},
		{"open and co-located", "a 0\nb 1 with x", nil, "no vertex may be co-located"},
		{"above the maximum", "a 129", nil, "parallelism 129 is above the maximum parallelism 128"},
		{"same id", "a 1\nb 1", func(g *jobgraph.Graph) { g.Vertices[1].ID = g.Vertices[0].ID }, `is that of vertex "a"`},
		{"unknown input", "a 1\nb 1 <- a:all", func(g *jobgraph.Graph) { g.Vertices[0].Produces = nil }, "which no vertex before it produces"},
		{"unread output", "a 1\nb 1 <- a:all", func(g *jobgraph.Graph) { g.Vertices[1].Inputs = nil }, "which does not read it"},
		{"read by another", "a 1\nb 1 <- a:all", func(g *jobgraph.Graph) { g.Vertices[0].Produces[0].Consumer = g.Vertices[0].ID }, "which is made for"},
		{"ends disagree", "a 1\nb 1 <- a:all", func(g *jobgraph.Graph) { g.Vertices[1].Inputs[0].Distribution = jobgraph.Pointwise }, "which is produced ALL_TO_ALL"},
		{"co-located in two groups", "a 1 in x with c\nb 1 in y with c", nil, "co-located vertices must share a group"},
		{"co-located and unequal", "a 1 with c\nb 2 with c", nil, "co-located vertices must agree"},
	} {
		g := job(test.job)
		if test.change != nil {
			test.change(g)
		}
		_, err := New(g, ident.GraphID{}, begin, begin)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
}

func TestDeployment(t *testing.T) {
	g := build(t, "a 2\nb 3 <- a:pointwise\nc 1 <- b:all")
	for _, v := range g.Vertices {
		for i, s := range v.Subtasks {
			g.SetExecution(s.Current, status.Scheduled, begin)
			g.Bind(s.Current, &Slot{TaskManager: ident.ResourceID(fmt.Sprintf("tm%d", i)), Allocation: ident.AllocationID{ID: ident.ID{byte(i)}}})
		}
	}
	b := g.Deployment(g.Vertices[1].Subtasks[1].Current)
	channel := b.Gates[0].Channels[0]
	if got := fmt.Sprintln(channel.Producer.Subtask, channel.First, channel.Slot.TaskManager, b.Partitions[0].Subpartitions); got != "0 1 tm0 1\n" {
		t.Errorf("b (2/3): %s", got)
	}
	a := g.Deployment(g.Vertices[0].Subtasks[0].Current)
	if len(a.Gates) != 0 || a.Partitions[0].Subpartitions != 2 {
		t.Errorf("a (1/2): %+v", a)
	}
	c := g.Deployment(g.Vertices[2].Subtasks[0].Current)
	if len(c.Gates[0].Channels) != 3 || len(c.Partitions) != 0 {
		t.Errorf("c (1/1): %+v", c)
	}
}

// broken runs f and reports whether an invariant broke.
func broken(f func()) (yes bool) {
	defer func() {
		if _, ok := recover().(invariant.Violation); ok {
			yes = true
		}
	}()
	f()
	return false
}

// TestExecutionStates goes from every state to every other: exactly the steps
// of the table are made.
func TestExecutionStates(t *testing.T) {
	for _, from := range status.Executions() {
		for _, to := range status.Executions() {
			g := build(t, "a 1")
			e := g.Vertices[0].Subtasks[0].Current
			e.state = from
			if got := !broken(func() { g.SetExecution(e, to, begin) }); got != from.CanBecome(to) {
				t.Errorf("%s to %s: made %v, the table says %v", from, to, got, from.CanBecome(to))
			}
		}
	}
}

func TestJobStates(t *testing.T) {
	for _, from := range status.Jobs() {
		for _, to := range status.Jobs() {
			g := build(t, "a 1")
			g.state = from
			if got := !broken(func() { g.SetState(to, begin) }); got != from.CanBecome(to) {
				t.Errorf("%s to %s: made %v, the table says %v", from, to, got, from.CanBecome(to))
			}
		}
	}
}

func TestNewAttempt(t *testing.T) {
	g := build(t, "a 1")
	v := g.Vertices[0].Subtasks[0]
	first := v.Current
	if !broken(func() { g.NewAttempt(v, begin) }) {
		t.Error("an attempt that is CREATED was replaced")
	}
	g.Fail(first, &status.Failure{Message: "boom"}, begin)
	if !g.AllTerminal() {
		t.Error("not all terminal after the only one failed")
	}
	second := g.NewAttempt(v, begin)
	if g.AllTerminal() || second.ID.Attempt != 1 || v.Earlier[0] != first || g.Attempt(first.ID) != nil || g.Attempt(second.ID) != second {
		t.Errorf("second attempt %s after %s", second.ID, first.ID)
	}
	if !broken(func() { g.SetExecution(first, status.Canceled, begin) }) {
		t.Error("a replaced attempt changed")
	}
}
