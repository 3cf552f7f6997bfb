package cluster

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster/checkpointing"
	"github.com/weirstream/weir/internal/snapshot/storage"
	"github.com/weirstream/weir/internal/testkit/sim"
)

// checkpoints are what a seed draws about checkpoints, and what they lie on. The
// unbounded jobs of a world have them, or none does. They have a source of chance of
// their own.
type checkpoints struct {
	rand *rand.Rand
	on   bool
	// lasting says that the store of completed checkpoints outlives the master. A job
	// of the next master goes on then; otherwise it begins anew, in a directory of its
	// own.
	lasting bool
	memory  bool // state travels with the acknowledgements
	// hasty worlds have short splits, which are asked for while a checkpoint is on its
	// slow way to the sources.
	hasty bool
	own   map[string]string
	// longer is how much longer the faults last, of which there are no more: so that
	// jobs come to run between them, and to take checkpoints.
	longer  time.Duration
	longest time.Duration // from one checkpoint to the end of the next

	shelf  *shelf
	runs   []*run
	graphs map[ident.GraphID]*run // whose attempts belong to which
	wires  map[wireKey]*wire
	strike point // where somebody is killed next; empty: nowhere
}

func drawCheckpoints(c *Cluster, seed uint64) checkpoints {
	r := rand.New(rand.NewPCG(seed, 5))
	s := checkpoints{rand: r, graphs: map[ident.GraphID]*run{}, wires: map[wireKey]*wire{}}
	s.on = c.settings.restarts.persistence != givesUp && r.IntN(3) > 0
	s.lasting = r.IntN(3) > 0
	s.memory = !s.lasting && r.IntN(4) == 0
	s.hasty = r.IntN(3) == 0
	interval, timeout := pick(r, 3*time.Second, 6*time.Second, 15*time.Second), pick(r, 10*time.Second, 30*time.Second)
	s.longest = interval + timeout
	s.own = map[string]string{
		config.CheckpointInterval.Key:          interval.String(),
		config.CheckpointTimeout.Key:           timeout.String(),
		config.CheckpointMinPause.Key:          pick(r, "0 s", "1 s"),
		config.CheckpointMaxConcurrent.Key:     pick(r, "1", "1", "2"),
		config.CheckpointTolerableFailures.Key: pick(r, "0", "3", "2147483647"),
		config.CheckpointsRetained.Key:         pick(r, "1", "1", "2", "3"),
		config.CheckpointRetention.Key:         pick(r, "NO_EXTERNALIZED_CHECKPOINTS", "DELETE_ON_CANCELLATION", "RETAIN_ON_CANCELLATION"),
	}
	if s.hasty && r.IntN(2) == 0 {
		s.own[config.CheckpointMaxConcurrent.Key], s.own[config.CheckpointMinPause.Key] = "2", "0 s"
	}
	if s.on {
		s.longer = time.Minute + time.Duration(r.IntN(120))*time.Second
	}
	s.shelf = newShelf(c)
	return s
}

// span draws a duration, each order of magnitude about as often as the next.
func (s *checkpoints) span(low, high time.Duration) time.Duration {
	d := low
	for d < high && s.rand.IntN(3) > 0 {
		d *= 2
	}
	return min(high, d+time.Duration(s.rand.Int64N(int64(d))))
}

// settle is how much longer it takes, once all is quiet, until every job has
// completed one more.
func (s *checkpoints) settle() time.Duration {
	if !s.on {
		return 0
	}
	return 2*s.longest + 30*time.Second
}

// of gives a new job checkpoints, if its world has some.
func (s *checkpoints) of(j *job) {
	if !s.on || j.bounded {
		return
	}
	j.checkpointed = true
	for _, v := range j.graph.Vertices {
		if o := v.Operators[0].Coordinator; o != nil {
			o.Spec = sourceSpec(streamFiles)
		}
	}
	for key, value := range s.own {
		j.graph.Configuration[key] = value
	}
}

// directory is the setting of a life of the master.
func (s *checkpoints) directory(life int) string {
	switch {
	case !s.on || s.memory:
		return ""
	case s.lasting:
		return "mem:/ckpt"
	}
	return fmt.Sprintf("mem:/ckpt-%d", life)
}

// store gives a JobMaster what is known of its job's checkpoints.
func (c *Cluster) store(p *sim.Process, loop *sim.Loop) func(ident.JobID) checkpointing.Store {
	s := &c.checkpoints
	return func(id ident.JobID) checkpointing.Store {
		r := c.beginRun(id)
		if r == nil {
			return &checkpointing.Memory{}
		}
		if s.lasting {
			return checkpointing.NewLasting(loop, &ledger{storage.Ledger{Files: s.shelf.of(p), Dir: ledgerOf(id)}, r})
		}
		return &memoryStore{run: r}
	}
}

// beginRun is a job that gets a JobMaster: it goes on, or it is another run; nil: it
// has no checkpoints.
func (c *Cluster) beginRun(id ident.JobID) *run {
	s := &c.checkpoints
	for _, r := range s.runs {
		if r.job.id == id && s.lasting && !r.over {
			c.checks.met["jobs that went on at the next master"]++
			return r
		}
	}
	for _, j := range c.jobs {
		if j.id == id && j.checkpointed {
			r := newRun(c, j)
			if !s.memory {
				r.dir = fs.Location(s.directory(c.master.proc.Life())).Join(id.String())
			}
			s.runs = append(s.runs, r)
			return r
		}
	}
	return nil
}

// runOf is the newest run of a job; nil: it has none.
func (s *checkpoints) runOf(id ident.JobID) *run {
	for i := len(s.runs) - 1; i >= 0; i-- {
		if s.runs[i].job.id == id {
			return s.runs[i]
		}
	}
	return nil
}
