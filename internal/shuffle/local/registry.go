package local

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/shuffle"
)

// Settings are common to the partitions of a process.
type Settings struct {
	// Depth is how many batches a subpartition holds at most.
	Depth int
	// Rows is how many records a batch should have at most; 0: batch.MaxRows.
	Rows int
	// FrameBytes is how many bytes an encoded batch should have at most.
	FrameBytes int
	// Wait is how long a request waits for its partition to appear.
	Wait time.Duration
}

// A Registry knows the partitions of a process and who waits for one that is
// not there yet: tasks are deployed in any order.
type Registry struct {
	settings Settings

	mu         sync.Mutex
	partitions map[ident.PartitionID]shuffle.Partition
	waiting    map[ident.PartitionID][]*Request
	closed     bool
}

// NewRegistry makes an empty registry.
func NewRegistry(s Settings) *Registry {
	return &Registry{settings: s, partitions: map[ident.PartitionID]shuffle.Partition{}, waiting: map[ident.PartitionID][]*Request{}}
}

// Create makes a partition and answers the requests that wait for it. A
// partition whose identifier is taken, or that comes after Close, is made but
// has failed.
func (r *Registry) Create(id ident.PartitionID, subpartitions int, newSerializer func() shuffle.Serializer, cancel <-chan struct{}) *Partition {
	p := newPartition(id, subpartitions, r.settings, newSerializer, cancel, r.forget)
	if err := r.Add(p, subpartitions > 0); err != nil { // otherwise it is consumed already
		p.Fail(err)
	}
	return p
}

// Add makes a partition known and answers the requests that wait for it. Unless
// keep, it is not held for those to come. The error says that its identifier is
// taken, or that the registry is closed; the partition is then the caller's.
func (r *Registry) Add(p shuffle.Partition, keep bool) error {
	id := p.ID()
	r.mu.Lock()
	switch {
	case r.closed:
		r.mu.Unlock()
		return errors.New("the process is shutting down")
	case r.partitions[id] != nil:
		r.mu.Unlock()
		return errors.New("the partition exists already")
	}
	if keep {
		r.partitions[id] = p
	}
	waiting := r.waiting[id]
	delete(r.waiting, id)
	r.mu.Unlock()
	for _, q := range waiting {
		q.timer.Stop()
		q.done(p, nil)
	}
	return nil
}

// A Request is one consumer's wish for a partition.
type Request struct {
	registry *Registry
	id       ident.PartitionID
	done     func(shuffle.Partition, error)
	timer    *time.Timer
}

// Request calls done once with a partition, at once or when it appears, or with
// an error that wraps shuffle.ErrPartitionNotFound when it does not. After
// Cancel, done may still be under way.
func (r *Registry) Request(id ident.PartitionID, done func(shuffle.Partition, error)) *Request {
	q := &Request{registry: r, id: id, done: done}
	r.mu.Lock()
	p, closed := r.partitions[id], r.closed
	if p == nil && !closed {
		q.timer = time.AfterFunc(r.settings.Wait, q.expire)
		r.waiting[id] = append(r.waiting[id], q)
	}
	r.mu.Unlock()
	switch {
	case p != nil:
		done(p, nil)
	case closed:
		done(nil, fmt.Errorf("request partition %s: the process is shutting down: %w", id, shuffle.ErrPartitionNotFound))
	}
	return q
}

// RequestWhole is Request for a partition whose producer has finished: one that
// is not there will not come.
func (r *Registry) RequestWhole(id ident.PartitionID, done func(shuffle.Partition, error)) *Request {
	r.mu.Lock()
	p := r.partitions[id]
	r.mu.Unlock()
	if p != nil {
		done(p, nil)
	} else {
		done(nil, fmt.Errorf("request partition %s: its producer has finished, and it is not there any more: %w", id, shuffle.ErrPartitionNotFound))
	}
	return &Request{registry: r, id: id, done: done}
}

func (q *Request) expire() {
	if q.registry.unlist(q) {
		q.done(nil, fmt.Errorf("request partition %s: not there within %s: %w", q.id, q.registry.settings.Wait, shuffle.ErrPartitionNotFound))
	}
}

// Cancel gives up a request that waits.
func (q *Request) Cancel() {
	if q.registry.unlist(q) {
		q.timer.Stop()
	}
}

// unlist takes a request off the list and reports whether it was there.
func (r *Registry) unlist(q *Request) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.waiting[q.id]
	for i, other := range list {
		if other == q {
			if r.waiting[q.id] = append(list[:i], list[i+1:]...); len(list) == 1 {
				delete(r.waiting, q.id)
			}
			return true
		}
	}
	return false
}

// Release gives up a partition, if it is there.
func (r *Registry) Release(id ident.PartitionID) {
	r.mu.Lock()
	p := r.partitions[id]
	delete(r.partitions, id)
	r.mu.Unlock()
	if p != nil {
		p.Release()
	}
}

// forget drops a partition that is consumed.
func (r *Registry) forget(p *Partition) {
	r.mu.Lock()
	if r.partitions[p.id] == shuffle.Partition(p) {
		delete(r.partitions, p.id)
	}
	r.mu.Unlock()
}

// Len is how many partitions are held.
func (r *Registry) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.partitions)
}

// Close releases all partitions and ends all requests that wait.
func (r *Registry) Close() {
	r.mu.Lock()
	r.closed = true
	partitions, waiting := r.partitions, r.waiting
	r.partitions, r.waiting = map[ident.PartitionID]shuffle.Partition{}, map[ident.PartitionID][]*Request{}
	r.mu.Unlock()
	for _, p := range partitions {
		p.Release()
	}
	for _, list := range waiting {
		for _, q := range list {
			q.timer.Stop()
			q.done(nil, fmt.Errorf("request partition %s: the process is shutting down: %w", q.id, shuffle.ErrPartitionNotFound))
		}
	}
}
