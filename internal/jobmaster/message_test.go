package jobmaster

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// However a gate's channels are written down, its worker reads the same ones.
func TestManyChannelsAreReadAsTheyAre(t *testing.T) {
	d := newDescriber(twoVertices(2))
	places := []*execgraph.Slot{{TaskManager: "one", DataAddresses: []string{"unix:a", "a:1"}}, {TaskManager: "two", DataAddresses: []string{"b:1"}}}
	gate := func(n, subpartition int) *execgraph.Gate {
		g := &execgraph.Gate{DataSet: ident.DataSetID{ID: ident.ID{3}}, Distribution: "ALL_TO_ALL"}
		for i := range n {
			g.Channels = append(g.Channels, execgraph.Channel{Share: execgraph.Share{First: subpartition, Count: 2}, Slot: places[i/3%2],
				Producer: ident.AttemptID{Graph: ident.GraphID{ID: ident.ID{7}}, Vertex: ident.VertexID{ID: ident.ID{1}}, Subtask: i}})
		}
		return g
	}
	again, moved, mixed := gate(manyChannels, 5), gate(manyChannels, 6), gate(manyChannels, 7)
	again.Channels[2].Producer.Attempt = 3
	moved.Channels[2].Slot = places[1]
	mixed.Channels[4].First++
	for _, one := range []struct {
		name string
		gate *execgraph.Gate
		list bool // the producers are encoded
	}{
		{"few", gate(manyChannels-1, 1), false}, {"many", gate(manyChannels, 2), true}, {"the same of another consumer", gate(manyChannels, 3), true},
		{"more", gate(3*manyChannels, 4), true}, {"a second attempt", again, true}, {"another place", moved, true}, {"different subpartitions", mixed, false},
	} {
		m := d.gate(one.gate)
		if list := len(m.Producers) > 0; list != one.list {
			t.Errorf("%s: a list of producers: %v", one.name, list)
		}
		read, err := gateway.Channels(m)
		if err != nil || len(read) != len(one.gate.Channels) {
			t.Fatalf("%s: %d channels, error %v", one.name, len(read), err)
		}
		for i, c := range one.gate.Channels {
			want := &pb.ChannelDeployment{Producer: c.Producer.String(), Subpartition: int32(c.First), Subpartitions: int32(c.Count),
				ResourceId: string(c.Slot.TaskManager), DataAddresses: c.Slot.DataAddresses}
			if !proto.Equal(read[i], want) {
				t.Errorf("%s: channel %d\n got %v\nwant %v", one.name, i, read[i], want)
			}
		}
	}
}

// A job that is deployed as a whole is told of the same producers by all its
// consumers.
func TestALargeJobIsDeployed(t *testing.T) {
	const p = 3 * manyChannels
	w := newWorld()
	rm := w.resourceManager()
	a, b := rm.taskExecutor("te1", p/2), rm.taskExecutor("te2", p/2)
	m, _ := w.start(t, twoVertices(p), nil)
	w.pass(time.Second)
	v := m.View()
	expect(t, "running", v.Tasks()[status.Running], 2*p)
	for _, d := range append(a.deployed, b.deployed...) {
		for _, g := range d.Gates {
			all, err := gateway.Channels(g)
			if err != nil {
				t.Fatal(err)
			}
			producers := map[string]bool{}
			for _, c := range all {
				producers[fmt.Sprint(c.Producer, c.ResourceId, c.DataAddresses)] = true
			}
			expect(t, "producers of "+d.Attempt, len(producers), p)
		}
	}
}
