package jobmaster

import (
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// jobMessage is the job as its workers need it.
func jobMessage(g *jobgraph.Graph) *pb.Job {
	job := &pb.Job{
		JobId: g.Job.String(), Name: g.Name, GraphHash: g.Hash(),
		Artifact: g.Artifact.SHA256, ArtifactName: g.Artifact.Name, Arguments: g.Artifact.Arguments,
		Configuration: g.Configuration,
	}
	for _, o := range g.Operators() {
		job.Operators = append(job.Operators, &pb.OperatorDigest{Name: o.Name, Digest: o.Digest})
	}
	return job
}

// deploymentMessage is an attempt as its TaskManager needs it.
func deploymentMessage(d execgraph.Deployment, job *pb.Job) *pb.TaskDeployment {
	t := &pb.TaskDeployment{
		JobId: job.JobId, Attempt: d.Attempt.String(), VertexName: d.VertexName, AllocationId: d.Slot.Allocation.String(),
		Parallelism: int32(d.Parallelism), MaxParallelism: int32(d.MaxParallelism), Job: job,
	}
	for _, g := range d.Gates {
		gate := &pb.GateDeployment{DataSet: g.DataSet.String(), Distribution: string(g.Distribution), Blocking: g.Blocking}
		for _, c := range g.Channels {
			gate.Channels = append(gate.Channels, &pb.ChannelDeployment{
				Producer: c.Producer.String(), Subpartition: int32(c.Subpartition),
				ResourceId: string(c.Slot.TaskManager), DataAddresses: c.Slot.DataAddresses,
			})
		}
		t.Gates = append(t.Gates, gate)
	}
	for _, p := range d.Partitions {
		t.Partitions = append(t.Partitions, &pb.PartitionDeployment{DataSet: p.DataSet.String(), Subpartitions: int32(p.Subpartitions), Blocking: p.Blocking})
	}
	return t
}
