package state

import (
	"time"

	"github.com/weirstream/weir/internal/codec"
)

// Kind is the kind of a state.
type Kind uint8

// The kinds of state. Their numbers are in snapshots and never change.
const (
	KindValue Kind = iota + 1
	KindList
	KindMap
	KindReducing
	KindAggregating
	KindSliced
	KindEventTimers
	KindProcessingTimers
)

// A Descriptor says what a state is. It is in the header of each snapshot.
type Descriptor struct {
	Name      string
	Kind      Kind
	Namespace codec.Schema // empty: the state has no namespaces
	UserKey   codec.Schema // of KindMap
	Value     codec.Schema // of the value, element, accumulator; empty for timers
	TTL       TTL
}

// TTL is how long a state lives after it was last touched, in processing time.
// The zero TTL keeps it for ever. In a list each element lives by itself, and so
// does each entry of a map.
type TTL struct {
	Duration   time.Duration
	Update     Update
	Visibility Visibility
}

// Update says what keeps a state alive.
type Update uint8

// OnCreateAndWrite is the default.
const (
	OnCreateAndWrite Update = iota
	OnReadAndWrite
)

// Visibility says whether a state that has expired is still given when it has
// not been cleaned up yet.
type Visibility uint8

// NeverReturnExpired is the default.
const (
	NeverReturnExpired Visibility = iota
	ReturnExpiredIfNotCleanedUp
)

// An Option changes a state that is opened.
type Option func(*spec)

type spec struct {
	ttl TTL
	in  *namespace
}

// WithTTL gives the state a time to live.
func WithTTL(t TTL) Option { return func(s *spec) { s.ttl = t } }

// In gives the state a value for each key and each value of the namespace,
// rather than one for each key.
func In[N comparable](n *Namespace[N]) Option { return func(s *spec) { s.in = &n.namespace } }

// A Namespace is a second key, for example a window, that several states of a
// backend share. As with the key, states work on the one that was last set.
type Namespace[N comparable] struct{ namespace }

type namespace struct{}

// NewNamespace returns a namespace of the backend. It fails when N cannot be a
// key.
func NewNamespace[N comparable](b *Backend) (*Namespace[N], error) { panic("state") }

// Set makes n the current namespace.
func (ns *Namespace[N]) Set(n N) { panic("state") }

// Current returns the current namespace.
func (ns *Namespace[N]) Current() N { panic("state") }
