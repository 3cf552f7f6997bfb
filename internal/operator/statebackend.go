package operator

import (
	"fmt"

	"github.com/weirstream/weir/internal/state"
	"github.com/weirstream/weir/internal/state/disk"
)

// StateBackend says where keyed state is kept: in memory, or on a disk with memory
// before it.
type StateBackend struct {
	// Disk makes the disk of one operator's subtask in a directory, with so much
	// memory for what was written last; nil: state stays in memory.
	Disk func(directory string, memory int64) (disk.Store, error)
	// Pool counts the memory of all state of the process, and limits that of state
	// which stays in memory; nil: nothing does.
	Pool *state.Pool
}

// Of its managed memory, an operator whose state is on a disk takes half for the
// tables and an eighth to know which keys were taken from the disk. What is left is
// shared by the operators of a process: it keeps what was written last, an eighth for
// each, and what was read, above all what tells where a key is.
const tableEighths, writeEighths = 4, 1

// ReadEighths is that shared part.
const ReadEighths = 8 - tableEighths - writeEighths

// newKeyed makes the keyed state of the subtask.
func newKeyed[K comparable](c *Context) *state.Keyed[K] {
	o := state.Options{Operator: c.OperatorID.String(), Max: c.MaxParallelism, Clock: c.Now, Pool: c.State.Pool, Held: c.managed()}
	o.First, o.Last = c.OwnKeyGroups()
	if c.State.Disk != nil {
		eighth := budget(c) / 8
		o.Room = tableEighths * eighth
		o.Disk = func() (disk.Store, error) {
			if c.Scratch == nil {
				return nil, fmt.Errorf("there is no directory for temporary files (io.tmp.dirs)")
			}
			directory, err := c.Scratch.Directory(fmt.Sprintf("%s-%d-state", c.Operator, c.Subtask))
			if err != nil {
				return nil, err
			}
			return c.State.Disk(directory, int64(writeEighths*eighth))
		}
	}
	k, err := state.NewKeyed[K](o)
	Check(err)
	c.OnClose(func(bool) {
		if err := k.Close(); err != nil {
			c.Logger.Warn("the state was not closed cleanly", "error", err)
		}
	})
	return k
}
