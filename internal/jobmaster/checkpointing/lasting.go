package checkpointing

import (
	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/snapshot/storage"
)

// A Ledger keeps what outlives a JobMaster. Its methods wait for the disk, and are
// called beside the loop; storage.Ledger is the real one.
type Ledger interface {
	// Draw gives an id above last that was never given before.
	Draw(last int64) (int64, error)
	// Enter writes down where a checkpoint is. An error that is fs.ErrUncertain says
	// that nobody knows whether it is written.
	Enter(id int64, at fs.Location) error
	// Remove deletes an entry; one that is not there is deleted already.
	Remove(id int64) error
	// Completed gives the entries, oldest first.
	Completed() ([]storage.Entry, error)
	// Clear deletes everything.
	Clear() error
}

// Lasting is a Store that outlives its JobMaster, in a ledger.
type Lasting struct {
	loop   actor.Loop
	ledger Ledger
	last   int64 // the greatest id that is known to be drawn
}

var _ Store = (*Lasting)(nil)

// NewLasting makes the store of one job, whose ledger holds nothing else.
func NewLasting(loop actor.Loop, ledger Ledger) *Lasting {
	return &Lasting{loop: loop, ledger: ledger}
}

// Lasts reports that it does.
func (l *Lasting) Lasts() bool { return true }

// NextID draws an id.
func (l *Lasting) NextID(after int64, then func(int64, error)) {
	last := max(l.last, after)
	var id int64
	var err error
	l.loop.Go(func() { id, err = l.ledger.Draw(last) }, func() {
		l.last = max(l.last, id)
		then(id, err)
	})
}

// Add enters a pointer.
func (l *Lasting) Add(p checkpoint.Pointer, then func(error)) {
	var err error
	l.loop.Go(func() { err = l.ledger.Enter(p.Checkpoint, p.Location) }, func() { then(err) })
}

// Remove takes a pointer out.
func (l *Lasting) Remove(id int64, then func(error)) {
	var err error
	l.loop.Go(func() { err = l.ledger.Remove(id) }, func() { then(err) })
}

// All gives the pointers.
func (l *Lasting) All(then func([]checkpoint.Pointer, error)) {
	var entries []storage.Entry
	var err error
	l.loop.Go(func() { entries, err = l.ledger.Completed() }, func() {
		all := make([]checkpoint.Pointer, len(entries))
		for i, e := range entries {
			all[i] = checkpoint.Pointer(e)
		}
		then(all, err)
	})
}

// Clear empties the ledger.
func (l *Lasting) Clear(then func(error)) {
	var err error
	l.loop.Go(func() { err = l.ledger.Clear() }, func() { then(err) })
}
