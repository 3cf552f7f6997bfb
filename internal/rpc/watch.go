package rpc

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weirstream/weir/internal/actor"
)

// watches are who waits, in one system, for the loss of which process.
type watches struct {
	mu        sync.Mutex // guards the field below
	byProcess map[string][]*watcher
}

type watcher struct {
	loop    actor.Loop
	lost    func(error)
	stopped atomic.Bool
}

// add registers lost for the next break of a connection to the process.
func (w *watches) add(process string, loop actor.Loop, lost func(error)) (stop func()) {
	one := &watcher{loop: loop, lost: lost}
	w.mu.Lock()
	if w.byProcess == nil {
		w.byProcess = map[string][]*watcher{}
	}
	w.byProcess[process] = append(w.byProcess[process], one)
	w.mu.Unlock()
	return func() {
		one.stopped.Store(true)
		w.remove(process, one)
	}
}

func (w *watches) remove(process string, one *watcher) {
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := slices.DeleteFunc(w.byProcess[process], func(o *watcher) bool { return o == one })
	if len(rest) == 0 {
		delete(w.byProcess, process)
		return
	}
	w.byProcess[process] = rest
}

// fire tells all who wait for the process, in the order they came.
func (w *watches) fire(process string, cause error) {
	w.mu.Lock()
	waiting := w.byProcess[process]
	delete(w.byProcess, process)
	w.mu.Unlock()
	for _, one := range waiting {
		one.loop.Post(func() {
			if !one.stopped.Load() {
				one.lost(cause)
			}
		})
	}
}

// clear forgets everybody.
func (w *watches) clear() {
	w.mu.Lock()
	clear(w.byProcess)
	w.mu.Unlock()
}
