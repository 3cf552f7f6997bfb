package state

import (
	"time"
	"unsafe"

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

var kindNames = [...]string{"", "VALUE", "LIST", "MAP", "REDUCING", "AGGREGATING", "SLICED", "EVENT_TIMERS", "PROCESSING_TIMERS"}

// String returns the name of the kind, as VALUE.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// ParseKind finds a kind by its name.
func ParseKind(name string) (Kind, bool) {
	for i, known := range kindNames {
		if i > 0 && known == name {
			return Kind(i), true
		}
	}
	return 0, false
}

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

// millis returns the duration in milliseconds, at least one if it is not zero.
func (t TTL) millis() int64 {
	if t.Duration > 0 {
		return max(1, t.Duration.Milliseconds())
	}
	return 0
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

// NeverReturnExpired is the default. With ReturnExpiredIfNotCleanedUp the read that
// finds an expired state gives it, and removes it.
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

// describe returns the descriptor of a state with these options.
func describe(name string, kind Kind, value codec.Schema, options []Option) (Descriptor, spec) {
	var s spec
	for _, o := range options {
		o(&s)
	}
	d := Descriptor{Name: name, Kind: kind, Value: value, TTL: s.ttl}
	if s.in != nil {
		d.Namespace = s.in.schema
	}
	return d, s
}

// text returns b as a string without copying it.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
