package state

// Options says whose state a backend keeps.
type Options struct {
	Operator    string       // the operator's id; it is in the header of snapshots
	First, Last int          // the key groups of the subtask, both inclusive
	Max         int          // the number of all key groups: the maximum parallelism
	Clock       func() int64 // processing time, in milliseconds since 1970; TTL needs it
}

// A Backend is the keyed state of one subtask of one operator, but for the type
// of its keys: views are opened with it.
type Backend struct{}

// Bytes returns the memory that the state takes.
func (b *Backend) Bytes() int { panic("state") }

// Descriptors returns the states that were opened, in the order of opening.
func (b *Backend) Descriptors() []Descriptor { panic("state") }

// Keyed is a Backend whose keys are of type K.
type Keyed[K comparable] struct{ *Backend }

// NewKeyed returns an empty backend. It fails when the key groups are not a part
// of [0,Max) or when K cannot be a key.
func NewKeyed[K comparable](o Options) (*Keyed[K], error) { panic("state") }

// Hash returns the hash of k that SetKey wants, which is that of keygroup.Hasher.
func (k *Keyed[K]) Hash(key K) uint64 { panic("state") }

// SetKey makes key the one that views work on. Its key group must be one of the
// backend's.
func (k *Keyed[K]) SetKey(key K, hash uint64) { panic("state") }

// Key returns the current key.
func (k *Keyed[K]) Key() K { panic("state") }

// A View is one state of a backend.
type View interface{ Descriptor() Descriptor }

// EachKey calls f with each key that has something in the view, in any
// namespace, until it returns false. The key is then the current one, and f may
// change any state. Keys that appear meanwhile may or may not be met.
func (k *Keyed[K]) EachKey(v View, f func(key K) bool) { panic("state") }
