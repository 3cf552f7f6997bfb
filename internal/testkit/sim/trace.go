package sim

import (
	"fmt"
	"io"
	"time"
)

// Kind says what sort of event it is.
type Kind uint8

// The kinds of events.
const (
	Letter   Kind = iota // a callback of a loop: posted, or a call or answer that was delivered
	Timer                // a timer of a loop
	Work                 // work beside a loop
	Arrival              // a call or an answer comes out of the network
	Notice               // the network tells of a lost connection or a passed deadline
	Scripted             // the driver's
	note                 // a line of the trace, no event
)

var kindNames = [...]string{"letter", "timer", "work", "arrival", "notice", "script", "note"}

func (k Kind) String() string { return kindNames[k] }

// remembered is how many lines of the trace are kept for a report.
const remembered = 64

// A Trace is the course of a world: a hash over all of it, and its last lines.
type Trace struct {
	hash  uint64
	lines uint64
	last  [remembered]line
	full  io.Writer // nil: nobody wants every line
}

type line struct {
	at      time.Duration
	what    Kind
	where   string
	text    string
	ordinal uint64
}

func (l *line) String() string {
	if l.what == note {
		return fmt.Sprintf("%7d %14s %-22s ** %s", l.ordinal, l.at, l.where, l.text)
	}
	return fmt.Sprintf("%7d %14s %-22s %-7s %s", l.ordinal, l.at, l.where, l.what, l.text)
}

func newTrace() *Trace { return &Trace{hash: 0xcbf29ce484222325} }

// Full has every line from now on written to out.
func (t *Trace) Full(out io.Writer) { t.full = out }

// Hash is a number that differs, with all probability, between different
// courses.
func (t *Trace) Hash() uint64 { return t.hash }

// Last gives the last n lines, oldest first, as far as they are remembered.
func (t *Trace) Last(n int) []string {
	n = min(n, remembered, int(t.lines))
	lines := make([]string, 0, n)
	for i := t.lines - uint64(n); i < t.lines; i++ {
		lines = append(lines, t.last[i%remembered].String())
	}
	return lines
}

func (t *Trace) event(at time.Duration, e *event) {
	where := ""
	if e.proc != nil {
		where = e.proc.text
	}
	t.add(line{at: at, what: e.what, where: where, text: e.name})
}

func (t *Trace) note(at time.Duration, subject, text string) {
	t.add(line{at: at, what: note, where: subject, text: text})
}

func (t *Trace) add(l line) {
	l.ordinal = t.lines
	t.last[t.lines%remembered] = l
	t.lines++
	t.mix(uint64(l.at))
	t.mix(uint64(l.what))
	t.mixText(l.where)
	t.mixText(l.text)
	if t.full != nil {
		fmt.Fprintln(t.full, l.String())
	}
}

// mix is one step of FNV-1a over eight bytes at once, with a shift so that high
// bits reach low ones.
func (t *Trace) mix(v uint64) {
	t.hash = (t.hash ^ v) * 0x100000001b3
	t.hash ^= t.hash >> 29
}

func (t *Trace) mixText(s string) {
	h := t.hash
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	t.hash = h ^ h>>29
}
