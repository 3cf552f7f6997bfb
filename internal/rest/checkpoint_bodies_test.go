package rest

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/record"
	"github.com/weirstream/weir/internal/testkit/recorded"
)

// recordedBody gives the body of a genuine Flink's answer.
func recordedBody(t *testing.T, name string) jsontext.Value {
	t.Helper()
	for _, r := range recorded.Load(t) {
		if r.Name == name {
			return r.Response.Body
		}
	}
	t.Fatalf("there is no recording %q", name)
	return nil
}

// equalBodies holds a body to a recorded one, byte for byte but for the order of
// fields, and for numbers that are written otherwise.
func equalBodies(t *testing.T, what string, body any, want jsontext.Value) {
	t.Helper()
	got, err := encode(body)
	if err != nil {
		t.Fatal(err)
	}
	canonical := func(v jsontext.Value) string {
		v = jsontext.Value(string(v))
		if err := v.Canonicalize(); err != nil {
			t.Fatal(err)
		}
		return string(v)
	}
	if g, w := canonical(got), canonical(want); g != w {
		t.Errorf("%s\n got %s\nwant %s", what, g, w)
	}
}

// A replay tells a tracker what the recorded checkpoints were.
type replay struct {
	t       *testing.T
	tracker *record.Tracker
}

// recordedCheckpoint is what a replay needs of an entry of a recorded history.
type recordedCheckpoint struct {
	ID        int64   `json:"id"`
	Status    string  `json:"status"`
	Savepoint bool    `json:"is_savepoint"`
	Format    *string `json:"savepointFormat"`
	Triggered int64   `json:"trigger_timestamp"`
	LatestAck int64   `json:"latest_ack_timestamp"`
	Size      int64   `json:"checkpointed_size"`
	Processed int64   `json:"processed_data"`
	Subtasks  int     `json:"num_subtasks"`
	Path      string  `json:"external_path"`
	Discarded bool    `json:"discarded"`
	FailedAt  int64   `json:"failure_timestamp"`
	Message   string  `json:"failure_message"`
}

func (r *replay) checkpoint(c recordedCheckpoint) {
	kind, format := snapshot.Checkpoint, snapshot.Canonical
	if c.Savepoint {
		kind = snapshot.Savepoint
	}
	if c.Format != nil && *c.Format == "NATIVE" {
		format = snapshot.Native
	}
	part := record.Part{Vertex: vertexID(1)}
	for i := range c.Subtasks {
		part.Subtasks = append(part.Subtasks, i)
	}
	r.tracker.Begin(c.ID, kind, format, []record.Part{part}, time.UnixMilli(c.Triggered))
	if c.Status == "FAILED" {
		r.tracker.Fail(c.ID, c.Message, time.UnixMilli(c.FailedAt))
		return
	}
	for i := range c.Subtasks {
		f := record.Figures{}
		if i == 0 { // one has all
			f = record.Figures{Checkpointed: c.Size, State: c.Size, Processed: c.Processed}
		}
		r.tracker.Ack(c.ID, part.Vertex, i, f, time.UnixMilli(c.LatestAck))
	}
	at := c.Path
	if strings.HasPrefix(at, "<") {
		at = ""
	}
	r.tracker.Complete(c.ID, fs.Location(at))
	if c.Discarded {
		r.tracker.Discard(c.ID)
	}
}

// Where the recorded history is whole, the answer is the recorded one: counts,
// percentiles, latest ones, entries.
func TestCheckpointsAreAnsweredAsRecorded(t *testing.T) {
	for _, name := range []string{
		"restored-checkpoints", "adaptive-running-checkpoints", "adaptive-rescaled-checkpoints", "canceled-checkpoints",
		"drain-checkpoints", "spcancel-checkpoints", "nockpt-checkpoints", "stream-start-checkpoints",
	} {
		want := recordedBody(t, name)
		var body struct {
			Counts struct {
				Restored, Completed, Failed int
			} `json:"counts"`
			Latest struct {
				Restored *struct {
					ID        int64  `json:"id"`
					At        int64  `json:"restore_timestamp"`
					Savepoint bool   `json:"is_savepoint"`
					Path      string `json:"external_path"`
				} `json:"restored"`
			} `json:"latest"`
			History []recordedCheckpoint `json:"history"`
		}
		if err := json.Unmarshal(want, &body, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r := &replay{t, record.NewTracker(10, record.Settings{})}
		failed := 0
		for i := range body.History {
			c := body.History[len(body.History)-1-i]
			r.checkpoint(c)
			if c.Status == "FAILED" {
				failed++
			}
		}
		for range body.Counts.Failed - failed {
			r.tracker.FailEarly()
		}
		if restored := body.Latest.Restored; restored != nil {
			kind := snapshot.Checkpoint
			if restored.Savepoint {
				kind = snapshot.Savepoint
			}
			r.tracker.Restore(record.Restored{ID: restored.ID, Kind: kind, At: time.UnixMilli(restored.At), Location: fs.Location(restored.Path)})
		}
		if len(body.History) < body.Counts.Completed+failed {
			t.Fatalf("%s: its history is not whole", name)
		}
		equalBodies(t, name, checkpointsBody(r.tracker.View()), want)
	}
}

func TestCheckpointDetailsAreAnsweredAsRecorded(t *testing.T) {
	at := func(millis int64) time.Time { return time.UnixMilli(1795970634972 + millis) }
	vertex := func(text string) (v ident.VertexID) {
		if err := v.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return v
	}
	source, sum := vertex("cbc357ccb763df2852fee8c4fc7d55f2"), vertex("c27dcf7b54ef6bfd6cff02ca8870b681")
	both := []int{0, 1}
	tracker := record.NewTracker(10, record.Settings{})
	tracker.Begin(43, snapshot.Checkpoint, snapshot.Canonical, []record.Part{{Vertex: source, Subtasks: both}, {Vertex: sum, Subtasks: both}}, at(0))
	millis := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	tracker.Ack(43, source, 0, record.Figures{StartDelay: millis(6)}, at(16))
	tracker.Ack(43, source, 1, record.Figures{StartDelay: millis(8)}, at(16))
	tracker.Ack(43, sum, 0, record.Figures{StartDelay: millis(8), Alignment: millis(3), Checkpointed: 4798, State: 4798}, at(18))
	tracker.Ack(43, sum, 1, record.Figures{StartDelay: millis(7), Alignment: millis(4), Async: millis(3), Checkpointed: 4798, State: 4798}, at(18))
	tracker.Complete(43, "file:/data/ckpt/5aa59ddca82f84a61b9501058f7b7344/chk-43")
	c := tracker.View().Find(43)
	equalBodies(t, "details", checkpointBody(c, true), recordedBody(t, "streamop-checkpoint-details"))
	equalBodies(t, "source", checkpointSubtasksBody(c, source), recordedBody(t, "streamop-checkpoint-details-subtasks-v0"))
	equalBodies(t, "sum", checkpointSubtasksBody(c, sum), recordedBody(t, "streamop-checkpoint-details-subtasks-v1"))
	if body := checkpointSubtasksBody(c, vertexID(9)); body != nil {
		t.Errorf("of a vertex that has no part: %v", body)
	}
}

func TestCheckpointConfigIsAnsweredAsRecorded(t *testing.T) {
	base := record.Settings{ExactlyOnce: true, Interval: 2 * time.Second, Timeout: 10 * time.Minute, MaxConcurrent: 1, DeleteOnCancel: true, Backend: "hashmap", AfterFinish: true}
	retained := base
	retained.External, retained.DeleteOnCancel = true, false
	memory := base
	memory.InMemory = true
	none := memory
	none.Interval = 0
	for name, settings := range map[string]record.Settings{
		"canceled-checkpoints-config": base, "stopped-finished-checkpoints-config": retained, "spcancel-checkpoints-config": memory,
		"nockpt-checkpoints-config": none,
	} {
		equalBodies(t, name, checkpointConfigBody(settings), recordedBody(t, name))
	}
}

// Failed, pending and unaligned checkpoints.
func TestCheckpointsOfOtherKinds(t *testing.T) {
	tracker := record.NewTracker(10, record.Settings{})
	part := []record.Part{{Vertex: vertexID(1), Subtasks: []int{0, 1}}}
	tracker.Begin(1, snapshot.SyncSavepoint, snapshot.Native, part, time.UnixMilli(1000))
	tracker.Fail(1, "An Exception occurred while triggering the checkpoint. IO-problem detected.", time.UnixMilli(1007))
	tracker.Begin(2, snapshot.Checkpoint, snapshot.Canonical, part, time.UnixMilli(2000))
	tracker.Ack(2, vertexID(1), 1, record.Figures{Unaligned: true, Persisted: 5}, time.UnixMilli(2010))
	v := tracker.View()
	equalBodies(t, "failed", checkpointBody(v.Failed, false), jsontext.Value(`{"className":"failed","id":1,"status":"FAILED","is_savepoint":true,"savepointFormat":"NATIVE",
		"trigger_timestamp":1000,"latest_ack_timestamp":-1,"checkpointed_size":0,"state_size":0,"end_to_end_duration":7,"alignment_buffered":0,"processed_data":0,"persisted_data":0,
		"num_subtasks":2,"num_acknowledged_subtasks":0,"checkpoint_type":"SYNC_SAVEPOINT","tasks":{},"failure_timestamp":1007,
		"failure_message":"An Exception occurred while triggering the checkpoint. IO-problem detected."}`))
	equalBodies(t, "in progress", checkpointBody(v.Find(2), false), jsontext.Value(`{"className":"in_progress","id":2,"status":"IN_PROGRESS","is_savepoint":false,"savepointFormat":null,
		"trigger_timestamp":2000,"latest_ack_timestamp":2010,"checkpointed_size":0,"state_size":0,"end_to_end_duration":10,"alignment_buffered":0,"processed_data":0,"persisted_data":5,
		"num_subtasks":2,"num_acknowledged_subtasks":1,"checkpoint_type":"UNALIGNED_CHECKPOINT","tasks":{}}`))
	text, err := encode(checkpointSubtasksBody(v.Find(2), vertexID(1)))
	if err != nil || !strings.Contains(string(text), `{"className":"pending","index":0,"status":"pending_or_failed"}`) {
		t.Errorf("%s %v", text, err)
	}
}
