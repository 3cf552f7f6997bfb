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
	"time"
)

// The kinds of faults.
const (
	killManager   = "kill TaskManager"
	freezeManager = "freeze TaskManager"
	killWorker    = "kill worker"
	freezeWorker  = "freeze worker"
	cutNetwork    = "cut network"
)

// plan gives the kinds of n faults in random order: all kinds come up, as often
// as one another.
func plan(random *rand.Rand, n int, kinds []string) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = kinds[i%len(kinds)]
	}
	random.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// faults injects faults and counts them. It belongs to the test's goroutine; only
// what undoes a fault runs by itself.
type faults struct {
	c        *cluster
	random   *rand.Rand
	injected map[string]int
	harmed   map[int]bool // the places of TaskManagers that have a fault now
	undoing  sync.WaitGroup
	mu       sync.Mutex
	failures []error // of what undoes; guarded by mu
}

// inject injects one fault. What it stops or cuts comes back by itself after
// longer than the silence a process may keep.
func (f *faults) inject(kind string) {
	c := f.c
	c.t.Helper()
	place := f.place()
	lasts := silence + time.Duration(f.random.IntN(1500))*time.Millisecond + 300*time.Millisecond
	var err error
	switch kind {
	case killManager:
		p := c.managers[place]
		err = syscall.Kill(p.pid(), syscall.SIGKILL)
		<-p.ended
		f.harmed[place] = true
	case freezeManager:
		pid := c.managers[place].pid()
		err = syscall.Kill(pid, syscall.SIGSTOP)
		f.later(lasts, func() error { return syscall.Kill(pid, syscall.SIGCONT) })
		f.harmed[place] = true
	case killWorker:
		_, err = f.signalWorker(syscall.SIGKILL)
	case freezeWorker:
		var pid int
		pid, err = f.signalWorker(syscall.SIGSTOP)
		f.later(lasts, func() error {
			// It may have been ended meanwhile, as lost.
			if err := syscall.Kill(pid, syscall.SIGCONT); !errors.Is(err, syscall.ESRCH) {
				return err
			}
			return nil
		})
	case cutNetwork:
		err = c.net.cut(place, true)
		f.later(lasts, func() error { return c.net.cut(place, false) })
		f.harmed[place] = true
	}
	if err != nil {
		c.t.Fatalf("inject %s: %v", kind, err)
	}
	f.injected[kind]++
}

// place chooses a TaskManager that has no fault now.
func (f *faults) place() int {
	var well []int
	for i := range f.c.managers {
		if !f.harmed[i] {
			well = append(well, i)
		}
	}
	return well[f.random.IntN(len(well))]
}

// signalWorker sends a signal to one of the workers there are.
func (f *faults) signalWorker(signal syscall.Signal) (pid int, err error) {
	f.c.t.Helper()
	f.c.until("a worker to harm", func() string {
		workers := f.c.home.Workers()
		if len(workers) == 0 {
			return "there is none"
		}
		slices.Sort(workers)
		pid = workers[f.random.IntN(len(workers))]
		err = syscall.Kill(pid, signal)
		if errors.Is(err, syscall.ESRCH) {
			return "it has just ended"
		}
		return ""
	})
	return pid, err
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

// total counts all faults.
func (f *faults) total() (n int) {
	for _, count := range f.injected {
		n += count
	}
	return n
}

func (f *faults) String() string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(f.injected)) {
		parts = append(parts, fmt.Sprintf("%s %d", kind, f.injected[kind]))
	}
	return strings.Join(parts, ", ")
}
