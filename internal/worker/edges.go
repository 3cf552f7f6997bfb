package worker

import (
	"fmt"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/network"
	"github.com/weirstream/weir/internal/streamgraph"
	"github.com/weirstream/weir/internal/task"
)

// gates gives the function that opens a deployment's input gates.
func (w *Worker) gates(d *pb.TaskDeployment, chain *streamgraph.Chain) (func(func(), <-chan struct{}) ([]task.Gate, error), error) {
	channels := make([][]network.Channel, len(d.Gates))
	for i, g := range d.Gates {
		all, err := gateway.Channels(g)
		if err != nil {
			return nil, err
		}
		for _, c := range all {
			channel, err := channelOf(g, c)
			if err != nil {
				return nil, err
			}
			channels[i] = append(channels[i], channel)
		}
	}
	return func(wake func(), done <-chan struct{}) ([]task.Gate, error) {
		var gates []task.Gate
		for i, e := range chain.Inputs {
			gate, err := w.shuffle.CreateGate(channels[i], serializer(e), wake, done)
			if err != nil {
				for _, g := range gates {
					g.Close()
				}
				return nil, fmt.Errorf("open the input from %s: %w", e.From.Name, err)
			}
			gates = append(gates, gate)
		}
		return gates, nil
	}, nil
}

func channelOf(g *pb.GateDeployment, c *pb.ChannelDeployment) (network.Channel, error) {
	producer, err := ident.ParseAttempt(c.Producer)
	if err != nil {
		return network.Channel{}, err
	}
	dataSet, err := ident.Parse(g.DataSet)
	if err != nil {
		return network.Channel{}, err
	}
	return network.Channel{
		Partition:     ident.PartitionID{DataSet: ident.DataSetID{ID: dataSet}, Producer: producer},
		Subpartition:  int(c.Subpartition),
		Subpartitions: int(c.Subpartitions),
		Whole:         g.Blocking,
		Resource:      ident.ResourceID(c.ResourceId),
		Addresses:     c.DataAddresses,
	}, nil
}

// partitions gives the function that makes a deployment's result partitions.
func (w *Worker) partitions(d *pb.TaskDeployment, attempt ident.AttemptID, chain *streamgraph.Chain) (func(<-chan struct{}) ([]task.Partition, error), error) {
	ids := make([]ident.PartitionID, len(d.Partitions))
	for i, p := range d.Partitions {
		dataSet, err := ident.Parse(p.DataSet)
		if err != nil {
			return nil, err
		}
		ids[i] = ident.PartitionID{DataSet: ident.DataSetID{ID: dataSet}, Producer: attempt}
	}
	return func(done <-chan struct{}) ([]task.Partition, error) {
		all := make([]task.Partition, 0, len(ids))
		for i, e := range chain.Outputs {
			n := int(d.Partitions[i].Subpartitions)
			if !d.Partitions[i].Blocking {
				all = append(all, w.shuffle.CreatePartition(ids[i], n, serializer(e), done))
				continue
			}
			p, err := w.shuffle.CreateBlockingPartition(ids[i], n, serializer(e), done)
			if err != nil {
				for _, made := range all {
					made.Fail(err)
				}
				return nil, fmt.Errorf("open the output of %s: %w", e.From.Name, err)
			}
			all = append(all, p)
		}
		return all, nil
	}, nil
}

// releaseOutputs gives up what attempts have produced for tasks that read it when
// it is whole.
func (w *Worker) releaseOutputs(r *pb.ReleaseOutputsRequest, reply func(*pb.Empty, error)) {
	for _, text := range r.Attempts {
		attempt, err := ident.ParseAttempt(text)
		if err != nil {
			reply(nil, rpc.Refuse("release outputs: %v", err))
			return
		}
		w.release(attempt)
	}
	reply(&pb.Empty{}, nil)
}

// release gives up the blocking partitions of an attempt.
func (w *Worker) release(attempt ident.AttemptID) {
	chain := w.Compiled.Chains[attempt.Vertex]
	if chain == nil {
		return
	}
	for _, set := range chain.Vertex.Produces {
		if set.Type == jobgraph.Blocking {
			w.shuffle.Release(ident.PartitionID{DataSet: set.ID, Producer: attempt})
		}
	}
}

// serializer gives the maker of serializers for the records of an edge.
func serializer(e *streamgraph.Edge) func() shuffle.Serializer {
	return e.Stream().(operator.Stream).Serializer
}
