package cluster

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/coordinator/files"
	"github.com/weirstream/weir/internal/coordinator/files/split"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// allSplits is how many splits each source with a coordinator has to read.
const allSplits = 7

// longestSplit is how long one takes at most, so that all of them take less than
// maxLife.
const longestSplit = 8 * time.Second

// streamSplits is how many the sources of jobs with checkpoints have.
const streamSplits = 60

// listed are the files of a source: one a split.
func listed(pattern string) []files.Found {
	n := allSplits
	if pattern == streamFiles {
		n = streamSplits
	}
	var all []files.Found
	for i := range n {
		all = append(all, files.Found{Path: fmt.Sprintf("/data/%03d", i), Size: 10})
	}
	return all
}

// The files of sources.
const (
	boundedFiles = "/data/*"
	streamFiles  = "/stream/*"
)

// sourceSpec is what a coordinator is made of.
func sourceSpec(pattern string) string {
	return fmt.Sprintf(`{"patterns":[%q],"splitBytes":10}`, pattern)
}

// A splitReader is a task that asks its coordinator for splits, one after the other.
type splitReader struct {
	task     *task
	operator ident.OperatorID
	sequence int64
}

// sourceOf gives the operator of a task that has a coordinator.
func (c *Cluster) sourceOf(t *task) *jobgraph.Operator {
	for _, j := range c.jobs {
		if j.id.String() != t.job {
			continue
		}
		for _, v := range j.graph.Vertices {
			if v.ID == t.attempt.Vertex && v.Operators[0].Coordinator != nil {
				return v.Operators[0]
			}
		}
	}
	return nil
}

// read lets a task read what its coordinator gives it; one of a bounded job
// finishes when nothing is left.
func (t *task) read(o *jobgraph.Operator) {
	r := &splitReader{task: t, operator: o.ID, sequence: 1}
	r.ask()
}

func (r *splitReader) ask() {
	t, c := r.task, r.task.worker.c
	w := t.worker
	if t.ended {
		return
	}
	payload, err := json.Marshal(split.Request{Sequence: r.sequence})
	if err != nil {
		panic(err)
	}
	request := &pb.OperatorRequest{Attempt: t.attempt.String(), Operator: r.operator.String(), Payload: payload}
	gateway.WorkerRequest.Call(w.proc.System(), w.loop, w.taskExecutor(), ident.LeaderID{}, request, 0, func(answer *pb.OperatorResponse, err error) {
		var response split.Response
		switch {
		case t.ended:
			return
		case errors.Is(err, rpc.ErrTimeout) || errors.Is(err, rpc.ErrUnreachable) || errors.Is(err, rpc.ErrDisconnected):
			c.checks.met["splits asked for again"]++
			w.loop.After(c.ills.span(100*time.Millisecond, 2*time.Second), r.ask)
			return
		case err == nil:
			err = json.Unmarshal(answer.Payload, &response)
		}
		if err != nil {
			t.end(status.Failed, &status.Failure{Kind: status.FailureError, Message: "ask for the next split: " + err.Error()})
			return
		}
		if response.Done {
			if t.bounded {
				t.end(status.Finished, nil)
			}
			return
		}
		c.ills.read[t.attempt] = append(c.ills.read[t.attempt], response.Split.ID)
		r.sequence++
		w.loop.After(c.ills.span(time.Millisecond, longestSplit), r.ask)
	})
}

// watchSplits checks, when a job has finished, that the attempts that count have
// read every split of their source exactly once (13).
func (k *checks) watchSplits(g *jobgraph.Graph, v *execgraph.View) {
	for i, vertex := range g.Vertices {
		if v.State != status.JobFinished || vertex.Operators[0].Coordinator == nil {
			continue
		}
		var read []int
		for s := range v.Vertices[i].Subtasks {
			read = append(read, k.c.ills.read[v.Vertices[i].Subtasks[s].ID]...)
		}
		slices.Sort(read)
		k.met["sources that were read to their end"]++
		if len(read) != allSplits || len(slices.Compact(read)) != allSplits {
			k.broken("13", "job %s is FINISHED, and its source %s has read the splits %v of %d", v.Job, vertex.Name, read, allSplits)
		}
	}
}
