package streamgraph

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
)

// translate makes the vertices of the chains and the data sets between them.
func translate(g *Graph, job ident.JobID, chains []*Chain, ids map[*Node]ident.OperatorID) (*Compiled, error) {
	out := &Compiled{
		Graph:  &jobgraph.Graph{Job: job, Name: g.Name, Batch: g.Batch, Configuration: g.Configuration, Pipeline: pipeline(g)},
		Chains: map[ident.VertexID]*Chain{},
	}
	t := translation{graph: g, ids: ids, chainOf: map[*Node]*Chain{}, dataSet: map[*Edge]ident.DataSetID{}}
	for _, c := range chains {
		for _, n := range c.Nodes {
			t.chainOf[n] = c
		}
	}
	for _, c := range chains {
		c.Vertex = t.vertex(c)
		if other, taken := out.Chains[c.Vertex.ID]; taken {
			return nil, errors.Join(errors.New("two operations have the same identity: give one of them another UID"),
				errors.New(other.Nodes[0].Site), errors.New(c.Nodes[0].Site))
		}
		out.Chains[c.Vertex.ID] = c
		out.Graph.Vertices = append(out.Graph.Vertices, c.Vertex)
	}
	for _, c := range chains {
		t.connect(c)
	}
	return out, nil
}

type translation struct {
	graph   *Graph
	ids     map[*Node]ident.OperatorID
	chainOf map[*Node]*Chain
	dataSet map[*Edge]ident.DataSetID
}

// vertex makes the vertex of a chain, without its data sets.
func (t *translation) vertex(c *Chain) *jobgraph.Vertex {
	head := c.Nodes[0]
	v := &jobgraph.Vertex{
		ID:               ident.VertexID{ID: t.ids[head].ID},
		Name:             t.chainName(head),
		Description:      t.description(head),
		Parallelism:      head.Parallelism,
		Why:              head.Why,
		MaxParallelism:   head.MaxParallelism,
		SlotSharingGroup: head.SlotSharingGroup,
		CoLocation:       head.CoLocation,
	}
	if head.Open {
		v.Parallelism, v.Why = 0, ""
	}
	for _, n := range c.Nodes {
		if n.MaxAllowed > 0 { // nor later, when the job follows the slots there are
			v.MaxParallelism = min(v.MaxParallelism, n.MaxAllowed)
		}
		op := &jobgraph.Operator{ID: t.ids[n], UID: n.UID, Name: n.Name, Digest: digest(n)}
		if n.CoordinatorKind != "" {
			op.Coordinator = &jobgraph.Coordinator{Kind: n.CoordinatorKind, Spec: n.CoordinatorSpec}
		}
		v.Operators = append(v.Operators, op)
	}
	return v
}

// connect makes the data sets that leave c and the edges into it. Chains stand in
// the order of the program, so the producers of c are connected before it.
func (t *translation) connect(c *Chain) {
	for i, e := range c.Outputs {
		id := ident.DataSetID{ID: murmur3([]byte(c.Vertex.ID.String() + "/" + strconv.Itoa(i)))}
		t.dataSet[e] = id
		c.Vertex.Produces = append(c.Vertex.Produces, &jobgraph.DataSet{
			ID: id, Type: exchange(t.graph), Distribution: distribution(e.Partitioner),
			Consumer: t.chainOf[e.To].Vertex.ID,
		})
	}
	c.Vertex.Beside = len(c.Inputs) - len(c.Nodes[0].In)
	for _, e := range c.Inputs {
		c.Vertex.Inputs = append(c.Vertex.Inputs, &jobgraph.Edge{
			DataSet: t.dataSet[e], Source: t.chainOf[e.From].Vertex.ID,
			Distribution: distribution(e.Partitioner), Ship: e.Partitioner.Ship(),
		})
	}
}

// exchange is how tasks that are not chained exchange records.
func exchange(g *Graph) jobgraph.ResultType {
	if g.Batch && !g.Pipelined {
		return jobgraph.Blocking
	}
	return jobgraph.Pipelined
}

func distribution(p Partitioner) jobgraph.Distribution {
	if p == Forward || p == Rescale {
		return jobgraph.Pointwise
	}
	return jobgraph.AllToAll
}

// digest says what an operator is: it changes when another program would run in
// its place.
func digest(n *Node) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d|%s|%s|%s|%s|%d|%d|%s|%s|%s", n.Kind, n.Op, n.Name, n.UID, n.Types, n.Parallelism, n.MaxParallelism,
		n.SlotSharingGroup, n.CoordinatorKind, n.CoordinatorSpec)
	for _, e := range n.In {
		fmt.Fprintf(&b, "|%d %s", e.From.ID, e.Partitioner.Ship())
		if e.Input > 0 {
			fmt.Fprintf(&b, " %d", e.Input)
		}
		if e.Side != nil {
			b.WriteString(" " + e.Side.Name)
		}
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:8])
}

// chainName is the task's name: "a -> b -> (c, d -> e)".
func (t *translation) chainName(n *Node) string {
	next := t.chained(n)
	names := make([]string, len(next))
	for i, m := range next {
		names[i] = t.chainName(m)
	}
	switch len(names) {
	case 0:
		return n.Name
	case 1:
		return n.Name + " -> " + names[0]
	}
	return n.Name + " -> (" + strings.Join(names, ", ") + ")"
}

// description draws the chain as REST shows it: a tree, its lines ended by
// <br/>.
func (t *translation) description(head *Node) string {
	var b strings.Builder
	b.WriteString(html.EscapeString(head.Name) + "<br/>")
	t.describe(&b, head, "")
	return b.String()
}

func (t *translation) describe(b *strings.Builder, n *Node, indent string) {
	next := t.chained(n)
	for i, m := range next {
		branch, deeper := ":- ", ":  "
		if i == len(next)-1 {
			branch, deeper = "+- ", "   "
		}
		b.WriteString(indent + branch + html.EscapeString(m.Name) + "<br/>")
		t.describe(b, m, indent+deeper)
	}
}

// chained gives the nodes chained directly behind n.
func (t *translation) chained(n *Node) []*Node {
	var next []*Node
	for _, e := range n.Out {
		if chainable(t.graph, e) {
			next = append(next, e.To)
		}
	}
	return next
}

// pipeline gives the nodes in Flink's plan JSON.
func pipeline(g *Graph) []jobgraph.PlanNode {
	plan := make([]jobgraph.PlanNode, len(g.Nodes))
	for i, n := range g.Nodes {
		p := jobgraph.PlanNode{ID: n.ID, Type: n.Name, Contents: n.Name, Parallelism: n.Parallelism,
			Pact: [...]string{"Data Source", "Operator", "Data Sink"}[n.Kind]}
		for _, e := range n.In {
			p.Predecessors = append(p.Predecessors, jobgraph.PlanPredecessor{ID: e.From.ID, ShipStrategy: e.Partitioner.Ship(), Side: "second"})
		}
		plan[i] = p
	}
	return plan
}
