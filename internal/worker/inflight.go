package worker

import (
	"context"
	"fmt"
	"hash/crc32"
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
				state.Checksum = crc32.Update(state.Checksum, castagnoli, b)
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
// there are none. Those that had not left their writers are among them.
func (c *checkpoints) inFlight() func() ([]task.Channel, error) {
	found := c.restored[c.head()]
	if found == nil || len(found.Inputs) == 0 {
		return nil
	}
	return func() (all []task.Channel, err error) {
		for _, s := range found.Inputs {
			one := task.Channel{Gate: s.Gate, Channel: s.Channel, Shared: s.Shared}
			if one.Batches, err = storage.Channel(context.Background(), c.w.Files, s); err != nil {
				return nil, unusable(fmt.Errorf("restore records in flight: %w", err))
			}
			all = append(all, one)
		}
		return all, nil
	}
}
