package state

import (
	"fmt"

	"github.com/weirstream/weir/internal/codec"
	"github.com/weirstream/weir/internal/state/memory"
)

// A Namespace is a second key, for example a window, that several states of a
// backend share. As with the key, states work on the one that was last set.
type Namespace[N comparable] struct {
	namespace
	plan    *codec.Plan[N]
	current *N
}

// A namespace composes the current key with a second one.
type namespace struct {
	b      *Backend
	schema codec.Schema
	second []byte     // the bytes of the second key
	key    memory.Key // the composed key, when seq is that of the backend
	buf    []byte     // its bytes
	seq    uint64
}

// NewNamespace returns a namespace of the backend, in which the zero N is current.
// It fails when N cannot be a key.
func NewNamespace[N comparable](b *Backend) (*Namespace[N], error) {
	plan, err := keyPlan[N]()
	if err != nil {
		return nil, fmt.Errorf("make a namespace of operator %s: %w", b.options.Operator, err)
	}
	ns := &Namespace[N]{namespace: namespace{b: b, schema: plan.Schema()}, plan: plan, current: new(N)}
	ns.Set(*ns.current)
	return ns, nil
}

// Set makes n the current namespace.
func (ns *Namespace[N]) Set(n N) {
	*ns.current = n
	ns.second = ns.plan.AppendKey(ns.second[:0], ns.current)
	ns.seq = 0
}

// Current returns the current namespace.
func (ns *Namespace[N]) Current() N { return *ns.current }

// composed returns the current key with the namespace behind. It is valid until
// either changes.
func (ns *namespace) composed() *memory.Key {
	if ns.seq != ns.b.seq || ns.seq == 0 {
		ns.buf = append(ns.b.appendKey(ns.buf[:0]), ns.second...)
		ns.key.Bytes = text(ns.buf)
		ns.key.Hash = memory.HashWithin(ns.b.key.Hash, ns.key.Bytes)
		ns.seq = ns.b.seq
	}
	return &ns.key
}
