package jobmaster

import (
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster/slotpool"
)

// Term is the leader term of this JobMaster.
func (m *Master) Term() ident.LeaderID { return m.term }

// Pool is the slots of the job, to be looked at and not changed.
func (m *Master) Pool() *slotpool.Pool { return m.pool }

// Restarting is how many tasks wait to be restarted.
func (m *Master) Restarting() int { return m.scheduler.Restarting() }

// Planned is how many tasks stand in plans that wait for slots.
func (m *Master) Planned() int { return m.scheduler.Planned() }

// Ending is how many tasks have to end before they can be restarted.
func (m *Master) Ending() int { return m.scheduler.Ending() }

// CheckpointsQuiet reports that nothing is under way for the job's checkpoints
// beside the loop.
func (m *Master) CheckpointsQuiet() bool { return m.checkpoints == nil || m.checkpoints.owner.Quiet() }
