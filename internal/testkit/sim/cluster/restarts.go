package cluster

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/status"
)

// persistence says how the jobs of a world meet failures.
type persistence int

const (
	givesUp   persistence = iota // a failure ends the job
	triesMore                    // a few failures do not
	endless                      // none does; all jobs together need no more slots than there are
)

// restarts are what a seed draws about restarts. They have a source of chance of
// their own.
type restarts struct {
	rand        *rand.Rand
	persistence persistence
	full        bool // a failure restarts the whole job
	blocking    bool // bounded jobs have stages that read complete output
	peers       bool // tasks notice when a process they are connected to dies
	balanced    bool // tasks are spread by their number
}

func drawRestarts(seed uint64) restarts {
	r := rand.New(rand.NewPCG(seed, 2))
	return restarts{rand: r, persistence: pick(r, givesUp, triesMore, endless, endless), full: r.IntN(4) == 0, blocking: r.IntN(3) == 0, peers: r.IntN(2) == 0,
		balanced: r.IntN(4) == 0}
}

const (
	moreFaults  = 20 // where jobs are fewer, since all must have slots, and survive
	fewRestarts = 3
	longPause   = 10 * time.Second // the longest before a restart, with its jitter
)

// configuration draws the restart strategy of one job.
func (s *restarts) configuration() map[string]string {
	r := s.rand
	type settings = map[string]string
	switch s.persistence {
	case triesMore:
		return pick(r,
			settings{"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": fmt.Sprint(1 + r.IntN(fewRestarts)),
				"restart-strategy.fixed-delay.delay": pick(r, "0 s", "2 s")},
			settings{"restart-strategy.type": "exponential-delay", "restart-strategy.exponential-delay.initial-backoff": "1 s",
				"restart-strategy.exponential-delay.attempts-before-reset-backoff": fmt.Sprint(1 + r.IntN(fewRestarts))})
	case endless:
		return pick(r,
			settings{"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "2147483647",
				"restart-strategy.fixed-delay.delay": pick(r, "0 s", "100 ms", "5 s")},
			settings{"restart-strategy.type": "failure-rate", "restart-strategy.failure-rate.max-failures-per-interval": "2147483647",
				"restart-strategy.failure-rate.delay": pick(r, "0 s", "3 s")},
			settings{"restart-strategy.type": "exponential-delay", "restart-strategy.exponential-delay.initial-backoff": pick(r, "1 ms", "1 s"),
				"restart-strategy.exponential-delay.max-backoff":             "8 s",
				"restart-strategy.exponential-delay.reset-backoff-threshold": pick(r, "10 s", "1 h")})
	}
	return pick(r, settings{}, settings{"restart-strategy.type": "none"})
}

// cluster is the cluster's part of the settings, with the directory of checkpoints.
func (s *restarts) cluster(checkpoints string) *config.Config {
	all := map[string]string{}
	if checkpoints != "" {
		all[config.CheckpointDirectory.Key] = checkpoints
	}
	if s.full {
		all[config.FailoverStrategy.Key] = "full"
	}
	if s.balanced {
		all[config.TaskManagerLoadBalanceMode.Key] = "TASKS"
	}
	c, err := config.New(all)
	if err != nil {
		panic(err) // the keys and their values are those of package config
	}
	return c
}

// more is how much longer everything takes to come to rest because jobs restart:
// they wait for slots again, pause, launch workers, and run for as long as before.
func (s *restarts) more(slotRequest time.Duration) time.Duration {
	again := 0
	switch s.persistence {
	case triesMore:
		again = fewRestarts
	case endless:
		again = 2
	}
	stages := 1
	if s.blocking {
		stages = mostVertices
	}
	return time.Duration(again)*(slotRequest+longPause+time.Minute) + time.Duration(again*stages+stages-1)*maxLife
}

// watchRestarts counts restarts, and checks that the job is RESTARTING exactly
// while tasks wait to be restarted (19), that restarts wait for what has to end
// and for nothing else (19), and that plans hold for what is SCHEDULED (16).
func (k *checks) watchRestarts(w *watched, v *execgraph.View) {
	waiting := w.master.Restarting()
	if (v.State == status.JobRestarting) != (waiting > 0) {
		k.broken("19", "job %s is %s, and %d of its tasks wait to be restarted", v.Job, v.State, waiting)
	}
	tasks := v.Tasks()
	if planned := w.master.Planned(); planned != tasks[status.Scheduled] {
		k.broken("16", "job %s has %d tasks that are SCHEDULED, and %d in plans that hold", v.Job, tasks[status.Scheduled], planned)
	}
	if ending := w.master.Ending(); v.State == status.JobRestarting && ending != tasks[status.Canceling] {
		k.broken("19", "job %s has %d tasks that are CANCELING, and its restarts wait for %d", v.Job, tasks[status.Canceling], ending)
	}
	if v.Restarts.All < w.restarts {
		k.broken("19", "job %s had %d restarts and has %d", v.Job, w.restarts, v.Restarts.All)
	}
	if v.Restarts.All == w.restarts {
		return
	}
	k.met["restarts"] += v.Restarts.All - w.restarts
	w.restarts = v.Restarts.All
	if len(v.Failures) > 0 && v.Failures[0].Failure.Kind == status.FailurePartition {
		k.met["lost outputs that were produced again"]++
	}
}

// leeway is for a clock that was put forward: it is converted to the world's time
// and back.
const leeway = time.Microsecond

// watchPause checks that a subtask that failed is not started again before the
// pause that was decided about its failure is over (19). One whose cause was found
// later has another time.
func (k *checks) watchPause(v *execgraph.View, failed ident.AttemptID) {
	for i := range v.Failures {
		f := &v.Failures[i]
		if f.Attempt != failed || failed.IsZero() || f.Decision == nil || !f.Decision.Restarted || len(f.Folded) > 0 {
			continue
		}
		if now := k.c.master.loop.Now(); now.Before(f.Time.Add(f.Decision.Delay - leeway)) {
			k.broken("19", "attempt %s failed and was replaced after %s; decided was: %s", failed, now.Sub(f.Time), f.Decision)
		}
	}
}

// countFolded counts, when all is over, the failures whose cause was found after
// what followed from it.
func (k *checks) countFolded(v *execgraph.View) {
	for _, f := range v.Failures {
		if len(f.Folded) > 0 {
			k.met["causes found after what followed"]++
		}
	}
}
