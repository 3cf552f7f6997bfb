package cluster

import (
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/weirstream/weir/internal/invariant"
)

// Options say how a seed is played.
type Options struct {
	// Trace gets every line of the course; nil: nobody wants it.
	Trace io.Writer
	// Events is how many events a world may have; 0: any number. One with more is
	// broken: it does not come to rest.
	Events uint64
}

// A Result is what became of one seed.
type Result struct {
	Seed    uint64
	Events  uint64
	Virtual time.Duration  // that passed in the world
	Faults  map[string]int // injected, by kind
	Jobs    map[string]int // that ended or run at the end, by state
	Met     map[string]int // what the checkers had to look at, how often
	Pairs   map[Pair]int   // which messages found what in which state, how often
	Hash    uint64         // of the course
	Broken  *Broken        // nil: all invariants held
	Last    []string       // lines of the course, when one did not
}

// FaultCount is the number of injected faults.
func (r *Result) FaultCount() int {
	n := 0
	for _, k := range r.Faults {
		n += k
	}
	return n
}

// Broken is an invariant that did not hold.
type Broken struct {
	Invariant string // its number in protocols.md §13, or who broke its own
	Text      string
}

func (b *Broken) Error() string { return fmt.Sprintf("invariant %s: %s", b.Invariant, b.Text) }

const shown = 50 // lines of the course in a report

// Run plays one seed.
func Run(seed uint64, o Options) (r Result) {
	c := newCluster(seed)
	c.most = o.Events
	if o.Trace != nil {
		c.world.Trace().Full(o.Trace)
	}
	defer func() {
		if cause := recover(); cause != nil {
			c.checks.panicked(cause)
		}
		r = Result{Seed: seed, Events: c.world.Steps(), Virtual: c.world.Now(), Faults: c.faults, Jobs: c.checks.census, Met: c.checks.met, Pairs: c.checks.pairs,
			Hash: c.world.Trace().Hash(), Broken: c.checks.first}
		if r.Broken != nil {
			r.Last = c.world.Trace().Last(shown)
		}
	}()
	c.world.Observe(c.checks.after)
	c.play()
	return r
}

// play is the three acts; it ends early when an invariant is broken.
func (c *Cluster) play() {
	s := &c.settings
	c.start()
	c.plan()
	c.plague()
	c.bewitch()
	c.layAmbushes()
	c.layStrikes()
	c.ail()
	if !c.until(s.faultTime + 3*time.Second) {
		return
	}
	frozen := c.calmDown()
	if !c.until(frozen) || !c.quiet(s.settle()+c.checkpoints.settle(), c.checks.settled) {
		return
	}
	probe := c.probe()
	if !c.quiet(s.rest()+maxLife, func() bool { return c.checks.settled() && c.checks.probed(probe) }) {
		return
	}
	c.leaving = true
	for _, j := range c.jobs {
		c.world.At(time.Duration(c.rand.IntN(1000))*time.Millisecond, "cancel", func() {
			if !c.stateOf(j).Terminal() {
				c.cancel(j, 0)
			}
		})
	}
	if c.quiet(s.rest(), c.checks.empty) {
		c.checks.count()
	}
}

const (
	lookAgain = 15 * time.Second
	often     = 3 // and in a row everything must have been as it should
)

// quiet lets the world go on until everything is as it should be and stays so,
// which must be after d. Few worlds need as long as that; a patient one waits for
// it in any case, so that what goes wrong late is seen, too.
func (c *Cluster) quiet(d time.Duration, check func() bool) bool {
	held := 0
	for end := c.world.Now() + d; c.world.Now() < end && held < often; {
		if !c.until(min(lookAgain, end-c.world.Now())) {
			return false
		}
		if held++; c.settings.patient || !c.checks.would(check) {
			held = 0
		}
	}
	return check()
}

// probe submits a new job that must run, in the slots that are free.
func (c *Cluster) probe() *job {
	free := c.totalSlots()
	for _, j := range c.jobs {
		if !c.stateOf(j).Terminal() {
			free -= j.needs
		}
	}
	if free < 1 {
		return nil
	}
	j := c.newJob(c.rand.IntN(2) == 0, free)
	c.world.At(0, "submit probe", func() { c.submit(j, 0) })
	return j
}

// until lets the world go on for d.
func (c *Cluster) until(d time.Duration) bool {
	end := c.world.Now() + d
	reached := false
	c.world.At(d, "end of act", func() { reached = true })
	for !reached && c.checks.first == nil && c.world.Step() {
		if c.most > 0 && c.world.Steps() > c.most {
			c.checks.broken("7", "%d events have happened in %s, there is no rest", c.world.Steps(), c.world.Now())
		}
	}
	return c.checks.first == nil && c.world.Now() >= end
}

// panicked names a panic of an endpoint.
func (k *checks) panicked(cause any) {
	name, text := "panic", fmt.Sprint(cause)
	if v, ok := cause.(invariant.Violation); ok {
		name, text = "of the code", v.Text
	}
	k.broken(name, "%s\n%s", text, debug.Stack())
}
