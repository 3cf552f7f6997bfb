package snapshot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/state/keygroup"
)

// Assign says what each subtask of a program restores from a snapshot, which
// may have been taken at other parallelisms. It fails with an
// *IncompatibleError that has all the reasons.
//
// Keyed state goes by key groups: each subtask gets the parts of its range.
// Lists are given out as Flink does: when the parallelism has not changed each
// subtask keeps its own; otherwise the elements of each list are dealt in
// contiguous shares of equal size, and the shares that are greater by one move
// on from list to list. A union list goes to every subtask whole, and of a
// broadcast list subtask i gets the copy of subtask i modulo their number. Records in
// flight go to who may process them.
func Assign(m *Metadata, targets []Target, rules Rules) (*Assignment, error) {
	a := &assigner{out: &Assignment{}, states: map[ident.OperatorID]*OperatorState{}, keepers: map[ident.VertexID]*OperatorState{}}
	for i := range m.Operators {
		o := &m.Operators[i]
		a.states[o.ID] = o
		a.inFlight = a.inFlight || o.has(func(s *SubtaskState) int { return len(s.Inputs) + len(s.Outputs) })
	}
	taken := map[ident.OperatorID]bool{}
	a.settle(targets)
	for _, t := range targets {
		a.assign(t)
		taken[t.ID] = true
	}
	if a.inFlight {
		a.flights(targets)
	}
	for i := range m.Operators {
		o := &m.Operators[i]
		switch {
		case taken[o.ID]:
		case rules.AllowNonRestored || o.stateless():
			a.out.Dropped = append(a.out.Dropped, *o)
		default:
			a.refuse(o, true, "Cannot map checkpoint/savepoint state for operator %s to the new program, because the operator is not available in the new program. "+
				"If you want to allow to skip this, you can set the --allowNonRestoredState option on the CLI.", o.describe())
		}
	}
	if len(a.reasons) > 0 {
		return nil, &IncompatibleError{Source: rules.Source, Reasons: a.reasons}
	}
	return a.out, nil
}

// has reports whether some subtask has what part counts.
func (o *OperatorState) has(part func(*SubtaskState) int) bool {
	return slices.ContainsFunc(o.Subtasks, func(s SubtaskState) bool { return part(&s) > 0 })
}

func (o *OperatorState) keyed() bool {
	return o.has(func(s *SubtaskState) int { return len(s.Keyed) })
}

// stateless reports whether nothing is lost when the operator is.
func (o *OperatorState) stateless() bool {
	return o.Coordinator.IsZero() && !o.has(func(s *SubtaskState) int {
		return len(s.Keyed) + len(s.Lists) + len(s.Inputs) + len(s.Outputs)
	})
}

func (o *OperatorState) describe() string {
	text := o.ID.String()
	if o.Name != "" {
		text += fmt.Sprintf(" (%s", o.Name)
		if o.UID != "" {
			text += ", uid " + o.UID
		}
		text += ")"
	}
	return text
}

type assigner struct {
	states map[ident.OperatorID]*OperatorState // looked up, never ranged
	// keepers is by task the operator whose keyed state decides its maximum
	// parallelism. Looked up, never ranged.
	keepers map[ident.VertexID]*OperatorState
	// inFlight says that records in flight are part of the snapshot.
	inFlight bool
	out      *Assignment
	reasons  []Reason
}

func (a *assigner) refuse(o *OperatorState, gone bool, format string, args ...any) {
	a.reasons = append(a.reasons, Reason{Operator: o.ID, Name: o.Name, Gone: gone, Text: fmt.Sprintf(format, args...)})
}

// settle finds the maximum parallelism that each task takes over.
func (a *assigner) settle(targets []Target) {
	for _, t := range targets {
		o := a.states[t.ID]
		if o == nil || !o.keyed() {
			continue
		}
		switch k := a.keepers[t.Task]; {
		case k == nil:
			a.keepers[t.Task] = o
		case k.MaxParallelism != o.MaxParallelism:
			a.refuse(o, false, "Operators %s and %s run in one task, %s, but their state has the max parallelisms %d and %d.",
				k.describe(), o.describe(), t.Vertex, k.MaxParallelism, o.MaxParallelism)
		}
	}
}

// assign gives one operator what it restores.
func (a *assigner) assign(t Target) {
	o := a.states[t.ID]
	if k := a.keepers[t.Task]; k != nil && !t.FixedMax {
		t.MaxParallelism = k.MaxParallelism
	}
	if o == nil {
		a.out.Operators = append(a.out.Operators, Assigned{Target: t, Subtasks: make([]SubtaskState, t.Parallelism)})
		return
	}
	if !a.fits(o, t) {
		return
	}
	assigned := Assigned{
		Target: t, Restored: true, Finished: o.Finished, Coordinator: o.Coordinator, Subtasks: make([]SubtaskState, t.Parallelism),
	}
	if o.Finished {
		for i := range assigned.Subtasks {
			assigned.Subtasks[i].Finished = true
		}
	} else {
		if o.keyed() {
			keyed(o, t, assigned.Subtasks)
		}
		lists(o, assigned.Subtasks)
		if o.Parallelism == t.Parallelism {
			for i := range o.Subtasks {
				assigned.Subtasks[i].Finished = o.Subtasks[i].Finished
			}
		}
	}
	a.out.Operators = append(a.out.Operators, assigned)
}

// fits checks the parallelisms.
func (a *assigner) fits(o *OperatorState, t Target) bool {
	switch {
	case o.keyed() && t.MaxParallelism != o.MaxParallelism && t.FixedMax:
		a.refuse(o, false, "Max parallelism mismatch between checkpoint/savepoint state and new program. "+
			"Cannot map operator %s with max parallelism %d to new program with max parallelism %d. "+
			"This indicates that the program has been changed in a non-compatible way after the checkpoint/savepoint.",
			o.describe(), o.MaxParallelism, t.MaxParallelism)
	case o.keyed() && t.Parallelism > o.MaxParallelism:
		a.refuse(o, false, "The state for task %s can not be restored. The maximum parallelism (%d) of the restored state is lower than the configured parallelism (%d). "+
			"Please reduce the parallelism of the task to be lower or equal to the maximum parallelism.", t.Vertex, o.MaxParallelism, t.Parallelism)
	default:
		return true
	}
	return false
}

// keyed gives each subtask the parts of its range of key groups.
func keyed(o *OperatorState, t Target, to []SubtaskState) {
	for i := range to {
		first, last := keygroup.Range(i, t.Parallelism, t.MaxParallelism)
		for s := range o.Subtasks {
			for _, k := range o.Subtasks[s].Keyed {
				if part, ok := k.cut(first, last); ok {
					to[i].Keyed = append(to[i].Keyed, part)
				}
			}
		}
	}
}

// cut gives the part of the state from group first to last, with the files it
// needs, and whether there is one.
func (k *KeyedState) cut(first, last int) (KeyedState, bool) {
	if first <= k.First && k.Last <= last {
		return *k, true
	}
	part := *k
	part.First, part.Last = max(first, k.First), min(last, k.Last)
	if part.First > part.Last {
		return part, false
	}
	if len(k.Sections) == 0 {
		return part, true // the backend finds the groups
	}
	part.Files, part.Sections = nil, nil
	numbers := make([]int, len(k.Files)) // by file: its new number, counted from 1
	for _, s := range k.Sections {
		if s.Group < part.First || s.Group > part.Last {
			continue
		}
		if numbers[s.File] == 0 {
			part.Files = append(part.Files, k.Files[s.File])
			numbers[s.File] = len(part.Files)
		}
		s.File = numbers[s.File] - 1
		part.Sections = append(part.Sections, s)
	}
	return part, true
}

// lists gives out the elements of all lists of an operator.
func lists(o *OperatorState, to []SubtaskState) {
	start := 0 // who gets the first greater share of the next list
	for _, all := range byName(o) {
		switch mode := all[0].list.Mode; {
		case mode == Union || mode == Gathered:
			for i := range to {
				for _, one := range all {
					to[i].Lists = append(to[i].Lists, one.list)
				}
			}
		case o.Parallelism == len(to):
			for _, one := range all {
				to[one.subtask].Lists = append(to[one.subtask].Lists, one.list)
			}
		case mode == Broadcast:
			for i := range to {
				to[i].Lists = append(to[i].Lists, all[i%len(all)].list)
			}
		default:
			start = deal(all, to, start)
		}
	}
}

// A held is a list as one subtask held it.
type held struct {
	subtask int
	list    ListState
}

// byName gives the operator's lists in order of their names and modes, each with
// what the subtasks held of it.
func byName(o *OperatorState) [][]held {
	var all []held
	for i := range o.Subtasks {
		for _, l := range o.Subtasks[i].Lists {
			all = append(all, held{i, l})
		}
	}
	order := func(a, b held) int {
		if c := int(a.list.Mode) - int(b.list.Mode); c != 0 {
			return c
		}
		return strings.Compare(a.list.Name, b.list.Name)
	}
	slices.SortStableFunc(all, order)
	var groups [][]held
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && order(all[i], all[end]) == 0 {
			end++
		}
		groups = append(groups, all[i:end])
		i = end
	}
	return groups
}

// deal gives the elements of one list to the subtasks, the first share to
// subtask start, and returns who begins with the next list: whom the first
// share that is not greater by one went to.
func deal(all []held, to []SubtaskState, start int) (next int) {
	total := 0
	for _, one := range all {
		total += len(one.list.Elements)
	}
	share, greater := total/len(to), total%len(to)
	from, at := 0, 0 // the next element: of which subtask, and its place
	for i := range to {
		subtask := &to[(start+i)%len(to)]
		want := share
		if i < greater {
			want++
		}
		for want > 0 {
			elements := all[from].list.Elements[at:]
			n := min(want, len(elements))
			if n > 0 {
				part := all[from].list
				part.Elements = elements[:n]
				subtask.Lists = append(subtask.Lists, part)
			}
			want, at = want-n, at+n
			if at == len(all[from].list.Elements) {
				from, at = from+1, 0
			}
		}
	}
	return (start + greater) % len(to)
}
