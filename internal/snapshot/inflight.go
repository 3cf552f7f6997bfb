package snapshot

import (
	"fmt"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/state/keygroup"
)

// An Input is an input of a task: which output of which task it reads, and how its
// records are given to the subtasks.
type Input struct {
	// From is the first operator of the task that writes it, Output the number of
	// that task's output.
	From   ident.OperatorID
	Output int
	Route  Route
}

// A Route says which subtask of a task may process a record.
type Route uint8

// The routes of an input.
const (
	// Anywhere: any one of them.
	Anywhere Route = iota
	// ByKey: the one that owns the key group of the record.
	ByKey
	// ByRecord: the one that the program's partitioner chooses.
	ByRecord
	// Everywhere: all of them. Nothing is ever in flight there.
	Everywhere
)

// What is in flight is given to those who read it, and to nobody else. A channel is
// what one subtask had sent to another: first what was on the reader's side of the
// barrier, then what had not left the writer. Every channel is processed before
// anything new is read, as a whole and in its order, so that the records of a key
// keep theirs, whoever wrote them and at whatever parallelism writers and readers now
// run.
//
// The obvious way gives back to writers what they had not handed over. They would
// have to partition it again, before their first record, into queues that have no room
// for it; and the readers would have to tell what comes from before from what is new.

// flights gives out the records in flight of a snapshot.
func (a *assigner) flights(targets []Target) {
	heads := map[ident.OperatorID]bool{} // of tasks; looked up, never ranged
	tasks := map[ident.VertexID]bool{}   // looked up, never ranged
	read := map[Input]*Target{}          // by whom an output is read, without a Route; looked up, never ranged
	for i := range targets {
		t := &targets[i]
		heads[t.ID] = heads[t.ID] || !tasks[t.Task]
		tasks[t.Task] = true
		for _, in := range t.Inputs {
			read[Input{From: in.From, Output: in.Output}] = t
		}
	}
	sound := true
	for i := range targets {
		if o := a.states[targets[i].ID]; o != nil && !a.carried(o, &targets[i], heads[targets[i].ID], read) {
			sound = false
		}
	}
	if !sound {
		return
	}
	for i := range a.out.Operators {
		assigned := &a.out.Operators[i]
		if o := a.states[assigned.ID]; o != nil && !o.Finished {
			for gate, in := range assigned.Inputs {
				a.give(assigned, o, gate, in)
			}
		}
	}
}

// carried reports whether everything that was in flight to and from an operator has a
// place in the program, and refuses it otherwise.
func (a *assigner) carried(o *OperatorState, t *Target, head bool, read map[Input]*Target) bool {
	const advice = "Take a savepoint before the program is changed: it has no records in flight."
	for i := range o.Subtasks {
		for _, c := range o.Subtasks[i].Inputs {
			if !head || c.Gate >= len(t.Inputs) {
				a.refuse(o, false, "There are records in flight to input %d of operator %s, which has none such in the new program. %s", c.Gate, o.describe(), advice)
				return false
			}
		}
		for _, c := range o.Subtasks[i].Outputs {
			reader := read[Input{From: t.ID, Output: c.Gate}]
			if !head || reader == nil || a.states[reader.ID] == nil {
				a.refuse(o, false, "There are records in flight on output %d of the task of operator %s, which nobody reads in the new program who did in the old one. %s", c.Gate, o.describe(), advice)
				return false
			}
		}
	}
	for gate, in := range t.Inputs {
		if in.Route == Everywhere && len(a.channels(o, gate, in)) > 0 {
			a.refuse(o, false, "There are records in flight to input %d of operator %s, each to one subtask, and in the new program all subtasks read them. %s", gate, o.describe(), advice)
			return false
		}
	}
	return true
}

// A flight is one channel's records in flight, and to which subtask they were.
type flight struct {
	ChannelState
	subtask int
}

// channels gives what was in flight to an input, of each channel first what was on
// the reader's side.
func (a *assigner) channels(o *OperatorState, gate int, in Input) (all []flight) {
	for i := range o.Subtasks {
		for _, c := range o.Subtasks[i].Inputs {
			if c.Gate == gate {
				all = append(all, flight{c, i})
			}
		}
	}
	writer := a.states[in.From]
	if writer == nil {
		return all
	}
	for i := range writer.Subtasks {
		for _, c := range writer.Subtasks[i].Outputs {
			if c.Gate == in.Output && c.Channel < o.Parallelism {
				all = append(all, flight{ChannelState{Gate: gate, Channel: i, File: c.File, Checksum: c.Checksum, Buffers: c.Buffers}, c.Channel})
			}
		}
	}
	return all
}

// give gives out what was in flight to one input. What could be processed anywhere goes
// on at one subtask, and what has its place where that is: to all who may own some of
// it, and each takes what is its own.
func (a *assigner) give(to *Assigned, o *OperatorState, gate int, in Input) {
	same := o.Parallelism == to.Parallelism && (in.Route != ByKey || o.MaxParallelism == to.MaxParallelism)
	for _, f := range a.channels(o, gate, in) {
		c := f.alone()
		if same || in.Route == Anywhere {
			s := &to.Subtasks[f.subtask%to.Parallelism]
			s.Inputs = append(s.Inputs, c)
			continue
		}
		first, last := 0, to.MaxParallelism-1
		if in.Route == ByKey && o.MaxParallelism == to.MaxParallelism {
			first, last = keygroup.Range(f.subtask, o.Parallelism, o.MaxParallelism)
		}
		for i := range to.Subtasks {
			low, high := keygroup.Range(i, to.Parallelism, to.MaxParallelism)
			if in.Route == ByKey && (high < first || low > last) {
				continue
			}
			c.Shared = in.Route != ByKey || low > first || high < last
			to.Subtasks[i].Inputs = append(to.Subtasks[i].Inputs, c)
		}
	}
}

// Run is where the channel's buffers lie in its file, if they lie there one after
// another.
func (c *ChannelState) Run() (at Extent, ok bool) {
	for i, b := range c.Buffers {
		if i == 0 {
			at.Offset = b.Offset
		}
		if b.Offset != at.Offset+at.Length {
			return at, false
		}
		at.Length += b.Length
	}
	return at, true
}

// alone is the channel without what else lies in the metadata with its buffers.
func (c ChannelState) alone() ChannelState {
	at, ok := c.Run()
	if c.File.Location != "" || !ok {
		return c
	}
	bytes := c.File.Inline[at.Offset : at.Offset+at.Length]
	c.File = Handle{Inline: bytes, Length: at.Length, Checksum: Checksum(bytes)}
	var buffers []Extent
	for _, b := range c.Buffers {
		buffers = append(buffers, Extent{b.Offset - at.Offset, b.Length})
	}
	c.Buffers = buffers
	return c
}

// Cut gives the buffers of a channel out of the bytes of its file from an offset on.
func (c *ChannelState) Cut(data []byte, from int64) ([][]byte, error) {
	all := make([][]byte, len(c.Buffers))
	for i, b := range c.Buffers {
		if !within(Handle{Length: int64(len(data))}, b.Offset-from, b.Length) {
			return nil, fmt.Errorf("buffer %d, %d bytes at %d: there are %d from %d on", i, b.Length, b.Offset, len(data), from)
		}
		all[i] = data[b.Offset-from:][:b.Length]
	}
	return all, nil
}
