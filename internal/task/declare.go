package task

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/streamgraph"
)

// Declare says what the operators of a program keep, before it runs: it builds each
// of them once, opens what the user has written, looks at what it wants to keep, and
// closes it again. Sources and sinks are left out, since to open one may reach out to
// another system; what cannot be opened here is unknown.
func Declare(c *streamgraph.Compiled) []snapshot.Declaration {
	var all []snapshot.Declaration
	for _, v := range c.Graph.Vertices {
		chain := c.Chains[v.ID]
		for i, n := range chain.Nodes {
			d := snapshot.Declaration{Operator: v.Operators[i].ID.String()}
			switch n.Kind {
			case streamgraph.Source:
				d.Unknown = "a source says what it keeps when it runs"
			case streamgraph.Sink:
				d.Unknown = "a sink says what it keeps when it runs"
			default:
				declare(&d, c, chain, i)
			}
			all = append(all, d)
		}
	}
	return all
}

// declare builds one operator and notes what it wants to keep.
func declare(d *snapshot.Declaration, c *streamgraph.Compiled, chain *streamgraph.Chain, i int) {
	n, v := chain.Nodes[i], chain.Vertex
	r := &declaring{}
	context := &operator.Context{
		Runtime: r, Signal: operator.NewSignal(func() {}), Job: c.Graph.Name, Vertex: v.Name, Operator: n.Name, OperatorID: v.Operators[i].ID,
		Parallelism: max(1, v.Parallelism), MaxParallelism: v.MaxParallelism, FirstInChain: i == 0, Counts: &operator.Counts{},
		Logger: slog.New(slog.DiscardHandler),
	}
	nowhere := func(s any) any { return s.(operator.Stream).Fanout(nil) }
	err := operator.Guard(func() {
		for _, side := range n.Sides {
			context.Sides = append(context.Sides, operator.Side{Tag: side.Tag, Out: nowhere(side.Stream)})
		}
		n.Operator.(operator.Factory).Build(context, nowhere(n.Stream))
	})
	for _, closer := range r.closers {
		_ = operator.Guard(func() { closer(true) }) // it was opened to be looked at
	}
	if err != nil {
		d.Unknown = fmt.Sprintf("it cannot be opened here: %v", err)
		return
	}
	for _, k := range r.kept {
		if k.Keyed != nil {
			d.Key = string(k.Keyed.KeySchema())
			for _, s := range k.Keyed.Descriptors() {
				d.States = append(d.States, snapshot.DeclaredState{Name: s.Name, Kind: s.Kind.String(), Namespace: string(s.Namespace), UserKey: string(s.UserKey), Value: string(s.Value), TTLMillis: s.TTL.Duration.Milliseconds()})
			}
		}
		for _, l := range k.Lists {
			d.States = append(d.States, snapshot.DeclaredState{Name: l.Name, Kind: snapshot.Mode(l.Mode).String(), Value: l.Schema})
		}
	}
}

// declaring is the runtime of an operator that is only looked at: nothing comes of
// what it asks for.
type declaring struct {
	kept    []operator.Kept
	closers []func(failed bool)
}

func (r *declaring) Keep(_ ident.OperatorID, k operator.Kept)          { r.kept = append(r.kept, k) }
func (r *declaring) OnClose(f func(failed bool))                       { r.closers = append([]func(bool){f}, r.closers...) }
func (r *declaring) OnFlush(func())                                    {}
func (r *declaring) Hold(func() bool)                                  {}
func (r *declaring) Wake()                                             {}
func (r *declaring) Mail(func())                                       {}
func (r *declaring) Ask(ident.OperatorID, []byte, func([]byte, error)) {}
func (r *declaring) Call(ident.OperatorID, []byte) ([]byte, error)     { return nil, nil }
func (r *declaring) Now() int64                                        { return time.Now().UnixMilli() }
func (r *declaring) At(int64, func()) (stop func())                    { return func() {} }
func (r *declaring) Done() <-chan struct{}                             { return nil }
func (r *declaring) CountIn(int)                                       {}
func (r *declaring) CountOut(int)                                      {}
