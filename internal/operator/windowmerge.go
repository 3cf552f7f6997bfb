package operator

import "slices"

// merge adds a window to those of the current key and gives the one that it is now
// a part of, after those that touch it have become one with it. A window that is
// too late by itself is not added.
//
// The windows of a key never touch each other, so one pass finds all.
func (w *windowed[K, T, R]) merge(window Window) Window {
	all, _ := w.open.Get()
	whole := window
	for _, other := range all {
		if other.Start <= whole.End && whole.Start <= other.End {
			whole = Window{min(whole.Start, other.Start), max(whole.End, other.End)}
		}
	}
	if w.over(whole) || slices.Contains(all, whole) {
		return whole
	}
	kept := make([]Window, 0, len(all)+1)
	var number int64
	var contents []func()
	for _, other := range all {
		if other.End < whole.Start || whole.End < other.Start {
			kept = append(kept, other)
			continue
		}
		w.space.Set(other)
		contents = append(contents, w.pane.Take())
		number += w.context.Number()
		w.context.SetNumber(0)
		w.context.Delete(w.spec.Domain, w.end(other))
		w.context.Delete(w.spec.Domain, other.Last())
	}
	w.open.Set(append(kept, whole))
	if len(contents) == 0 {
		return whole
	}
	w.space.Set(whole)
	for _, merge := range contents {
		merge()
	}
	w.context.SetNumber(number)
	w.spec.Trigger.Merged(whole, w.context)
	return whole
}

// isOpen says whether the current key has a window.
func (w *windowed[K, T, R]) isOpen(window Window) bool {
	all, _ := w.open.Get()
	return slices.Contains(all, window)
}

// close forgets a window of the current key.
func (w *windowed[K, T, R]) close(window Window) {
	all, _ := w.open.Get()
	if all = slices.DeleteFunc(all, func(o Window) bool { return o == window }); len(all) == 0 {
		w.open.Clear()
	} else {
		w.open.Set(all)
	}
}
