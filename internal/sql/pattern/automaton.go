package pattern

// Automaton is a pattern as states. A run is in one of them, and each row takes it to
// others, or ends it.
type Automaton struct {
	elements int
	states   [][]branch
	first    int32
	// atFirst and atLast say that matches begin with the partition, and end with it.
	atFirst, atLast bool
}

// literal is the condition of an element, or that it does not hold.
type literal struct {
	element int32
	not     bool
}

// branch is one way that a row may go on with a run. The branches of a state are those
// that are reached by leaving out ever more elements.
type branch struct {
	// gate must hold for this branch and those behind it, and take for this one.
	gate, take []literal
	// The row becomes one of the element, and the run comes to the state to.
	element, to int32
	// ends says that the match may end with the row, if end holds besides.
	ends bool
	end  []literal
}

// final is the state of a run that has ended.
const final = 0

// state is a state while the automaton is made. It takes a row, and may be passed over.
type state struct {
	element int32
	take    transition
	proceed *transition
}

type transition struct {
	to    int32
	where []literal
}

// maker makes the states of a pattern from its end to its beginning.
type maker struct{ states []state }

// Compile makes the automaton of a pattern that Check does not refuse. The anchors say
// that a match begins with the first row of the partition, and ends with the last.
func Compile(elements []Element, atFirst, atLast bool) (*Automaton, error) {
	if _, err := Check(elements); err != nil {
		return nil, err
	}
	m := &maker{states: make([]state, 1)}
	sink := int32(final)
	for i := len(elements) - 1; i >= 0; i-- {
		sink = m.element(int32(i), elements[i], sink)
	}
	a := &Automaton{elements: len(elements), first: sink, atFirst: atFirst, atLast: atLast, states: make([][]branch, len(m.states))}
	for s := range m.states {
		a.states[s] = m.branches(int32(s))
	}
	return a, nil
}

// element makes the states of an element before a state, and gives the first of them.
func (m *maker) element(i int32, e Element, sink int32) int32 {
	if e.greedy() {
		m.deny(sink, i)
	}
	least := e.least()
	behind := sink
	if e.Max < 0 { // the loop follows those that there must be
		loop := m.add(state{element: i, proceed: &transition{to: sink}})
		m.states[loop].take = transition{to: loop, where: []literal{{element: i}}}
		behind = loop
	}
	for n := least; n < e.Max; n++ {
		behind = m.single(i, behind, sink, true)
	}
	for range least - 1 {
		behind = m.single(i, behind, sink, false)
	}
	return m.single(i, behind, sink, e.optional())
}

// deny makes a state pass on only rows that are none of an element, which is greedy.
func (m *maker) deny(s, element int32) {
	if s == final {
		return
	}
	no := literal{element: element, not: true}
	m.states[s].take.where = append(m.states[s].take.where, no)
	if p := m.states[s].proceed; p != nil {
		p.where = append(p.where, no)
	}
}

// single makes the state that takes one row, or is passed over to another state.
func (m *maker) single(element, to, over int32, optional bool) int32 {
	s := state{element: element, take: transition{to: to, where: []literal{{element: element}}}}
	if optional {
		s.proceed = &transition{to: over}
	}
	return m.add(s)
}

func (m *maker) add(s state) int32 {
	m.states = append(m.states, s)
	return int32(len(m.states) - 1)
}

// branches are the ways out of a state, in the order in which states are passed over.
func (m *maker) branches(s int32) []branch {
	var all []branch
	var gate []literal
	for s != final {
		at := &m.states[s]
		b := branch{gate: gate, take: at.take.where, element: at.element, to: at.take.to}
		b.ends, b.end = m.ends(b.to)
		if b.to == final { // it ends as it is
			b.ends = false
		}
		all = append(all, b)
		if at.proceed == nil {
			break
		}
		s, gate = at.proceed.to, at.proceed.where
	}
	return all
}

// ends says whether all that follows a state may be left out, and what must hold for it.
func (m *maker) ends(s int32) (bool, []literal) {
	var where []literal
	for s != final {
		p := m.states[s].proceed
		if p == nil {
			return false, nil
		}
		s, where = p.to, append(where, p.where...)
	}
	return true, where
}
