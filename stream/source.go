package stream

import (
	"net"

	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/connector/files"
	"github.com/weirstream/weir/connector/socket"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/streamgraph"
)

// source adds a source to the program.
func source[T any](e *Env, n *streamgraph.Node) DataStream[T] {
	out := operator.NewStream[T]()
	n.Kind, n.Types, n.Stream = streamgraph.Source, typesOf(out), out
	n.Name = "Source: " + n.Op
	return DataStream[T]{env: e, inputs: forward(e.add(n)), stream: out}
}

// FromSlice is the stream of vals, in order; it ends after the last. It has one
// subtask. The program must not change vals, nor what they point to, before
// Execute has returned. On a cluster the worker makes vals by running the program
// again, so they must be the same each time.
func FromSlice[T any](e *Env, vals []T) DataStream[T] {
	return source[T](e, &streamgraph.Node{Op: "Collection Source", Bounded: true, MaxAllowed: 1, Operator: operator.Slice(vals)})
}

// Sequence is the stream of the numbers from first to last, both included; it is
// empty if last is less. Each subtask emits a contiguous share of them in order.
func Sequence(e *Env, first, last int64) DataStream[int64] {
	return source[int64](e, &streamgraph.Node{Op: "Sequence Source", Bounded: true, Operator: operator.Sequence(first, last)})
}

// ReadText is the stream of the lines of all files that match one of the
// patterns, without their line ends, "\n" or "\r\n". In a pattern "*" and "?"
// stay within a name, "**" matches any number of directories; a pattern that names
// a directory means all files below it whose names do not begin with "." or "_".
// Files are cut into splits that the subtasks ask for, so lines come in the order
// of the file only within a split. Bytes that are not UTF-8 are kept as they are.
//
// The job fails if a pattern matches no file, a file cannot be read, or a line is
// longer than files.MaxLine; the error names the file, and where in it. Files are
// found when the job begins; the stream ends with them. On a cluster the patterns
// must be absolute, as its processes have working directories of their own.
func ReadText(e *Env, patterns ...string) DataStream[string] {
	if len(patterns) == 0 {
		e.problem(callSite(), "ReadText: no pattern given")
	}
	return fromSource(e, "Read Text", files.Lines(patterns...))
}

// FromSource is the stream of what a source of another system gives, as
// files.Lines("in").MonitorContinuously(time.Second). How far each of its splits has
// been read is part of checkpoints. Mistakes in the source's description are returned
// by Execute, which refuses one that does not end in Batch mode.
func FromSource[T any](e *Env, from connector.Source[T]) DataStream[T] {
	if from == nil {
		e.problem(callSite(), "FromSource: the source is nil")
		return source[T](e, &streamgraph.Node{Op: "Reader", Bounded: true})
	}
	return fromSource(e, "Reader", from)
}

func fromSource[T any](e *Env, op string, from connector.Source[T]) DataStream[T] {
	n := &streamgraph.Node{Op: op, Bounded: from.Bounded(), Operator: operator.FromSource(from)}
	switch c := from.(type) {
	case connector.Coordinated:
		n.CoordinatorKind, n.CoordinatorSpec = c.Coordinator()
	case connector.Enumerated:
		n.CoordinatorKind, n.CoordinatorSpec = connector.SplitsKind, operator.SplitsSpec(c)
	}
	if checked, ok := from.(connector.Checked); ok {
		n.Before = checked.Check
	}
	return source[T](e, n)
}

// Socket is the stream of the lines that a TCP server at address (host:port)
// sends, in order and without their line ends; a last line needs none. It has one
// subtask, connects once when the job begins, for at most 10 seconds, and ends
// when the server closes the connection. An error of the connection, or a line
// longer than 16 MiB, fails the job. It is unbounded: Execute refuses it in Batch
// mode.
//
// A socket cannot be read again: when the job goes on after a failure it connects
// anew, and lines that came after the last checkpoint are lost. They are counted at
// most once.
func Socket(e *Env, address string) DataStream[string] {
	if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
		e.problem(callSite(), "Socket: address %q: want host:port", address)
	}
	return source[string](e, &streamgraph.Node{Op: "Socket Stream", MaxAllowed: 1, Operator: socket.ReadLines(address)})
}
