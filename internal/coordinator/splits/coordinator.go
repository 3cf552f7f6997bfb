// Package splits is the coordinator of a source whose splits the program finds: its
// enumerator runs in the worker of the source's first subtask, and tells this one what
// it has found; this one hands splits to the readers that ask.
//
//	enumerator (subtask 0) ──Found{splits, state}──▶ coordinator ──split──▶ readers (all subtasks)
//	           ◀──state── Begin, when it begins anew
//
// It promises that what the enumerator has found and its state are kept together, so
// that an enumerator which begins anew finds each split once; that each split is owned
// by the coordinator or by one subtask; and that an enumerator of an attempt that is
// over is not heard any more. It never looks into a split: no code of the program runs
// here.
package splits

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/coordinator/splits/message"
)

// Kind is the name job graphs call this coordinator by.
const Kind = "splits"

const (
	// holdAtMost is how long a request waits for a split to be found. It is shorter
	// than requests may take, so that none is made twice for that.
	holdAtMost = 5 * time.Second
	// maxFree bounds the splits that nobody has: each checkpoint holds them.
	maxFree = 1 << 17
)

var errClosed = errors.New("the job has ended")

// Factory makes the coordinators of such sources.
func Factory(c coordinator.Context) (coordinator.Coordinator, error) {
	var spec message.Spec
	if err := json.Unmarshal([]byte(c.Spec), &spec); err != nil {
		return nil, fmt.Errorf("read its specification: %w", err)
	}
	return &pool{context: c, spec: spec}, nil
}

// pool holds the splits of one source.
//
// Invariant: every split that has been found is in free or in given of one reader,
// or in a part of the checkpoint that is restored next.
type pool struct {
	context coordinator.Context
	spec    message.Spec
	closed  bool
	free    []found // in the order they were found
	next    int64   // number of the next split
	readers []reader
	waiting []waiting // in the order they asked
	asked   int64     // counts those who have waited

	state []byte // the enumerator's
	done  bool   // it will find no more
	// finder is the enumerator's attempt, with its last request and the answer.
	finder talk
}

// found is a split with its number, by which those that come back are put in order.
type found struct {
	Number int64         `json:"number"`
	Split  message.Split `json:"split"`
}

// talk is the last request of an attempt, and what it was answered.
type talk struct {
	attempt  int
	sequence int64
	answer   []byte
}

// repeated gives the answer to a request that was made before; late says that it is
// older than that.
func (t *talk) repeated(attempt int, sequence int64) (answer []byte, late bool) {
	switch {
	case attempt == t.attempt && sequence == t.sequence:
		return t.answer, false
	case attempt < t.attempt || attempt == t.attempt && sequence < t.sequence:
		return nil, true
	}
	return nil, false
}

// reader is what one subtask has asked and got.
type reader struct {
	talk
	given coordinator.Given[found]
}

type waiting struct {
	number           int64 // counts those who have waited; 0: it has not
	expired          bool
	subtask, attempt int
	request          message.Request
	reply            func([]byte, error)
}

// Start does nothing: the enumerator begins with its subtask.
func (p *pool) Start() {}

// HandleRequest answers a reader or the enumerator.
func (p *pool) HandleRequest(subtask, attempt int, payload []byte, reply func([]byte, error)) {
	w := waiting{subtask: subtask, attempt: attempt, reply: reply}
	switch err := json.Unmarshal(payload, &w.request); {
	case p.closed:
		reply(nil, errClosed)
	case err != nil:
		reply(nil, fmt.Errorf("read the request for a split: %w", err))
	case w.request.Sequence < 1:
		reply(nil, fmt.Errorf("the number of a request is %d, want at least 1", w.request.Sequence))
	case w.request.Begin || w.request.Found != nil:
		p.find(w)
	default:
		p.answer(w)
	}
}

// find takes what the enumerator has found.
func (p *pool) find(w waiting) {
	answer, late := p.finder.repeated(w.attempt, w.request.Sequence)
	switch {
	case w.subtask != 0:
		w.reply(nil, fmt.Errorf("subtask %d tells of splits: only the first one finds them", w.subtask))
		return
	case answer != nil:
		w.reply(answer, nil)
		return
	case late || !w.request.Begin && w.attempt != p.finder.attempt:
		w.reply(nil, fmt.Errorf("request %d of the enumerator of attempt %d comes after request %d of attempt %d", w.request.Sequence, w.attempt, p.finder.sequence, p.finder.attempt))
		return
	}
	var response message.Response
	if w.request.Begin {
		response = message.Response{State: p.state, Done: p.done}
	} else if err := p.add(w.request.Found); err != nil {
		w.reply(nil, err)
		return
	}
	text, err := json.Marshal(response)
	if err == nil {
		p.finder = talk{w.attempt, w.request.Sequence, text}
	}
	w.reply(text, err)
	p.answerWaiting()
}

func (p *pool) add(f *message.Found) error {
	if len(p.free)+len(f.Splits) > maxFree {
		return fmt.Errorf("%d splits are found that nobody has begun to read, and at most %d can be kept", len(p.free)+len(f.Splits), maxFree)
	}
	for _, s := range f.Splits {
		p.next++
		p.free = append(p.free, found{p.next, s})
	}
	p.state, p.done = f.State, f.Done
	return nil
}

// answer gives the reader a split, or lets it wait.
func (p *pool) answer(w waiting) {
	r := p.reader(w.subtask)
	switch answer, late := r.repeated(w.attempt, w.request.Sequence); {
	case answer != nil:
		w.reply(answer, nil)
		return
	case late:
		w.reply(nil, fmt.Errorf("request %d of attempt %d of subtask %d comes after request %d of attempt %d", w.request.Sequence, w.attempt, w.subtask, r.sequence, r.attempt))
		return
	}
	response := message.Response{}
	switch i := slices.IndexFunc(p.free, func(f found) bool { return p.mayHave(w, f) }); {
	case i >= 0:
		response.Data = p.free[i].Split.Data
		if response.Data == nil {
			response.Data = []byte{}
		}
		r.given.Add(p.free[i])
		p.free = slices.Delete(slices.Clone(p.free), i, i+1)
	case p.done:
		response.Done = true
	case w.number == 0:
		p.hold(w)
		return
	case !w.expired:
		p.waiting = append(p.waiting, w)
		return
	default:
		response.Later = true
	}
	text, err := json.Marshal(response)
	if err == nil {
		r.talk = talk{w.attempt, w.request.Sequence, text}
	}
	w.reply(text, err)
}

// mayHave reports whether a reader may have a split.
func (p *pool) mayHave(w waiting, f found) bool {
	if !p.spec.Spread || w.request.Parallelism < 2 {
		return true
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(f.Split.ID))
	return int(h.Sum32()%uint32(w.request.Parallelism)) == w.subtask
}

// answerWaiting answers those who wait, in the order they asked. Some may wait on.
func (p *pool) answerWaiting() {
	waited := p.waiting
	p.waiting = nil
	for _, w := range waited {
		p.answer(w)
	}
}

// hold lets a request wait for a split, for some time.
func (p *pool) hold(w waiting) {
	p.asked++
	w.number = p.asked
	p.waiting = append(p.waiting, w)
	p.context.Loop.After(holdAtMost, func() {
		i := slices.IndexFunc(p.waiting, func(other waiting) bool { return other.number == w.number })
		if p.closed || i < 0 {
			return
		}
		p.waiting = slices.Delete(p.waiting, i, i+1)
		w.expired = true
		p.answer(w)
	})
}

func (p *pool) reader(subtask int) *reader {
	for len(p.readers) <= subtask {
		p.readers = append(p.readers, reader{})
	}
	return &p.readers[subtask]
}

// Unassigned is how many splits are free.
func (p *pool) Unassigned() (splits int, known bool) { return len(p.free), p.finder.sequence > 0 }

// SubtaskFailed drops what the attempt still asks for: nobody reads the answer.
func (p *pool) SubtaskFailed(subtask, attempt int) {
	p.waiting = slices.DeleteFunc(p.waiting, func(w waiting) bool {
		gone := w.subtask == subtask && w.attempt == attempt
		if gone {
			w.reply(nil, fmt.Errorf("attempt %d of subtask %d has ended", attempt, subtask))
		}
		return gone
	})
}

// Close refuses all who wait.
func (p *pool) Close() {
	p.closed = true
	for _, w := range p.waiting {
		w.reply(nil, errClosed)
	}
	p.waiting = nil
}
