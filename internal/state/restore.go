package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/weirstream/weir/internal/codec"
	"github.com/weirstream/weir/internal/state/keygroup"
	"github.com/weirstream/weir/internal/state/memory"
)

// A restorer adds what a block holds to a state.
type restorer func(group int, p payload) error

// A Compatibility is what becomes of one state when it is restored.
type Compatibility struct {
	Name    string
	Outcome Outcome
	Reason  string // what changes, or why it is refused
}

// Outcome is what becomes of a state.
type Outcome uint8

// The outcomes. A state that is New has nothing to be restored from, one that is
// Lost is in the snapshot and was not opened.
const (
	Kept Outcome = iota
	Migrated
	New
	Lost
	Refused
)

// String returns the outcome in lower case.
func (o Outcome) String() string {
	return [...]string{"kept", "migrated", "new", "lost", "refused"}[o]
}

// Compare says what becomes of the states of a snapshot in an operator that opens
// these, without reading any: first of those that are opened, in their order, then
// of the others of the snapshot.
func Compare(from Header, key codec.Schema, to []Descriptor) []Compatibility {
	var all []Compatibility
	opened := map[string]bool{}
	for _, d := range to {
		opened[d.Name] = true
		c := Compatibility{Name: d.Name, Outcome: New}
		for _, old := range from.States {
			if old.Name == d.Name {
				c.Outcome, c.Reason = compare(from.Key, key, old, d)
			}
		}
		all = append(all, c)
	}
	for _, old := range from.States {
		if !opened[old.Name] {
			all = append(all, Compatibility{Name: old.Name, Outcome: Lost, Reason: "the operator does not open it"})
		}
	}
	return all
}

func compare(oldKey, key codec.Schema, old, now Descriptor) (Outcome, string) {
	var changes []string
	switch {
	case !keysFit(oldKey, key):
		return Refused, fmt.Sprintf("its keys were %s and are now %s: keys may only become wider integers", oldKey, key)
	case old.Kind != now.Kind:
		return Refused, fmt.Sprintf("it was a %v state and is now a %v state", old.Kind, now.Kind)
	case old.Namespace != now.Namespace:
		return Refused, fmt.Sprintf("its namespaces were %q and are now %q: they cannot change", old.Namespace, now.Namespace)
	case old.UserKey != now.UserKey:
		return Refused, fmt.Sprintf("the keys of its maps were %s and are now %s: they cannot change", old.UserKey, now.UserKey)
	}
	if old.Value != "" || now.Value != "" {
		var err error
		if changes, err = old.Value.Compare(now.Value); err != nil {
			return Refused, err.Error()
		}
	}
	if oldKey != key {
		changes = append(changes, fmt.Sprintf("keys widened from %s to %s", oldKey, key))
	}
	if old.TTL.millis() != now.TTL.millis() {
		changes = append(changes, fmt.Sprintf("its time to live was %v and is now %v", old.TTL.Duration, now.TTL.Duration))
	}
	if len(changes) == 0 {
		return Kept, ""
	}
	return Migrated, strings.Join(changes, "; ")
}

// keysFit says whether keys of one schema are found when they are of another: they
// have the same hash and bytes.
func keysFit(from, to codec.Schema) bool {
	if from == to {
		return true
	}
	_, err := from.Compare(to)
	return err == nil && strings.Contains(string(from), "int") && !strings.ContainsAny(string(from)+string(to), "{[*(")
}

// An IncompatibleError says that an operator cannot take the state of a file, which
// is whole: the program has changed in a way that state does not survive.
type IncompatibleError struct {
	Operator, File string
	Reason         string // which state, and what of it has changed
}

func (e *IncompatibleError) Error() string {
	return fmt.Sprintf("restore operator %s from %s: %s", e.Operator, e.File, e.Reason)
}

// Restore reads the section at a location of f, of a group which must be one of the
// backend's. The sections of a group are read from the newest, before which the group
// is empty, to the oldest. All views must be open. States that were not opened are left
// out: Compare tells which. On an error, which is a *FileError when the file is to
// blame and an *IncompatibleError when the program is, the backend must not be used.
func (b *Backend) Restore(f *File, l Location) error {
	b.started = true
	restorers, err := b.restorers(f)
	if err != nil {
		return err
	}
	if l.Group < b.options.First || l.Group > b.options.Last {
		return fmt.Errorf("restore key group %d of operator %s: the subtask has groups %d to %d", l.Group, b.options.Operator, b.options.First, b.options.Last)
	}
	newest, known := b.newer[l.Group]
	if known && newest == nil {
		return fmt.Errorf("restore key group %d of operator %s: it was restored whole before", l.Group, b.options.Operator)
	}
	// What this section says holds for older ones only.
	told := map[string][]byte{}
	var changes bool
	b.chunk, changes, err = f.blocks(b.chunk, l, func(state int, filters []byte) error {
		told[f.header.States[state].Name] = filters
		return new(newer).read(filters, f.header.States[state].Kind == KindSliced)
	}, func(off int64, state int, p payload) error {
		if restorers[state] == nil {
			return nil
		}
		p.newer = newest[f.header.States[state].Name]
		if err := restorers[state](l.Group, p); err != nil {
			if !errors.Is(err, ErrCorrupt) {
				err = fmt.Errorf("%w: %w", ErrCorrupt, err)
			}
			return &FileError{f.name, off, fmt.Errorf("state %q: %w", f.header.States[state].Name, err)}
		}
		if b.seq += uint64(p.entries); b.seq >= b.due {
			b.fit()
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !changes {
		b.newer[l.Group] = nil
		return nil
	}
	b.newer[l.Group], err = f.learn(newest, told, l)
	return err
}

// learn adds what a section of changes has told, by state, to what newer ones have.
func (f *File) learn(newest map[string]*newer, told map[string][]byte, l Location) (map[string]*newer, error) {
	if newest == nil {
		newest = map[string]*newer{}
	}
	for i, d := range f.header.States {
		filters, is := told[d.Name]
		if !is {
			continue
		}
		if newest[d.Name] == nil {
			newest[d.Name] = &newer{}
		}
		if err := newest[d.Name].read(filters, f.header.States[i].Kind == KindSliced); err != nil {
			return nil, &FileError{f.name, l.Offset, fmt.Errorf("%w: %w", ErrCorrupt, err)}
		}
	}
	return newest, nil
}

// Restored ends restoring: what is there now is the state of number 0, since which
// changes are counted. It fails when of some group only changes were restored.
func (b *Backend) Restored() error {
	for group := b.options.First; group <= b.options.Last; group++ {
		if newest, known := b.newer[group]; known && newest != nil {
			return fmt.Errorf("restore key group %d of operator %s: the section that its changes are based on is missing", group, b.options.Operator)
		}
	}
	clear(b.restoring)
	clear(b.newer)
	b.chunk = nil
	for _, s := range b.states {
		s.settle()
	}
	return nil
}

// Track makes snapshots know which keys have changed since earlier ones, so that they
// can be written on their base. It comes before the first key is set.
func (b *Backend) Track() {
	for _, s := range b.states {
		s.track()
	}
}

// restorers returns what reads the states of a file; nil for those that were not
// opened.
func (b *Backend) restorers(f *File) ([]restorer, error) {
	if r, ok := b.restoring[f]; ok {
		return r, nil
	}
	h := f.header
	fail := func(format string, args ...any) ([]restorer, error) {
		return nil, &IncompatibleError{Operator: b.options.Operator, File: f.name, Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case h.Operator != b.options.Operator:
		return fail("it is the state of operator %s", h.Operator)
	case h.Max != b.options.Max:
		return fail("its maximum parallelism was %d and is now %d: it cannot change", h.Max, b.options.Max)
	}
	for _, c := range Compare(h, b.keySchema, b.Descriptors()) {
		if c.Outcome == Refused {
			return fail("state %q: %s", c.Name, c.Reason)
		}
	}
	restorers := make([]restorer, len(h.written))
	for i, from := range h.written {
		for _, s := range b.states {
			if s.Descriptor().Name != from.Name {
				continue
			}
			// A key group's integers are words unless they are composed, in any type.
			composed := from.Namespace != "" || from.Kind == KindMap || from.Kind >= KindEventTimers
			if from.words != (b.kind != keygroup.String && b.kind != keygroup.Encoded && !composed) {
				return fail("state %q: its keys lie otherwise than those of %s", from.Name, b.keySchema)
			}
			var err error
			if restorers[i], err = s.restorer(from); err != nil {
				return fail("state %q: %v", from.Name, err)
			}
		}
	}
	b.restoring[f] = restorers
	return restorers, nil
}

// checkKey checks that a key which a file holds, of words or composed with others or
// neither, is one of the group.
func (b *Backend) checkKey(k memory.Key, words, composed bool, group int) error {
	var hash uint64
	switch {
	case words:
		hash = keygroup.HashInt(k.Word)
	case !composed:
		hash = keygroup.HashString(k.Bytes)
	case b.kind.Integer():
		if len(k.Bytes) < 8 {
			return fmt.Errorf("a key has %d bytes", len(k.Bytes))
		}
		hash = keygroup.HashInt(binary.LittleEndian.Uint64([]byte(k.Bytes[:8])))
	case b.kind == keygroup.String:
		n, size := binary.Uvarint([]byte(k.Bytes[:min(len(k.Bytes), binary.MaxVarintLen64)]))
		if size <= 0 || n > uint64(len(k.Bytes)-size) {
			return fmt.Errorf("a key of %d bytes is cut short", len(k.Bytes))
		}
		hash = keygroup.HashString(k.Bytes[size : size+int(n)])
	default:
		return nil // where the first key ends is known to its plan alone
	}
	if is := keygroup.Group(hash, b.options.Max); is != group {
		return fmt.Errorf("a key of key group %d is in group %d", is, group)
	}
	return nil
}
