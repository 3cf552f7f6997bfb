package state

import (
	"encoding/binary"
	"fmt"

	"github.com/weirstream/weir/internal/codec"
	"github.com/weirstream/weir/internal/state/disk"
	"github.com/weirstream/weir/internal/state/keygroup"
	"github.com/weirstream/weir/internal/state/memory"
)

// Options says whose state a backend keeps.
type Options struct {
	Operator    string       // the operator's id; it is in the header of snapshots
	First, Last int          // the key groups of the subtask, both inclusive
	Max         int          // the number of all key groups: the maximum parallelism
	Clock       func() int64 // processing time, in milliseconds since 1970; TTL needs it

	// Room is how many bytes the state may take in memory before some of it goes to
	// the disk, and Disk opens that when it is needed; nil: all stays in memory.
	Room int
	Disk func() (disk.Store, error)
	// Pool counts the memory. State that stays in memory fails when there is none
	// left; nil: there is always some.
	Pool *Pool
	// Held, if not nil, is set to the memory that the state takes, now and then.
	Held *int64
}

// A Backend is the keyed state of one subtask of one operator, but for the type
// of its keys: views are opened with it.
type Backend struct {
	options   Options
	kind      keygroup.Kind
	keySchema codec.Schema
	states    []table
	touched   []interface{ touch(hashes []uint64) } // what Prefetch fetches
	names     map[string]bool
	started   bool   // there was a key, so that no state can be opened any more
	number    uint64 // of the newest snapshot
	restoring map[*File][]restorer
	chunk     []byte // scratch of Restore
	// newer is by group, while it is restored, what its newer sections say of states, by
	// name; nil: the group is whole.
	newer map[int]map[string]*newer

	disk    disk.Store  // nil: nothing was ever put there
	view    disk.Reader // of the freeze that is being made; nil: none, or no disk
	tables  uint32      // counts those that may be on the disk
	turn    int         // the group that is put on the disk next
	due     uint64      // the seq at which the memory is looked at
	looked  uint64      // the seq at which it was
	counted int         // bytes that it took then
	beside  int         // bytes that are held beside the state

	key  memory.Key // the current one
	seq  uint64     // counts the keys that were set
	none namespace  // that of states without one, where they need the key's bytes
}

// A table is one state of a backend.
type table interface {
	Descriptor() Descriptor
	bytes() int
	settle()
	// track begins to note which keys change.
	track()
	freeze(number uint64) frozenTable
	// restorer returns what reads blocks of a state that was written so.
	restorer(from written) (restorer, error)
	// evict puts a group on the disk, but for what was used of late.
	evict(group int)
	// owners calls f with the keys of a group, as a Keys makes them or as the bytes
	// that begin with the key's.
	owners(group int, f func(k memory.Key, composed bool) bool) bool
}

// Bytes returns the memory that the state takes.
func (b *Backend) Bytes() int {
	bytes := 0
	for _, s := range b.states {
		bytes += s.bytes()
	}
	return bytes
}

// Descriptors returns the states that were opened, in the order of opening.
func (b *Backend) Descriptors() []Descriptor {
	all := make([]Descriptor, len(b.states))
	for i, s := range b.states {
		all[i] = s.Descriptor()
	}
	return all
}

// KeySchema returns the schema of keys.
func (b *Backend) KeySchema() codec.Schema { return b.keySchema }

// open checks that a state can be opened.
func (b *Backend) open(d Descriptor, in *namespace) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("open state %q of operator %s: %s", d.Name, b.options.Operator, fmt.Sprintf(format, args...))
	}
	switch {
	case d.Name == "":
		return fail("a state needs a name")
	case b.names[d.Name]:
		return fail("a state of this name is open already; names are unique within an operator")
	case b.started:
		return fail("states are opened before the first key is set or restored")
	case d.TTL.Duration < 0:
		return fail("its time to live is %v; allowed are 0, for ever, and more", d.TTL.Duration)
	case d.TTL.millis() > 0 && b.options.Clock == nil:
		return fail("it has a time to live, and the backend was given no clock")
	case in != nil && in.b != b:
		return fail("its namespace belongs to another operator")
	}
	b.names[d.Name] = true
	return nil
}

// Keyed is a Backend whose keys are of type K.
type Keyed[K comparable] struct {
	*Backend
	keys    *memory.Keys[K]
	plan    *codec.Plan[K]
	current K

	// ahead makes batch of the keys of Ready; nil until the first.
	ahead *memory.Keys[K]
	ready []K
	batch memory.Batch
}

// NewKeyed returns an empty backend. It fails when the key groups are not a part
// of [0,Max) or when K cannot be a key.
func NewKeyed[K comparable](o Options) (*Keyed[K], error) {
	fail := func(err error) (*Keyed[K], error) {
		return nil, fmt.Errorf("keep the state of operator %s: %w", o.Operator, err)
	}
	plan, err := keyPlan[K]()
	if err != nil {
		return fail(err)
	}
	keys, err := memory.NewKeys(plan.AppendKey)
	if err != nil {
		return fail(err)
	}
	if _, err := memory.NewCells[struct{}](o.First, o.Last, o.Max, true); err != nil {
		return fail(err)
	}
	b := &Backend{options: o, kind: keys.Kind(), keySchema: plan.Schema(), names: map[string]bool{}, restoring: map[*File][]restorer{}, newer: map[int]map[string]*newer{}}
	b.none.b = b
	return &Keyed[K]{Backend: b, keys: keys, plan: plan}, nil
}

// keyPlan returns the plan of a type that can be a key.
func keyPlan[K comparable]() (*codec.Plan[K], error) {
	plan, err := codec.For[K]()
	if err != nil {
		return nil, err
	}
	return plan, plan.CheckKey()
}

// Hash returns the hash of a key that SetKey wants, which is that of
// keygroup.Hasher.
func (k *Keyed[K]) Hash(key K) uint64 { return k.keys.Hash(key) }

// SetKey makes key the one that views work on. Its key group must be one of the
// backend's. A string must not change until the next key is set.
func (k *Keyed[K]) SetKey(key K, hash uint64) {
	k.keys.Set(&k.key, key, hash)
	k.set(key)
}

// set makes a key the current one, which is in k.key already.
func (k *Keyed[K]) set(key K) {
	k.current = key
	if k.seq++; k.seq >= k.due {
		k.fit()
	}
	k.started = true
}

// Ready is told up to memory.BatchSize keys which Use will set, one after the other.
// It fetches what their values lie in, so that the cache misses of many keys overlap.
// The keys must not change until the next call.
func (k *Keyed[K]) Ready(keys []K) {
	if k.ahead == nil {
		ahead, err := memory.NewKeys(k.plan.AppendKey)
		if err != nil {
			panic(&Error{State: "keys", Err: err}) // the type could be a key before
		}
		k.ahead = ahead
	}
	k.ready, k.batch = keys, k.ahead.Batch(keys)
	for _, s := range k.touched {
		s.touch(k.batch.Hashes())
	}
}

// Use is SetKey of key i of those that Ready was told.
func (k *Keyed[K]) Use(i int) {
	k.key = k.batch.Key(i)
	k.set(k.ready[i])
}

// Of returns the key that a table keeps as m. It does not alias m.
func (k *Keyed[K]) Of(m memory.Key) K {
	key, _ := k.decode(m, false)
	return key
}

// Key returns the current key.
func (k *Keyed[K]) Key() K { return k.current }

// A View is one state of a backend.
type View interface {
	Descriptor() Descriptor
	tables() []table
}

// EachKey calls f with each key that has something in the view, in any
// namespace, until it returns false. The key is then the current one, and f may
// change any state. Keys that appear meanwhile may or may not be met.
func (k *Keyed[K]) EachKey(v View, f func(key K) bool) {
	for group := k.options.First; group <= k.options.Last; group++ {
		var keys []K
		seen := map[K]bool{} // namespaces repeat keys
		for _, t := range v.tables() {
			t.owners(group, func(m memory.Key, composed bool) bool {
				key, _ := k.decode(m, composed)
				if !seen[key] {
					seen[key] = true
					keys = append(keys, key)
				}
				return true
			})
		}
		for _, key := range keys {
			k.SetKey(key, k.Hash(key))
			if !f(key) {
				return
			}
		}
	}
}

// decode returns the key that a table keeps, and what follows its bytes when it is
// composed with others. Nothing aliases the table.
func (k *Keyed[K]) decode(m memory.Key, composed bool) (key K, rest string) {
	switch {
	case k.kind.Integer():
		if composed {
			m.Word, rest = binary.LittleEndian.Uint64([]byte(m.Bytes[:8])), m.Bytes[8:]
		}
		return k.keys.Of(m), rest
	case k.kind == keygroup.String:
		if composed {
			n, size := binary.Uvarint([]byte(m.Bytes[:min(len(m.Bytes), binary.MaxVarintLen64)]))
			m.Bytes, rest = m.Bytes[size:size+int(n)], m.Bytes[size+int(n):]
		}
		return k.keys.Of(m), rest
	}
	decoded := new(K) // rather than key itself, which then no other kind allocates
	left, err := k.plan.DecodeKey(decoded, []byte(m.Bytes))
	if err != nil {
		panic(&Error{State: "keys", Err: err})
	}
	return *decoded, string(left)
}

// appendKey appends the current key's bytes, which are the beginning of those of no
// other key.
func (b *Backend) appendKey(dst []byte) []byte {
	switch {
	case b.kind.Integer():
		return binary.LittleEndian.AppendUint64(dst, b.key.Word)
	case b.kind == keygroup.String:
		dst = binary.AppendUvarint(dst, uint64(len(b.key.Bytes)))
	}
	return append(dst, b.key.Bytes...)
}

// An Error says that a value of a state could not be encoded or decoded.
type Error struct {
	State string
	Err   error
}

// Error names the state and the reason.
func (e *Error) Error() string { return "state " + e.State + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }
