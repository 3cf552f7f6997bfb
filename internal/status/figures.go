package status

import "time"

// A Count is how much there was of something since a task began, and how much
// of it in a second, over the last minute.
type Count struct {
	Total     int64
	PerSecond float64
}

// A Share is how long a task was in some condition, and for how many
// milliseconds of each second, over the last minute.
type Share struct {
	Total           time.Duration
	MillisPerSecond float64
}

// A Distribution describes the last values of something.
//
// Invariant: where Values is zero, so is the rest.
type Distribution struct {
	Values                          int // described
	Min, Max                        int64
	Mean, Deviation                 float64
	Median, P75, P90, P95, P98, P99 float64
	P999                            float64
}

// NoWatermark is the watermark of an input that has brought none.
const NoWatermark int64 = -1 << 63

// TaskFigures are what a running task tells of itself, once a second. They are
// never changed once made.
type TaskFigures struct {
	RecordsIn, RecordsOut Count
	// BytesIn and BytesOut count what was encoded. Records that stay within a
	// process are handed over by pointer and have no size.
	BytesIn, BytesOut Count
	// A batch is to a task what a network buffer is to Flink's.
	BatchesInLocal, BatchesInRemote, BatchesOut Count
	// Busy, Idle and Blocked add up to the task's age.
	Busy, Idle, Blocked Share
	// BackPressured says that the task waits, now, for room in its output.
	BackPressured  bool
	Initialization time.Duration
	// HasInput says that the task reads other tasks; InputWatermark is the least
	// of what those have said.
	HasInput       bool
	InputWatermark int64
	// Mail are the letters that ran on the task's goroutine, MailQueued those
	// that wait; MailLatency is in milliseconds.
	Mail        Count
	MailQueued  int
	MailLatency Distribution
	// InQueued are the elements that wait in the input, OutQueued the batches in
	// the output; InUse and OutUse are the shares of the room that are taken.
	InQueued, OutQueued int
	InUse, OutUse       float64
	Operators           []OperatorFigures // in the order of the chain
}

// OperatorFigures are what a task tells of one of its operators.
type OperatorFigures struct {
	ID   string
	Name string
	// Source says that the operator has no input.
	Source                          bool
	RecordsIn, RecordsOut           Count
	InputWatermark, OutputWatermark int64
	// Late is how many records came too late and were dropped, if DropsLate says
	// that the operator can drop some.
	DropsLate bool
	Late      int64
	// SourceIdle is for how long a source has had nothing to emit; zero: it has.
	SourceIdle time.Duration
	// Of a source: how long after its event time the latest record was emitted, how far
	// the watermark lies in the past, and how many records wait to be read; nil: not
	// known.
	EmitLag, WatermarkLag *time.Duration
	Pending               *int64
	// Unread is how many records a source could not read and passed over.
	Unread int64
	// Drift is how far, in event time, the operator is ahead of the last of its
	// alignment group; nil: it is in none.
	Drift *time.Duration
	// Sent is what a sink tells; nil: it is none, or tells nothing.
	Sent *SentFigures
}

// SentFigures are what a sink has sent to its system.
type SentFigures struct {
	Records, Bytes, Errors int64
	Last                   time.Duration // that it took to send the last time
}

// ProcessFigures are what a process, or several that are counted as one, takes
// of its machine. Sizes are in bytes; a limit that is zero is not known.
type ProcessFigures struct {
	HeapUsed, HeapCommitted, HeapMax          int64
	NonHeapUsed, NonHeapCommitted, NonHeapMax int64
	// Program is what the loaded program takes: code and constants.
	Program, ProgramMax                         int64
	BuffersTotal, BuffersReserved, BuffersTaken int64 // network buffers
	BufferSize                                  int64
	ManagedUsed, ManagedTotal                   int64
	CPU                                         time.Duration
	CPULoad                                     float64 // of all processors; 1: all of them
	Goroutines, Threads                         int64
	Collections                                 int64
	CollectionTime                              time.Duration // of all processors together, spent on collecting
	CollectionMillisPerSecond                   float64
	DescriptorsOpen, DescriptorsMax             int64
}

// Add gives the figures of two processes that are counted as one. Limits are
// the first one's: who knows them counts for both.
func (f ProcessFigures) Add(o ProcessFigures) ProcessFigures {
	f.HeapUsed += o.HeapUsed
	f.HeapCommitted += o.HeapCommitted
	f.NonHeapUsed += o.NonHeapUsed
	f.NonHeapCommitted += o.NonHeapCommitted
	f.Program += o.Program
	f.BuffersReserved += o.BuffersReserved
	f.BuffersTaken += o.BuffersTaken
	f.ManagedUsed += o.ManagedUsed
	f.CPU += o.CPU
	f.CPULoad += o.CPULoad
	f.Goroutines += o.Goroutines
	f.Threads += o.Threads
	f.Collections += o.Collections
	f.CollectionTime += o.CollectionTime
	f.CollectionMillisPerSecond += o.CollectionMillisPerSecond
	f.DescriptorsOpen += o.DescriptorsOpen
	return f
}
