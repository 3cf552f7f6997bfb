package worker

import (
	"context"
	"fmt"
	"slices"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/storage"
	"github.com/weirstream/weir/internal/task"
)

// head is the operator that a task's records in flight are kept with: its first.
func (c *checkpoints) head() ident.OperatorID {
	return c.w.Compiled.Chains[c.attempt.Vertex].Vertex.Operators[0].ID
}

// addInFlight writes what was in flight, once that is known, to one file, and adds it
// to the part of the task's first operator.
func (c *checkpoints) addInFlight(m *snapshot.Metadata, t task.Taken, o *pb.CheckpointOptions) (written int64, err error) {
	f := t.InFlight
	if f == nil {
		return 0, nil
	}
	if err := f.Wait(); err != nil {
		return 0, err
	}
	size := f.Bytes()
	if size == 0 {
		return 0, nil
	}
	at := c.name(fs.Location(o.Directory), c.head())
	if at != "" {
		at = fs.Location(string(at) + "-in-flight")
	}
	out := c.part(at, o.InlineBytes)
	states := [2][]snapshot.ChannelState{}
	for i, channels := range [2][]task.Channel{f.Inputs, f.Outputs} {
		for _, one := range channels {
			state := snapshot.ChannelState{Gate: one.Gate, Channel: one.Channel}
			for _, b := range one.Batches {
				state.Buffers = append(state.Buffers, snapshot.Extent{Offset: out.length, Length: int64(len(b))})
				if _, err := out.Write(b); err != nil {
					out.abort()
					return 0, err
				}
			}
			states[i] = append(states[i], state)
		}
	}
	handle, err := out.commit()
	if err != nil {
		return 0, err
	}
	for i := range states {
		for j := range states[i] {
			states[i][j].File = handle
		}
	}
	at0 := slices.IndexFunc(m.Operators, func(o snapshot.OperatorState) bool { return o.ID == c.head() })
	if at0 < 0 {
		at0 = len(m.Operators)
		m.Operators = append(m.Operators, snapshot.OperatorState{ID: c.head(), Parallelism: 1, MaxParallelism: c.groups, Subtasks: make([]snapshot.SubtaskState, 1)})
	}
	s := &m.Operators[at0].Subtasks[0]
	s.Inputs, s.Outputs = states[0], states[1]
	return size, nil
}

// inFlight gives what reads the records in flight that the task begins with; nil:
// there are none. It fails when they are those of another task.
func (c *checkpoints) inFlight() (func() (*task.InFlight, error), error) {
	var found *snapshot.SubtaskState
	for id, s := range c.restored { // order: at most one has some
		if len(s.Inputs)+len(s.Outputs) == 0 {
			continue
		}
		if id != c.head() {
			return nil, fmt.Errorf("checkpoint %d holds records in flight to operator %s, which was the first of its task and is no more: take a savepoint before the program is changed", c.from, id)
		}
		found = s
	}
	if found == nil {
		return nil, nil
	}
	return func() (*task.InFlight, error) {
		f := &task.InFlight{}
		var err error
		if f.Inputs, err = c.channels(found.Inputs); err == nil {
			f.Outputs, err = c.channels(found.Outputs)
		}
		if err != nil {
			return nil, unusable(fmt.Errorf("restore records in flight: %w", err))
		}
		return f, nil
	}, nil
}

func (c *checkpoints) channels(states []snapshot.ChannelState) (all []task.Channel, err error) {
	files := map[fs.Location][]byte{}
	for _, s := range states {
		data, read := files[s.File.Location]
		if !read || s.File.Location == "" {
			if data, err = storage.Bytes(context.Background(), c.w.Files, s.File); err != nil {
				return nil, err
			}
			files[s.File.Location] = data
		}
		one := task.Channel{Gate: s.Gate, Channel: s.Channel}
		for _, e := range s.Buffers {
			one.Batches = append(one.Batches, data[e.Offset:e.Offset+e.Length])
		}
		all = append(all, one)
	}
	return all, nil
}
