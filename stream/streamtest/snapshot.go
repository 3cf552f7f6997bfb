package streamtest

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/state"
	"github.com/weirstream/weir/internal/streamgraph"
	"github.com/weirstream/weir/internal/task"
)

// operatorState is what one subtask of an operator keeps.
type operatorState = snapshot.SubtaskState

// taken is a snapshot in memory.
type taken struct {
	mu        sync.Mutex
	metadata  snapshot.Metadata
	operators map[ident.OperatorID]int // its place in metadata
}

func newTaken(compiled *streamgraph.Compiled) *taken {
	s := &taken{operators: map[ident.OperatorID]int{}}
	for _, v := range compiled.Graph.Vertices {
		for _, o := range v.Operators {
			s.operators[o.ID] = len(s.metadata.Operators)
			s.metadata.Operators = append(s.metadata.Operators, snapshot.OperatorState{
				ID: o.ID, UID: o.UID, Name: o.Name, Vertex: v.Name, Parallelism: v.Parallelism, MaxParallelism: v.MaxParallelism,
				Subtasks: make([]operatorState, v.Parallelism),
			})
		}
	}
	return s
}

// add writes what an operator's subtask keeps.
func (s *taken) add(subtask int, p task.Part) error {
	var written operatorState
	if p.Keyed != nil {
		keyed, err := writeKeyed(p.Keyed)
		if err != nil {
			return err
		}
		written.Keyed = keyed
	}
	for _, l := range p.Lists {
		list := snapshot.ListState{Name: l.Name, Mode: snapshot.Mode(l.Mode), Schema: l.Schema}
		for _, e := range l.Elements {
			list.Elements = append(list.Elements, snapshot.Extent{Offset: int64(len(list.File.Inline)), Length: int64(len(e))})
			list.File.Inline = append(list.File.Inline, e...)
		}
		list.File.Length = int64(len(list.File.Inline))
		written.Lists = append(written.Lists, list)
	}
	written.Finished = p.Finished
	s.mu.Lock()
	defer s.mu.Unlock()
	s.metadata.Operators[s.operators[p.Operator]].Subtasks[subtask] = written
	return nil
}

func writeKeyed(k *state.Snapshot) ([]snapshot.KeyedState, error) {
	var file bytes.Buffer
	header := k.Header()
	written, err := k.Write(&file, "snapshot", nil)
	if err != nil || len(written.Locations) == 0 {
		return nil, err
	}
	keyed := snapshot.KeyedState{
		First: written.Locations[0].Group, Last: written.Locations[len(written.Locations)-1].Group, Key: string(header.Key),
		Files: []snapshot.KeyedFile{{Name: "snapshot", Handle: snapshot.Handle{Inline: file.Bytes(), Length: int64(file.Len())}}},
	}
	for i, d := range header.States {
		keyed.States = append(keyed.States, snapshot.StateInfo{Name: d.Name, Kind: d.Kind.String(), Rows: written.States[i].Entries})
	}
	return []snapshot.KeyedState{keyed}, nil
}

// rows is how many entries states of a kind have.
func (s *taken) rows(kind string) int {
	return s.sum(func(i snapshot.StateInfo) bool { return i.Kind == kind })
}

// rowsOf is how many entries the states of a name have.
func (s *taken) rowsOf(name string) int {
	return s.sum(func(i snapshot.StateInfo) bool { return i.Name == name })
}

func (s *taken) sum(counts func(snapshot.StateInfo) bool) (n int) {
	for _, o := range s.metadata.Operators {
		for _, subtask := range o.Subtasks {
			for _, k := range subtask.Keyed {
				for _, i := range k.States {
					if counts(i) {
						n += int(i.Rows)
					}
				}
			}
		}
	}
	return n
}

// assignment is what the subtasks of each operator begin with.
type assignment map[ident.OperatorID][]operatorState

// assign gives the snapshot to the subtasks of a program.
func (s *taken) assign(compiled *streamgraph.Compiled) (assignment, error) {
	var targets []snapshot.Target
	for _, v := range compiled.Graph.Vertices {
		for _, o := range v.Operators {
			targets = append(targets, snapshot.Target{ID: o.ID, UID: o.UID, Name: o.Name, Task: v.ID, Vertex: v.Name,
				Parallelism: v.Parallelism, MaxParallelism: v.MaxParallelism, FixedMax: true})
		}
	}
	assigned, err := snapshot.Assign(&s.metadata, targets, snapshot.Rules{Source: "of the test"})
	if err != nil {
		return nil, err
	}
	all := assignment{}
	for _, o := range assigned.Operators {
		all[o.ID] = o.Subtasks
	}
	return all, nil
}

// of gives what one subtask begins with.
func (a assignment) of(subtask int) map[ident.OperatorID]*operatorState {
	all := map[ident.OperatorID]*operatorState{}
	for id, subtasks := range a {
		if subtask < len(subtasks) {
			all[id] = &subtasks[subtask]
		}
	}
	return all
}

// load gives an operator what it kept.
func load(s *operatorState, k operator.Kept) error {
	for _, part := range s.Keyed {
		if k.Keyed == nil {
			return errors.New("restore keyed state: the operator has none in this program")
		}
		for _, file := range part.Files {
			f, err := state.OpenFile(file.Name, bytes.NewReader(file.Inline), file.Length)
			if err != nil {
				return err
			}
			for _, l := range f.Locations() {
				if part.First <= l.Group && l.Group <= part.Last {
					if err := k.Keyed.Restore(f, l); err != nil {
						return err
					}
				}
			}
		}
	}
	if k.Keyed != nil && len(s.Keyed) > 0 {
		k.Keyed.Restored()
	}
	for _, into := range k.Lists {
		if err := loadList(s.Lists, into); err != nil {
			return fmt.Errorf("restore %q: %w", into.Name, err)
		}
	}
	return nil
}

func loadList(lists []snapshot.ListState, into operator.KeptList) error {
	var all [][]byte
	for _, l := range lists {
		if l.Name != into.Name {
			continue
		}
		if err := into.Fits(l.Schema); err != nil {
			return err
		}
		for _, e := range l.Elements {
			all = append(all, l.File.Inline[e.Offset:e.Offset+e.Length])
		}
	}
	return into.Load(all)
}
