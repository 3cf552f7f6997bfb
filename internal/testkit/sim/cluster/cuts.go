package cluster

import (
	"context"
	"encoding/json/v2"
	"strings"

	"github.com/weirstream/weir/internal/coordinator/files/split"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/storage"
	"github.com/weirstream/weir/internal/status"
)

// A cut is how far a job had come in a completed checkpoint.
type cut struct {
	// next is the number of the first record that is not in it, by source and split.
	next  map[lane]int
	files []fs.Location
}

// draws notes an id that was given: ids rise, over all masters of a run (9).
func (r *run) draws(id int64) {
	if id <= r.drawn {
		r.c.checks.broken("9", "job %s draws the id %d after %d", r.job.id, id, r.drawn)
	}
	r.drawn = id
}

// enters looks at a checkpoint that is entered into the store: it has one
// acknowledgement of each subtask and all files (10), and it is a consistent cut:
// each split is owned once (13), and who reads records has read what was sent
// before it (15).
func (r *run) enters(id int64, at fs.Location) {
	k := r.c.checks
	r.entered[id] = true
	if id > r.newest {
		r.newest, r.done = id, r.c.world.Now()
	}
	k.met["checkpoints completed"]++
	r.note("checkpoint %d is entered", id)
	cut := &cut{next: map[lane]int{}}
	r.cuts[id] = cut
	m := r.written[at]
	if at != "" {
		r.watchFiles(id, m, cut)
	}
	got := map[lane]int{} // by vertex and subtask: acknowledgements
	read := make([]map[lane]int, len(r.job.graph.Vertices))
	owned := make([]map[int]int, len(read))
	for i := range read {
		read[i], owned[i] = map[lane]int{}, map[int]int{}
	}
	for _, a := range r.acks[id] {
		v := indexOf(r.job.graph, a.attempt.Vertex)
		got[lane{v, a.attempt.Subtask}]++
		s, err := decodeState(a.state, r.c.checkpoints.shelf.read)
		if err != nil {
			continue // it was torn, which the files tell
		}
		if s.checkpoint != id || s.vertex != v || s.subtask != a.attempt.Subtask {
			k.broken("10", "job %s, checkpoint %d: %s has acknowledged the state of subtask %d of vertex %d in checkpoint %d", r.job.id, id, a.attempt, s.subtask, s.vertex, s.checkpoint)
		}
		for _, p := range s.splits {
			owned[v][p.id]++
			cut.next[lane{v, p.id}] += p.next
		}
		for l, n := range s.counts {
			read[v][l] += n
		}
	}
	for v, vertex := range r.job.graph.Vertices {
		for s := range vertex.Parallelism {
			if n := got[lane{v, s}]; n != 1 {
				k.broken("10", "job %s, checkpoint %d is complete with %d acknowledgements of subtask %d of %s", r.job.id, id, n, s, vertex.Name)
			}
		}
	}
	if len(r.c.checkpoints.shelf.torn) > 0 {
		return // what cannot be read cannot be compared
	}
	r.watchOwners(id, m, owned)
	for v := range read {
		for l, next := range cut.next {
			if want := next * r.paths[l.source][v]; l.source != v && read[v][l] != want {
				k.broken("15", "job %s, checkpoint %d: %s has read %d records of split %d of source %d, of which %d were sent, want %d",
					r.job.id, id, r.job.graph.Vertices[v].Name, read[v][l], l.split, l.source, next, want)
			}
		}
	}
	delete(r.acks, id)
}

// watchFiles checks that the metadata and all files it names are there, as they
// were written (10).
func (r *run) watchFiles(id int64, m *snapshot.Metadata, cut *cut) {
	k, s := r.c.checks, r.c.checkpoints.shelf
	if m == nil || m.Checkpoint != id {
		k.broken("10", "job %s, checkpoint %d is entered, and its metadata was not written", r.job.id, id)
		return
	}
	for h := range m.Handles() {
		if h.Location == "" {
			continue
		}
		cut.files = append(cut.files, h.Location)
		if s.torn[h.Location] {
			continue
		}
		if _, err := storage.Bytes(context.Background(), s.bare, h); err != nil {
			k.broken("10", "job %s, checkpoint %d is entered, and a file of it cannot be read: %v", r.job.id, id, err)
		}
	}
}

// watchOwners checks that each split is either its coordinator's or one reader's
// (13).
func (r *run) watchOwners(id int64, m *snapshot.Metadata, owned []map[int]int) {
	if m == nil {
		return // the coordinators' part is in the memory of the master
	}
	for v, vertex := range r.job.graph.Vertices {
		o := vertex.Operators[0]
		if o.Coordinator == nil {
			continue
		}
		var state struct {
			Listed bool           `json:"listed"`
			Free   []*split.Split `json:"free"`
		}
		for i := range m.Operators {
			if m.Operators[i].ID == o.ID {
				if err := json.Unmarshal(m.Operators[i].Coordinator.Inline, &state); err != nil {
					r.c.checks.broken("13", "job %s, checkpoint %d: the coordinator of %s has the state %q", r.job.id, id, vertex.Name, m.Operators[i].Coordinator.Inline)
				}
			}
		}
		if !state.Listed {
			continue
		}
		for _, f := range state.Free {
			owned[v][f.ID]++
		}
		for split := range streamSplits {
			if n := owned[v][split]; n != 1 {
				r.c.checks.broken("13", "job %s, checkpoint %d: split %d of %s has %d owners", r.job.id, id, split, vertex.Name, n)
			}
		}
		r.c.checks.met["cuts whose splits were counted"]++
	}
}

// read reads a file as it really is.
func (s *shelf) read(h snapshot.Handle) ([]byte, error) {
	return storage.Bytes(context.Background(), s.bare, h)
}

// checkpointCalls looks at what a master tells tasks of checkpoints.
func (k *checks) checkpointCalls(call rpc.Call) {
	switch q := call.Request.(type) {
	case *pb.TriggerCheckpointRequest:
		if r := k.runOf(q.JobId); r != nil && call.Method == gateway.TriggerCheckpoint.Name {
			if q.Checkpoint < r.triggered || q.Checkpoint > r.drawn {
				k.broken("9", "job %s triggers checkpoint %d after %d; %d is the last id that it drew", q.JobId, q.Checkpoint, r.triggered, r.drawn)
			}
			if q.Checkpoint > r.triggered {
				r.note("checkpoint %d is triggered", q.Checkpoint)
			}
			r.triggered = q.Checkpoint
			k.c.springs(triggered, r, nil)
		}
	case *pb.NotifyCheckpointRequest:
		if r := k.runOf(q.JobId); r != nil && q.Complete && call.Method == gateway.NotifyCheckpoint.Name {
			if r.cuts[q.Checkpoint] == nil {
				k.broken("14", "job %s commits checkpoint %d, which is not in the store", q.JobId, q.Checkpoint)
			}
			if q.Checkpoint > r.told {
				r.note("checkpoint %d is told to be complete", q.Checkpoint)
			}
			r.told = max(r.told, q.Checkpoint)
			k.c.springs(notified, r, nil)
		}
	}
}

func (k *checks) runOf(job string) *run {
	var id ident.JobID
	if id.UnmarshalText([]byte(job)) != nil {
		return nil
	}
	return k.c.checkpoints.runOf(id)
}

// heardAck notes an acknowledgement just before its JobMaster takes it.
func (k *checks) heardAck(w *watched, call rpc.Call, q *pb.AcknowledgeCheckpointRequest) {
	r := k.c.checkpoints.runOf(w.graph.Job)
	attempt, err := ident.ParseAttempt(q.Attempt)
	if r == nil || err != nil || call.Fence != w.master.Term() {
		return
	}
	m, err := snapshot.Decode(q.State, "")
	if err != nil {
		k.broken("10", "the acknowledgement of checkpoint %d by %s cannot be read: %v", q.Checkpoint, q.Attempt, err)
		return
	}
	for h := range m.Handles() {
		r.heard[h.Location] = k.c.master.proc.Life()
	}
	if r.cuts[q.Checkpoint] == nil {
		r.acks[q.Checkpoint] = append(r.acks[q.Checkpoint], heardAck{attempt, m})
	}
}

// watchRestored checks what a task is deployed with (11): something that is in the
// store, not older than what was told to be complete.
func (k *checks) watchRestored(r *run, attempt ident.AttemptID, state []byte) {
	id := int64(0)
	if len(state) > 0 {
		m, err := snapshot.Decode(state, "")
		if err != nil {
			k.broken("11", "%s is deployed with a state that cannot be read: %v", attempt, err)
			return
		}
		id = m.Checkpoint
	}
	r.note("%.4s/%d begins with checkpoint %d", attempt.Vertex, attempt.Subtask, id)
	if id > 0 && id < r.told && r.tornAbove(id) {
		r.spoilt = true
		k.met["older checkpoints restored"]++
	}
	switch {
	case id < r.told && (!r.spoilt || id == 0): // it never begins empty
		k.broken("11", "%s begins with checkpoint %d, and %d was told to be complete", attempt, id, r.told)
	case id > r.newest:
		k.broken("11", "%s begins with checkpoint %d, and the newest is %d", attempt, id, r.newest)
	case id > 0 && !r.entered[id]:
		k.broken("11", "%s begins with checkpoint %d, which is not in the store", attempt, id)
	}
	if id > 0 {
		k.met["tasks that began with a checkpoint"]++
		r.told = max(r.told, id) // who begins with it commits what waited for it
	}
}

// tornAbove reports whether a file of a newer checkpoint was torn.
func (r *run) tornAbove(id int64) bool {
	s := r.c.checkpoints.shelf
	for newer, cut := range r.cuts { // order: whether there is one
		if newer <= id {
			continue
		}
		for _, at := range cut.files {
			if s.torn[at] {
				return true
			}
		}
	}
	for at := range s.torn { // order: whether there is one
		if strings.Contains(string(at), r.job.id.String()) && at.Base() == snapshot.MetadataName {
			return true
		}
	}
	return false
}

// watchDeleted checks that no file is deleted of a checkpoint that is in a store
// (12).
func (k *checks) watchDeleted(at fs.Location) {
	for _, r := range k.c.checkpoints.runs {
		if _, mine := at.Under(r.dir); !mine || r.dir == "" {
			continue
		}
		for id := range r.entered { // order: the first report counts, and there is mostly one
			for _, f := range r.cuts[id].files {
				if f == at {
					k.broken("12", "%s is deleted, a file of checkpoint %d, which is in the store", at, id)
				}
			}
			if at == r.checkpoint(id).Join(snapshot.MetadataName) {
				k.broken("12", "%s is deleted, and checkpoint %d is in the store", at, id)
			}
		}
	}
}

// deployedWith notes whose attempt it is.
func (k *checks) deployedWith(attempt ident.AttemptID, d *pb.TaskDeployment) {
	r := k.runOf(d.JobId)
	if r == nil {
		return
	}
	k.c.checkpoints.graphs[attempt.Graph], r.outcome.graph = r, attempt.Graph
	k.watchRestored(r, attempt, d.Restore)
}

// ended notes that a job has ended for good. It is not submitted again where its
// checkpoints would be found.
func (s *checkpoints) ended(id ident.JobID, state status.Job) {
	if r := s.runOf(id); r != nil && state.GloballyTerminal() {
		r.over, r.job.gone = true, s.lasting
	}
}
