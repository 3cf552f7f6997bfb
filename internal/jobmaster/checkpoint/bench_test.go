package checkpoint

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/record"
	"github.com/weirstream/weir/internal/status"
)

// BenchmarkCheckpoint is one checkpoint of a job of three vertices, each task with
// a file of its own, from its request to its completion.
func BenchmarkCheckpoint(b *testing.B) {
	for _, parallelism := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("tasks=%d", 3*parallelism), func(b *testing.B) {
			graph := parseGraph(b, fmt.Sprintf("src %d\nmap %d <- src:all\nsink %d <- map:all", parallelism, parallelism, parallelism))
			c := New(Options{Timeout: time.Minute, MaxConcurrent: 1, Retained: 1, Directory: "mem:/ckpt", AfterFinish: true, Incremental: true, History: 10}, graph)
			now := time.Unix(1000, 0)
			c.Apply(Recover{}, now)
			c.Apply(JobStatus{State: status.JobRunning}, now)
			var attempts []ident.AttemptID
			for _, v := range graph.Vertices {
				for s := range parallelism {
					a := ident.AttemptID{Vertex: v.ID, Subtask: s}
					attempts = append(attempts, a)
					c.Apply(TaskStatus{Attempt: a, State: status.Running}, now)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				id := c.lastID + 1
				c.Apply(Request{ID: RequestID(id)}, now)
				c.Apply(IDDrawn{Serial: c.serial, Checkpoint: id}, now)
				for _, a := range attempts {
					file := snapshot.Handle{Location: c.directory().Join("shared", fmt.Sprintf("%d-%s", id, a)), Length: 10}
					state := snapshot.SubtaskState{Keyed: []snapshot.KeyedState{{Last: 127, Files: []snapshot.KeyedFile{{Handle: file}}}}}
					c.Apply(Ack{Checkpoint: id, Attempt: a, Figures: record.Figures{State: 10},
						States: []TaskState{{Operator: ident.OperatorID(a.Vertex), State: state}}}, now)
				}
				c.Apply(MetadataWritten{Checkpoint: id}, now)
				for _, e := range c.Apply(Stored{Checkpoint: id}, now) {
					if d, ok := e.(Discard); ok {
						c.Apply(Discarded{Discard: d.ID}, now)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(attempts)), "µs/task")
			if c.newest() == 0 {
				b.Fatal("none was completed")
			}
		})
	}
}
