package jobmaster

import (
	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// jobMessage is the job as its workers need it.
func jobMessage(g *jobgraph.Graph) *pb.Job {
	job := &pb.Job{
		JobId: g.Job.String(), Name: g.Name, GraphHash: g.Hash(),
		Artifact: g.Artifact.SHA256, ArtifactName: g.Artifact.Name, Arguments: g.Artifact.Arguments,
		Configuration: g.Configuration, Plan: g.Plan,
	}
	for _, o := range g.Operators() {
		job.Operators = append(job.Operators, &pb.OperatorDigest{Name: o.Name, Digest: o.Digest})
	}
	return job
}

// A describer writes attempts down as their TaskManagers need them.
type describer struct {
	job *pb.Job
	// lists are the producers last written down of each data set: the next
	// consumer mostly has the same.
	lists map[ident.DataSetID]*producerList
}

func newDescriber(g *jobgraph.Graph) *describer {
	return &describer{job: jobMessage(g), lists: map[ident.DataSetID]*producerList{}}
}

// deployment is an attempt as its TaskManager needs it.
func (m *describer) deployment(d execgraph.Deployment) *pb.TaskDeployment {
	t := &pb.TaskDeployment{
		JobId: m.job.JobId, Attempt: d.Attempt.String(), VertexName: d.VertexName, AllocationId: d.Slot.Allocation.String(),
		Parallelism: int32(d.Parallelism), MaxParallelism: int32(d.MaxParallelism), Job: m.job,
		FirstKeyGroup: int32(d.KeyGroups.First), KeyGroups: int32(d.KeyGroups.Count),
	}
	for _, g := range d.Gates {
		t.Gates = append(t.Gates, m.gate(&g))
	}
	for _, p := range d.Partitions {
		t.Partitions = append(t.Partitions, &pb.PartitionDeployment{DataSet: p.DataSet.String(), Subpartitions: int32(p.Subpartitions), Blocking: p.Blocking, MaxParallelism: int32(p.MaxParallelism)})
	}
	return t
}

// manyChannels is from how many channels on a gate is written as a list of
// producers, for which it pays to look whether the last one was the same.
const manyChannels = 8

func (m *describer) gate(g *execgraph.Gate) *pb.GateDeployment {
	gate := &pb.GateDeployment{DataSet: g.DataSet.String(), Distribution: string(g.Distribution), Blocking: g.Blocking}
	if len(g.Channels) < manyChannels || !uniform(g.Channels) {
		for _, c := range g.Channels {
			gate.Channels = append(gate.Channels, &pb.ChannelDeployment{
				Producer: c.Producer.String(), Subpartition: int32(c.First), Subpartitions: int32(c.Count),
				ResourceId: string(c.Slot.TaskManager), DataAddresses: c.Slot.DataAddresses,
			})
		}
		return gate
	}
	list := m.lists[g.DataSet]
	if list == nil || !list.names(g.Channels) {
		list = listProducers(g.Channels)
		m.lists[g.DataSet] = list
	}
	gate.Producers, gate.Subpartition, gate.Subpartitions = list.encoded, int32(g.Channels[0].First), int32(g.Channels[0].Count)
	return gate
}

// uniform reports whether the channels differ in nothing but the subtask that
// produces and where it runs.
func uniform(channels []execgraph.Channel) bool {
	first := &channels[0]
	for i := range channels {
		c := &channels[i]
		if c.Share != first.Share || c.Producer.Graph != first.Producer.Graph || c.Producer.Vertex != first.Producer.Vertex {
			return false
		}
	}
	return true
}

// A producerList is some attempts of one vertex, encoded with where they run.
type producerList struct {
	channels []execgraph.Channel
	encoded  []byte
}

// names reports whether the list has these producers, where they run now.
func (l *producerList) names(channels []execgraph.Channel) bool {
	if len(channels) != len(l.channels) {
		return false
	}
	for i := range channels {
		if a, b := &channels[i], &l.channels[i]; a.Slot != b.Slot || a.Producer.Subtask != b.Producer.Subtask || a.Producer.Attempt != b.Producer.Attempt {
			return false
		}
	}
	return true
}

func listProducers(channels []execgraph.Channel) *producerList {
	first := &channels[0].Producer
	m := &pb.ProducerList{Graph: first.Graph.String(), Vertex: first.Vertex.String()}
	again := false // some producer is not the first attempt
	places := map[ident.ResourceID]int32{}
	for i := range channels {
		c := &channels[i]
		again = again || c.Producer.Attempt != 0
		place, known := places[c.Slot.TaskManager]
		if !known {
			place = int32(len(m.TaskManagers))
			places[c.Slot.TaskManager] = place
			m.TaskManagers = append(m.TaskManagers, &pb.ProducerPlace{ResourceId: string(c.Slot.TaskManager), DataAddresses: c.Slot.DataAddresses})
		}
		m.Subtasks = append(m.Subtasks, int32(c.Producer.Subtask))
		m.Places = append(m.Places, place)
	}
	if again {
		for i := range channels {
			m.Attempts = append(m.Attempts, int32(channels[i].Producer.Attempt))
		}
	}
	encoded, err := proto.Marshal(m)
	invariant.Check(err == nil, "a list of producers cannot be encoded: %v", err)
	return &producerList{channels: channels, encoded: encoded}
}
