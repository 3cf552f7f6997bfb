package pattern

import "math"

// Conditions say which rows an element takes.
type Conditions interface {
	// Plain tells whether the row that is looked at may be one of an element, if that is
	// known without a look at the run.
	Plain(element int) (holds, known bool)
	// Test tells of each run whether the row may become its next one of an element:
	// holds[i] of runs[i]. The counts of runs do not have the row yet.
	Test(element int, runs []Rows, holds []bool)
}

// Matcher follows the rows of one partition.
type Matcher struct {
	automaton *Automaton
	skip      Skip
	// within is the time that a match takes less than; 0: any.
	within int64

	row  int64 // the number of the next row
	time int64 // of the last
	// partial are the runs, and one without rows in the first state, of which all others
	// come. complete are matches that wait for runs which began before them.
	partial, complete queue
	counts            counts
	// found are the matches of the last row, or time.
	found []Run

	// scratch
	next, ended queue
	steps       []step
	plain       []truth
	truths      []truth // by run and element
	asking      [][]int32
	views       []Rows
	holds       []bool
}

// step is what a row makes of a run: the row becomes one of the element, and the run comes
// to a state.
type step struct{ to, element, slot int32 }

// truth is what is known of a condition.
type truth uint8

const (
	unknown truth = iota
	no
	yes
)

// NewMatcher makes the matcher of a partition of which no row has come. Within is the
// time that matches take less than, in the unit of Row's; 0: any.
func NewMatcher(a *Automaton, skip Skip, within int64) *Matcher {
	m := &Matcher{automaton: a, skip: skip, within: within, plain: make([]truth, a.elements), asking: make([][]int32, a.elements)}
	m.Reset()
	return m
}

// Reset begins another partition.
func (m *Matcher) Reset() {
	m.row, m.time = 0, math.MinInt64
	m.complete, m.found = m.complete[:0], m.found[:0]
	m.counts.reset(m.automaton.elements)
	m.partial = append(m.partial[:0], m.beginning())
}

// beginning is the run without rows. It is after all others in their order.
func (m *Matcher) beginning() Run { return Run{Start: math.MaxInt64, state: m.automaton.first} }

// Size is about how many bytes the runs take.
func (m *Matcher) Size() int {
	const run = 24
	return run*(cap(m.partial)+cap(m.complete)+cap(m.next)+cap(m.found)) + 4*(cap(m.counts.values)+cap(m.counts.free)) + cap(m.truths)
}

// Oldest is the first row that a run, or a match that waits, has; if there is none, it is
// the next one to come.
func (m *Matcher) Oldest() int64 {
	oldest := m.row
	for _, q := range []queue{m.partial, m.complete} {
		if len(q) > 0 {
			oldest = min(oldest, q[0].Start)
		}
	}
	return oldest
}

// Found are the matches of the last Row or End, in order. They hold until the next.
func (m *Matcher) Found() []Run { return m.found }

// Rows are those of a match that was found.
func (m *Matcher) Rows(r Run) Rows { return Rows{r.Start, m.counts.of(r.slot)} }

// forget forgets the matches that were found.
func (m *Matcher) forget() {
	for _, r := range m.found {
		m.counts.release(r.slot)
	}
	m.found = m.found[:0]
}

// Row takes the next row; last says that no other follows it in the partition, and is
// looked at only if matches end with that.
func (m *Matcher) Row(time int64, last bool, c Conditions) error {
	m.forget()
	if time != m.time {
		if err := m.expire(time); err != nil {
			return err
		}
		m.time = time
	}
	for e := range m.plain {
		m.plain[e] = unknown
		if holds, known := c.Plain(e); known {
			m.plain[e] = truthOf(holds)
		}
	}
	m.learn(c)
	m.next, m.ended = m.next[:0], m.ended[:0]
	for i, r := range m.partial {
		m.step(i, r.state)
		m.advance(r, time, last)
	}
	m.row++
	m.partial, m.next = m.next, m.partial
	return m.settle()
}

// End is told that no row comes any more. Runs that have a time to end in are given up,
// which frees matches that wait for them.
func (m *Matcher) End() error {
	m.forget()
	if m.within <= 0 {
		return nil
	}
	return m.expire(math.MaxInt64)
}

// learn has all conditions tested that the next step of a run depends on: only those,
// because others may fail.
func (m *Matcher) learn(c Conditions) {
	elements := m.automaton.elements
	m.truths = m.truths[:0]
	for {
		asked := false
		for i, r := range m.partial {
			need := m.step(i, r.state)
			if need < 0 {
				continue
			}
			if len(m.truths) == 0 {
				m.truths = cleared(m.truths, len(m.partial)*elements)
			}
			asked = true
			m.asking[need] = append(m.asking[need], int32(i))
		}
		if !asked {
			return
		}
		for e, runs := range m.asking {
			if len(runs) > 0 {
				m.test(c, e, runs)
				m.asking[e] = runs[:0]
			}
		}
	}
}

// test asks for the condition of an element in some runs.
func (m *Matcher) test(c Conditions, element int, runs []int32) {
	m.views = m.views[:0]
	for _, i := range runs {
		r := m.partial[i]
		if r.slot == zeros {
			r.Start = m.row
		}
		m.views = append(m.views, Rows{r.Start, m.counts.of(r.slot)})
	}
	m.holds = cleared(m.holds, len(runs))
	c.Test(element, m.views, m.holds)
	for k, i := range runs {
		m.truths[int(i)*m.automaton.elements+element] = truthOf(m.holds[k])
	}
}

func truthOf(holds bool) truth {
	if holds {
		return yes
	}
	return no
}

// cleared is a slice of n zero values, in the memory of s if there is enough.
func cleared[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, 2*n)
	}
	s = s[:n]
	clear(s)
	return s
}

// step finds the steps of a run, which is in a state. If they depend on a condition that is
// unknown, it gives the condition's element, otherwise a number below 0.
func (m *Matcher) step(run int, from int32) (need int32) {
	m.steps = m.steps[:0]
	for k := range m.automaton.states[from] {
		b := &m.automaton.states[from][k]
		switch open, need := m.all(run, b.gate); open {
		case unknown:
			return need
		case no:
			return -1
		}
		switch takes, need := m.all(run, b.take); takes {
		case unknown:
			return need
		case no:
			continue
		}
		m.steps = append(m.steps, step{to: b.to, element: b.element})
		if !b.ends {
			continue
		}
		switch ends, need := m.all(run, b.end); ends {
		case unknown:
			return need
		case yes:
			m.steps = append(m.steps, step{to: final, element: b.element})
		}
	}
	return -1
}

// all tells whether all literals are true in a run, or of which element that depends.
func (m *Matcher) all(run int, where []literal) (is truth, need int32) {
	for _, l := range where {
		v := m.plain[l.element]
		if v == unknown {
			if len(m.truths) > 0 {
				v = m.truths[run*m.automaton.elements+int(l.element)]
			}
			if v == unknown {
				return unknown, l.element
			}
		}
		if (v == no) != l.not {
			return no, 0
		}
	}
	return yes, 0
}

// advance makes the runs that a run becomes with the row, of the steps it takes.
func (m *Matcher) advance(r Run, time int64, last bool) {
	begins := r.slot == zeros
	to := r
	if begins {
		to.Start, to.time = m.row, time
	}
	for i := len(m.steps) - 1; i >= 0; i-- { // the first takes over what the run has
		s := &m.steps[i]
		if s.slot = r.slot; i > 0 || begins {
			s.slot = m.counts.copy(r.slot)
		}
		m.counts.of(s.slot)[s.element]++
	}
	for _, s := range m.steps {
		to.state, to.slot = s.to, s.slot
		switch {
		case s.to != final:
			m.next.add(to)
		case m.automaton.atLast && !last:
			m.counts.release(s.slot)
		default:
			m.ended.add(to)
		}
	}
	switch {
	case begins && !m.automaton.atFirst:
		m.next.add(r)
	case !begins && len(m.steps) == 0:
		m.counts.release(r.slot)
	}
}

// expire gives up the runs that began too long before a time.
func (m *Matcher) expire(time int64) error {
	if m.within <= 0 {
		return nil
	}
	m.next, m.ended = m.next[:0], m.ended[:0]
	for _, r := range m.partial {
		if r.slot != zeros && (time == math.MaxInt64 || time-r.time >= m.within) {
			m.counts.release(r.slot)
			continue
		}
		m.next.add(r)
	}
	m.partial, m.next = m.next, m.partial
	return m.settle()
}

// settle finds the matches that have ended and that no run can come before any more. Each
// takes with it the runs and matches that begin before the next one may.
func (m *Matcher) settle() error {
	for _, r := range m.ended {
		m.complete.add(r)
	}
	for len(m.complete) > 0 && (len(m.partial) == 0 || m.complete[0].Start <= m.partial[0].Start) {
		match := m.complete.poll()
		after, err := m.skip.after(m.Rows(match))
		if err != nil {
			return err
		}
		m.partial.drop(after, &m.counts)
		m.complete.drop(after, &m.counts)
		m.found = append(m.found, match)
	}
	return nil
}
