package cluster

import (
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/taskexecutor"
)

// userCode is the record of which user code runs where and for whom.
type userCode struct {
	terms   map[ident.GraphID]ident.LeaderID // JobMaster that deployed the graph's attempts
	running []*running
	ever    map[ident.AttemptID]bool // was begun
}

// running is user code of one attempt that runs.
type running struct {
	task *task
	stop bool // the worker was told to stop it
	// old is since when its TaskManager knows a newer JobMaster; zero: it does
	// not.
	old time.Duration
}

func newUserCode() userCode {
	return userCode{terms: map[ident.GraphID]ident.LeaderID{}, ever: map[ident.AttemptID]bool{}}
}

// begun notes that user code begins to run.
func (k *checks) begun(t *task) {
	if k.code.ever[t.attempt] {
		k.broken("2", "attempt %s was given to a worker twice", t.attempt)
	}
	k.code.ever[t.attempt] = true
	k.code.running = append(k.code.running, &running{task: t})
}

// finished notes that user code runs no more.
func (k *checks) finished(t *task) {
	for i, r := range k.code.running {
		if r.task == t {
			k.code.running = append(k.code.running[:i], k.code.running[i+1:]...)
			return
		}
	}
}

func (u *userCode) stopped(attempt string) {
	for _, r := range u.running {
		if r.task.attempt.String() == attempt {
			r.stop = true
		}
	}
}

// handed looks at a task that goes to its worker: it must be the present
// JobMaster's (3).
func (k *checks) handed(t *taskManager, d *pb.TaskDeployment) {
	attempt, err := ident.ParseAttempt(d.Attempt)
	if err != nil {
		k.broken("3", "task %q runs: %v", d.Attempt, err)
		return
	}
	for _, j := range t.executor.View().Jobs {
		if j.ID.String() == d.JobId && j.Term == k.code.terms[attempt.Graph] {
			return
		}
	}
	k.broken("3", "TaskManager %s runs %s of JobMaster %s, which is not the job's", t.machine.id, attempt, k.code.terms[attempt.Graph])
}

// watchTerms checks that a TaskManager that knows a newer JobMaster of a job
// has told the older one's tasks to stop, or their worker to end (3).
func (k *checks) watchTerms(t *taskManager, v *taskexecutor.View) {
	for _, r := range k.code.running {
		if r.task.worker.tm != t || r.old != 0 {
			continue
		}
		for _, j := range v.Jobs {
			if j.ID.String() != r.task.job || j.Term == k.code.terms[r.task.attempt.Graph] {
				continue
			}
			r.old = k.c.world.Now()
			k.met["tasks of an older JobMaster"]++
			if !r.stop && !r.task.told && !r.task.worker.told {
				k.broken("3", "TaskManager %s knows JobMaster %s of job %s and lets %s of JobMaster %s run", t.machine.id, j.Term, j.ID,
					r.task.attempt, k.code.terms[r.task.attempt.Graph])
			}
		}
	}
}

// watchUserCode checks that what was told to stop for an older JobMaster's sake
// does so in time, or its worker is gone.
func (k *checks) watchUserCode() {
	for _, r := range k.code.running {
		limit := k.c.settings.cancellation + 10*time.Second + r.task.worker.tm.proc.FrozenFor()
		if r.old != 0 && k.c.world.Now()-r.old > limit && r.task.worker.tm.proc.Alive() && r.task.worker.proc.FrozenFor() == 0 {
			k.broken("3", "%s runs on %s after its TaskManager knew a newer JobMaster", r.task.attempt, k.c.world.Now()-r.old)
		}
	}
}
