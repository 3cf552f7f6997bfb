package stream

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/weirstream/weir/connector/files"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/streamgraph"
)

// Sink is the end of a stream, for its settings.
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

// Name gives the sink a name for people.
func (s Sink) Name(name string) Sink {
	setName(s.node, name)
	return s
}

// UID gives the sink a stable identity.
func (s Sink) UID(uid string) Sink {
	setUID(s.env, s.node, uid)
	return s
}

// Parallelism sets the sink's number of subtasks.
func (s Sink) Parallelism(n int) Sink {
	setParallelism(s.env, s.node, n)
	return s
}

// DisableChaining makes the sink a task of its own.
func (s Sink) DisableChaining() Sink {
	s.node.Chaining = streamgraph.Never
	return s
}

// SlotSharingGroup names the group of operations that may share a slot with the
// sink.
func (s Sink) SlotSharingGroup(group string) Sink {
	s.node.SlotSharingGroup = group
	return s
}

// Discard drops every record.
func (s DataStream[T]) Discard() Sink {
	return sink(s, &streamgraph.Node{Op: "Discard", Operator: operator.Discard[T]()})
}

// ForEach calls f for every record; its error fails the job.
func (s DataStream[T]) ForEach(f func(T) error) Sink {
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
// subtasks, each line begins with the subtask's number: "2> ".
func (s DataStream[T]) Print() Sink {
	return sink(s, &streamgraph.Node{Op: "Print to Std. Out", Operator: operator.Sink(func(c *operator.Context) (func(T) error, func() error, error) {
		prefix := ""
		if c.Parallelism > 1 {
			prefix = fmt.Sprintf("%d> ", c.Subtask+1)
		}
		w := bufio.NewWriterSize(os.Stdout, printBuffer)
		take := func(v T) error {
			_, err := fmt.Fprint(w, prefix, v, "\n")
			return err
		}
		return take, w.Flush, nil
	})})
}

// WriteText writes line of every record as a line of a text file below dir, one
// part file a subtask. A part appears under its name when it is complete; one
// that is not begins with a dot and is removed when the job fails or is canceled.
// Execute refuses a dir that exists and is not empty.
func (s DataStream[T]) WriteText(dir string, line func(T) string) Sink {
	s.env.required("WriteText", line == nil)
	return sink(s, &streamgraph.Node{
		Op: "Write Text", Operator: files.WriteLines(dir, line),
		Before: func(bool) error { return files.CheckEmpty(dir) },
	})
}

// Collected holds the records of a stream that Collect ends.
type Collected[T any] struct {
	mu   sync.Mutex
	vals []T
}

// Values gives the records collected so far: all of them once Execute has
// returned. Their order is that of the stream only if the sink has one subtask.
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

// Collect keeps every record for the program to read after Execute. It works
// only in a program that runs embedded: Execute refuses it on a cluster, where
// the records come to be in other processes.
func (s DataStream[T]) Collect() *Collected[T] {
	all := &Collected[T]{}
	sink(s, &streamgraph.Node{
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
		Before: func(onCluster bool) error {
			if onCluster {
				return errors.New("Collect works only in an embedded run: on a cluster write to a sink such as WriteText")
			}
			return nil
		},
	})
	return all
}
