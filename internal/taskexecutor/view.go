package taskexecutor

import (
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/taskexecutor/slottable"
)

// A View is what an Executor holds at one moment. It shares nothing with the
// Executor's state.
type View struct {
	// ResourceManager is the term the Executor is registered at, or about to be;
	// zero: it looks for one.
	ResourceManager ident.LeaderID
	Slots           []SlotView // those that are not free, by index
	Jobs            []JobView  // in the order they came
	Workers         int        // launched and not gone
	// Budgets is how many slots' worth of memory the workers have together: at most
	// as many as there are slots.
	Budgets int
}

// SlotView is one slot that is not free.
type SlotView struct {
	Index      int
	Allocation ident.AllocationID
	Job        ident.JobID
	State      slottable.State
	Tasks      int
}

// JobView is one job the Executor serves.
type JobView struct {
	ID ident.JobID
	// Term is that of the JobMaster the ResourceManager named last.
	Term      ident.LeaderID
	Connected bool // to that JobMaster
	Tasks     int  // whose end the JobMaster does not know
	Outputs   int  // of finished tasks, kept for others to read
}

// View describes the Executor as it is.
func (e *Executor) View() View {
	v := View{ResourceManager: e.master.term, Workers: len(e.workers)}
	v.Budgets = e.table.Size() - e.room()
	for _, s := range e.table.Slots() {
		v.Slots = append(v.Slots, SlotView{Index: s.Index, Allocation: s.Allocation, Job: s.Job, State: s.State, Tasks: len(s.Tasks())})
	}
	for _, j := range e.jobs {
		v.Jobs = append(v.Jobs, JobView{ID: j.id, Term: j.term, Connected: j.state == connected, Tasks: len(j.tasks), Outputs: len(j.outputs)})
	}
	return v
}

// Reserved is what all slots that are not free hold together; it is never more
// than the budget.
func (e *Executor) Reserved() slottable.Profile { return e.table.Reserved() }
