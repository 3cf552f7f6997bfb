package task

import (
	"fmt"

	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/streamgraph"
)

// build makes the chain from its last operators to its head, so that every
// operator is given the receiver it writes to.
func (t *Task) build() {
	chain := t.spec.Chain
	b := builder{task: t, chain: chain, inside: map[*streamgraph.Node]bool{}, partition: map[*streamgraph.Edge]int{}, inputs: map[*streamgraph.Node]any{}}
	for _, n := range chain.Nodes {
		b.inside[n] = true
	}
	for i, e := range chain.Outputs {
		b.partition[e] = i
	}
	t.operators = operatorsOf(chain)
	head := chain.Nodes[0]
	if head.Kind == streamgraph.Source {
		t.finish = b.source(head)
	} else {
		b.inputs[head] = b.node(head)
	}
	for _, e := range chain.Inputs {
		h := e.Stream().(operator.Stream).Head(operator.Input(b.inputs[e.To], e.Input), t.signal)
		t.heads = append(t.heads, h)
		if e.To == head {
			t.finish = h.Finish
		}
	}
}

// source opens the source, and gives what ends the chain.
func (b *builder) source(head *streamgraph.Node) (finish func()) {
	t := b.task
	c := b.context(head)
	out := b.outputs(head, c)
	t.source = head.Operator.(operator.SourceFactory).Open(c, out)
	h := head.Stream.(operator.Stream).Head(out, t.signal)
	return func() {
		t.metrics.watermark.Store(element.MaxWatermark)
		h.Watermark(element.MaxWatermark)
		h.Finish()
	}
}

type builder struct {
	task      *Task
	chain     *streamgraph.Chain
	inside    map[*streamgraph.Node]bool
	partition map[*streamgraph.Edge]int // index of the partition an edge leaves by
	// inputs are the receivers of the nodes that inputs of the chain feed.
	inputs map[*streamgraph.Node]any
}

// node builds n over what it feeds and gives n's receiver, or those of its inputs.
func (b *builder) node(n *streamgraph.Node) any {
	c := b.context(n)
	var out any
	if n.Kind != streamgraph.Sink {
		out = b.outputs(n, c)
	}
	return n.Operator.(operator.Factory).Build(c, out)
}

// outputs gives the receiver of n's main output, and c those of the side outputs.
func (b *builder) outputs(n *streamgraph.Node, c *operator.Context) any {
	var beside []operator.Head
	for _, side := range n.Sides {
		stream := side.Stream.(operator.Stream)
		out := b.output(n, side, stream)
		c.Sides = append(c.Sides, operator.Side{Tag: side.Tag, Out: out})
		beside = append(beside, stream.Head(out, b.task.signal))
	}
	stream := n.Stream.(operator.Stream)
	return stream.Beside(b.output(n, nil, stream), beside)
}

// output gives the receiver of one output of n: the chained operators and the
// tails of the edges that leave the chain, in the order of the program.
func (b *builder) output(n *streamgraph.Node, side *streamgraph.Side, stream operator.Stream) any {
	var outs []any
	for _, e := range n.Out {
		if e.Side != side {
			continue
		}
		if i, leaves := b.partition[e]; leaves {
			groups := e.To.MaxParallelism
			if i < len(b.task.spec.Readers) && b.task.spec.Readers[i] > 0 {
				groups = b.task.spec.Readers[i]
			}
			outs = append(outs, stream.Tail(b.context(n), operator.TailEdge{
				Partitioner: e.Partitioner, Route: e.Route, MaxParallelism: groups,
			}, b.task.partitions[i]))
		} else if b.inside[e.To] {
			in := b.node(e.To)
			b.inputs[e.To] = in
			outs = append(outs, operator.Input(in, e.Input))
		}
	}
	return stream.Fanout(outs)
}

func (b *builder) context(n *streamgraph.Node) *operator.Context {
	s := &b.task.spec
	c := &operator.Context{
		Runtime: b.task, Signal: b.task.signal, Job: s.Job, JobID: s.JobID, Checkpoints: s.Checkpointed, Vertex: b.chain.Vertex.Name, Operator: n.Name,
		Subtask: s.Attempt.Subtask, Attempt: s.Attempt.Attempt,
		Parallelism: s.Parallelism, MaxParallelism: s.MaxParallelism, KeyGroups: s.KeyGroups, Batch: s.Batch,
		ManagedBytes: s.ManagedBytes, Scratch: s.Scratch, State: s.State, FirstInChain: n == b.chain.Nodes[0],
		Logger: s.Logger.With("vertex", b.chain.Vertex.Name, "operator", n.Name, "subtask", s.Attempt.Subtask),
	}
	for i, m := range b.chain.Nodes {
		if m == n {
			c.OperatorID, c.Counts = b.chain.Vertex.Operators[i].ID, &b.task.operators[i].counts
		}
	}
	return c
}

// OnFlush registers f to run when buffered output should leave the task.
func (t *Task) OnFlush(f func()) { t.flushers = append(t.flushers, f) }

// Hold makes the task ask before each poll of its source whether no records are wanted
// just now.
func (t *Task) Hold(held func() bool) { t.holds = append(t.holds, held) }

// OnClose registers f to run when the task has ended, last registered first.
func (t *Task) OnClose(f func(failed bool)) { t.closers = append(t.closers, f) }

// Ask sends payload to the operator's coordinator; then runs on the task's
// goroutine.
func (t *Task) Ask(op ident.OperatorID, payload []byte, then func([]byte, error)) {
	t.spec.Ask(op, payload, func(answer []byte, err error) {
		t.Mail(func() { then(answer, err) })
	})
}

// Call asks the operator's coordinator and waits for its answer.
func (t *Task) Call(op ident.OperatorID, payload []byte) (answer []byte, err error) {
	answered := make(chan struct{})
	t.spec.Ask(op, payload, func(a []byte, e error) {
		answer, err = a, e
		close(answered)
	})
	select {
	case <-answered:
		return answer, err
	case <-t.canceled:
		operator.Abort(shuffle.ErrCanceled)
		return nil, nil
	}
}

// name is the task's name as people read it: "Map -> Filter (1/2)#0".
func (t *Task) name() string {
	a := t.spec.Attempt
	return fmt.Sprintf("%s (%d/%d)#%d", t.spec.Chain.Vertex.Name, a.Subtask+1, t.spec.Parallelism, a.Attempt)
}
