package gateway

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// Channels lists the channels of a gate, however they were written down.
func Channels(g *pb.GateDeployment) ([]*pb.ChannelDeployment, error) {
	if len(g.Producers) == 0 {
		return g.Channels, nil
	}
	bad := func(format string, args ...any) error {
		return fmt.Errorf("producers of data set %s: %s", g.DataSet, fmt.Sprintf(format, args...))
	}
	var list pb.ProducerList
	if err := proto.Unmarshal(g.Producers, &list); err != nil {
		return nil, bad("%v", err)
	}
	attempt := ident.AttemptID{}
	var err error
	if attempt.Graph.ID, err = ident.Parse(list.Graph); err != nil {
		return nil, bad("%v", err)
	}
	if attempt.Vertex.ID, err = ident.Parse(list.Vertex); err != nil {
		return nil, bad("%v", err)
	}
	n := len(list.Subtasks)
	if len(list.Places) != n || len(list.Attempts) != n && len(list.Attempts) != 0 {
		return nil, bad("%d subtasks with %d attempts and %d places", n, len(list.Attempts), len(list.Places))
	}
	all := make([]*pb.ChannelDeployment, n)
	for i, subtask := range list.Subtasks {
		attempt.Subtask, attempt.Attempt = int(subtask), 0
		if len(list.Attempts) > 0 {
			attempt.Attempt = int(list.Attempts[i])
		}
		at := list.Places[i]
		if at < 0 || int(at) >= len(list.TaskManagers) {
			return nil, bad("place %d of %d", at, len(list.TaskManagers))
		}
		place := list.TaskManagers[at]
		all[i] = &pb.ChannelDeployment{Producer: attempt.String(), Subpartition: g.Subpartition, Subpartitions: g.Subpartitions,
			ResourceId: place.ResourceId, DataAddresses: place.DataAddresses}
	}
	return all, nil
}
