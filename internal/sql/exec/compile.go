package exec

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/internal/streamgraph"
)

// A Connector makes the ends of jobs that read and write tables.
type Connector interface {
	// Source says how a table is read: Operator is an operator.SourceFactory of
	// batches with the scan's schema, or why it cannot be.
	Source(s *plan.Scan, session *expr.Session) (End, error)
	// Sink says how a table is written: Operator is an operator.Factory.
	Sink(w *plan.Write, session *expr.Session) (End, error)
}

// End is a source or sink as the stream graph needs it.
type End struct {
	Operator any
	// Coordinator and its specification, of sources that have one.
	CoordinatorKind, CoordinatorSpec string
	// Unbounded says that a source does not end by itself.
	Unbounded bool
	// Bound, if not empty, is the table option that gives an unbounded source an end.
	Bound string
	// MaxAllowed, if not 0, bounds the parallelism.
	MaxAllowed int
	// Before, if not nil, is checked where the job is submitted.
	Before func(onCluster bool) error
}

// Connectors are those there are, by the value of the option 'connector'.
type Connectors map[string]Connector

// Compiled is a job ready to run.
type Compiled struct {
	*streamgraph.Compiled
	// BufferTimeout is how long a row waits for others before it is handed on.
	BufferTimeout time.Duration
	// Unbounded says that a source has no end, and so the job has none.
	Unbounded bool
}

// environment is what operators are made with.
type environment struct {
	session    *expr.Session
	statement  string
	registry   *expr.Registry
	connectors Connectors
	// waits says that of the inputs of a join the one that is held is read first.
	waits bool
}

// Compile makes the job of a plan: the same wherever it is called with the same plan.
// Its graph carries the plan, so that workers can make it too.
func Compile(j *plan.Job, registry *expr.Registry, connectors Connectors) (*Compiled, error) {
	c, err := config.New(j.Settings)
	if err != nil {
		return nil, err
	}
	g := &streamgraph.Graph{
		Name: cmp.Or(j.Name, "Weir SQL Job"), Batch: j.Batch, Configuration: maps.Clone(j.Settings),
		Pipelined:        config.ExecutionBatchShuffleMode.In(c) == config.ExchangesPipelined,
		ChainingDisabled: !config.PipelineOperatorChaining.In(c), MaxParallelism: max(0, config.PipelineMaxParallelism.In(c)),
	}
	if g.Configuration == nil {
		g.Configuration = map[string]string{}
	}
	g.Configuration[config.ExecutionRuntimeMode.Key] = "STREAMING"
	if j.Batch {
		g.Configuration[config.ExecutionRuntimeMode.Key] = "BATCH"
	}
	settleParallelism(g, c)
	b := builder{graph: g, nodes: map[plan.Node]*streamgraph.Node{}, environment: &environment{
		session: j.Session, statement: j.Statement, registry: registry, connectors: connectors, waits: j.Batch && !g.Pipelined,
	}}
	for _, s := range j.Sinks {
		if _, err := b.node(s); err != nil {
			return nil, err
		}
	}
	compiled, err := streamgraph.Compile(g, ident.JobID{})
	if err != nil {
		return nil, err
	}
	compiled.Graph.Plan = j.Encode()
	out := &Compiled{Compiled: compiled, BufferTimeout: config.ExecutionBufferTimeout.In(c)}
	for _, n := range g.Nodes {
		out.Unbounded = out.Unbounded || !n.Bounded
	}
	if !config.ExecutionBufferTimeoutEnabled.In(c) {
		out.BufferTimeout = -1
	}
	return out, nil
}

// settleParallelism says how parallel nodes are of which the plan does not say.
func settleParallelism(g *streamgraph.Graph, c *config.Config) {
	given, set := config.ParallelismDefault.Lookup(c)
	if g.Parallelism = 1; set {
		g.Parallelism = given
	}
	if !config.BatchAutoParallelism.In(c) {
		return
	}
	switch most, bounded := config.BatchMaxParallelism.Lookup(c); {
	case bounded:
		g.OpenUpTo = most
	case set:
		g.OpenUpTo = given
	default:
		g.OpenUpTo = config.BatchMaxParallelism.Default
	}
}

// builder makes the nodes of a stream graph.
type builder struct {
	*environment
	graph *streamgraph.Graph
	nodes map[plan.Node]*streamgraph.Node
}

// node makes the node of n after those of its inputs.
func (b *builder) node(n plan.Node) (*streamgraph.Node, error) {
	if made := b.nodes[n]; made != nil {
		return made, nil
	}
	base := n.Common()
	edges := make([]*streamgraph.Edge, len(base.Inputs))
	for i := range base.Inputs {
		var err error
		if edges[i], err = b.edge(n, i); err != nil {
			return nil, err
		}
	}
	op := strings.TrimPrefix(fmt.Sprintf("%T", n), "*plan.")
	made := &streamgraph.Node{
		ID: len(b.graph.Nodes) + 1, Kind: streamgraph.Transform, Name: label(n, len(b.graph.Nodes)+1), Op: "SQL " + op, Site: "SQL",
		Parallelism: base.Parallelism, Bounded: true,
	}
	stream := operator.NewColumnStream(base.Types())
	made.Types, made.Stream = stream.Type(), stream
	if err := b.operator(made, n); err != nil {
		return nil, fmt.Errorf("%s: %w", made.Name, err)
	}
	for _, e := range edges {
		e.To, e.From.Out = made, append(e.From.Out, e)
	}
	made.In = edges
	if j, joins := n.(*plan.Join); joins && j.Strategy != plan.MergeJoin && b.waits {
		probe := edges[0]
		if j.BuildLeft {
			probe = edges[1]
		}
		if probe.Partitioner == streamgraph.Forward {
			made.Along = probe
		}
	}
	b.alone(made)
	b.nodes[n], b.graph.Nodes = made, append(b.graph.Nodes, made)
	return made, nil
}

// label is what people call a node: its kind, or the table that it reads or writes, and
// its number.
func label(n plan.Node, id int) string {
	switch n := n.(type) {
	case *plan.Scan:
		return fmt.Sprintf("Source: %s[%d]", cmp.Or(n.Name, lastName(n.Table)), id)
	case *plan.Write:
		return fmt.Sprintf("Sink: %s[%d]", cmp.Or(n.Name, lastName(n.Table)), id)
	case *plan.Collect:
		return cmp.Or(n.Name, "Sink: Collect table sink")
	}
	return fmt.Sprintf("%s[%d]", cmp.Or(n.Common().Name, strings.TrimPrefix(fmt.Sprintf("%T", n), "*plan.")), id)
}

// lastName is the table's own name of a full one.
func lastName(table string) string { return table[strings.LastIndexByte(table, '.')+1:] }

// alone keeps to one subtask what must not be spread: what takes all rows, and what
// takes rows as they lie in one.
func (b *builder) alone(n *streamgraph.Node) {
	if len(n.In) == 0 || n.Parallelism > 0 {
		return
	}
	for _, e := range n.In {
		one := e.Partitioner == streamgraph.Global || e.Partitioner == streamgraph.Forward && e.From.MaxAllowed == 1
		if !one {
			return
		}
	}
	n.MaxAllowed = 1
}

// edge makes the edge to input i of n, from the node that is there or before an Exchange.
func (b *builder) edge(n plan.Node, i int) (*streamgraph.Edge, error) {
	in := n.Common().Inputs[i]
	e := &streamgraph.Edge{Partitioner: streamgraph.Forward, Implicit: true}
	_, several := n.(*plan.Union)
	if !several {
		e.Input = i
		e.Implicit = len(n.Common().Inputs) == 1
	}
	if j, joins := n.(*plan.Join); joins && j.Strategy != plan.MergeJoin {
		e.First = b.waits && (i == 0) == j.BuildLeft
		if build, moves := j.Inputs[1-i].(*plan.Exchange); moves && b.waits && !e.First {
			e.Implicit = build.Distribution == plan.Broadcast // all is there, wherever a row is
		}
	}
	for {
		x, moves := in.(*plan.Exchange)
		if !moves {
			break
		}
		if e.Implicit || e.Partitioner == streamgraph.Forward { // the last one counts
			e.Implicit = false
			switch x.Distribution {
			case plan.Hash:
				e.Partitioner, e.Route = streamgraph.Hash, operator.ColumnKeys(x.Keys)
			case plan.Single:
				e.Partitioner = streamgraph.Global
			case plan.Broadcast:
				e.Partitioner = streamgraph.Broadcast
			case plan.Rebalance:
				e.Partitioner = streamgraph.Rebalance
			}
		}
		in = x.Inputs[0]
	}
	from, err := b.node(in)
	e.From = from
	return e, err
}

// operator fills in what the node executes.
func (b *builder) operator(made *streamgraph.Node, n plan.Node) error {
	switch n := n.(type) {
	case *plan.Values:
		made.Kind, made.Operator = streamgraph.Source, operator.FromSource[*batch.Columns](values(n.Rows))
		made.MaxAllowed = 1
	case *plan.Scan:
		return b.source(made, n)
	case *plan.Collect:
		made.Kind, made.Operator = streamgraph.Sink, collect(n.Types())
		made.CoordinatorKind, made.MaxAllowed, made.Parallelism = collectKind, 1, 1
	case *plan.Write:
		return b.sink(made, n)
	default:
		factory, err := b.factory(n)
		made.Operator = factory
		return err
	}
	return nil
}

// factory makes the operator of a node between sources and sinks.
func (e *environment) factory(n plan.Node) (operator.Factory, error) {
	switch n := n.(type) {
	case *plan.Calc:
		return e.calc(n), nil
	case *plan.Union:
		return union(), nil
	case *plan.Limit:
		return limit(n), nil
	case *plan.Expand:
		return e.expand(n), nil
	case *plan.Aggregate:
		return e.aggregate(n)
	case *plan.Join:
		return e.join(n)
	case *plan.SetOperation:
		return e.setOperation(n), nil
	case *plan.Unnest:
		return e.unnest(n), nil
	case *plan.Window:
		return e.window(n), nil
	case *plan.Match:
		return e.match(n)
	case *plan.Over:
		return e.over(n)
	case *plan.Sort:
		return e.sort(n.Types(), n.Keys, n.Offset, n.Fetch), nil
	}
	return nil, fmt.Errorf("nodes of kind %T are not executed", n)
}

func (b *builder) source(made *streamgraph.Node, n *plan.Scan) error {
	c := b.connectors[n.Connector]
	if c == nil {
		return fmt.Errorf("read table %s: there is no connector %s", n.Table, strconv.Quote(n.Connector))
	}
	end, err := c.Source(n, b.session)
	if err != nil {
		return fmt.Errorf("read table %s: %w", n.Table, err)
	}
	if end.Unbounded && b.graph.Batch {
		hint := ""
		if end.Bound != "" {
			hint = fmt.Sprintf(" The table option '%s' gives it an end.", end.Bound)
		}
		//lint:ignore ST1005 Flink's words
		return fmt.Errorf("Querying an unbounded table '%s' in batch mode is not allowed. The table source is unbounded.%s", n.Table, hint)
	}
	made.Kind, made.Bounded = streamgraph.Source, !end.Unbounded
	return end.apply(made, n.Table, n.Options, "scan.parallelism")
}

func (b *builder) sink(made *streamgraph.Node, n *plan.Write) error {
	c := b.connectors[n.Connector]
	if c == nil {
		return fmt.Errorf("write table %s: there is no connector %s", n.Table, strconv.Quote(n.Connector))
	}
	end, err := c.Sink(n, b.session)
	if err != nil {
		return fmt.Errorf("write table %s: %w", n.Table, err)
	}
	made.Kind = streamgraph.Sink
	return end.apply(made, n.Table, n.Options, "sink.parallelism")
}

// apply makes the end's node; the table may say by an option how parallel it is.
func (e *End) apply(made *streamgraph.Node, table string, options map[string]string, parallelism string) error {
	made.Operator, made.CoordinatorKind, made.CoordinatorSpec = e.Operator, e.CoordinatorKind, e.CoordinatorSpec
	made.MaxAllowed, made.Before = e.MaxAllowed, e.Before
	text, given := options[parallelism]
	if !given {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return fmt.Errorf("table %s: option '%s' is '%s', want a positive number", table, parallelism, text)
	}
	made.Parallelism = n
	if e.MaxAllowed > 0 {
		made.Parallelism = min(n, e.MaxAllowed)
	}
	return nil
}

// Check asks the sources and sinks what stands in the way of the job, where it is
// submitted.
func (c *Compiled) Check(onCluster bool) error {
	var problems []error
	for _, v := range c.Graph.Vertices {
		for _, n := range c.Chains[v.ID].Nodes {
			if n.Before == nil {
				continue
			}
			if err := n.Before(onCluster); err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", n.Name, err))
			}
		}
	}
	return errors.Join(problems...)
}
