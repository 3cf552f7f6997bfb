package coordinator

import (
	"maps"
	"slices"
)

// Given is what one subtask has been given, in order, since the newest checkpoint
// that is complete, and how much of it there was at each checkpoint that may still be
// restored.
type Given[S any] struct {
	splits []S
	marks  map[int64]int
}

// Add notes what the subtask is given.
func (g *Given[S]) Add(s S) { g.splits = append(g.splits, s) }

// Mark notes what the subtask has at a checkpoint.
func (g *Given[S]) Mark(checkpoint int64) {
	if g.marks == nil {
		g.marks = map[int64]int{}
	}
	g.marks[checkpoint] = len(g.splits)
}

// Forget forgets what was given before a checkpoint, which is in the subtask's part of
// it: no older one is restored any more.
func (g *Given[S]) Forget(checkpoint int64) {
	before, known := g.marks[checkpoint]
	if !known {
		return
	}
	g.splits = slices.Clone(g.splits[before:])
	maps.DeleteFunc(g.marks, func(id int64, _ int) bool { return id < checkpoint })
	for id := range g.marks { // order: each is changed by itself
		g.marks[id] -= before
	}
}

// TakeBack takes back all but what the subtask had at a checkpoint; 0: everything.
func (g *Given[S]) TakeBack(checkpoint int64) []S {
	had := g.marks[checkpoint]
	back := slices.Clone(g.splits[had:])
	g.splits, g.marks = slices.Clone(g.splits[:had]), nil
	if checkpoint != 0 {
		g.marks = map[int64]int{checkpoint: had}
	}
	return back
}
