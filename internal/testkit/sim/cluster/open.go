package cluster

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// leaveOpen lets half of the jobs it is given leave the parallelism of some of
// their vertices open, at most what it was; all their exchanges become blocking.
// It draws from the job's id, so that nothing else of a world depends on it.
func leaveOpen(g *jobgraph.Graph) {
	r := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(g.Job.ID[:]), binary.LittleEndian.Uint64(g.Job.ID[8:])))
	if r.IntN(2) == 0 {
		return
	}
	byID := map[ident.VertexID]*jobgraph.Vertex{}
	for _, v := range g.Vertices {
		byID[v.ID] = v
		for _, set := range v.Produces {
			set.Type = jobgraph.Blocking
		}
		if r.IntN(4) > 0 {
			v.MaxParallelism, v.Parallelism = v.Parallelism, 0
		}
		for _, e := range v.Inputs {
			from := byID[e.Source]
			switch {
			case e.Distribution == jobgraph.AllToAll && r.IntN(4) == 0:
				e.Ship = "BROADCAST"
			case e.Distribution == jobgraph.Pointwise && len(v.Inputs) == 1 && v.Undecided() && from.Undecided() && r.IntN(2) == 0:
				e.Ship, v.MaxParallelism = execgraph.Forward, from.MaxParallelism
			}
		}
	}
	settings := maps.Clone(g.Configuration)
	if settings == nil {
		settings = map[string]string{}
	}
	settings["execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task"] = "100 bytes"
	settings["execution.batch.adaptive.auto-parallelism.default-source-parallelism"] = fmt.Sprint(1 + r.IntN(4))
	g.Configuration = settings
}

// sizesOf makes up how much a task has produced: another attempt makes up
// something else.
func sizesOf(attempt ident.AttemptID, partitions []*pb.PartitionDeployment) []*pb.PartitionSizes {
	h := fnv.New64a()
	h.Write([]byte(attempt.String()))
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	var all []*pb.PartitionSizes
	for _, p := range partitions {
		sizes := &pb.PartitionSizes{}
		for range p.Subpartitions {
			sizes.Bytes = append(sizes.Bytes, r.Int64N(80))
		}
		all = append(all, sizes)
	}
	return all
}

// A reading is which subpartitions of a producer a subtask reads.
type reading struct {
	set      string
	producer int
	consumer int
}

// watchLayout checks that what was decided while the job runs stays as it is.
func (k *checks) watchLayout(before, now *execgraph.VertexView) {
	switch {
	case before == nil || before.Parallelism == now.Parallelism:
	case before.Parallelism != 0:
		k.broken("layout", "vertex %s had parallelism %d and has %d", now.Name, before.Parallelism, now.Parallelism)
	default:
		k.met["parallelisms decided while a job ran"]++
	}
}

// watchReads checks of a deployment that its subtask reads what it has always
// read, and that no other reads the same, unless all read everything.
func (k *checks) watchReads(w *watched, attempt ident.AttemptID, d *pb.TaskDeployment) {
	vertex := vertexOf(w.graph, attempt.Vertex)
	if vertex == nil || !vertex.Undecided() {
		return
	}
	if w.reads == nil {
		w.reads = map[reading]execgraph.Share{}
	}
	for i, g := range d.Gates {
		channels, err := gateway.Channels(g)
		if err != nil {
			k.broken("layout", "attempt %s is deployed with a gate that cannot be read: %v", attempt, err)
			return
		}
		alike := execgraph.Alike(vertex.Inputs[i].Ship)
		for _, c := range channels {
			producer, err := ident.ParseAttempt(c.Producer)
			if err != nil {
				k.broken("layout", "attempt %s reads %q: %v", attempt, c.Producer, err)
				return
			}
			at := reading{g.DataSet, producer.Subtask, attempt.Subtask}
			share := execgraph.Share{First: int(c.Subpartition), Count: int(c.Subpartitions)}
			if before, known := w.reads[at]; known && before != share {
				k.broken("layout", "subtask %d of %s read the subpartitions %v of subtask %d, and reads %v", at.consumer, vertex.Name, before, at.producer, share)
			}
			for other := range int(d.Parallelism) {
				o, known := w.reads[reading{g.DataSet, producer.Subtask, other}]
				if known && !alike && other != attempt.Subtask && o.First < share.First+share.Count && share.First < o.First+o.Count {
					k.broken("layout", "subtasks %d and %d of %s both read of the subpartitions %v and %v of subtask %d", other, at.consumer, vertex.Name, o, share, at.producer)
				}
			}
			w.reads[at] = share
		}
	}
}

// watchCovered checks of a job that has finished that everything that was
// produced for a vertex whose parallelism was open was read.
func (k *checks) watchCovered(w *watched, v *execgraph.View) {
	if v.State != status.JobFinished {
		return
	}
	for i, vertex := range w.graph.Vertices {
		if !vertex.Undecided() {
			continue
		}
		for _, e := range vertex.Inputs {
			producers, consumers := len(v.Vertices[indexOf(w.graph, e.Source)].Subtasks), len(v.Vertices[i].Subtasks)
			want := wantRead(e, vertex, producers, consumers)
			for p := range producers {
				read := 0
				for c := range consumers {
					read += w.reads[reading{e.DataSet.String(), p, c}].Count
				}
				if read != want {
					k.broken("layout", "of subtask %d before %s %d subpartitions were read, want %d", p, vertex.Name, read, want)
				}
			}
		}
	}
}

// wantRead is how many subpartitions of one producer all consumers read together.
func wantRead(e *jobgraph.Edge, consumer *jobgraph.Vertex, producers, consumers int) int {
	switch {
	case e.Ship == "BROADCAST":
		return consumers
	case e.Ship == execgraph.Forward:
		return 1
	case e.Distribution == jobgraph.AllToAll:
		return consumer.MaxParallelism
	}
	return (consumer.MaxParallelism + producers - 1) / producers
}

func vertexOf(g *jobgraph.Graph, id ident.VertexID) *jobgraph.Vertex {
	if i := indexOf(g, id); i >= 0 {
		return g.Vertices[i]
	}
	return nil
}

func indexOf(g *jobgraph.Graph, id ident.VertexID) int {
	for i, v := range g.Vertices {
		if v.ID == id {
			return i
		}
	}
	return -1
}
