package stream

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/connector/files"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/streamgraph"
)

// Sink is the end of a stream, for its settings. They are those of a DataStream
// of the same names.
type Sink struct {
	env  *Env
	node *streamgraph.Node
}

// sink adds the end of s to the program.
func sink[T any](s DataStream[T], n *streamgraph.Node) Sink {
	n.Kind, n.Types = streamgraph.Sink, typesOf(s.stream)
	n.Name = "Sink: " + n.Op
	return Sink{env: s.env, node: s.env.add(n, s.inputs...)}
}

// Name gives the sink a name for people: "Sink: " and name.
func (s Sink) Name(name string) Sink {
	setName(s.node, name)
	return s
}

// UID gives the sink a stable identity, which no other operation has.
func (s Sink) UID(uid string) Sink {
	setUID(s.env, s.node, uid)
	return s
}

// Parallelism sets the sink's number of subtasks: 1 to 32768.
func (s Sink) Parallelism(n int) Sink {
	setParallelism(s.env, s.node, n)
	return s
}

// MaxParallelism bounds the parallelism that the sink may be given later: 1 to
// 32768.
func (s Sink) MaxParallelism(n int) Sink {
	setMaxParallelism(s.env, s.node, n)
	return s
}

// DisableChaining makes the sink a task of its own.
func (s Sink) DisableChaining() Sink {
	s.node.Chaining = streamgraph.Never
	return s
}

// SlotSharingGroup names the group of operations that may share a slot with the
// sink; see DataStream.SlotSharingGroup.
func (s Sink) SlotSharingGroup(group string) Sink {
	s.node.SlotSharingGroup = group
	return s
}

// CoLocationGroup names a group of operations whose subtasks of equal number run
// in one slot; see DataStream.CoLocationGroup.
func (s Sink) CoLocationGroup(group string) Sink {
	s.node.CoLocation = group
	return s
}

// Methods that bring much code with them have a type parameter for their argument,
// which has one type only: see onlyWindows.

// Discard drops every record. A stream that has no end runs all the same;
// Discard says that nothing was forgotten.
func (s DataStream[T]) Discard() Sink {
	return sink(s, &streamgraph.Node{Op: "Discard", Operator: operator.Discard[T]()})
}

// ForEach calls f for every record. Each subtask calls it on a goroutine of its
// own, so with several subtasks f must be safe for concurrent use. An error that f
// returns fails the job.
func (s DataStream[T]) ForEach[F ~func(T) error](f F) Sink {
	s.env.required("ForEach", f == nil)
	return sink(s, &streamgraph.Node{Op: "For Each", Operator: operator.Sink(func(*operator.Context) (func(T) error, func() error, error) {
		return f, nil, nil
	})})
}

// printBuffer is how much printed text is collected before it is written.
const printBuffer = 32 << 10

// Print writes every record on a line of its own, as fmt.Println does, to the
// standard output of the process the sink runs in: of the program itself when it
// is embedded, of the TaskManager's .out file on a cluster. With several
// subtasks, each line begins with the subtask's number, from 1: "2> ". Lines are
// written together, when input pauses and at the buffer time-out.
func (s DataStream[T]) Print() Sink {
	return sink(s, &streamgraph.Node{Op: "Print to Std. Out", Operator: operator.Sink(func(c *operator.Context) (func(T) error, func() error, error) {
		p := newPrinter(c)
		return func(v T) error { return p.print(v) }, p.flush, nil
	})})
}

// printer collects whole lines, so that those of several subtasks never mix.
type printer struct {
	to     *os.File
	prefix string
	text   []byte
}

func newPrinter(c *operator.Context) *printer {
	p := &printer{to: os.Stdout}
	if c.Parallelism > 1 {
		p.prefix = fmt.Sprintf("%d> ", c.Subtask+1)
	}
	return p
}

func (p *printer) print(v any) error {
	p.text = append(fmt.Append(append(p.text, p.prefix...), v), '\n')
	if len(p.text) < printBuffer {
		return nil
	}
	return p.flush()
}

func (p *printer) flush() error {
	if len(p.text) == 0 {
		return nil
	}
	_, err := p.to.Write(p.text)
	p.text = p.text[:0]
	return err
}

// SinkTo writes every record to a sink of another system in two phases: what has
// been written is seen when the checkpoint that it belongs to is complete, or, in a
// job without checkpoints, when the subtask has finished. So each record is seen
// once, whatever fails, if all sources of the job can go back to a checkpoint. Mistakes in
// the sink's description are returned by Execute.
func (s DataStream[T]) SinkTo[S connector.Sink[T]](to S) Sink {
	n := &streamgraph.Node{Op: "Writer"}
	if s.env.required("SinkTo", any(to) == nil); any(to) != nil {
		n.Operator = operator.SinkTo[T](to)
		if checked, ok := any(to).(connector.Checked); ok {
			n.Before = checked.Check
		}
	}
	return sink(s, n)
}

// WriteText writes line of every record as a line of a text file below dir. The
// lines stand in the order of the records; line must not give a line end. dir is made
// if it is missing; on a cluster it must be absolute.
//
// In a job with checkpoints each line is seen once, whatever fails: WriteText is
// SinkTo with a files.Sink, whose files are finished with every checkpoint.
//
// Without, there is one part file a subtask: "part-0" is the first one's. A subtask
// without records writes an empty one. A part appears under its name when its
// subtask has finished and it is complete; before, its name begins with a dot, and
// it is removed when the job fails or is canceled. Execute refuses a dir that holds
// anything then.
func (s DataStream[T]) WriteText[F ~func(T) string](dir string, line F) Sink {
	s.env.required("WriteText", line == nil)
	return sink(s, &streamgraph.Node{
		Op: "Write Text", Operator: files.WriteLines[T](dir, line),
		Before: func(onCluster bool) error {
			err := files.CheckPaths(onCluster, dir)
			if err != nil || s.env.checkpointed() || s.env.settings[config.RecoveryPath.Key] != "" {
				return err
			}
			return files.CheckEmpty(dir)
		},
	})
}

// Collected holds the records of a stream that Collect ends, in memory.
type Collected[T any] struct {
	mu   sync.Mutex
	vals []T
}

// Values gives a copy of the records collected so far: all of them once Execute
// has returned, those before the failure if it returned an error. Records of one
// subtask are in order. It may be called while the program runs.
func (c *Collected[T]) Values() []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]T(nil), c.vals...)
}

func (c *Collected[T]) add(vals []T) {
	c.mu.Lock()
	c.vals = append(c.vals, vals...)
	c.mu.Unlock()
}

// Collect keeps every record for the program to read after Execute. It has as many
// subtasks as the operation before it, so what comes from one subtask is in order.
// It works only in a program that runs embedded: Execute refuses it on a cluster,
// where the records come to be in other processes.
func (s DataStream[T]) Collect() *Collected[T] {
	all := &Collected[T]{}
	s.env.collectors = append(s.env.collectors, sink(s, &streamgraph.Node{
		Op: "Collect",
		Operator: operator.Sink(func(*operator.Context) (func(T) error, func() error, error) {
			var held []T
			take := func(v T) error {
				held = append(held, v)
				return nil
			}
			flush := func() error {
				all.add(held)
				held = held[:0]
				return nil
			}
			return take, flush, nil
		}),
		Before: onlyEmbedded,
	}).node)
	return all
}

func onlyEmbedded(onCluster bool) error {
	if onCluster {
		return errors.New("Collect works only in an embedded run: on a cluster write to a sink such as WriteText")
	}
	return nil
}
