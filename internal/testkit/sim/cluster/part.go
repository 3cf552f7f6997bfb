package cluster

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/storage"
	"github.com/weirstream/weir/internal/state/keygroup"
	"github.com/weirstream/weir/internal/status"
)

// readBarrier makes a barrier of what a JobMaster says.
func readBarrier(checkpoint int64, options []byte) *barrier {
	b := &barrier{checkpoint: checkpoint, options: &pb.CheckpointOptions{}}
	if err := proto.Unmarshal(options, b.options); err != nil {
		panic(err) // a JobMaster of this process has written it
	}
	return b
}

// part takes the task's part of a checkpoint: what was put out until now waits for
// it, the barrier goes on, and the state is written beside the task.
func (s *stream) part(b *barrier) {
	c, w := s.cluster(), s.task.worker
	if len(s.open.records) > 0 {
		s.open.checkpoint = b.checkpoint
		s.closed = append(s.closed, s.open)
		s.open = transaction{}
	}
	for _, wires := range s.out {
		for _, to := range wires {
			to.send(item{barrier: b})
		}
	}
	state := s.freeze(b)
	c.springs(parting, s.run, s.task)
	w.loop.After(w.tm.proc.DiskDelay(), func() {
		var err error
		w.loop.Go(func() { err = s.write(state, b) }, func() {
			switch {
			case s.task.ended:
				c.checks.met["parts of tasks that had ended"]++
			case err != nil:
				w.decline(s.task, b.checkpoint, "CHECKPOINT_ASYNC_EXCEPTION", err)
			default:
				w.acknowledge(s.task, b.checkpoint, state)
			}
		})
	})
}

func (w *worker) acknowledge(t *task, checkpoint int64, state *snapshot.Metadata) {
	ack := &pb.AcknowledgeCheckpointRequest{Attempt: t.attempt.String(), Checkpoint: checkpoint, State: snapshot.Encode(state, "")}
	gateway.WorkerAcknowledge.Send(w.proc.System(), w.loop, w.taskExecutor(), ident.LeaderID{}, ack)
}

func (s *stream) decline(checkpoint int64, reason string) {
	s.task.worker.decline(s.task, checkpoint, reason, nil)
}

func (w *worker) decline(t *task, checkpoint int64, reason string, why error) {
	w.c.checks.met["parts declined: "+reason]++
	decline := &pb.DeclineCheckpointRequest{Attempt: t.attempt.String(), Checkpoint: checkpoint, Reason: reason}
	if why != nil {
		decline.Failure = gateway.FailureToProto(status.FailureOf(why))
	}
	gateway.WorkerDecline.Send(w.proc.System(), w.loop, w.taskExecutor(), ident.LeaderID{}, decline)
}

// freeze is the task's state: what it has read in a file by key groups, the rest in
// lists that travel with the acknowledgement, as long as they are short.
func (s *stream) freeze(b *barrier) *snapshot.Metadata {
	var counts ints
	counts.put(int(b.checkpoint), s.vertex, s.subtask)
	for _, l := range slices.SortedFunc(maps.Keys(s.counts), func(a, b lane) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.split, b.split))
	}) {
		counts.put(l.source, l.split, s.counts[l])
	}
	first, last := keygroup.Range(s.subtask, s.graph.Parallelism, s.graph.MaxParallelism)
	state := snapshot.SubtaskState{Keyed: []snapshot.KeyedState{{First: first, Last: last, Files: []snapshot.KeyedFile{{Handle: s.handle(b, "", counts)}}}}}
	if len(s.portions) > 0 {
		splits := snapshot.ListState{Name: "splits"}
		var all ints
		for _, p := range s.portions {
			done := 0
			if p.done {
				done = 1
			}
			at := len(all)
			all.put(p.id, p.next, done)
			splits.Elements = append(splits.Elements, snapshot.Extent{Offset: int64(at), Length: int64(len(all) - at)})
		}
		splits.File = s.handle(b, "-0", all)
		state.Lists = append(state.Lists, splits)
	}
	if len(s.closed) > 0 {
		closed := snapshot.ListState{Name: "transactions"}
		var all ints
		for _, t := range s.closed {
			at := len(all)
			all.put(int(t.checkpoint))
			for _, rec := range t.records {
				all.put(rec.source, rec.split, rec.number)
			}
			closed.Elements = append(closed.Elements, snapshot.Extent{Offset: int64(at), Length: int64(len(all) - at)})
		}
		closed.File = s.handle(b, "-1", all)
		state.Lists = append(state.Lists, closed)
	}
	return &snapshot.Metadata{Checkpoint: b.checkpoint, Job: s.run.job.id, Operators: []snapshot.OperatorState{{
		ID: s.graph.Operators[0].ID, Parallelism: 1, MaxParallelism: s.graph.MaxParallelism, Subtasks: []snapshot.SubtaskState{state}}}}
}

// longestInline is how long state may be that travels with the acknowledgement.
const longestInline = 64

// handle says where a part of the state will lie; it is written later.
func (s *stream) handle(b *barrier, suffix string, data ints) snapshot.Handle {
	h := snapshot.Handle{Inline: data, Length: int64(len(data)), Checksum: snapshot.Checksum(data)}
	if dir := fs.Location(b.options.Directory); dir != "" && (suffix == "" || len(data) > longestInline) {
		h.Location = dir.Join(fmt.Sprintf("%s-%d%s", s.graph.Operators[0].ID, s.subtask, suffix))
	}
	return h
}

// write writes the files of a part.
func (s *stream) write(m *snapshot.Metadata, b *barrier) error {
	w := s.task.worker
	files := w.c.checkpoints.shelf.of(w.tm.proc)
	state := &m.Operators[0].Subtasks[0]
	one := func(h *snapshot.Handle) error {
		if h.Location == "" {
			return nil
		}
		data := h.Inline
		h.Inline = nil
		return fs.WriteFile(context.Background(), files, h.Location, data)
	}
	for i := range state.Lists {
		if err := one(&state.Lists[i].File); err != nil {
			return fmt.Errorf("write %q for checkpoint %d: %w", state.Lists[i].Name, b.checkpoint, err)
		}
	}
	if err := one(&state.Keyed[0].Files[0].Handle); err != nil {
		return fmt.Errorf("write the keyed state of checkpoint %d: %w", b.checkpoint, err)
	}
	return nil
}

// ints are numbers, one after the other.
type ints []byte

func (b *ints) put(all ...int) {
	for _, n := range all {
		*b = binary.AppendVarint(*b, int64(n))
	}
}

func (b *ints) take() int {
	n, size := binary.Varint(*b)
	*b = (*b)[size:]
	return int(n)
}

// kept is what a task has kept.
type kept struct {
	checkpoint      int64
	vertex, subtask int
	splits          []portion
	counts          map[lane]int
	closed          []transaction
}

// decodeState reads the state of one subtask.
func decodeState(m *snapshot.Metadata, read func(snapshot.Handle) ([]byte, error)) (*kept, error) {
	k := &kept{counts: map[lane]int{}}
	if len(m.Operators) != 1 || len(m.Operators[0].Subtasks) != 1 || len(m.Operators[0].Subtasks[0].Keyed) != 1 {
		return nil, fmt.Errorf("it is not the state of one subtask")
	}
	state := &m.Operators[0].Subtasks[0]
	data, err := read(state.Keyed[0].Files[0].Handle)
	if err != nil {
		return nil, err
	}
	counts := ints(data)
	k.checkpoint, k.vertex, k.subtask = int64(counts.take()), counts.take(), counts.take()
	for len(counts) > 0 {
		l := lane{counts.take(), counts.take()}
		k.counts[l] = counts.take()
	}
	for _, list := range state.Lists {
		data, err := read(list.File)
		if err != nil {
			return nil, err
		}
		for _, e := range list.Elements {
			element := ints(data[e.Offset : e.Offset+e.Length])
			if list.Name == "splits" {
				k.splits = append(k.splits, portion{element.take(), element.take(), element.take() == 1})
				continue
			}
			t := transaction{checkpoint: int64(element.take())}
			for len(element) > 0 {
				t.records = append(t.records, record{lane{element.take(), element.take()}, element.take()})
			}
			k.closed = append(k.closed, t)
		}
	}
	return k, nil
}

// load reads what the task begins with.
func (s *stream) load(state []byte) *status.Failure {
	w := s.task.worker
	w.c.springs(restoring, s.run, s.task)
	if len(state) == 0 || s.task.ended {
		return nil
	}
	m, err := snapshot.Decode(state, "")
	var k *kept
	if err == nil {
		files := w.c.checkpoints.shelf.of(w.tm.proc)
		k, err = decodeState(m, func(h snapshot.Handle) ([]byte, error) { return storage.Bytes(context.Background(), files, h) })
	}
	if err != nil {
		f := status.FailureOf(fmt.Errorf("restore keyed state: %w", err))
		if _, corrupt := errors.AsType[*snapshot.CorruptError](err); corrupt || errors.Is(err, fs.ErrNotExist) {
			f.Kind = status.FailureSnapshot
		}
		return f
	}
	if k.checkpoint != m.Checkpoint || k.vertex != s.vertex || k.subtask != s.subtask {
		w.c.checks.broken("11", "%s begins with the state of subtask %d of vertex %d in checkpoint %d, want that of checkpoint %d", s.task.attempt, k.subtask, k.vertex, k.checkpoint, m.Checkpoint)
	}
	s.portions, s.counts, s.closed, s.current = k.splits, k.counts, k.closed, m.Checkpoint
	return nil
}
