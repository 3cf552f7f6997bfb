// Package element holds what flows on an edge between two tasks: batches of
// records and, between them, the control elements.
//
// It promises one order: a control element is never inside a batch, it is
// appended after the batch that was cut for it. It never interprets records.
package element

import (
	"math"

	"github.com/weirstream/weir/batch"
)

// Kind says which element this is.
type Kind uint8

// The elements of an edge.
const (
	// Data carries a batch.
	Data Kind = iota
	// Watermark says that no record with an event time at or before Time follows.
	Watermark
	// Status says whether the channel is idle (Idle) or active again.
	Status
	// Barrier belongs to a checkpoint.
	Barrier
	// EndOfData says that the producer has no more records; control may follow.
	EndOfData
	// EndOfPartition is the last element of a channel.
	EndOfPartition
)

func (k Kind) String() string {
	return [...]string{"Data", "Watermark", "Status", "Barrier", "EndOfData", "EndOfPartition"}[k]
}

// Align says how the barriers of a checkpoint wait for each other.
type Align uint8

// The ways of barriers.
const (
	// Aligned: a channel on which the barrier has come is not read until it has come on
	// all others.
	Aligned Align = iota
	// Counted: all channels are read on, so that after a failure records may be
	// processed again.
	Counted
	// Timed: as Aligned, and from Time on as Unaligned.
	Timed
	// Unaligned: the barrier overtakes what is in flight, which becomes a part of the
	// checkpoint.
	Unaligned
	// Held: on this channel as Aligned, and on those behind it as Timed.
	Held
)

func (a Align) String() string {
	return [...]string{"Aligned", "Counted", "Timed", "Unaligned", "Held"}[a]
}

// MaxWatermark is the watermark at the end of bounded input.
const MaxWatermark int64 = math.MaxInt64

// Element is one element of an edge. The fields used depend on Kind.
type Element struct {
	Kind       Kind
	Batch      batch.Batch // Data; the receiver owns it
	Time       int64       // Watermark: event time; Barrier: when it overtakes, if Timed or Held; in Unix milliseconds
	Idle       bool        // Status
	Align      Align       // Barrier
	Checkpoint int64       // Barrier
	// Options say how the checkpoint of a Barrier is to be taken: in words that only
	// tasks' owners know. Nobody changes them.
	Options []byte
}
