// Package streamgraph holds a program as the user wrote it: a node an operation,
// an edge a stream between two of them.
//
// It promises that building the same program twice gives the same graph, node
// for node: that is how a worker finds the operators of a job it was sent as
// data. What a node executes is opaque here (Operator, Stream): only the data
// plane looks inside.
package streamgraph

// Graph is a program. Nodes stand in the order the program made them.
type Graph struct {
	Name  string
	Nodes []*Node
	// Batch is decided when the graph is compiled, from the runtime mode and
	// the boundedness of the sources.
	Batch bool
	// Pipelined says that tasks of a batch job exchange records at once rather
	// than when all of them are there.
	Pipelined bool
	// Parallelism is what a node without its own gets; at least 1.
	Parallelism int
	// OpenUpTo, if not 0, leaves the parallelism of nodes without their own open,
	// to be decided while the job runs, and is the most it may become. It has a
	// meaning only for batch jobs that are not Pipelined.
	OpenUpTo int
	// MaxParallelism, if not 0, is what a node without its own gets.
	MaxParallelism int
	// ChainingDisabled is pipeline.operator-chaining.enabled = false.
	ChainingDisabled bool
	// Configuration holds the settings the program itself made.
	Configuration map[string]string
}

// Kind says where in a stream a node stands.
type Kind uint8

// The kinds of nodes.
const (
	Source Kind = iota
	Transform
	Sink
)

// Chaining says whether a node may share a task with its neighbours.
type Chaining uint8

// The chaining strategies, as Flink has them.
const (
	// Always chains to the node before when all other conditions hold.
	Always Chaining = iota
	// Head starts a chain: never chains to the node before, others may chain to it.
	Head
	// Never chains to nothing.
	Never
)

// Node is one operation of the program.
type Node struct {
	// ID counts from 1 in the order of the program.
	ID   int
	Kind Kind
	// Name is what people read: "Map", "Source: ReadText", or the user's.
	Name string
	// Op names the operation itself, whatever the user called the node.
	Op string
	// Types names input and output record types with their codecs' fingerprints,
	// so that a changed program is told apart.
	Types string
	// UID is the user's stable identity of the operator; empty: none.
	UID string
	// Parallelism is 0 where the graph's applies.
	Parallelism int
	// Open says, once the graph is settled, that Parallelism is only what nodes
	// are compared by, and the real one is decided while the job runs.
	Open bool
	// Why says, once the graph is settled, where Parallelism comes from.
	Why string
	// MaxParallelism is 0 where the graph's applies.
	MaxParallelism int
	Chaining       Chaining
	// WithSource says that the node, which follows a source at once, belongs to it: it has
	// the source's parallelism unless the program gives it one of its own, and is in
	// its task even where chaining is disabled for the program.
	WithSource bool
	// Together, if not empty, is why the node cannot be in another task than the node
	// before it: the program is refused if it is.
	Together         string
	SlotSharingGroup string // empty: inherited from the inputs, else "default"
	CoLocation       string
	// Bounded says, for a source, that it ends by itself.
	Bounded bool
	// MaxAllowed, if not 0, bounds the parallelism: 1 for a socket source.
	MaxAllowed int
	// Coordinator kind and specification for operators that have one.
	CoordinatorKind, CoordinatorSpec string
	// Site is the user's file:line that made the node.
	Site string

	// Before, if not nil, is checked once before the job is submitted, not in its
	// workers: what it refuses ends Execute. onCluster says that the program
	// will run in other processes than this one.
	Before func(onCluster bool) error

	In, Out []*Edge
	// Along, of a node with several inputs, is the one that it may be chained behind, if
	// all others are First: its task reads those to their ends before it does anything else.
	Along *Edge

	// Operator is an operator.Factory; Stream an operator.Stream of the output
	// records (nil for sinks).
	Operator any
	Stream   any
	// Sides are the side outputs that something reads.
	Sides []*Side
	// TwoPhase, if set, is how the node is split around its exchange in batch mode.
	TwoPhase *TwoPhase
}

// Partitioner says to which subtask of the consumer a record goes.
type Partitioner uint8

// The partitioners, as Flink has them.
const (
	Forward Partitioner = iota
	Rebalance
	Rescale
	Shuffle
	Broadcast
	Global
	Hash
	Custom
)

// Ship is the partitioner's name in plans.
func (p Partitioner) Ship() string {
	return [...]string{"FORWARD", "REBALANCE", "RESCALE", "SHUFFLE", "BROADCAST", "GLOBAL", "HASH", "CUSTOM"}[p]
}

// Edge is a stream from one node to an input of another.
type Edge struct {
	From, To    *Node
	Partitioner Partitioner
	// Route is, for Hash and Custom, an operator router made for the record type.
	Route any
	// Input is the consumer's input the edge feeds: 0 unless it has two.
	Input int
	// First says that in batch mode the consumer reads this edge to its end before
	// those that are not First. It has a meaning only where the exchange is blocking,
	// so that nobody waits for records which nobody can take.
	First bool
	// Side is the side output that the edge carries; nil: the main one.
	Side *Side
	// Implicit says that the user chose no partitioner: it is Forward where the
	// parallelisms agree and becomes Rebalance where they do not.
	Implicit bool
}

// TwoPhase is what a keyed aggregate becomes in batch mode: Operator aggregates
// before the exchange, in a node of its own behind each producer, and Final,
// which replaces the node's operator, merges what it emits.
type TwoPhase struct {
	Name     string
	Types    string
	Operator any // operator.Factory
	Stream   any // operator.Stream of what is exchanged
	Route    any // operator router of what is exchanged
	Final    any // operator.Factory
}

// Stream is the operator.Stream of the records on the edge.
func (e *Edge) Stream() any {
	if e.Side != nil {
		return e.Side.Stream
	}
	return e.From.Stream
}

// A Side is an output of a node besides its main one.
type Side struct {
	// Tag is what the program and the operator know the output by.
	Tag any
	// Name is the tag's, for people.
	Name string
	// Stream is an operator.Stream of the records.
	Stream any
}
