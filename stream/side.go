package stream

import (
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/streamgraph"
)

// A SideOutput names an output of an operation besides its main one, with records
// of a type of its own. It is made once, outside the functions that use it: two of
// the same name are two outputs. It is Flink's OutputTag.
type SideOutput[T any] struct{ tag *sideTag }

type sideTag struct{ name string }

// NewSideOutput makes a side output. The name is for people.
func NewSideOutput[T any](name string) SideOutput[T] {
	return SideOutput[T]{tag: &sideTag{name: name}}
}

// SideOutput gives the records that the operation that made s sends to o: none if
// it never does. Records that are sent to a side output which nothing reads are
// dropped.
func (s DataStream[T]) SideOutput[S any](o SideOutput[S]) DataStream[S] {
	n := s.node("SideOutput")
	if o.tag == nil {
		s.env.problem(callSite(), "SideOutput: make it with NewSideOutput")
		o = NewSideOutput[S]("")
	}
	for _, side := range n.Sides {
		if side.Tag == o.tag {
			return sideStream[S](s.env, n, side)
		}
	}
	side := &streamgraph.Side{Tag: o.tag, Name: o.tag.name, Stream: operator.NewStream[S]()}
	n.Sides = append(n.Sides, side)
	return sideStream[S](s.env, n, side)
}

func sideStream[S any](e *Env, n *streamgraph.Node, side *streamgraph.Side) DataStream[S] {
	return DataStream[S]{env: e, inputs: []input{{node: n, side: side, implicit: true}}, stream: side.Stream.(*operator.StreamOf[S])}
}
