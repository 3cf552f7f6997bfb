package cluster

import (
	"math/rand/v2"
	"time"

	"github.com/weirstream/weir/internal/resourcemanager/slotmanager"
)

// settings are what a seed draws before its world begins.
type settings struct {
	// split puts the ResourceManager into a process of its own; else it is in
	// the master's, on the same loop if shared.
	split, shared bool
	slots         []int // of each TaskManager

	interval, timeout time.Duration // of heartbeats
	threshold         int
	cancellation      time.Duration
	registration      time.Duration // until a TaskManager without ResourceManager gives up
	slotRequest       time.Duration
	slotIdle          time.Duration
	jobTimeout        time.Duration // until the ResourceManager forgets a silent job
	startUp           time.Duration
	faultTime         time.Duration // length of the first act
	calm              bool          // no faults at all
	patient           bool          // waits as long as everything may take
	masterFaults      bool          // master and ResourceManager may crash
	jobs              int           // submitted in the first act
	bad               badWorkers
	faults, storms    int
	restarts          restarts
	packed            bool // TaskManagers are filled one after the other
}

// badWorkers are the probabilities of what goes wrong with a worker or task.
type badWorkers struct {
	launch, mute, wrongProgram, exit float64 // of a worker
	fail, hang, stubborn             float64 // of a task
}

func draw(r *rand.Rand) settings {
	s := settings{
		split: r.IntN(4) == 0, shared: r.IntN(2) == 0,
		interval: 10 * time.Second, timeout: 50 * time.Second, threshold: 2,
		cancellation: pick(r, 5*time.Second, 30*time.Second, 60*time.Second),
		registration: pick(r, 20*time.Second, 60*time.Second, 5*time.Minute),
		slotRequest:  pick(r, 5*time.Second, 20*time.Second, 60*time.Second),
		slotIdle:     pick(r, time.Second, 10*time.Second, 50*time.Second),
		jobTimeout:   pick(r, 10*time.Second, 30*time.Second, 2*time.Minute),
		startUp:      pick(r, 0, 5*time.Second, 20*time.Second),
		faultTime:    time.Duration(20+r.IntN(100)) * time.Second,
		calm:         r.IntN(10) == 0, masterFaults: r.IntN(2) == 0,
		jobs: 1 + r.IntN(6),
	}
	if r.IntN(2) == 0 {
		s.interval, s.timeout = 3*time.Second, 12*time.Second
	}
	if r.IntN(4) == 0 {
		s.threshold = -1
	}
	for range 2 + r.IntN(3) {
		s.slots = append(s.slots, 1+r.IntN(4))
	}
	if s.calm {
		s.masterFaults = false
		return s
	}
	if r.IntN(3) > 0 {
		s.bad = badWorkers{launch: 0.05, mute: 0.03, wrongProgram: 0.03, exit: 0.05, fail: 0.05, hang: 0.05, stubborn: 0.05}
	}
	s.faults, s.storms = 10+r.IntN(30), r.IntN(5)
	return s
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// settle is how long after the last fault everything must have come to rest:
// what is lost is noticed by silence, sides that parted find each other again,
// hung tasks are killed, and jobs that cannot have slots have given up.
func (s *settings) settle() time.Duration {
	const backOff, launch, life = 30 * time.Second, 40 * time.Second, maxLife
	return s.restarts.more(s.slotRequest) + 3*s.timeout + 2*backOff + s.cancellation + launch + s.slotRequest + s.slotIdle + s.jobTimeout + s.startUp + life + 20*time.Second
}

// rest is how long the end of healthy jobs may take.
func (s *settings) rest() time.Duration {
	d := 2*s.timeout + 2*s.cancellation + time.Minute
	if s.restarts.blocking {
		d += mostVertices * maxLife
	}
	return d
}

// balance draws how slots are chosen among TaskManagers.
func (c *Cluster) balance() slotmanager.Balance {
	drawn := slotmanager.Balance(c.rand.IntN(3))
	if c.settings.packed {
		return slotmanager.InOrder
	}
	return drawn
}
