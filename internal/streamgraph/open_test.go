package streamgraph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/ident"
)

// TestOpenParallelism says which vertices get their parallelism while the job
// runs. want are "name parallelism/max ship" of each.
func TestOpenParallelism(t *testing.T) {
	second := func(g *Graph, into *Node) *Node {
		other := &Node{ID: 4, Kind: Source, Name: "Source: Other", Site: "main.go:9"}
		g.Nodes = append([]*Node{other}, g.Nodes...)
		connect(other, into)
		return other
	}
	for _, c := range []struct {
		name   string
		change func(*Graph, []*Node)
		want   string
	}{
		{"all is open", nil, "Source: Numbers -> Map -> Sink: Print 0/9"},
		{"by the key", func(_ *Graph, n []*Node) { explicit(n[1].In[0], Hash) }, "Source: Numbers 0/9, Map -> Sink: Print 0/9 HASH"},
		{"a streaming job is not", func(g *Graph, _ []*Node) { g.Batch = false }, "Source: Numbers -> Map -> Sink: Print 2/128"},
		{"a pipelined job is not", func(g *Graph, _ []*Node) { g.Pipelined = true }, "Source: Numbers -> Map -> Sink: Print 2/128"},
		{"switched off", func(g *Graph, _ []*Node) { g.OpenUpTo = 0 }, "Source: Numbers -> Map -> Sink: Print 2/128"},
		{"what the program sets is kept", func(_ *Graph, n []*Node) { n[2].Parallelism = 1 }, "Source: Numbers -> Map 0/9, Sink: Print 1/128 REBALANCE"},
		{"and given to all of its chain", func(_ *Graph, n []*Node) { explicit(n[1].In[0], Hash); n[2].Parallelism = 2 },
			"Source: Numbers 0/9, Map -> Sink: Print 2/9 HASH"},
		{"and over an edge that must be forward", func(_ *Graph, n []*Node) {
			n[2].Parallelism, n[1].Chaining, n[2].Chaining = 2, Never, Never
			explicit(n[2].In[0], Forward)
		}, "Source: Numbers 2/9, Map 2/9 FORWARD, Sink: Print 2/128 FORWARD"},
		{"an operation for one task", func(_ *Graph, n []*Node) { n[0].MaxAllowed = 1 }, "Source: Numbers 1/1, Map -> Sink: Print 0/9 REBALANCE"},
		{"an operation for some tasks", func(_ *Graph, n []*Node) { n[2].MaxAllowed = 5 }, "Source: Numbers -> Map -> Sink: Print 0/5"},
		{"key groups bound it", func(_ *Graph, n []*Node) { explicit(n[1].In[0], Hash); n[1].MaxParallelism = 4 },
			"Source: Numbers 0/9, Map -> Sink: Print 0/4 HASH"},
		{"the smallest number in a chain holds", func(_ *Graph, n []*Node) { n[1].MaxParallelism = 4 }, "Source: Numbers -> Map -> Sink: Print 0/4"},
		{"pipeline.max-parallelism bounds it", func(g *Graph, _ []*Node) { g.MaxParallelism = 6 }, "Source: Numbers -> Map -> Sink: Print 0/6"},
		{"several inputs: no forward", func(g *Graph, n []*Node) { second(g, n[1]) },
			"Source: Other 0/9, Source: Numbers 0/9, Map -> Sink: Print 0/9 RESCALE RESCALE"},
		{"several inputs that must be forward", func(g *Graph, n []*Node) {
			second(g, n[1])
			explicit(n[1].In[0], Forward)
			explicit(n[1].In[1], Forward)
		}, "Source: Other 2/9, Source: Numbers 2/9, Map -> Sink: Print 2/9 FORWARD FORWARD"},
		{"co-location needs all at once", func(_ *Graph, n []*Node) { n[0].CoLocation, n[1].CoLocation, n[2].CoLocation = "x", "x", "x" },
			"Source: Numbers -> Map -> Sink: Print 2/128"},
	} {
		compiled, err := Compile(build(func(g *Graph, n []*Node) {
			g.Batch, g.OpenUpTo = true, 9
			if c.change != nil {
				c.change(g, n)
			}
		}), ident.JobID{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, v := range compiled.Graph.Vertices {
			text := fmt.Sprintf("%s %d/%d", v.Name, v.Parallelism, v.MaxParallelism)
			for _, e := range v.Inputs {
				text += " " + e.Ship
			}
			if (v.Why == "") != v.Undecided() {
				t.Errorf("%s: %s: where it comes from: %q", c.name, text, v.Why)
			}
			got = append(got, text)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, text, c.want)
		}
	}
}
