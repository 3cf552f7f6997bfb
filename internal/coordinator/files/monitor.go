package files

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/weirstream/weir/internal/status"
)

const (
	// holdAtMost is how long a request waits for a file to come. It is shorter than
	// requests may take, so that none is made twice for that.
	holdAtMost = 5 * time.Second
	// maxSeen is how many files may be there at once in directories that grow: each
	// look lists them, and each checkpoint names them.
	maxSeen = 1 << 17
	// forgetAfter is how many looks in a row do not find a file before it is
	// forgotten: a listing may miss one while others are renamed.
	forgetAfter = 3
)

// known is a file that has been found.
type known struct {
	Size   int64 `json:"size"`
	Missed int   `json:"missed,omitzero"` // how many looks in a row have not found it
}

// grows reports whether files go on to be found.
func (e *enumerator) grows() bool { return e.spec.MonitorMillis > 0 }

// looked takes what a look at the directories has found. What is new is packed into
// splits; what is gone is soon forgotten, so that as much is remembered as there is.
func (e *enumerator) looked(found []Found, err error) {
	if e.closed || e.failed {
		return
	}
	fresh, err := e.compare(found, err)
	if err != nil {
		e.failed = true
		e.stopTimer()
		e.context.Fail(err)
		return
	}
	splits := pack(fresh, e.spec)
	for _, s := range splits {
		s.ID = e.next
		e.next++
	}
	if len(splits) > 0 {
		e.context.Log.Info("files found", "files", len(fresh), "splits", len(splits))
	}
	e.free = append(e.free, splits...)
	e.listed = true
	e.answerWaiting()
	e.stopTimer()
	e.timer = e.context.Loop.After(time.Duration(e.spec.MonitorMillis)*time.Millisecond, func() {
		e.timer = nil
		e.Start()
	})
}

// compare gives the files that are new, and notes those that are there. A file that
// has another size than it was found with was not complete then, or is written to
// again: records would be missing.
func (e *enumerator) compare(found []Found, err error) (fresh []Found, _ error) {
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(slices.Clone(found), func(f Found) bool {
		name := path.Base(f.Path)
		return f.Size == 0 || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
	})
	if len(found) > maxSeen {
		return nil, status.Fatal(fmt.Errorf("the directories that are watched hold %d files, and at most %d can be told apart: move files away that have been read", len(found), maxSeen))
	}
	now := make(map[string]known, len(found))
	for _, f := range found {
		before, seen := e.seen[f.Path]
		if seen && before.Size != f.Size {
			return nil, status.Fatal(fmt.Errorf("file %s had %d bytes when it was found and has %d now: a file must be complete when it gets its name, and not be changed; write it under a name that begins with \".\" or \"_\" and rename it", f.Path, before.Size, f.Size))
		}
		if !seen {
			fresh = append(fresh, f)
		}
		now[f.Path] = known{Size: f.Size}
	}
	for name, before := range e.seen { // order: each is looked at by itself
		if _, there := now[name]; !there && before.Missed+1 < forgetAfter {
			now[name] = known{Size: before.Size, Missed: before.Missed + 1}
		}
	}
	e.seen = now
	return fresh, nil
}

// hold lets a request wait for a file, for some time.
func (e *enumerator) hold(w waiting) {
	e.held++
	w.number = e.held
	e.waiting = append(e.waiting, w)
	e.context.Loop.After(holdAtMost, func() { e.expire(w.number) })
}

// expire answers a request that has waited for long.
func (e *enumerator) expire(number int64) {
	i := slices.IndexFunc(e.waiting, func(w waiting) bool { return w.number == number })
	if e.closed || i < 0 {
		return
	}
	w := e.waiting[i]
	e.waiting = slices.Delete(e.waiting, i, i+1)
	w.expired = true
	e.answer(w)
}

func (e *enumerator) stopTimer() {
	if e.timer != nil {
		e.timer.Stop()
		e.timer = nil
	}
}
