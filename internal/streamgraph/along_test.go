package streamgraph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/ident"
)

// joins makes a batch graph of sources by the names given, of joins each of which is
// written "name probe build", and of a sink behind all that nothing reads.
func joins(sources []string, written ...string) *Graph {
	g := &Graph{Name: "test", Parallelism: 2, Batch: true}
	nodes := map[string]*Node{}
	add := func(n *Node) {
		n.ID, n.Site = len(g.Nodes)+1, n.Name
		nodes[n.Name], g.Nodes = n, append(g.Nodes, n)
	}
	for _, s := range sources {
		add(&Node{Kind: Source, Name: s})
	}
	for _, w := range written {
		f := strings.Fields(w)
		n := &Node{Kind: Transform, Name: f[0]}
		add(n)
		connect(nodes[f[1]], n)
		n.Along = n.In[0]
		connect(nodes[f[2]], n)
		n.In[1].Input, n.In[1].First = 1, true
		explicit(n.In[1], Broadcast)
	}
	for _, n := range g.Nodes {
		if len(n.Out) == 0 {
			add(&Node{Kind: Sink, Name: "to " + n.Name})
			connect(n, nodes["to "+n.Name])
		}
	}
	return g
}

func TestJoinsAreChainedAlongOneInput(t *testing.T) {
	for _, c := range []struct {
		name   string
		graph  *Graph
		change func(*Graph)
		want   string
	}{
		{"one", joins([]string{"a", "b"}, "j a b"), nil, "b | a -> j -> to j (+1)"},
		{"one behind the other", joins([]string{"a", "b", "c"}, "j a b", "k j c"), nil, "b | c | a -> j -> k -> to k (+2)"},
		{"what is held is a join itself", joins([]string{"a", "b", "c"}, "j b c", "k a j"), nil, "c | b -> j (+1) | a -> k -> to k (+1)"},
		{"both inputs come from one task", joins([]string{"a"}, "j a a"), nil, "a | j -> to j"},
		{"two tasks would wait for each other", joins([]string{"a", "b"}, "j a b", "k b a"), nil, "b | a -> j -> to j (+1) | k -> to k"},
		{"as a stream", joins([]string{"a", "b"}, "j a b"), func(g *Graph) { g.Batch = false }, "a | b | j -> to j"},
		{"pipelined", joins([]string{"a", "b"}, "j a b"), func(g *Graph) { g.Pipelined = true }, "a | b | j -> to j"},
		{"nothing is read first", joins([]string{"a", "b"}, "j a b"), func(g *Graph) { g.Nodes[2].In[1].First = false }, "a | b | j -> to j"},
		{"other parallelisms", joins([]string{"a", "b"}, "j a b"), func(g *Graph) { g.Nodes[0].Parallelism = 1 }, "a | b | j -> to j"},
	} {
		if c.change != nil {
			c.change(c.graph)
		}
		compiled, err := Compile(c.graph, ident.JobID{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		produced := map[ident.DataSetID]bool{}
		for _, v := range compiled.Graph.Vertices {
			text := v.Name
			if v.Beside > 0 {
				text += fmt.Sprintf(" (+%d)", v.Beside)
			}
			got = append(got, text)
			for _, in := range v.Inputs {
				if !produced[in.DataSet] {
					t.Errorf("%s: %s reads what no vertex before it produces", c.name, v.Name)
				}
			}
			for _, d := range v.Produces {
				produced[d.ID] = true
			}
			if source := !strings.HasPrefix(v.Name, "j") && !strings.HasPrefix(v.Name, "k"); v.Source() != source {
				t.Errorf("%s: %s is a source: %v", c.name, v.Name, v.Source())
			}
		}
		if text := strings.Join(got, " | "); text != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, text, c.want)
		}
	}
}
