package gateway

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/pb"
)

func TestProducersThatContradictThemselvesAreRefused(t *testing.T) {
	id := ident.ID{1}.String()
	for want, list := range map[string]*pb.ProducerList{
		"want 32 hexadecimal digits, got 0": {Subtasks: []int32{1}},
		"want 32 hexadecimal digits, got 1": {Graph: id, Vertex: "x", Subtasks: []int32{1}},
		"1 subtasks with 0 attempts and 0":  {Graph: id, Vertex: id, Subtasks: []int32{1}},
		"2 subtasks with 1 attempts":        {Graph: id, Vertex: id, Subtasks: []int32{1, 2}, Attempts: []int32{1}, Places: []int32{0, 0}},
		"place 1 of 1":                      {Graph: id, Vertex: id, Subtasks: []int32{1}, Places: []int32{1}, TaskManagers: []*pb.ProducerPlace{{}}},
		"place -1 of 1":                     {Graph: id, Vertex: id, Subtasks: []int32{1}, Places: []int32{-1}, TaskManagers: []*pb.ProducerPlace{{}}},
	} {
		data, err := proto.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if all, err := Channels(&pb.GateDeployment{Producers: data}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v and %d channels", want, err, len(all))
		}
	}
}

func FuzzProducers(f *testing.F) {
	id := ident.ID{1}.String()
	data, err := proto.Marshal(&pb.ProducerList{Graph: id, Vertex: id, Subtasks: []int32{1}, Places: []int32{0}, TaskManagers: []*pb.ProducerPlace{{ResourceId: "a"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := Channels(&pb.GateDeployment{Producers: data})
		if err != nil {
			return
		}
		for _, c := range all {
			if c.Producer == "" {
				t.Error("a channel without a producer")
			}
		}
	})
}
