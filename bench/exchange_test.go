package bench

import (
	"bufio"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirstream/weir/bench/jobs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/shuffle/handshake"
	"github.com/weirstream/weir/internal/shuffle/network"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/streamgraph"
	"github.com/weirstream/weir/internal/task"
)

// endVariable makes the test binary one end of BenchmarkExchange; it holds an
// end as JSON.
const endVariable = "WEIR_BENCH_END"

func TestMain(m *testing.M) {
	text := os.Getenv(endVariable)
	if text == "" {
		os.Exit(m.Run())
	}
	if err := beAnEnd(text); err != nil {
		fmt.Fprintf(os.Stderr, "one end of the exchange: %v\n", err)
		os.Exit(1)
	}
}

// end is what a process of BenchmarkExchange is told. The producing end listens
// and writes its address as the first line; the consuming end is given it.
type end struct {
	Network  string `json:"network"`  // "tcp" or "unix"
	Listen   string `json:"listen"`   // set for the producing end
	Producer string `json:"producer"` // its address, for the consuming end
	Records  int64  `json:"records"`
}

// cost is what a process of BenchmarkExchange says at its end.
type cost struct {
	CPU     int64 `json:"cpu"`     // nanoseconds, of all threads
	Records int64 `json:"records"` // taken by its tasks
}

// BenchmarkExchange is source → map → filter in one process and keyBy → count
// over 10,000 string keys in another, two subtasks each: every record is encoded,
// crosses a socket and is decoded. The processor time of both processes counts.
func BenchmarkExchange(b *testing.B) {
	for _, network := range []string{"tcp", "unix"} {
		b.Run(network, func(b *testing.B) {
			n := int64(b.N) * recordsPerOp
			from, to := exchange(b, network, n)
			if to.Records == 0 || to.Records > n || from.Records != n {
				b.Fatalf("%d records left and %d arrived, of %d", from.Records, to.Records, n)
			}
			report(b, n, time.Duration(from.CPU+to.CPU))
			b.ReportMetric(float64(from.CPU)/float64(n), "cpu-ns/record-out")
			b.ReportMetric(float64(to.CPU)/float64(n), "cpu-ns/record-in")
		})
	}
}

// exchange runs both ends to their end.
func exchange(b *testing.B, network string, records int64) (from, to cost) {
	listen := "127.0.0.1:0"
	if network == "unix" {
		listen = filepath.Join(b.TempDir(), "data.sock")
	}
	producer := startEnd(b, end{Network: network, Listen: listen, Records: records})
	var address string
	producer.read(b, &address)
	consumer := startEnd(b, end{Network: network, Producer: address, Records: records})
	consumer.read(b, &to)
	producer.read(b, &from)
	consumer.end(b)
	producer.end(b)
	return from, to
}

// child is a process that was started as one end.
type child struct {
	cmd *exec.Cmd
	out *bufio.Reader
}

func startEnd(b *testing.B, e end) *child {
	text, err := json.Marshal(e)
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), endVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	return &child{cmd: cmd, out: bufio.NewReader(out)}
}

// end waits for the child's end. A benchmark that stops before has its context
// canceled, which kills the child.
func (c *child) end(b *testing.B) {
	_, _ = io.Copy(io.Discard, c.out)
	if err := c.cmd.Wait(); err != nil {
		b.Fatalf("one end of the exchange: %v", err)
	}
}

// read reads the child's next line.
func (c *child) read(b *testing.B, into any) {
	line, err := c.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, into)
	}
	if err != nil {
		b.Fatalf("read what one end of the exchange says: %v", err)
	}
}

// tell writes a line for the parent.
func tell(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(text, '\n'))
	return err
}

// The job of the exchange, which both ends know, and their names.
const (
	ends           = 2 // subtasks at each end
	producingEnd   = ident.ResourceID("producing")
	consumingEnd   = ident.ResourceID("consuming")
	networkBuffers = 1024
)

var exchangeJob = ident.JobID{ID: ident.ID{1}}

// site is one end at work.
type site struct {
	end
	compiled *streamgraph.Compiled
	shuffle  *network.Environment
	tasks    sync.WaitGroup
	mu       sync.Mutex
	taken    int64
	failure  error
}

// beAnEnd is the life of a process that is one end.
func beAnEnd(text string) error {
	s := &site{}
	if err := json.Unmarshal([]byte(text), &s.end); err != nil {
		return err
	}
	compiled, err := exchangeProgram(s.Records)
	if err != nil {
		return err
	}
	s.compiled = compiled
	self := consumingEnd
	if s.Listen != "" {
		self = producingEnd
	}
	s.shuffle = network.NewEnvironment(network.Options{Job: exchangeJob, Self: self, Buffers: networkBuffers})
	before := cpuTime()
	if s.Listen != "" {
		err = s.produce()
	} else {
		err = s.consume()
	}
	if err == nil {
		err = s.shuffle.Close()
	}
	if err != nil {
		return err
	}
	return tell(cost{CPU: int64(cpuTime() - before), Records: s.taken})
}

// exchangeProgram is the whole job; each end runs its half.
func exchangeProgram(records int64) (*streamgraph.Compiled, error) {
	g := &streamgraph.Graph{Name: "exchange", Parallelism: ends}
	add := func(n *streamgraph.Node, partitioner streamgraph.Partitioner, route any) {
		if n.ID = len(g.Nodes) + 1; n.ID > 1 {
			from := g.Nodes[n.ID-2]
			e := &streamgraph.Edge{From: from, To: n, Partitioner: partitioner, Route: route, Implicit: partitioner == streamgraph.Forward}
			from.Out, n.In = append(from.Out, e), append(n.In, e)
		}
		g.Nodes = append(g.Nodes, n)
	}
	count := operator.Aggregate[string, jobs.Event, int64, jobs.Event]{
		Key:    jobs.Name,
		Add:    func(n *int64, _ bool, _ jobs.Event) { *n++ },
		Result: func(k string, n int64) jobs.Event { return jobs.Event{Name: k, Value: n} },
	}
	events := operator.NewStream[jobs.Event]()
	add(&streamgraph.Node{Kind: streamgraph.Source, Name: "Source", Bounded: true, Operator: operator.Sequence(0, records-1), Stream: operator.NewStream[int64]()}, 0, nil)
	add(&streamgraph.Node{Kind: streamgraph.Transform, Name: "Map", Operator: operator.Map(jobs.ToEvent), Stream: events}, streamgraph.Forward, nil)
	add(&streamgraph.Node{Kind: streamgraph.Transform, Name: "Filter", Operator: operator.Filter(jobs.Keep), Stream: events}, streamgraph.Forward, nil)
	add(&streamgraph.Node{Kind: streamgraph.Transform, Name: "Count", Operator: operator.Keyed(count), Stream: events}, streamgraph.Hash, operator.KeyRouter(count.Key))
	add(&streamgraph.Node{Kind: streamgraph.Sink, Name: "Discard", Operator: operator.Discard[jobs.Event]()}, streamgraph.Forward, nil)
	return streamgraph.Compile(g, exchangeJob)
}

// vertices gives the two halves.
func (s *site) vertices() (from, to *streamgraph.Chain) {
	for _, c := range s.compiled.Chains {
		if len(c.Inputs) == 0 {
			from = c
		} else {
			to = c
		}
	}
	return from, to
}

// produce serves the consuming end until it has taken everything.
func (s *site) produce() error {
	listener, err := net.Listen(s.Network, s.Listen)
	if err != nil {
		return err
	}
	address := listener.Addr().String()
	if s.Network == "unix" {
		address = "unix:" + address
	}
	if err := tell(address); err != nil {
		return err
	}
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			hello, err := handshake.ReadHello(conn, 10*time.Second)
			if err != nil {
				_ = conn.Close()
				continue
			}
			s.shuffle.Serve(conn, hello)
		}
	})
	var consumed []<-chan struct{}
	chain, _ := s.vertices()
	for i := range ends {
		attempt := ident.AttemptID{Vertex: chain.Vertex.ID, Subtask: i}
		made := make(chan (<-chan struct{}), 1)
		s.start(task.Spec{Attempt: attempt, Chain: chain,
			Gates: func(func(), <-chan struct{}) ([]task.Gate, error) { return nil, nil },
			Partitions: func(done <-chan struct{}) ([]task.Partition, error) {
				id := ident.PartitionID{DataSet: chain.Vertex.Produces[0].ID, Producer: attempt}
				p := s.shuffle.CreatePartition(id, ends, chain.Outputs[0].Stream().(operator.Stream).Serializer, done)
				made <- p.Consumed()
				return []task.Partition{p}, nil
			}})
		consumed = append(consumed, <-made)
	}
	s.tasks.Wait()
	for _, c := range consumed {
		<-c
	}
	_ = listener.Close()
	accepting.Wait()
	return s.failure
}

// consume takes all that the producing end has.
func (s *site) consume() error {
	from, chain := s.vertices()
	for i := range ends {
		s.start(task.Spec{Attempt: ident.AttemptID{Vertex: chain.Vertex.ID, Subtask: i}, Chain: chain,
			Partitions: func(<-chan struct{}) ([]task.Partition, error) { return nil, nil },
			Gates: func(wake func(), done <-chan struct{}) ([]task.Gate, error) {
				var channels []network.Channel
				for p := range ends {
					channels = append(channels, network.Channel{
						Partition:    ident.PartitionID{DataSet: chain.Vertex.Inputs[0].DataSet, Producer: ident.AttemptID{Vertex: from.Vertex.ID, Subtask: p}},
						Subpartition: i, Resource: producingEnd, Addresses: []string{s.Producer},
					})
				}
				g, err := s.shuffle.CreateGate(channels, chain.Inputs[0].Stream().(operator.Stream).Serializer, wake, done)
				return []task.Gate{g}, err
			}})
	}
	s.tasks.Wait()
	return s.failure
}

// start runs one task.
func (s *site) start(spec task.Spec) {
	spec.Job, spec.Parallelism, spec.MaxParallelism = "exchange", ends, spec.Chain.Vertex.MaxParallelism
	spec.BufferTimeout = 100 * time.Millisecond
	spec.Logger = slog.New(slog.DiscardHandler)
	spec.Report = func(state status.Execution, f *status.Failure) {
		if f != nil {
			s.mu.Lock()
			s.failure = errors.Join(s.failure, errors.New(strings.TrimSpace(fmt.Sprint(f))))
			s.mu.Unlock()
		}
	}
	t := task.New(spec)
	s.tasks.Go(func() {
		t.Run()
		s.mu.Lock()
		s.taken += t.Metrics().RecordsIn
		s.mu.Unlock()
	})
}
