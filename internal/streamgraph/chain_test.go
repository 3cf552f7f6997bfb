package streamgraph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/ident"
)

// build makes a graph of a source, a map and a sink, all of parallelism 2, and
// lets change alter it before it is compiled.
func build(change func(g *Graph, nodes []*Node)) *Graph {
	g := &Graph{Name: "test", Parallelism: 2}
	for i, kind := range []Kind{Source, Transform, Sink} {
		n := &Node{ID: i + 1, Kind: kind, Name: [...]string{"Source: Numbers", "Map", "Sink: Print"}[i], Site: "main.go:" + string(rune('1'+i))}
		if i > 0 {
			connect(g.Nodes[i-1], n)
		}
		g.Nodes = append(g.Nodes, n)
	}
	if change != nil {
		change(g, g.Nodes)
	}
	return g
}

func connect(from, to *Node) *Edge {
	e := &Edge{From: from, To: to, Implicit: true}
	from.Out, to.In = append(from.Out, e), append(to.In, e)
	return e
}

func explicit(e *Edge, p Partitioner) { e.Partitioner, e.Implicit = p, false }

// TestChainingConditions breaks each condition of chaining in turn. want are the
// names of the vertices.
func TestChainingConditions(t *testing.T) {
	const whole = "Source: Numbers -> Map -> Sink: Print"
	for _, c := range []struct {
		name   string
		change func(*Graph, []*Node)
		want   []string
	}{
		{"all hold", nil, []string{whole}},
		{"chaining disabled for the program", func(g *Graph, _ []*Node) { g.ChainingDisabled = true },
			[]string{"Source: Numbers", "Map", "Sink: Print"}},
		{"the node after has two inputs", func(g *Graph, n []*Node) {
			other := &Node{ID: 4, Kind: Source, Name: "Source: Other", Site: "main.go:9"}
			g.Nodes = []*Node{n[0], other, n[1], n[2]}
			connect(other, n[1])
		}, []string{"Source: Numbers", "Source: Other", "Map -> Sink: Print"}},
		{"the partitioner is not forward", func(_ *Graph, n []*Node) { explicit(n[1].In[0], Rebalance) },
			[]string{"Source: Numbers", "Map -> Sink: Print"}},
		{"hash is not forward even for one subtask", func(_ *Graph, n []*Node) {
			explicit(n[1].In[0], Hash)
			n[0].Parallelism, n[1].Parallelism, n[2].Parallelism = 1, 1, 1
		}, []string{"Source: Numbers", "Map -> Sink: Print"}},
		{"the parallelisms differ", func(_ *Graph, n []*Node) { n[2].Parallelism = 1 },
			[]string{"Source: Numbers -> Map", "Sink: Print"}},
		{"the slot sharing groups differ", func(_ *Graph, n []*Node) { n[2].SlotSharingGroup = "io" },
			[]string{"Source: Numbers -> Map", "Sink: Print"}},
		{"the co-location groups differ", func(_ *Graph, n []*Node) { n[1].CoLocation = "pair" },
			[]string{"Source: Numbers", "Map", "Sink: Print"}},
		{"the node after starts a chain", func(_ *Graph, n []*Node) { n[1].Chaining = Head },
			[]string{"Source: Numbers", "Map -> Sink: Print"}},
		{"the node after is never chained", func(_ *Graph, n []*Node) { n[1].Chaining = Never },
			[]string{"Source: Numbers", "Map", "Sink: Print"}},
		{"the node before is a head, which others chain to", func(_ *Graph, n []*Node) { n[0].Chaining = Head }, []string{whole}},
		{"the node before is never chained", func(_ *Graph, n []*Node) { n[0].Chaining = Never },
			[]string{"Source: Numbers", "Map -> Sink: Print"}},
		{"a node that belongs to its source", func(g *Graph, n []*Node) {
			g.ChainingDisabled = true
			n[0].MaxAllowed, n[1].WithSource = 1, true
		}, []string{"Source: Numbers -> Map", "Sink: Print"}},
		{"that has another parallelism", func(_ *Graph, n []*Node) {
			n[0].Parallelism, n[1].WithSource, n[1].Parallelism = 1, true, 2
		}, []string{"Source: Numbers", "Map -> Sink: Print"}},
		{"two outputs chain both", func(g *Graph, n []*Node) {
			second := &Node{ID: 4, Kind: Sink, Name: "Sink: Discard", Site: "main.go:9"}
			g.Nodes = append(g.Nodes, second)
			connect(n[1], second)
		}, []string{"Source: Numbers -> Map -> (Sink: Print, Sink: Discard)"}},
	} {
		compiled, err := Compile(build(c.change), ident.JobID{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, v := range compiled.Graph.Vertices {
			got = append(got, v.Name)
		}
		if strings.Join(got, " | ") != strings.Join(c.want, " | ") {
			t.Errorf("%s:\n got %s\nwant %s", c.name, strings.Join(got, " | "), strings.Join(c.want, " | "))
		}
	}
}

// A node that cannot do without the one before it is refused when they are apart.
func TestNodesThatHaveToBeTogether(t *testing.T) {
	for apart, want := range map[bool]string{false: "", true: "main.go:2: Map: it holds the source, but it is not in the task of the operation before it"} {
		_, err := Compile(build(func(_ *Graph, n []*Node) {
			n[1].Together = "it holds the source"
			if apart {
				n[1].Chaining = Head
			}
		}), ident.JobID{})
		if got := fmt.Sprint(err); (err == nil) != (want == "") || !strings.Contains(got, want) {
			t.Errorf("apart %v: %v", apart, err)
		}
	}
}

// TestOperatorIDsAreFlinks compares with ids that a Flink cluster shows for
// programs of the same shape.
func TestOperatorIDsAreFlinks(t *testing.T) {
	c, err := Compile(build(nil), ident.JobID{})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Graph.Vertices[0].ID.String(); got != "cbc357ccb763df2852fee8c4fc7d55f2" {
		t.Errorf("a source with one chained output: %s", got)
	}
	c, err = Compile(build(func(_ *Graph, n []*Node) { explicit(n[1].In[0], Rebalance) }), ident.JobID{})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Graph.Vertices[0].ID.String(); got != "bc764cd8ddf7a0cff126f51c16239658" {
		t.Errorf("a source with no chained output: %s", got)
	}
}

func TestIdentityFollowsThePlaceNotTheName(t *testing.T) {
	ids := func(change func(*Graph, []*Node)) string {
		c, err := Compile(build(change), ident.JobID{})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, op := range c.Graph.Operators() {
			all = append(all, op.ID.String())
		}
		return strings.Join(all, " ")
	}
	if ids(nil) != ids(func(_ *Graph, n []*Node) { n[1].Name, n[2].Name = "Renamed", "Also" }) {
		t.Error("a new name changed an operator id")
	}
	if ids(nil) == ids(func(_ *Graph, n []*Node) { n[1].UID = "mine" }) {
		t.Error("a UID did not change the operator id")
	}
	if c, err := Compile(build(func(_ *Graph, n []*Node) { n[0].UID = "a"; n[1].UID = "a"; n[1].Chaining = Never }), ident.JobID{}); err == nil {
		t.Errorf("equal UIDs compiled: %v", c.Graph.Vertices)
	}
}

func TestHashTellsProgramsApart(t *testing.T) {
	hash := func(change func(*Graph, []*Node)) string {
		c, err := Compile(build(change), ident.JobID{})
		if err != nil {
			t.Fatal(err)
		}
		return c.Graph.Hash()
	}
	same := hash(nil)
	if hash(nil) != same || hash(func(g *Graph, _ []*Node) { g.Name = "other" }) != same {
		t.Error("the hash depends on more than what is executed")
	}
	for name, change := range map[string]func(*Graph, []*Node){
		"types":       func(_ *Graph, n []*Node) { n[1].Types = "int -> string" },
		"parallelism": func(g *Graph, _ []*Node) { g.Parallelism = 3 },
		"partitioner": func(_ *Graph, n []*Node) { explicit(n[1].In[0], Shuffle) },
		"coordinator": func(_ *Graph, n []*Node) { n[0].CoordinatorKind = "files" },
	} {
		if hash(change) == same {
			t.Errorf("the hash does not change with %s", name)
		}
	}
}

func TestMistakesNameTheLine(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Graph, []*Node)
		want   string
	}{
		"forward between different parallelisms": {func(_ *Graph, n []*Node) {
			explicit(n[1].In[0], Forward)
			n[1].Parallelism = 3
		}, "main.go:2: Map: Forward from"},
		"more subtasks than key groups": {func(_ *Graph, n []*Node) { n[1].Parallelism, n[1].MaxParallelism = 9, 8 },
			"main.go:2: Map: parallelism 9 is above max parallelism 8"},
	} {
		_, err := Compile(build(c.change), ident.JobID{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if _, err := Compile(&Graph{}, ident.JobID{}); err == nil {
		t.Error("an empty program compiled")
	}
}

func TestAggregatesSplitInBatchMode(t *testing.T) {
	keyed := func(batch bool) *Compiled {
		c, err := Compile(build(func(g *Graph, n []*Node) {
			g.Batch = batch
			explicit(n[1].In[0], Hash)
			n[1].Name, n[1].TwoPhase = "Count", &TwoPhase{Name: "Local Count", Route: "partial", Final: "final"}
			n[1].Operator = "keyed"
		}), ident.JobID{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if got := keyed(false).Graph.Vertices[0].Name; got != "Source: Numbers" {
		t.Errorf("streaming: %s", got)
	}
	c := keyed(true)
	first, second := c.Graph.Vertices[0], c.Graph.Vertices[1]
	if first.Name != "Source: Numbers -> Local Count" || second.Name != "Count -> Sink: Print" {
		t.Errorf("batch: %s | %s", first.Name, second.Name)
	}
	in := c.Chains[second.ID].Inputs[0]
	if in.Route != "partial" || in.Partitioner != Hash || c.Chains[second.ID].Nodes[0].Operator != "final" {
		t.Error("the exchange does not carry partial aggregates")
	}
	if got := first.Description; got != "Source: Numbers<br/>+- Local Count<br/>" {
		t.Errorf("description: %s", got)
	}
}

// The first phase belongs to its producer: it has the producer's parallelism, key
// groups and co-location, whatever the aggregate has.
func TestTheFirstPhaseIsLikeItsProducer(t *testing.T) {
	c, err := Compile(build(func(g *Graph, n []*Node) {
		g.Batch, g.Parallelism = true, 8
		explicit(n[1].In[0], Hash)
		n[0].CoLocation = "pair"
		n[1].Parallelism, n[1].MaxParallelism, n[2].Parallelism = 4, 4, 4
		n[1].TwoPhase = &TwoPhase{Name: "Local Count"}
	}), ident.JobID{})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Graph.Vertices[0].Name; got != "Source: Numbers -> Local Count" {
		t.Errorf("the producer's task is %s", got)
	}
}
