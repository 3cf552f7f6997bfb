package stream

import (
	"github.com/weirstream/weir/internal/codec"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/streamgraph"
	"reflect"
)

func setUID(e *Env, n *streamgraph.Node, uid string) {
	for _, other := range e.graph.Nodes {
		if other != n && uid != "" && other.UID == uid {
			e.problem(callSite(), "UID %q is taken by the operation at %s", uid, other.Site)
		}
	}
	n.UID = uid
}

func setName(n *streamgraph.Node, name string) {
	switch n.Kind {
	case streamgraph.Source:
		n.Name = "Source: " + name
	case streamgraph.Sink:
		n.Name = "Sink: " + name
	case streamgraph.Transform:
		n.Name = name
	}
}

func setParallelism(e *Env, n *streamgraph.Node, p int) {
	switch {
	case p < 1 || p > maxKeyGroups:
		e.problem(callSite(), "Parallelism of %q: got %d, want 1 to %d", n.Name, p, maxKeyGroups)
	case n.MaxAllowed > 0 && p > n.MaxAllowed:
		e.problem(callSite(), "Parallelism of %q: got %d, this operation allows at most %d", n.Name, p, n.MaxAllowed)
	default:
		n.Parallelism = p
	}
}

func setMaxParallelism(e *Env, n *streamgraph.Node, p int) {
	if p < 1 || p > maxKeyGroups {
		e.problem(callSite(), "MaxParallelism of %q: got %d, want 1 to %d", n.Name, p, maxKeyGroups)
		return
	}
	n.MaxParallelism = p
}

// checkKeyType says why K cannot be a key.
func checkKeyType[K comparable]() error {
	if err := codec.CheckKey(reflect.TypeFor[K]()); err != nil {
		return err
	}
	_, err := operator.KeyEncoder[K]()
	return err
}
