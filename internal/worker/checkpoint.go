package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/state"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/task"
)

// checkpoints takes the parts that one attempt has in checkpoints: it writes them
// beside the task and acknowledges them to the JobMaster.
type checkpoints struct {
	w        *Worker
	attempt  ident.AttemptID
	groups   int // key groups of the task
	restored map[ident.OperatorID]*snapshot.SubtaskState
	from     int64 // the checkpoint they are of
	// incremental says that checkpoints may be based on earlier ones.
	incremental bool
	bases       bases
	over        atomic.Bool // the attempt is to end, or has ended and is about to report it
}

// newCheckpoints reads what the attempt begins with.
func (w *Worker) newCheckpoints(attempt ident.AttemptID, d *pb.TaskDeployment) (*checkpoints, error) {
	c := &checkpoints{w: w, attempt: attempt, groups: int(d.MaxParallelism), restored: map[ident.OperatorID]*snapshot.SubtaskState{}, incremental: d.Incremental}
	c.bases.all = map[ident.OperatorID][]*base{}
	if len(d.Restore) == 0 {
		return c, nil
	}
	m, err := snapshot.Decode(d.Restore, "")
	if err != nil {
		return nil, fmt.Errorf("read what the task begins with: %w", err)
	}
	c.from = m.Checkpoint
	for i := range m.Operators {
		if o := &m.Operators[i]; len(o.Subtasks) == 1 {
			c.restored[o.ID] = &o.Subtasks[0]
		}
	}
	return c, nil
}

// Purpose says what a checkpoint is for.
func (c *checkpoints) Purpose(b task.Barrier) task.Purpose {
	var o pb.CheckpointOptions
	if proto.Unmarshal(b.Options, &o) != nil {
		return task.Purpose{} // writing the part says so
	}
	kind := snapshot.Kind(o.Kind)
	return task.Purpose{Savepoint: kind.Savepoint(), Stop: kind == snapshot.SyncSavepoint, Drain: o.Drain}
}

// Finished reports whether an operator had read all its input in what the attempt
// begins with.
func (c *checkpoints) Finished(op ident.OperatorID) bool {
	s := c.restored[op]
	return s != nil && s.Finished
}

// Take writes the task's part beside it, and acknowledges it.
func (c *checkpoints) Take(t task.Taken) {
	delay := c.delay(t)
	c.w.active.Go(func() {
		began := time.Now()
		m, written, err := c.write(t)
		if err != nil {
			c.forget(t)
			if !c.over.Load() {
				c.Decline(t.Barrier, err)
			}
			return
		}
		ack := &pb.AcknowledgeCheckpointRequest{
			Attempt: c.attempt.String(), Checkpoint: t.Checkpoint, State: snapshot.Encode(m, ""),
			AlignedNanos: int64(t.Aligned), StoppedNanos: int64(t.Stopped), DelayNanos: int64(delay), WrittenNanos: int64(time.Since(began)),
			Bytes: written, StateBytes: stateBytes(m),
		}
		if f := t.InFlight; f != nil && f.Overtook {
			ack.Unaligned, ack.ProcessedBytes, ack.PersistedBytes = true, f.Processed, f.Bytes()
		}
		c.w.Loop.Post(func() {
			gateway.WorkerAcknowledge.Send(c.w.System, c.w.Loop, c.w.TaskExecutor, ident.LeaderID{}, ack)
		})
	})
}

// forget deletes what was written of a part that nobody will hear of, as far as it is
// not in the directory of its checkpoint, which is deleted as a whole.
func (c *checkpoints) forget(t task.Taken) {
	var o pb.CheckpointOptions
	if !c.incremental || proto.Unmarshal(t.Options, &o) != nil || o.Shared == "" {
		return
	}
	for _, p := range t.Parts {
		if p.Keyed == nil {
			continue
		}
		if err := c.w.Files.Delete(context.Background(), c.shared(&o, p.Operator, t.Checkpoint)); err != nil {
			c.w.Logger.Warn("a file of a checkpoint that will not be is left behind", "job", c.w.Job, "checkpoint", t.Checkpoint, "error", err)
		}
	}
}

// delay is how long after the trigger the first barrier came.
func (c *checkpoints) delay(t task.Taken) time.Duration {
	var o pb.CheckpointOptions
	if proto.Unmarshal(t.Options, &o) != nil || o.TriggeredMillis == 0 {
		return 0
	}
	return max(0, time.Since(time.UnixMilli(o.TriggeredMillis))-t.Aligned-t.Stopped)
}

// Decline tells that the task has no part to give.
func (c *checkpoints) Decline(b task.Barrier, why error) {
	reason := "CHECKPOINT_ASYNC_EXCEPTION"
	switch {
	case errors.Is(why, task.ErrNotRunning), errors.Is(why, task.ErrRefused), errors.Is(why, errForgotten):
		reason = "CHECKPOINT_DECLINED_TASK_NOT_READY"
	case errors.Is(why, task.ErrSubsumed):
		reason = "CHECKPOINT_DECLINED_SUBSUMED"
	}
	decline := &pb.DeclineCheckpointRequest{Attempt: c.attempt.String(), Checkpoint: b.Checkpoint, Reason: reason, Failure: gateway.FailureToProto(status.FailureOf(why))}
	c.w.Loop.Post(func() {
		gateway.WorkerDecline.Send(c.w.System, c.w.Loop, c.w.TaskExecutor, ident.LeaderID{}, decline)
	})
}

// write writes all parts and describes them.
func (c *checkpoints) write(t task.Taken) (m *snapshot.Metadata, written int64, err error) {
	defer func() {
		for _, p := range t.Parts {
			if p.Keyed != nil {
				p.Keyed.Release()
			}
		}
	}()
	var o pb.CheckpointOptions
	if err := proto.Unmarshal(t.Options, &o); err != nil {
		return nil, 0, fmt.Errorf("read how checkpoint %d is to be taken: %w", t.Checkpoint, err)
	}
	m = &snapshot.Metadata{Checkpoint: t.Checkpoint, Job: c.w.Job}
	for _, p := range t.Parts {
		s := snapshot.SubtaskState{Finished: p.Finished}
		base := c.name(fs.Location(o.Directory), p.Operator)
		if p.Keyed != nil {
			keyed, n, err := c.writeKeyed(base, p, t.Checkpoint, &o)
			if err != nil {
				return nil, 0, fmt.Errorf("write the keyed state of checkpoint %d: %w", t.Checkpoint, err)
			}
			written += n
			if len(keyed.Files) > 0 {
				s.Keyed = append(s.Keyed, keyed)
			}
		}
		for i, l := range p.Lists {
			at := base
			if base != "" {
				at = fs.Location(string(base) + "-" + strconv.Itoa(i))
			}
			list, err := c.writeList(at, o.InlineBytes, l)
			if err != nil {
				return nil, 0, fmt.Errorf("write %q for checkpoint %d: %w", l.Name, t.Checkpoint, err)
			}
			written += list.File.Length
			s.Lists = append(s.Lists, list)
		}
		m.Operators = append(m.Operators, snapshot.OperatorState{ID: p.Operator, Parallelism: 1, MaxParallelism: c.groups, Subtasks: []snapshot.SubtaskState{s}})
	}
	n, err := c.addInFlight(m, t, &o)
	if err != nil {
		return nil, 0, fmt.Errorf("write the records in flight of checkpoint %d: %w", t.Checkpoint, err)
	}
	return m, written + n, nil
}

// stateBytes is how many bytes a part consists of, in files that are new and others.
func stateBytes(m *snapshot.Metadata) (n int64) {
	for h := range m.Handles() {
		n += h.Length
	}
	for _, o := range m.Operators {
		for _, s := range o.Subtasks {
			for _, k := range s.Keyed {
				if len(k.Sections) == 0 {
					continue
				}
				for _, f := range k.Files {
					n -= f.Length
				}
				for _, section := range k.Sections {
					n += section.Length
				}
			}
		}
	}
	return n
}

// name is what the files of an operator in this subtask begin with; "": state is
// not written to files.
func (c *checkpoints) name(dir fs.Location, op ident.OperatorID) fs.Location {
	if dir == "" {
		return ""
	}
	return dir.Join(fmt.Sprintf("%s-%d", op, c.attempt.Subtask))
}

// writeKeyed writes keyed state to a file, or into the handle. It gives how many bytes
// were written. All that an incremental checkpoint has of it in handles, older pieces
// with the new one, is not more than what a full one may have there: it travels with
// every acknowledgement.
func (c *checkpoints) writeKeyed(at fs.Location, p task.Part, checkpoint int64, o *pb.CheckpointOptions) (keyed snapshot.KeyedState, bytes int64, err error) {
	shared := c.incremental && o.Shared != ""
	var older *base
	if shared {
		at = c.shared(o, p.Operator, checkpoint)
		if o.Base != 0 {
			older = c.bases.find(p.Operator, o.Base)
		}
	}
	var from *state.Base
	var files []snapshot.KeyedFile
	if older != nil {
		from, files = &older.Base, slices.Clone(older.files)
	}
	out := c.part(at, o.InlineBytes-inlineOf(files))
	written, err := p.Keyed.Write(out, string(at), from)
	if err != nil {
		out.abort()
		return keyed, 0, err
	}
	if written.Bytes == 0 {
		out.abort()
	} else {
		handle, err := out.commit()
		if err != nil {
			return keyed, 0, err
		}
		files = append(files, snapshot.KeyedFile{Name: string(at), Handle: handle})
	}
	keyed = describe(p.Keyed.Header(), written, older)
	if keyed.Files = files; shared {
		keyed.Files, keyed.Sections = sectionsOf(written.Locations, files)
		c.bases.add(p.Operator, &base{checkpoint: checkpoint, Base: written.Base, files: keyed.Files, sizes: keyed.States})
	}
	return keyed, written.Bytes, nil
}

// inlineOf is how many bytes of files are in their handles.
func inlineOf(files []snapshot.KeyedFile) (n int64) {
	for _, f := range files {
		n += int64(len(f.Inline))
	}
	return n
}

// describe describes keyed state for people and for whoever restores it.
func describe(header state.Header, written state.Written, older *base) snapshot.KeyedState {
	keyed := snapshot.KeyedState{Key: string(header.Key)}
	if n := len(written.Locations); n > 0 {
		keyed.First, keyed.Last = written.Locations[0].Group, written.Locations[n-1].Group
	}
	var all, now int64
	for _, l := range written.Locations {
		all += l.Length
	}
	for _, size := range written.States {
		now += size.Bytes
	}
	for i, d := range header.States {
		keyed.States = append(keyed.States, snapshot.StateInfo{
			Name: d.Name, Kind: d.Kind.String(), Namespace: string(d.Namespace), UserKey: string(d.UserKey), Value: string(d.Value), TTL: d.TTL.Duration,
			Rows: int64(written.Entries[i]), Bytes: written.States[i].Bytes + older.bytesOf(d.Name, all-now),
		})
		if older == nil {
			keyed.States[i].Rows = written.States[i].Entries
		}
	}
	return keyed
}

// writeList writes the elements of a list.
func (c *checkpoints) writeList(at fs.Location, inline int64, l task.PartList) (snapshot.ListState, error) {
	list := snapshot.ListState{Name: l.Name, Mode: snapshot.Mode(l.Mode), Schema: l.Schema}
	var size int64
	for _, e := range l.Elements {
		list.Elements = append(list.Elements, snapshot.Extent{Offset: size, Length: int64(len(e))})
		size += int64(len(e))
	}
	out := c.part(at, inline)
	for _, e := range l.Elements {
		if _, err := out.Write(e); err != nil {
			out.abort()
			return list, err
		}
	}
	var err error
	list.File, err = out.commit()
	return list, err
}

// triggerCheckpoint begins a checkpoint in tasks without inputs, as soon as they have
// received what their coordinators had given them before.
func (w *Worker) triggerCheckpoint(r *pb.TriggerCheckpointRequest, reply func(*pb.Empty, error)) {
	var o pb.CheckpointOptions
	if err := proto.Unmarshal(r.Options, &o); err != nil || o.Align < 0 || o.Align > int32(element.Unaligned) {
		reply(nil, rpc.Refuse("read how checkpoint %d is to be taken: barriers of kind %d, %v", r.Checkpoint, o.Align, err))
		return
	}
	w.eachTask(r.Attempts, reply, func(attempt string, t *running) {
		given := slices.DeleteFunc(slices.Clone(r.Given), func(g *pb.GivenAnswers) bool { return g.Attempt != attempt })
		t.await(r.Checkpoint, given, func() {
			t.Trigger(task.Barrier{Checkpoint: r.Checkpoint, Options: r.Options, Align: element.Align(o.Align), Overtake: o.OvertakeMillis})
		})
	})
}

// notifyCheckpoint tells tasks what became of a checkpoint.
func (w *Worker) notifyCheckpoint(r *pb.NotifyCheckpointRequest, reply func(*pb.Empty, error)) {
	w.eachTask(r.Attempts, reply, func(_ string, t *running) {
		if r.Complete {
			t.Complete(r.Checkpoint)
		} else {
			t.giveUp(r.Checkpoint)
			t.Abort(r.Checkpoint)
		}
	})
}

// eachTask calls f with those of the attempts that run here.
func (w *Worker) eachTask(attempts []string, reply func(*pb.Empty, error), f func(attempt string, t *running)) {
	for _, text := range attempts {
		attempt, err := ident.ParseAttempt(text)
		if err != nil {
			reply(nil, rpc.Refuse("checkpoint: %v", err))
			return
		}
		if t := w.tasks[attempt]; t != nil {
			f(text, t)
		}
	}
	reply(&pb.Empty{}, nil)
}
