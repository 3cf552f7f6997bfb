package snapshot

import (
	"slices"
	"strings"
	"time"
)

// A StateSummary is one state or list of an operator over all its subtasks.
type StateSummary struct {
	Name string
	// Kind is that of a keyed state, such as VALUE, or the mode of a list, such as
	// SPLIT_DISTRIBUTE.
	Kind string
	List bool
	// Key is the schema of keys, of keyed state; the others as in StateInfo.
	Key, Namespace, UserKey, Value string
	TTL                            time.Duration
	// Rows are entries, or elements of a list.
	Rows, Bytes int64
}

// Summary gives what the operator's subtasks hold together: keyed states first, in
// the order in which they are opened, then its lists by name.
func (o *OperatorState) Summary() []StateSummary {
	var keyed, lists []StateSummary
	find := func(all *[]StateSummary, s StateSummary) *StateSummary {
		for i := range *all {
			if (*all)[i].Name == s.Name {
				return &(*all)[i]
			}
		}
		*all = append(*all, s)
		return &(*all)[len(*all)-1]
	}
	for _, subtask := range o.Subtasks {
		for _, k := range subtask.Keyed {
			for _, info := range k.States {
				s := find(&keyed, StateSummary{Name: info.Name, Kind: info.Kind, Key: k.Key, Namespace: info.Namespace, UserKey: info.UserKey, Value: info.Value, TTL: info.TTL})
				s.Rows += info.Rows
				s.Bytes += info.Bytes
			}
		}
		for _, l := range subtask.Lists {
			s := find(&lists, StateSummary{Name: l.Name, Kind: l.Mode.String(), List: true, Value: l.Schema})
			s.Rows += int64(len(l.Elements))
			for _, e := range l.Elements {
				s.Bytes += e.Length
			}
		}
	}
	slices.SortStableFunc(lists, func(a, b StateSummary) int { return strings.Compare(a.Name, b.Name) })
	return append(keyed, lists...)
}

// Type is what a row of the state is, for people.
func (s *StateSummary) Type() string {
	text := s.Value
	if s.UserKey != "" {
		text = s.UserKey + " → " + s.Value
	}
	if s.Namespace != "" {
		text = strings.TrimSpace("by " + s.Namespace + " " + text)
	}
	return text
}

// A Declaration is what an operator of a program will keep, as the program says
// before it runs.
type Declaration struct {
	Operator string `json:"operator"` // its id
	// Key is the schema of the keys of its keyed states; empty: it has none.
	Key    string          `json:"key,omitempty"`
	States []DeclaredState `json:"states,omitempty"`
	// Unknown says why it is not known what the operator keeps before it runs; empty:
	// it is.
	Unknown string `json:"unknown,omitempty"`
}

// A DeclaredState is a state or a list that an operator opens; the fields are those
// of StateInfo.
type DeclaredState struct {
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	UserKey   string `json:"userKey,omitempty"`
	Value     string `json:"value,omitempty"`
	TTLMillis int64  `json:"ttlMillis,omitempty"`
}
