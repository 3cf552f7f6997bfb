package exec

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/pattern"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// match makes the operator of MATCH_RECOGNIZE. It sorts its rows, on disk if need be, and
// goes through each partition once. It holds the rows from the first one on that a match
// may still have; if these are more than the memory has room for, it fails.
func (e *environment) match(n *plan.Match) (operator.Factory, error) {
	automaton, err := pattern.Compile(n.Elements, n.AtFirst, n.AtLast)
	if err != nil {
		return nil, err
	}
	if len(n.Order) == 0 || len(n.Conditions) != len(n.Elements) || len(n.Variables) != len(n.Elements) {
		return nil, fmt.Errorf("a pattern of %d variables with %d conditions, %d names and %d sort keys", len(n.Elements), len(n.Conditions), len(n.Variables), len(n.Order))
	}
	for i := range n.Values {
		if call := &n.Values[i].Call; call.Function != "" {
			if _, err := newAccumulator(call); err != nil {
				return nil, err
			}
		}
	}
	return managing{transform(func(c *operator.Context, emit emitter) stage {
		m := e.newMatching(n, automaton, emit)
		m.memory, m.name = budget(c)/2, c.Operator
		rows := newSorter(newDisk(c), m.schema, append(slices.Clone(m.partition), n.Order...), -1, budget(c)/2)
		return stage{push: rows.add, finish: func() {
			sorted := rows.finish()
			for b := sorted.next(); b != nil; b = sorted.next() {
				m.take(b)
			}
			m.close()
			m.flush()
		}}
	})}, nil
}

// matching finds matches in sorted rows, partition by partition.
type matching struct {
	node      *plan.Match
	schema    []types.Type // of the input
	emit      emitter
	partition ordering
	matcher   *pattern.Matcher
	// conditions are those of the elements.
	conditions []matchCondition
	measures   *matchValues
	measure    *evaluation

	memory int // for rows and runs
	name   string

	// rows are held. Row number 0 of the partition is, or was, in place first; those before
	// done have been given to the matcher, which looks at the row in place at.
	rows            *batch.Columns
	first, done, at int
	bytes           int // of rows
	open            bool

	// matches were found and are not given yet. Their starts are places.
	matches []pattern.Rows
	counts  []int32 // theirs
	out     *batch.Columns
	spare   *batch.Columns
	numbers []int32 // scratch
}

// matchedRows are few enough to be held whether they are needed or not.
const matchedRows = 4 * batch.MaxRows

func (e *environment) newMatching(n *plan.Match, a *pattern.Automaton, emit emitter) *matching {
	m := &matching{node: n, emit: emit, matcher: pattern.NewMatcher(a, n.Skip, n.Within), schema: n.Inputs[0].Common().Types()}
	for _, k := range n.Partition {
		m.partition = append(m.partition, plan.SortKey{Column: k})
	}
	for i, c := range n.Conditions {
		m.conditions = append(m.conditions, e.newMatchCondition(n, i, c, m.schema))
	}
	m.measures = e.newMatchValues(n, m.schema, n.Measures...)
	m.measure = e.compile(n.Measures...)
	m.rows, m.spare, m.out = newBatch(m.schema), newBatch(m.schema), &batch.Columns{}
	for _, k := range n.Partition {
		m.out.Cols = append(m.out.Cols, batch.NewColumn(m.schema[k]))
	}
	return m
}

// take takes rows in order.
func (m *matching) take(b *batch.Columns) {
	for i := range m.conditions {
		m.conditions[i].prepare(b)
	}
	for from := 0; from < b.N; {
		last := m.rows.N - 1
		if !m.open || from > 0 || m.partition.compare(m.rows, last, b, 0) != 0 {
			m.close()
			m.open, m.first = true, m.rows.N
			m.matcher.Reset()
		}
		to := from + 1
		for to < b.N && m.partition.compare(b, to-1, b, to) == 0 {
			to++
		}
		m.numbers = m.numbers[:0]
		for i := from; i < to; i++ {
			m.numbers = append(m.numbers, int32(i))
		}
		addRows(m.rows, b, m.numbers)
		for i := range m.conditions {
			m.conditions[i].keep(from, to)
		}
		m.bytes = bytesOf(m.rows)
		pending := 0
		if m.node.AtLast { // whether a row is the last one is known when the next has come
			pending = 1
		}
		for m.done < m.rows.N-pending {
			m.step(false)
		}
		m.relieve()
		from = to
	}
}

// step gives the matcher the next row.
func (m *matching) step(last bool) {
	m.at = m.done
	m.done++
	err := m.matcher.Row(m.time(m.at), last, m)
	if m.found(err); m.bytes+m.matcher.Size() > m.memory {
		m.relieve()
	}
}

// time is that of a row in milliseconds. Rows without one are before all others.
func (m *matching) time(row int) int64 {
	c := m.rows.Cols[m.node.Order[0].Column]
	if c.IsNull(row) {
		return math.MinInt64 / 2
	}
	return c.I64[row]
}

// close ends the partition.
func (m *matching) close() {
	if !m.open {
		return
	}
	for m.done < m.rows.N {
		m.step(true)
	}
	m.found(m.matcher.End())
	m.open = false
}

// found keeps the matches that the matcher has found.
func (m *matching) found(err error) {
	switch {
	case errors.Is(err, pattern.ErrNoRow):
		//lint:ignore ST1005 Flink's words
		err = fmt.Errorf("Could not skip to %s. No such element in the found match: AFTER MATCH can only skip to a variable that each match has rows of", m.node.Variables[m.node.Skip.Element])
	case errors.Is(err, pattern.ErrNoProgress):
		//lint:ignore ST1005 Flink's words
		err = fmt.Errorf("Could not skip to first element of a match. The next match would begin with the same row: AFTER MATCH can only skip to a variable that does not begin a match")
	}
	operator.Check(err)
	for _, r := range m.matcher.Found() {
		if len(m.matches) == batch.MaxRows {
			m.flush()
		}
		rows := m.matcher.Rows(r)
		at := len(m.counts)
		m.counts = append(m.counts, rows.Counts...)
		m.matches = append(m.matches, pattern.Rows{Start: rows.Start + int64(m.first), Counts: m.counts[at:]})
	}
}

// flush gives the matches there are.
func (m *matching) flush() {
	if len(m.matches) == 0 {
		return
	}
	for i, k := range m.node.Partition {
		c := m.out.Cols[i]
		c.Reset(0)
		for _, r := range m.matches {
			c.AppendFrom(m.rows.Cols[k], int(r.Start))
		}
	}
	m.measures.fill(m.rows, m.matches)
	m.out.N = len(m.matches)
	m.out.Cols = append(m.out.Cols[:len(m.node.Partition)], m.measure.eval(m.measures.batch)...)
	m.emit(m.out)
	m.matches, m.counts = m.matches[:0], m.counts[:0]
}

// relieve forgets rows that no match can have any more, if they are many or take too much
// memory.
func (m *matching) relieve() {
	keep := min(m.first+int(m.matcher.Oldest()), m.done-1, m.rows.N-1)
	tight := m.bytes+m.matcher.Size() > m.memory
	if keep > 0 && (tight || keep >= matchedRows && keep >= m.rows.N/2) {
		m.flush()
		clearBatch(m.spare)
		m.numbers = m.numbers[:0]
		for i := keep; i < m.rows.N; i++ {
			m.numbers = append(m.numbers, int32(i))
		}
		addRows(m.spare, m.rows, m.numbers)
		m.rows, m.spare = m.spare, m.rows
		for i := range m.conditions {
			m.conditions[i].forget(keep)
		}
		m.first, m.done, m.at = m.first-keep, m.done-keep, m.at-keep
		m.bytes = bytesOf(m.rows)
		tight = m.bytes+m.matcher.Size() > m.memory
	}
	if tight {
		operator.Abort(fmt.Errorf("%s: matches that have begun and have no end yet need the last %d rows of a partition, and more than %d bytes of memory: bound them by WITHIN or by conditions, partition by more columns, or give the slot more managed memory", m.name, m.rows.N-keep, m.memory))
	}
}

// Plain tells what is known of a condition without a look at the run.
func (m *matching) Plain(element int) (holds, known bool) {
	return m.conditions[element].plain(m.at)
}

// Test tells of which runs the row may be the next one.
func (m *matching) Test(element int, runs []pattern.Rows, holds []bool) {
	m.conditions[element].test(m.rows, m.at, m.first, runs, holds)
}
