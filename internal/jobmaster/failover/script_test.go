package failover

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/status"
)

// script is one strategy under a script. Its commands are:
//
//	none
//	fixed-delay ATTEMPTS DELAY
//	failure-rate MAX INTERVAL DELAY
//	exponential INITIAL MAX MULTIPLIER RESET JITTER ATTEMPTS|endless [CHANCE …]
//	                     CHANCE: what chance says in turn, from 0 to 1
//	fail AFTER …         failures, each that long after the one before
//	graph                makes the job of its lines: "name parallelism [<- producer:all|pointwise|blocking-all|blocking-pointwise …]"
//	begin TASK …         these are not CREATED any more
//	restart region|full TASK … [lost TASK …]
type script struct {
	strategy Backoff
	chance   []float64
	graph    *execgraph.Graph
	now      time.Time
}

func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{now: time.UnixMilli(1_000_000)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
	})
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	var args []string
	for _, a := range d.CmdArgs {
		args = append(args, a.String())
	}
	switch d.Cmd {
	case "none":
		s.strategy = None{}
	case "fixed-delay":
		s.strategy = NewFixedDelay(int(number(t, args[0])), span(t, args[1]))
	case "failure-rate":
		s.strategy = NewFailureRate(int(number(t, args[0])), span(t, args[1]), span(t, args[2]))
	case "exponential":
		s.exponential(t, args)
	case "fail":
		return s.fail(t, args)
	case "graph":
		return s.makeGraph(t, d.Input)
	case "begin":
		for _, name := range args {
			s.graph.SetExecution(s.vertex(t, name).Current, status.Scheduled, s.now)
		}
		return ""
	case "restart":
		return s.restart(t, args)
	default:
		t.Fatalf("unknown command %q", d.Cmd)
	}
	return s.strategy.String() + "\n"
}

func (s *script) exponential(t *testing.T, args []string) {
	e := Exponential{Initial: span(t, args[0]), Max: span(t, args[1]), Multiplier: number(t, args[2]), Reset: span(t, args[3]),
		Jitter: number(t, args[4]), Attempts: Endless}
	if args[5] != "endless" {
		e.Attempts = int(number(t, args[5]))
	}
	for _, a := range args[6:] {
		s.chance = append(s.chance, number(t, a))
	}
	s.strategy = NewExponentialDelay(e, func(n int64) int64 {
		if len(s.chance) == 0 {
			return n / 2 // no jitter
		}
		c := s.chance[0]
		s.chance = s.chance[1:]
		return min(n-1, int64(c*float64(n)))
	})
}

func (s *script) fail(t *testing.T, args []string) string {
	var out strings.Builder
	for _, after := range args {
		s.now = s.now.Add(span(t, after))
		kind := "merged"
		if s.strategy.Failed(s.now) {
			kind = "new"
		}
		if s.strategy.MayRestart() {
			fmt.Fprintf(&out, "%s: restart in %s\n", kind, s.strategy.Delay(s.now))
		} else {
			fmt.Fprintf(&out, "%s: no restart, because %s\n", kind, s.strategy.Refusal())
		}
	}
	return out.String()
}

func (s *script) makeGraph(t *testing.T, text string) string {
	g := &jobgraph.Graph{Name: "test"}
	byName := map[string]*jobgraph.Vertex{}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		words := strings.Fields(line)
		v := &jobgraph.Vertex{ID: ident.VertexID{ID: ident.ID{1, byte(i)}}, Name: words[0], MaxParallelism: 128, Parallelism: int(number(t, words[1]))}
		for n, word := range words[min(3, len(words)):] {
			from, edge, _ := strings.Cut(word, ":")
			set := &jobgraph.DataSet{ID: ident.DataSetID{ID: ident.ID{2, byte(i), byte(n)}}, Type: jobgraph.Pipelined,
				Distribution: jobgraph.Pointwise, Consumer: v.ID}
			if strings.HasSuffix(edge, "all") {
				set.Distribution = jobgraph.AllToAll
			}
			if strings.HasPrefix(edge, "blocking") {
				set.Type = jobgraph.Blocking
			}
			byName[from].Produces = append(byName[from].Produces, set)
			v.Inputs = append(v.Inputs, &jobgraph.Edge{DataSet: set.ID, Source: byName[from].ID, Distribution: set.Distribution})
		}
		byName[v.Name] = v
		g.Vertices = append(g.Vertices, v)
	}
	graph, err := execgraph.New(g, ident.GraphID{}, s.now, s.now)
	if err != nil {
		t.Fatal(err)
	}
	s.graph = graph
	var out strings.Builder
	for _, r := range graph.Regions {
		fmt.Fprintf(&out, "region %d: %s\n", r.Index, names(r.Vertices))
	}
	return out.String()
}

func (s *script) restart(t *testing.T, args []string) string {
	var failed []*execgraph.Vertex
	gone := map[*execgraph.Vertex]bool{}
	lost := false
	for _, name := range args[1:] {
		switch {
		case name == "lost":
			lost = true
		case lost:
			gone[s.vertex(t, name)] = true
		default:
			failed = append(failed, s.vertex(t, name))
		}
	}
	var strategy Strategy = NewRegion(s.graph)
	if args[0] == "full" {
		strategy = NewFull(s.graph)
	}
	return strategy.String() + ": " + names(strategy.Restart(failed, func(v *execgraph.Vertex) bool { return gone[v] })) + "\n"
}

func (s *script) vertex(t *testing.T, name string) *execgraph.Vertex {
	for _, v := range s.graph.Vertices {
		for _, sub := range v.Subtasks {
			if names([]*execgraph.Vertex{sub}) == name {
				return sub
			}
		}
	}
	t.Fatalf("no task %q", name)
	return nil
}

func names(vertices []*execgraph.Vertex) string {
	var words []string
	for _, v := range vertices {
		words = append(words, fmt.Sprintf("%s%d", v.Parent.Job.Name, v.Subtask))
	}
	return strings.Join(words, " ")
}

func number(t *testing.T, text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func span(t *testing.T, text string) time.Duration {
	if text == "never" {
		return math.MaxInt64
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
