package state

import (
	"encoding/binary"
	"fmt"

	"github.com/weirstream/weir/internal/state/memory"
)

// Timers are moments at which an operator wants to be called for a key and a
// namespace: event times, which a watermark passes, and processing times. A timer
// that is registered twice fires once.
type Timers[K, N comparable] struct {
	k                 *Keyed[K]
	ns                *Namespace[N] // nil: none
	in                *namespace    // that of ns, or of keys alone
	event, processing *timerTable
}

// A timerTable is the timers of one kind of time.
type timerTable struct {
	*memory.Timers
	b     *Backend
	desc  Descriptor
	marks *changes // nil: nobody wants to know
}

// mark notes that a timer of a key comes or goes.
func (t *timerTable) mark(k *memory.Key, at int64) {
	if t.marks != nil {
		t.marks.add(k.Hash, uint32(k.Hash)^salt(at))
	}
}

// register adds a timer.
func (t *timerTable) register(k *memory.Key, at int64) {
	t.mark(k, at)
	t.Register(k, at)
}

// remove removes a timer, if it is there.
func (t *timerTable) remove(k *memory.Key, at int64) {
	t.mark(k, at)
	t.Delete(k, at)
}

// NewTimers opens two states, of kinds KindEventTimers and KindProcessingTimers,
// whose names are name with "/event" and "/processing" behind. It fails as NewValue
// does. Without a namespace ns is nil and N is struct{}.
func NewTimers[K, N comparable](k *Keyed[K], name string, ns *Namespace[N]) (*Timers[K, N], error) {
	t := &Timers[K, N]{k: k, ns: ns, in: &k.none}
	var options []Option
	if ns != nil {
		t.in = &ns.namespace
		options = append(options, In(ns))
	}
	open := func(suffix string, kind Kind) (*timerTable, error) {
		d, spec := describe(name+suffix, kind, "", options)
		if err := k.open(d, spec.in); err != nil {
			return nil, err
		}
		timers, err := memory.NewTimers(k.options.First, k.options.Last, k.options.Max)
		if err != nil {
			return nil, err
		}
		table := &timerTable{Timers: timers, b: k.Backend, desc: d}
		k.states = append(k.states, table)
		return table, nil
	}
	var err error
	if t.event, err = open("/event", KindEventTimers); err != nil {
		return nil, err
	}
	t.processing, err = open("/processing", KindProcessingTimers)
	return t, err
}

// RegisterEventTime registers a timer for the current key and namespace.
func (t *Timers[K, N]) RegisterEventTime(at int64) { t.event.register(t.in.composed(), at) }

// DeleteEventTime removes such a timer, if there is one.
func (t *Timers[K, N]) DeleteEventTime(at int64) { t.event.remove(t.in.composed(), at) }

// RegisterProcessingTime registers a timer for the current key and namespace.
func (t *Timers[K, N]) RegisterProcessingTime(at int64) { t.processing.register(t.in.composed(), at) }

// DeleteProcessingTime removes such a timer, if there is one.
func (t *Timers[K, N]) DeleteProcessingTime(at int64) { t.processing.remove(t.in.composed(), at) }

// AdvanceEventTime removes each event-time timer up to and including the
// watermark and calls fire with it, in the order of their times, and among equal
// ones in an order that depends on nothing but keys and namespaces. Key and
// namespace are then the current ones. Timers that fire registers up to the
// watermark fire too. It stops at the first error and returns it.
func (t *Timers[K, N]) AdvanceEventTime(watermark int64, fire func(key K, n N, at int64) error) error {
	return t.advance(t.event, watermark, fire)
}

// AdvanceProcessingTime is AdvanceEventTime for processing times.
func (t *Timers[K, N]) AdvanceProcessingTime(now int64, fire func(key K, n N, at int64) error) error {
	return t.advance(t.processing, now, fire)
}

func (t *Timers[K, N]) advance(table *timerTable, until int64, fire func(key K, n N, at int64) error) error {
	for {
		bytes, at, ok := table.Pop(until)
		if !ok {
			return nil
		}
		key, second := t.k.decode(memory.Key{Bytes: bytes}, true)
		var n N
		if t.ns != nil {
			if _, err := t.ns.plan.DecodeKey(&n, []byte(second)); err != nil {
				panic(&Error{State: table.desc.Name, Err: err})
			}
			t.ns.Set(n)
		}
		t.k.SetKey(key, t.k.Hash(key))
		if table.marks != nil {
			table.mark(t.in.composed(), at)
		}
		if err := fire(key, n, at); err != nil {
			return err
		}
	}
}

// NextProcessingTime returns the earliest processing-time timer. It may be one
// that was deleted: then advancing to it calls nothing.
func (t *Timers[K, N]) NextProcessingTime() (at int64, ok bool) { return t.processing.First() }

// NextEventTime is NextProcessingTime for event times.
func (t *Timers[K, N]) NextEventTime() (at int64, ok bool) { return t.event.First() }

// Len returns the numbers of event-time and processing-time timers.
func (t *Timers[K, N]) Len() (event, processing int) { return t.event.Len(), t.processing.Len() }

// Descriptor returns what was opened for event times.
func (t *Timers[K, N]) Descriptor() Descriptor { return t.event.desc }

func (t *Timers[K, N]) tables() []table { return []table{t.event, t.processing} }

// Descriptor returns what was opened.
func (t *timerTable) Descriptor() Descriptor { return t.desc }

func (t *timerTable) bytes() int { return t.Bytes() }

func (t *timerTable) track() { t.marks = newChanges(t.b.options, t.Len) }

func (t *timerTable) settle() {
	t.marks.settle()
	t.Settle()
}

// evict does nothing: timers stay in memory.
func (t *timerTable) evict(int) {}

func (t *timerTable) owners(group int, f func(k memory.Key, composed bool) bool) bool {
	return t.RangeGroup(group, func(bytes string, _ int64) bool { return f(memory.Key{Bytes: bytes}, true) })
}

type frozenTimers struct {
	desc  Descriptor
	view  *memory.TimersView
	keys  column
	times []byte
	recent
}

func (t *timerTable) freeze(number uint64) frozenTable {
	return &frozenTimers{desc: t.desc, view: t.Freeze(number), recent: recent{t.marks.freeze(number), t.Len()}}
}

func (f *frozenTimers) written() written { return written{Descriptor: f.desc} }

func (f *frozenTimers) changed(group int) uint64 { return f.view.Changed(group) }

func (f *frozenTimers) releaseGroup(group int) { f.view.ReleaseGroup(group) }

func (f *frozenTimers) release() { f.view.Release() }

func (f *frozenTimers) write(group int, state uint16, w *blockWriter) {
	entries := 0
	flush := func() {
		if entries > 0 {
			w.end(f.keys.appendTo(append(w.begin(), f.times...)), state, entries)
			f.times, entries = f.times[:0], 0
		}
	}
	f.view.Read(group, &w.buffer, func(bytes string, at int64) bool {
		if w.leaves(memory.Key{Bytes: bytes}, false, salt(at)) {
			return true
		}
		f.keys.add(bytes)
		f.times = binary.LittleEndian.AppendUint64(f.times, uint64(at))
		if entries++; entries == blockEntries || len(f.keys.bytes) >= blockBytes {
			flush()
		}
		return w.err == nil
	})
	flush()
}

func (t *timerTable) restorer(written) (restorer, error) {
	return func(group int, p payload) error {
		times, err := p.numbers(p.entries)
		if err != nil {
			return err
		}
		keys, err := p.bytes(p.entries)
		if err != nil {
			return err
		}
		for i := range p.entries {
			if err := t.b.checkKey(memory.Key{Bytes: text(keys(i))}, false, true, group); err != nil {
				return fmt.Errorf("entry %d: %w", i, err)
			}
			if p.newer != nil && p.newer.covers(hashOf(memory.Key{Bytes: text(keys(i))}, false)^salt(int64(times(i)))) {
				continue
			}
			if !t.Restore(group, text(keys(i)), int64(times(i))) {
				return errTwice
			}
		}
		return p.done()
	}, nil
}
