// Package snapshot is what a checkpoint or savepoint consists of, as data: which
// file holds which part of which operator's state, and who gets what when a job
// is restored from it, perhaps at another parallelism.
//
//	Metadata ─▶ OperatorState ─▶ SubtaskState ─▶ KeyedState    sections, by key group
//	                          │               ├▶ ListState     elements, split, union or broadcast
//	                          │               └▶ ChannelState  records in flight, if unaligned
//	                          └▶ Coordinator
//
// It promises that a metadata file which is truncated, damaged or of something
// else is refused with its name and the offset of the trouble (CorruptError),
// whatever its bytes are; that Assign gives every key group, every element and every
// record in flight to a subtask once, or refuses with the reason; and that equal Metadata are
// encoded to equal bytes.
//
// It never reads what the state is, and never decides when to take, keep or
// delete a snapshot.
package snapshot

import (
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
)

// A Kind says what a snapshot was taken for.
type Kind uint8

// The kinds of snapshot.
const (
	// Checkpoint: taken by the engine, which also deletes it.
	Checkpoint Kind = iota
	// Savepoint: asked for by a person, who owns it. It refers to no file
	// outside its directory.
	Savepoint
	// SyncSavepoint: a savepoint after which the job stops.
	SyncSavepoint
)

func (k Kind) String() string {
	return [...]string{"CHECKPOINT", "SAVEPOINT", "SYNC_SAVEPOINT"}[k]
}

// Savepoint reports whether a person owns the snapshot.
func (k Kind) Savepoint() bool { return k != Checkpoint }

// A Format says how a savepoint's keyed state is written.
type Format uint8

// The formats of savepoints.
const (
	// Canonical: as every state backend can read it.
	Canonical Format = iota
	// Native: as the job's backend writes its checkpoints, which is faster.
	Native
)

func (f Format) String() string { return [...]string{"CANONICAL", "NATIVE"}[f] }

// A Handle is where a run of bytes lies: a whole file, or, for small ones, the
// metadata itself.
type Handle struct {
	// Location is the file; empty: the bytes are Inline.
	Location fs.Location
	Inline   []byte
	Length   int64
	Checksum uint32 // CRC-32C of all bytes
}

// IsZero reports whether the handle is of nothing.
func (h Handle) IsZero() bool {
	return h.Location == "" && h.Length == 0
}

// Metadata is a whole snapshot.
type Metadata struct {
	// Checkpoint is its id, which rises over all runs of the job.
	Checkpoint int64
	Job        ident.JobID
	JobName    string
	Kind       Kind
	Format     Format
	// Unaligned says that records in flight are part of it.
	Unaligned bool
	// Triggered is when it was begun, to the millisecond.
	Triggered time.Time
	// Version is that of the program that wrote it, for messages.
	Version string
	// Operators are all operators of the job, ordered by vertex and then by their
	// place in its chain; those without state too.
	Operators []OperatorState
}

// OperatorState is the state of one operator in all its subtasks.
type OperatorState struct {
	ID   ident.OperatorID
	UID  string // empty: the program gave none
	Name string
	// Vertex is the task it ran in, for messages.
	Vertex                      string
	Parallelism, MaxParallelism int
	// Finished says that all its subtasks had read their whole input; there is
	// then no other state.
	Finished bool
	// Subtasks has Parallelism entries, by subtask; none when Finished.
	Subtasks []SubtaskState
	// Coordinator is the state of the operator's coordinator; zero: none.
	Coordinator Handle
}

// SubtaskState is the state of one operator in one subtask.
type SubtaskState struct {
	// Finished says that this subtask had read its whole input.
	Finished bool
	Keyed    []KeyedState
	Lists    []ListState
	// Inputs and Outputs are records in flight, of an unaligned checkpoint.
	Inputs, Outputs []ChannelState
}

// IsZero reports whether there is nothing to restore.
func (s *SubtaskState) IsZero() bool {
	return !s.Finished && len(s.Keyed)+len(s.Lists)+len(s.Inputs)+len(s.Outputs) == 0
}

// A KeyedState is the keyed state of a range of key groups, from First to Last.
type KeyedState struct {
	First, Last int
	// Backend is who can read the files: "" is the canonical form, in sections.
	Backend string
	// Key is the schema of the key, and States say what is kept by key.
	Key    string
	States []StateInfo
	// Files are what the state lies in; an incremental checkpoint shares some
	// with those before it.
	Files []KeyedFile
	// Sections are where each key group lies, in order of groups; a group that
	// holds nothing has none, and of several the first is the whole group, and each
	// next one what has changed since. Without any Section the files as a whole hold the
	// groups, and the backend finds them.
	Sections []Section
}

// A KeyedFile is a file of keyed state. Name is what its backend calls it.
type KeyedFile struct {
	Name string
	Handle
}

// A Section is all states of one key group, or what has changed of them. Lengths and checksums are checked
// before anything of it is used.
type Section struct {
	Group          int
	File           int // index into Files
	Offset, Length int64
	Checksum       uint32 // CRC-32C
}

// StateInfo describes a state, for people and for the check of types.
type StateInfo struct {
	Name string
	Kind string // VALUE, LIST, MAP, REDUCING, AGGREGATING, TIMERS, …
	// Namespace, UserKey and Value are codec schemas; empty: has none.
	Namespace, UserKey, Value string
	TTL                       time.Duration // 0: none
	Rows, Bytes               int64
}

// A Mode says how the elements of a list are given to other subtasks.
type Mode uint8

// The modes of a list.
const (
	// Split: each element goes to one subtask.
	Split Mode = iota
	// Union: each subtask gets all elements of all.
	Union
	// Broadcast: all subtasks hold the same, and each gets one of these.
	Broadcast
	// Gathered: as Union, but nobody needs what a subtask held that has finished.
	Gathered
)

func (m Mode) String() string {
	return [...]string{"SPLIT_DISTRIBUTE", "UNION", "BROADCAST", "GATHERED"}[m]
}

// A ListState is elements of one list, all in one file.
type ListState struct {
	Name   string
	Mode   Mode
	Schema string // of an element
	File   Handle
	// Elements are where each element lies in File, in order.
	Elements []Extent
}

// An Extent is a run of bytes of a file.
type Extent struct{ Offset, Length int64 }

// A ChannelState is the records that were in flight on one channel. Gate is the
// number of the task's input, or of its output; Channel that of the channel or
// subpartition.
type ChannelState struct {
	Gate, Channel int
	// Shared says that others restore the channel too, and each processes of it what is
	// its own. No snapshot has such ones, only an Assignment.
	Shared bool
	File   Handle
	// Checksum is the CRC-32C of all buffers, one after another; 0: it is not known.
	Checksum uint32
	// Buffers are where each buffer lies in File, in order.
	Buffers []Extent
}
