package files

import (
	"cmp"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/coordinator/files/split"
)

// Kind is the name job graphs call this coordinator by.
const Kind = "files"

// errClosed answers who still waits when the job ends.
var errClosed = errors.New("the job has ended")

// Factory makes the coordinators of file sources, which find files by list.
func Factory(list List) coordinator.Factory {
	return func(c coordinator.Context) (coordinator.Coordinator, error) {
		var spec split.Spec
		if err := json.Unmarshal([]byte(c.Spec), &spec); err != nil {
			return nil, fmt.Errorf("read its specification: %w", err)
		}
		if len(spec.Patterns) == 0 {
			return nil, errors.New(`"patterns" is empty, want at least one glob`)
		}
		if spec.SplitBytes < 0 {
			return nil, fmt.Errorf(`"splitBytes" is %d, want a positive number, or 0 for %d`, spec.SplitBytes, split.DefaultBytes)
		}
		if spec.MonitorMillis < 0 {
			return nil, fmt.Errorf(`"monitorMillis" is %d, want a positive number, or 0 to find files once`, spec.MonitorMillis)
		}
		return &enumerator{context: c, list: list, spec: spec, seen: map[string]known{}}, nil
	}
}

// enumerator hands out the splits of one file source.
//
// Invariant: every split is in free or in given of one reader; once listed is
// set, nobody waits, unless files go on to be found: then while none is free.
type enumerator struct {
	context coordinator.Context
	list    List
	spec    split.Spec

	listed  bool
	looking bool // files are being listed
	failed  bool // the list could not be made
	closed  bool
	free    []*split.Split // in order of their ids
	readers []reader       // by subtask, as far as any has asked
	waiting []waiting      // for the list of files, in the order they asked

	// The rest is for directories that grow.
	next  int              // the next split's id
	held  int64            // requests that have waited for files
	seen  map[string]known // files that have been found and are still there
	timer actor.Timer      // of the next look; nil: none is due
}

// reader is what one subtask has asked and got.
type reader struct {
	given coordinator.Given[*split.Split]
	// attempt, sequence and answer are those of its last numbered request.
	attempt  int
	sequence int64
	answer   []byte
}

type waiting struct {
	number           int64 // counts those who have waited for files; 0: it has not
	expired          bool  // it has waited for long
	subtask, attempt int
	request          split.Request
	reply            func([]byte, error)
}

// Start lists the files beside the loop, unless that is under way: the result of
// a look that was begun earlier must not come after that of a later one. Files that
// are found once are not looked for again when a checkpoint has what was found: some
// may be gone that were read before it.
func (e *enumerator) Start() {
	if e.looking || e.listed && !e.grows() {
		return
	}
	e.looking = true
	var splits []*split.Split
	var found []Found
	var err error
	e.context.Loop.Go(func() {
		if found, err = find(e.list, e.spec); err == nil && !e.grows() {
			splits = pack(found, e.spec)
		}
	}, func() {
		e.looking = false
		if e.grows() {
			e.looked(found, err)
		} else {
			e.planned(splits, err)
		}
	})
}

// find lists all files that the patterns name.
func find(list List, spec split.Spec) (all []Found, err error) {
	for _, pattern := range spec.Patterns {
		found, err := list(pattern)
		missing := errors.Is(err, fs.ErrNotExist)
		if err != nil && !missing {
			return nil, fmt.Errorf("list the files of %q: %w", pattern, err)
		}
		switch none := len(found) == 0 && spec.MonitorMillis == 0 && !spec.Missing; {
		case none && missing && spec.Empty:
			return nil, fmt.Errorf("path %s does not exist", pattern)
		case none && (!spec.Empty || strings.ContainsAny(pattern, "*?[{")):
			return nil, fmt.Errorf("no file matches %q", pattern)
		}
		all = append(all, found...)
	}
	return all, nil
}

func (e *enumerator) planned(splits []*split.Split, err error) {
	if e.closed || e.listed { // what a checkpoint had is there already
		return
	}
	if err != nil {
		e.failed = true
		e.context.Fail(err)
		return
	}
	e.context.Log.Info("files found", "splits", len(splits))
	e.listed, e.free = true, splits
	e.context.Sized(len(splits), bytesOf(splits))
	e.answerWaiting()
}

func bytesOf(splits []*split.Split) (bytes int64) {
	for _, s := range splits {
		bytes += s.Bytes()
	}
	return bytes
}

// answerWaiting answers those who wait, in the order they asked. Some may wait on.
func (e *enumerator) answerWaiting() {
	waited := e.waiting
	e.waiting = nil
	for _, w := range waited {
		e.answer(w)
	}
}

// HandleRequest gives the subtask its next split, or tells that none is left. A
// request that comes before the files are listed waits.
func (e *enumerator) HandleRequest(subtask, attempt int, payload []byte, reply func([]byte, error)) {
	w := waiting{subtask: subtask, attempt: attempt, reply: reply}
	if e.closed {
		reply(nil, errClosed)
		return
	}
	if err := json.Unmarshal(payload, &w.request); err != nil {
		reply(nil, fmt.Errorf("read the request for a split: %w", err))
		return
	}
	if !e.listed {
		e.waiting = append(e.waiting, w)
		return
	}
	e.answer(w)
}

func (e *enumerator) answer(w waiting) {
	r := e.reader(w.subtask)
	if w.request.Sequence != 0 && w.attempt == r.attempt && w.request.Sequence == r.sequence {
		w.reply(r.answer, nil)
		return
	}
	if w.attempt < r.attempt || w.request.Sequence != 0 && w.attempt == r.attempt && w.request.Sequence < r.sequence {
		// It was answered before and is late: a split that it got now would be read by nobody.
		w.reply(nil, fmt.Errorf("request %d of attempt %d of subtask %d comes after request %d of attempt %d", w.request.Sequence, w.attempt, w.subtask, r.sequence, r.attempt))
		return
	}
	response := split.Response{}
	switch {
	case len(e.free) > 0:
		response.Split = e.free[0]
		e.free = e.free[1:]
		r.given.Add(response.Split)
	case !e.grows():
		response.Done = true
	case w.number == 0:
		e.hold(w)
		return
	case !w.expired:
		e.waiting = append(e.waiting, w) // until it expires
		return
	default:
		response.Later = true
	}
	text, err := json.Marshal(response)
	if err == nil {
		r.attempt, r.sequence, r.answer = w.attempt, w.request.Sequence, text
	}
	w.reply(text, err)
}

// reader is what a subtask has asked and got.
func (e *enumerator) reader(subtask int) *reader {
	if more := subtask + 1 - len(e.readers); more > 0 {
		e.readers = append(e.readers, make([]reader, more)...)
	}
	return &e.readers[subtask]
}

// Sizing reports whether it says how much there is to read: a directory that grows has
// no size.
func (e *enumerator) Sizing() bool { return !e.grows() }

// Unassigned is how many splits are free.
func (e *enumerator) Unassigned() (splits int, known bool) { return len(e.free), e.listed }

// SubtaskFailed drops what the attempt still asks for: nobody reads the answer.
func (e *enumerator) SubtaskFailed(subtask, attempt int) {
	e.waiting = slices.DeleteFunc(e.waiting, func(w waiting) bool {
		gone := w.subtask == subtask && w.attempt == attempt
		if gone {
			w.reply(nil, fmt.Errorf("attempt %d of subtask %d has ended", attempt, subtask))
		}
		return gone
	})
}

// Reset takes back all splits the subtask was given. If it begins anew because
// the files could not be listed, that is tried again.
func (e *enumerator) Reset(subtask int) { e.takeBack(subtask, 0) }

// takeBack takes back what a subtask was given since a checkpoint; 0: everything.
func (e *enumerator) takeBack(subtask int, checkpoint int64) {
	if e.failed {
		e.failed = false
		e.Start()
	}
	r := e.reader(subtask)
	e.free = append(e.free, r.given.TakeBack(checkpoint)...)
	slices.SortFunc(e.free, func(a, b *split.Split) int { return cmp.Compare(a.ID, b.ID) })
	*r = reader{given: r.given}
}

// Close refuses all who wait.
func (e *enumerator) Close() {
	e.closed = true
	e.stopTimer()
	for _, w := range e.waiting {
		w.reply(nil, errClosed)
	}
	e.waiting = nil
}
