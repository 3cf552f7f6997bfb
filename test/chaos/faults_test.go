package chaos

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// kind is a kind of fault.
type kind struct {
	name string
	// weight is how often it comes up, compared with others.
	weight int
	// inject injects one fault. It is false if there is nothing it could harm now.
	inject func(f *faults) (bool, error)
}

// processKinds are the faults of processes.
var processKinds = []*kind{
	{"kill TaskManager", 3, (*faults).killManager},
	{"freeze TaskManager", 3, (*faults).freezeManager},
	{"kill worker", 3, (*faults).killWorker},
	{"freeze worker", 2, (*faults).freezeWorker},
	{"stop worker for good", 1, (*faults).stopWorker},
	{"freeze master", 1, (*faults).freezeMaster},
	{"kill master", 1, (*faults).killMaster},
}

// plan gives n faults in random order. All kinds come up as often as their
// weights say.
func plan(random *rand.Rand, n int, kinds []*kind) []*kind {
	var deck []*kind
	for _, k := range kinds {
		for range k.weight {
			deck = append(deck, k)
		}
	}
	all := make([]*kind, n)
	for i := range all {
		// Each deck is dealt to its end before the next is shuffled.
		if i%len(deck) == 0 {
			random.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		}
		all[i] = deck[i%len(deck)]
	}
	return all
}

// faults injects faults and counts them. It belongs to the test's goroutine; only
// what undoes a fault runs by itself.
type faults struct {
	c        *cluster
	random   *rand.Rand
	injected map[string]int
	harmed   map[int]bool // the places of TaskManagers that have a fault now; -1 is the master's
	undoing  sync.WaitGroup
	mu       sync.Mutex
	failures []error // of what undoes; guarded by mu
}

// inject injects one fault and counts it, unless there is nothing to harm.
func (f *faults) inject(k *kind) bool {
	f.c.t.Helper()
	done, err := k.inject(f)
	if err != nil {
		f.c.t.Fatalf("%s: %v", k.name, err)
	}
	if done {
		f.injected[k.name]++
	}
	return done
}

// lasts draws how long something is stopped or cut: longer than the silence a
// process may keep.
func (f *faults) lasts() time.Duration {
	return silence + 300*time.Millisecond + time.Duration(f.random.IntN(1500))*time.Millisecond
}

// place chooses a TaskManager that has no fault now; it has one from now on.
func (f *faults) place() (place int, ok bool) {
	var well []int
	for i := range f.c.managers {
		if !f.harmed[i] {
			well = append(well, i)
		}
	}
	if len(well) == 0 {
		return 0, false
	}
	place = well[f.random.IntN(len(well))]
	f.harmed[place] = true
	return place, true
}

func (f *faults) killManager() (bool, error) {
	place, ok := f.place()
	if !ok {
		return false, nil
	}
	return true, kill(f.c.managers[place])
}

func kill(p *process) error {
	err := syscall.Kill(p.pid(), syscall.SIGKILL)
	<-p.ended
	return err
}

func (f *faults) freezeManager() (bool, error) {
	place, ok := f.place()
	if !ok {
		return false, nil
	}
	return true, f.freeze(f.c.managers[place].pid())
}

// freeze stops a process for a while.
func (f *faults) freeze(pid int) error {
	f.later(f.lasts(), func() error { return syscall.Kill(pid, syscall.SIGCONT) })
	return syscall.Kill(pid, syscall.SIGSTOP)
}

// killMaster kills the master, with all of its jobs.
func (f *faults) killMaster() (bool, error) {
	if f.harmed[-1] {
		return false, nil
	}
	f.harmed[-1] = true
	return true, kill(f.c.master)
}

func (f *faults) freezeMaster() (bool, error) {
	if f.harmed[-1] {
		return false, nil
	}
	f.harmed[-1] = true
	return true, f.freeze(f.c.master.pid())
}

func (f *faults) killWorker() (bool, error) {
	_, ok, err := f.signalWorker(syscall.SIGKILL)
	return ok, err
}

// freezeWorker stops a worker for a while. Its TaskManager may end it meanwhile.
func (f *faults) freezeWorker() (bool, error) {
	pid, ok, err := f.signalWorker(syscall.SIGSTOP)
	if ok && err == nil {
		f.later(f.lasts(), func() error {
			if err := syscall.Kill(pid, syscall.SIGCONT); !errors.Is(err, syscall.ESRCH) {
				return err
			}
			return nil
		})
	}
	return ok, err
}

// stopWorker stops a worker and leaves it to its TaskManager to find that out.
func (f *faults) stopWorker() (bool, error) {
	_, ok, err := f.signalWorker(syscall.SIGSTOP)
	return ok, err
}

// signalWorker sends a signal to one of the workers there are.
func (f *faults) signalWorker(signal syscall.Signal) (pid int, ok bool, err error) {
	workers := f.c.home.Workers()
	if len(workers) == 0 {
		return 0, false, nil
	}
	slices.Sort(workers)
	pid = workers[f.random.IntN(len(workers))]
	err = syscall.Kill(pid, signal)
	if errors.Is(err, syscall.ESRCH) { // it has just ended
		return 0, false, nil
	}
	return pid, true, err
}

func (f *faults) later(after time.Duration, undo func() error) {
	f.undoing.Add(1)
	time.AfterFunc(after, func() {
		defer f.undoing.Done()
		if err := undo(); err != nil {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.failures = append(f.failures, err)
		}
	})
}

// undo waits until what was stopped or cut is back, and starts what was killed
// again.
func (f *faults) undo() {
	f.c.t.Helper()
	if !f.c.master.alive() {
		f.c.launchMaster()
	}
	for i, p := range f.c.managers {
		if !p.alive() {
			f.c.launchManager(i)
		}
	}
	f.undoing.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := errors.Join(f.failures...); err != nil {
		f.c.t.Fatalf("undo faults: %v", err)
	}
	clear(f.harmed)
}

// total counts the faults of some kinds.
func (f *faults) total(kinds []*kind) (n int) {
	for _, k := range kinds {
		n += f.injected[k.name]
	}
	return n
}

func (f *faults) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(f.injected)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, f.injected[name]))
	}
	return strings.Join(parts, ", ")
}

// TestPlan checks that every kind comes up, as often as its weight says.
func TestPlan(t *testing.T) {
	counts, weights := map[string]int{}, 0
	for _, k := range processKinds {
		weights += k.weight
	}
	for _, k := range plan(rand.New(rand.NewPCG(1, 0)), 5*weights, processKinds) {
		counts[k.name]++
	}
	for _, k := range processKinds {
		if counts[k.name] != 5*k.weight {
			t.Errorf("%s comes up %d times, want %d", k.name, counts[k.name], 5*k.weight)
		}
	}
}
