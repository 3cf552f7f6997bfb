package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/codec"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/state"
)

// outcome is what becomes of an operator's state, from the best to the worst.
type outcome string

const (
	kept     outcome = "kept"
	migrated outcome = "migrated"
	rebuilt  outcome = "rebuilt" // it begins empty
	unknowns outcome = "unknown until it runs"
	lost     outcome = "lost"
	refused  outcome = "refused"
)

var outcomes = []outcome{kept, migrated, rebuilt, unknowns, lost, refused}

// verdict is what becomes of one operator's state, and why.
type verdict struct {
	Operator string   `json:"operator"`
	UID      string   `json:"uid,omitempty"`
	Name     string   `json:"name"`
	Outcome  outcome  `json:"outcome"`
	Reasons  []string `json:"reasons"`

	gone bool // the program has no such operator
}

// worsen notes a reason, and the outcome if it is worse than the one before.
func (v *verdict) worsen(o outcome, format string, args ...any) {
	if slices.Index(outcomes, o) > slices.Index(outcomes, v.Outcome) {
		v.Outcome = o
	}
	v.Reasons = append(v.Reasons, fmt.Sprintf(format, args...))
}

func loses(all []verdict) bool {
	return slices.ContainsFunc(all, func(v verdict) bool { return v.Outcome == lost || v.Outcome == refused })
}

func refuses(all []verdict) bool {
	return slices.ContainsFunc(all, func(v verdict) bool { return v.Outcome == refused })
}

// conclusion is what follows from all of them.
func conclusion(all []verdict) string {
	switch {
	case refuses(all):
		return "The program cannot begin with it as it is."
	case slices.ContainsFunc(all, func(v verdict) bool { return v.gone }):
		return "State would be lost. `weir run -n` accepts that operators are gone."
	case loses(all):
		return "State would be lost, and `weir run` does not refuse that: the operators are there, and do not open it."
	}
	return "Nothing would be lost."
}

// compareUpgrade says what would become of each operator's state if a program began
// with a savepoint: first of the program's operators, then of those that it has no
// more.
func compareUpgrade(m *snapshot.Metadata, source string, graph *jobgraph.Graph, declared []snapshot.Declaration) []verdict {
	targets := checkpoint.Targets(graph)
	_, err := snapshot.Assign(m, targets, snapshot.Rules{Source: source, AllowNonRestored: true})
	against := reasonsOf(err)
	var all []verdict
	for _, t := range targets {
		id := t.ID.String()
		v := verdict{Operator: id, UID: t.UID, Name: t.Name, Outcome: kept, Reasons: []string{}}
		i := slices.IndexFunc(m.Operators, func(o snapshot.OperatorState) bool { return o.ID == t.ID })
		d := declarationOf(declared, id)
		switch {
		case i < 0:
			begins(&v, d)
		case m.Operators[i].Finished:
			v.worsen(kept, "it had read all its input, and does not run again")
		default:
			restores(&v, &m.Operators[i], t, d)
		}
		for _, why := range against[id] {
			v.worsen(refused, "%s", why)
		}
		all = append(all, v)
	}
	for i := range m.Operators {
		o := &m.Operators[i]
		if slices.ContainsFunc(targets, func(t snapshot.Target) bool { return t.ID == o.ID }) || len(o.Summary()) == 0 && o.Coordinator.IsZero() {
			continue
		}
		v := verdict{Operator: o.ID.String(), UID: o.UID, Name: o.Name, Outcome: kept, Reasons: []string{}, gone: true}
		v.worsen(lost, "the program has no such operator (%s)%s", holds(o), hint(o, targets))
		all = append(all, v)
	}
	return all
}

func declarationOf(all []snapshot.Declaration, id string) snapshot.Declaration {
	if i := slices.IndexFunc(all, func(d snapshot.Declaration) bool { return d.Operator == id }); i >= 0 {
		return all[i]
	}
	return snapshot.Declaration{Operator: id, Unknown: "the program does not say what it keeps"}
}

// begins is about an operator that the savepoint does not know.
func begins(v *verdict, d snapshot.Declaration) {
	switch {
	case len(d.States) > 0:
		v.worsen(rebuilt, "it is not in the savepoint, and begins empty")
	case d.Unknown != "":
		v.worsen(rebuilt, "it is not in the savepoint, and begins anew")
	}
}

// restores is about an operator that the savepoint knows.
func restores(v *verdict, o *snapshot.OperatorState, t snapshot.Target, d snapshot.Declaration) {
	states := o.Summary()
	if len(states) == 0 && o.Coordinator.IsZero() && len(d.States) == 0 {
		return
	}
	if o.Parallelism != t.Parallelism {
		v.worsen(kept, "it is given out to %d subtasks, from %d", t.Parallelism, o.Parallelism)
	}
	keyed := slices.DeleteFunc(slices.Clone(states), func(s snapshot.StateSummary) bool { return s.List })
	lists := slices.DeleteFunc(slices.Clone(states), func(s snapshot.StateSummary) bool { return !s.List })
	if d.Unknown != "" {
		if len(keyed) > 0 {
			v.worsen(unknowns, "%s", d.Unknown)
		} else if len(lists) > 0 {
			v.worsen(kept, "its lists (%d rows) are given to it as they are; %s", rowsOf(lists), d.Unknown)
		}
		return
	}
	from := state.Header{Operator: v.Operator, Max: o.MaxParallelism}
	for _, s := range keyed {
		from.Key = codec.Schema(s.Key)
		from.States = append(from.States, descriptor(s.Name, s.Kind, s.Namespace, s.UserKey, s.Value, s.TTL))
	}
	var to []state.Descriptor
	named := map[string]bool{} // looked up, never ranged
	for _, s := range d.States {
		named[s.Name] = true
		if _, ok := state.ParseKind(s.Kind); ok {
			to = append(to, descriptor(s.Name, s.Kind, s.Namespace, s.UserKey, s.Value, time.Duration(s.TTLMillis)*time.Millisecond))
		}
	}
	for _, c := range state.Compare(from, codec.Schema(d.Key), to) {
		switch c.Outcome {
		case state.Migrated:
			v.worsen(migrated, "state %q: %s", c.Name, c.Reason)
		case state.New:
			fresh(v, c.Name, len(keyed) == 0)
		case state.Lost:
			if empty(keyed, c.Name) {
				continue
			}
			v.worsen(lost, "state %q: %s", c.Name, c.Reason)
		case state.Refused:
			v.worsen(refused, "state %q: %s", c.Name, c.Reason)
		}
	}
	for _, l := range lists {
		if !named[l.Name] && l.Rows > 0 {
			v.worsen(lost, "list %q: the operator does not open it", l.Name)
		}
	}
}

// fresh is about a state that is not in the savepoint.
func fresh(v *verdict, name string, all bool) {
	if all {
		v.worsen(rebuilt, "state %q is not in the savepoint, and begins empty", name)
	} else {
		v.worsen(kept, "state %q is new, and begins empty", name)
	}
}

// empty reports whether there is nothing in a state that could be lost.
func empty(all []snapshot.StateSummary, name string) bool {
	return slices.ContainsFunc(all, func(s snapshot.StateSummary) bool { return s.Name == name && s.Rows == 0 })
}

func rowsOf(states []snapshot.StateSummary) (sum int64) {
	for _, s := range states {
		sum += s.Rows
	}
	return sum
}

// holds is what an operator would lose.
func holds(o *snapshot.OperatorState) string {
	var rows, bytes int64
	states := o.Summary()
	for _, s := range states {
		rows += s.Rows
		bytes += s.Bytes
	}
	return fmt.Sprintf("%d states, %d rows, %d bytes", len(states), rows, bytes+o.Coordinator.Length)
}

// hint says what may be the same operator under another id.
func hint(o *snapshot.OperatorState, targets []snapshot.Target) string {
	for _, t := range targets {
		if t.Name == o.Name && o.UID == "" {
			return "; one of its name has another id, since what is before it in the program has changed: operators that are given a UID keep theirs"
		}
	}
	return ""
}

func descriptor(name, kind, namespace, userKey, value string, ttl time.Duration) state.Descriptor {
	k, _ := state.ParseKind(kind)
	return state.Descriptor{Name: name, Kind: k, Namespace: codec.Schema(namespace), UserKey: codec.Schema(userKey), Value: codec.Schema(value), TTL: state.TTL{Duration: ttl}}
}
