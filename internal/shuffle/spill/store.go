package spill

import (
	"fmt"

	"github.com/weirstream/weir/internal/fs/scratch"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/shuffle"
)

// Settings are common to the blocking partitions of a process.
type Settings struct {
	// Space is where the files are. Whoever made it closes it.
	Space scratch.Space
	// FrameBytes is how many bytes an encoded batch should have at most.
	FrameBytes int
	// ReadBytes is how much the views of all partitions may read ahead. Each
	// may have one read more, so that none of them waits for another.
	ReadBytes int
}

// A Store makes blocking partitions and reads them. Its methods may be called
// from any goroutine.
type Store struct {
	settings  Settings
	scheduler *scheduler
}

// NewStore makes a store without partitions. It starts no goroutine that
// outlives what it reads.
func NewStore(s Settings) *Store {
	return &Store{settings: s, scheduler: &scheduler{budget: s.ReadBytes}}
}

// Create makes a partition, which gathers up to buffer bytes before it writes.
// Done, if not nil, is called once when it needs them no longer. A closed cancel
// ends the next Emit. NewSerializer must be safe to call from any goroutine.
func (s *Store) Create(id ident.PartitionID, subpartitions, buffer int, newSerializer func() shuffle.Serializer, cancel <-chan struct{}, done func()) (*Partition, error) {
	w, err := NewWriter(s.settings.Space, id.String(), max(1, subpartitions), buffer)
	if err != nil {
		return nil, fmt.Errorf("partition %s: %w", id, err)
	}
	return &Partition{
		id: id, store: s, subpartitions: subpartitions, newSerializer: newSerializer, cancel: cancel, done: done,
		frame:  max(1, min(s.settings.FrameBytes, buffer/max(1, subpartitions))-headerSize),
		writer: w, views: map[*view]struct{}{},
	}, nil
}

// Close waits until nothing is read any more. The partitions have been released
// before.
func (s *Store) Close() { s.scheduler.close() }
