package task_test

import (
	"fmt"
	"log/slog"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/fs/scratch"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/local"
	"github.com/weirstream/weir/internal/shuffle/spill"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/streamgraph"
	"github.com/weirstream/weir/internal/task"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// program is a hand-made stream graph.
type program struct{ g streamgraph.Graph }

func (p *program) add(n *streamgraph.Node, from *streamgraph.Node, part streamgraph.Partitioner, route any) *streamgraph.Node {
	n.ID, n.Site = len(p.g.Nodes)+1, fmt.Sprintf("node %d", len(p.g.Nodes)+1)
	if from != nil {
		e := &streamgraph.Edge{From: from, To: n, Partitioner: part, Route: route, Implicit: part == streamgraph.Forward}
		from.Out, n.In = append(from.Out, e), append(n.In, e)
	}
	p.g.Nodes = append(p.g.Nodes, n)
	return n
}

// run executes the program with every task in this process and gives the
// terminal state of each.
func run(tb testing.TB, p *program) []status.Execution {
	tb.Helper()
	return runAs(tb, p, jobgraph.Pipelined)
}

// runAs is run with every exchange of one type.
func runAs(tb testing.TB, p *program, exchange jobgraph.ResultType) []status.Execution {
	tb.Helper()
	r := begin(tb, p, exchange)
	r.end()
	return r.states
}

// begin starts every task, with every exchange of one type.
func begin(tb testing.TB, p *program, exchange jobgraph.ResultType) *runner {
	tb.Helper()
	c, err := streamgraph.Compile(&p.g, ident.JobID{})
	if err != nil {
		tb.Fatal(err)
	}
	r := &runner{tb: tb, c: c, registry: local.NewRegistry(local.Settings{Depth: 8, FrameBytes: 32 << 10, Wait: time.Minute}), scratch: scratch.In(tb.TempDir())}
	r.store = spill.NewStore(spill.Settings{Space: r.scratch, FrameBytes: 32 << 10, ReadBytes: 1 << 20})
	for _, v := range c.Graph.Vertices {
		for _, set := range v.Produces {
			set.Type = exchange
		}
	}
	for _, v := range c.Graph.Vertices {
		for i := range v.Parallelism {
			r.start(c.Chains[v.ID], i)
		}
	}
	return r
}

// end waits for the tasks and checks that nothing is left of them.
func (r *runner) end() {
	r.tb.Helper()
	r.wg.Wait()
	r.registry.Close()
	r.store.Close()
	if n := r.scratch.Files(); n != 0 {
		r.tb.Errorf("%d files are left", n)
	}
	if err := r.scratch.Close(); err != nil {
		r.tb.Error(err)
	}
}

type runner struct {
	tb       testing.TB
	c        *streamgraph.Compiled
	registry *local.Registry
	scratch  *scratch.Directories
	store    *spill.Store
	wg       sync.WaitGroup
	mu       sync.Mutex
	states   []status.Execution
	tasks    []*task.Task // in the order they were started
}

func (r *runner) attempt(c *streamgraph.Chain, subtask int) ident.AttemptID {
	return ident.AttemptID{Vertex: c.Vertex.ID, Subtask: subtask}
}

func (r *runner) start(c *streamgraph.Chain, subtask int) {
	t := task.New(task.Spec{
		Job: "test", Attempt: r.attempt(c, subtask), Parallelism: c.Vertex.Parallelism, MaxParallelism: c.Vertex.MaxParallelism,
		Batch: r.c.Graph.Batch, Chain: c, BufferTimeout: 100 * time.Millisecond, Logger: slog.Default(), Scratch: r.scratch,
		Partitions: func(done <-chan struct{}) (all []task.Partition, err error) {
			for i, e := range c.Outputs {
				n := e.To.Parallelism
				if e.Partitioner == streamgraph.Forward {
					n = 1
				}
				id := ident.PartitionID{DataSet: c.Vertex.Produces[i].ID, Producer: r.attempt(c, subtask)}
				serializer := e.Stream().(operator.Stream).Serializer
				if c.Vertex.Produces[i].Type == jobgraph.Pipelined {
					all = append(all, r.registry.Create(id, n, serializer, done))
					continue
				}
				p, err := r.store.Create(id, n, 64<<10, serializer, done, nil)
				if err == nil {
					err = r.registry.Add(p, true)
				}
				if err != nil {
					return nil, err
				}
				all = append(all, p)
			}
			return all, nil
		},
		Gates: func(wake func(), done <-chan struct{}) (all []task.Gate, err error) {
			for i, e := range c.Inputs {
				all = append(all, r.gate(c, i, e, subtask, wake, done))
			}
			return all, nil
		},
		Report: func(s status.Execution, f *status.Failure) {
			if f != nil {
				r.tb.Logf("failed: %v", f)
			}
			if s.Terminal() {
				r.mu.Lock()
				r.states = append(r.states, s)
				r.mu.Unlock()
			}
		},
	})
	r.tasks = append(r.tasks, t)
	r.wg.Go(t.Run)
}

func (r *runner) gate(c *streamgraph.Chain, input int, e *streamgraph.Edge, subtask int, wake func(), done <-chan struct{}) task.Gate {
	var producer *streamgraph.Chain
	for _, other := range r.c.Chains {
		for _, out := range other.Outputs {
			if out == e {
				producer = other
			}
		}
	}
	first, last, sub := 0, producer.Vertex.Parallelism-1, subtask
	if e.Partitioner == streamgraph.Forward {
		first, last, sub = subtask, subtask, 0
	}
	g := local.NewGate(last-first+1, wake, done)
	for i := first; i <= last; i++ {
		g.Connect(i-first, r.registry, ident.PartitionID{DataSet: c.Vertex.Inputs[input].DataSet, Producer: r.attempt(producer, i)}, shuffle.One(sub))
	}
	return g
}

var _ shuffle.Gate = (*local.Gate)(nil)

// collect is a sink that keeps what comes.
func collect[T any](into *[]T, mu *sync.Mutex) operator.Factory {
	return operator.Sink(func(*operator.Context) (func(T) error, func() error, error) {
		return func(v T) error {
			mu.Lock()
			*into = append(*into, v)
			mu.Unlock()
			return nil
		}, nil, nil
	})
}

func source(parallelism int, n int64) *streamgraph.Node {
	return &streamgraph.Node{Kind: streamgraph.Source, Name: "Source", Parallelism: parallelism, Bounded: true,
		Operator: operator.Sequence(1, n), Stream: operator.NewStream[int64]()}
}

var countMod = operator.Aggregate[int64, int64, int64, operator.Partial[int64, int64]]{
	Key:    func(v int64) int64 { return v % 100 },
	Add:    func(n *int64, _ bool, _ int64) { *n++ },
	Merge:  func(n *int64, _ bool, o int64) { *n += o },
	Result: func(k, n int64) operator.Partial[int64, int64] { return operator.Partial[int64, int64]{Key: k, Acc: n} },
}

// keyed counts n numbers by their last two digits.
func keyed(sources, counters int, n int64, batch bool, sink operator.Factory) *program {
	p := &program{}
	p.g.Batch = batch
	s := p.add(source(sources, n), nil, 0, nil)
	partial := operator.NewStream[operator.Partial[int64, int64]]()
	k := p.add(&streamgraph.Node{Kind: streamgraph.Transform, Name: "Count", Parallelism: counters, Operator: operator.Keyed(countMod), Stream: partial,
		TwoPhase: &streamgraph.TwoPhase{Name: "Local Count", Operator: operator.Local(countMod), Stream: partial,
			Route: operator.PartialRouter[int64, int64](), Final: operator.Final(countMod)}},
		s, streamgraph.Hash, operator.KeyRouter(countMod.Key))
	p.add(&streamgraph.Node{Kind: streamgraph.Sink, Name: "Sink", Parallelism: counters, Operator: sink}, k, streamgraph.Forward, nil)
	return p
}

func TestKeyedCountInBatchAndStreaming(t *testing.T) {
	const n = 100_000
	for _, mode := range []struct {
		batch    bool
		exchange jobgraph.ResultType
	}{{true, jobgraph.Pipelined}, {true, jobgraph.Blocking}, {false, jobgraph.Pipelined}} {
		batch, exchange := mode.batch, mode.exchange
		for _, p := range [][2]int{{1, 1}, {2, 3}, {4, 1}} {
			var got []operator.Partial[int64, int64]
			var mu sync.Mutex
			for _, s := range runAs(t, keyed(p[0], p[1], n, batch, collect(&got, &mu)), exchange) {
				if s != status.Finished {
					t.Fatalf("a task ended as %s", s)
				}
			}
			most := map[int64]int64{}
			for _, r := range got {
				most[r.Key] = max(most[r.Key], r.Acc)
			}
			if want := map[bool]int{true: 100, false: n}[batch]; len(got) != want {
				t.Errorf("batch %v, %s, parallelism %v: %d results, want %d", batch, exchange, p, len(got), want)
			}
			for k := range int64(100) {
				if most[k] != n/100 {
					t.Errorf("batch %v, %s, parallelism %v: key %d counted %d times, want %d", batch, exchange, p, k, most[k], n/100)
				}
			}
		}
	}
}

func TestPanicInUserCodeFailsTheTaskWithItsStack(t *testing.T) {
	p := &program{}
	s := p.add(source(1, 10), nil, 0, nil)
	p.add(&streamgraph.Node{Kind: streamgraph.Sink, Name: "Sink", Parallelism: 1, Operator: operator.Sink(func(*operator.Context) (func(int64) error, func() error, error) {
		return func(v int64) error {
			if v == 7 {
				panic("seven")
			}
			return nil
		}, nil, nil
	})}, s, streamgraph.Forward, nil)
	if got := run(t, p); len(got) != 1 || got[0] != status.Failed {
		t.Fatalf("states: %v", got)
	}
}

func TestEveryPartitionerDeliversEveryRecord(t *testing.T) {
	for _, part := range []streamgraph.Partitioner{streamgraph.Rebalance, streamgraph.Shuffle, streamgraph.Global, streamgraph.Broadcast, streamgraph.Hash, streamgraph.Custom} {
		everyRecord(t, part, jobgraph.Pipelined)
		everyRecord(t, part, jobgraph.Blocking)
	}
}

func everyRecord(t *testing.T, part streamgraph.Partitioner, exchange jobgraph.ResultType) {
	p := &program{}
	var got []int64
	var mu sync.Mutex
	s := p.add(source(2, 5000), nil, 0, nil)
	route := operator.KeyRouter(func(v int64) int64 { return v })
	route.Pick = func(v int64, n int) int { return int(v) % n }
	p.add(&streamgraph.Node{Kind: streamgraph.Sink, Name: "Sink", Parallelism: 3, Operator: collect(&got, &mu)}, s, part, route)
	runAs(t, p, exchange)
	sort.Slice(got, func(i, j int) bool { return got[i] < got[j] })
	copies := 1
	if part == streamgraph.Broadcast {
		copies = 3
	}
	if len(got) != 5000*copies || got[0] != 1 || got[len(got)-1] != 5000 {
		t.Errorf("%s, %s: %d records", part.Ship(), exchange, len(got))
	}
}

func BenchmarkChain(b *testing.B) {
	p := &program{}
	n := int64(b.N) * 1000
	s := p.add(source(1, n), nil, 0, nil)
	ints := operator.NewStream[int64]()
	m := p.add(&streamgraph.Node{Kind: streamgraph.Transform, Name: "Map", Parallelism: 1, Operator: operator.Map(func(v int64) int64 { return v * 3 }), Stream: ints}, s, streamgraph.Forward, nil)
	f := p.add(&streamgraph.Node{Kind: streamgraph.Transform, Name: "Filter", Parallelism: 1, Operator: operator.Filter(func(v int64) bool { return v&1 == 0 }), Stream: ints}, m, streamgraph.Forward, nil)
	m2 := p.add(&streamgraph.Node{Kind: streamgraph.Transform, Name: "Map", Parallelism: 1, Operator: operator.Map(func(v int64) int64 { return v + 1 }), Stream: ints}, f, streamgraph.Forward, nil)
	p.add(&streamgraph.Node{Kind: streamgraph.Sink, Name: "Sink", Parallelism: 1, Operator: operator.Discard[int64]()}, m2, streamgraph.Forward, nil)
	b.ReportAllocs()
	run(b, p)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/record")
}

func BenchmarkKeyed(b *testing.B) {
	for _, batch := range []bool{true, false} {
		b.Run(strings.ToLower(map[bool]string{true: "Batch", false: "Streaming"}[batch]), func(b *testing.B) {
			n := int64(b.N) * 1000
			run(b, keyed(1, 1, n, batch, operator.Discard[operator.Partial[int64, int64]]()))
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/record")
		})
	}
}
