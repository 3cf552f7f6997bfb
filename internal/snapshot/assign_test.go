package snapshot

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/state/keygroup"
)

// rescaled is the snapshot a job would take right after it was restored.
func rescaled(m *Metadata, a *Assignment) *Metadata {
	out := *m
	out.Operators = nil
	for _, one := range a.Operators {
		o := OperatorState{ID: one.ID, Name: one.Name, Vertex: one.Vertex, Parallelism: one.Parallelism, MaxParallelism: one.MaxParallelism,
			Finished: one.Finished, Coordinator: one.Coordinator, Subtasks: one.Subtasks}
		if o.Finished {
			o.Subtasks = nil
		}
		out.Operators = append(out.Operators, o)
	}
	return &out
}

// contents is what an operator holds: its groups with what they consist of, and
// the elements of its split lists and, once, of union and broadcast ones.
type contents struct {
	groups []Section
	split  map[string][]int64
	union  []int64
}

func contentsOf(o *OperatorState) contents {
	c := contents{split: map[string][]int64{}}
	for _, s := range o.Subtasks {
		for _, k := range s.Keyed {
			for _, section := range k.Sections {
				section.File = int(k.Files[section.File].Checksum) // is one file's own, or that of zeros
				c.groups = append(c.groups, section)
			}
		}
		for _, l := range s.Lists {
			for _, e := range l.Elements {
				switch {
				case l.Mode == Split:
					c.split[l.Name] = append(c.split[l.Name], e.Offset)
				case l.Mode == Union && !slices.Contains(c.union, e.Offset): // each subtask may have all
					c.union = append(c.union, e.Offset)
				}
			}
		}
	}
	slices.SortStableFunc(c.groups, func(a, b Section) int { return a.Group - b.Group })
	for _, all := range c.split {
		slices.Sort(all)
	}
	slices.Sort(c.union)
	return c
}

func (c *contents) equal(d *contents) bool {
	if !slices.Equal(c.groups, d.groups) || !slices.Equal(c.union, d.union) {
		return false
	}
	for _, name := range []string{"s1", "s2"} {
		if !slices.Equal(c.split[name], d.split[name]) {
			return false
		}
	}
	return true
}

// Whatever the parallelisms one after the other, every group and every element
// of a split list is given out once, to a subtask whose range it is in; shares
// of a list differ by one at most; a union list is whole everywhere; a
// broadcast list is one subtask's.
func TestRescale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := (&maker{t: t}).metadata()
		for _, parallelism := range rapid.SliceOfN(rapid.IntRange(1, 8), 1, 4).Draw(t, "parallelisms") {
			var targets []Target
			for i := range m.Operators {
				targets = append(targets, Target{ID: operatorID(i), Task: ident.VertexID{ID: ident.ID{byte(i)}}, Vertex: "v", Parallelism: parallelism, MaxParallelism: 128})
			}
			a, err := Assign(m, targets, Rules{})
			if err != nil {
				t.Fatal(err)
			}
			next := rescaled(m, a)
			for i := range m.Operators {
				before, after := &m.Operators[i], &next.Operators[i]
				if b, a := contentsOf(before), contentsOf(after); !b.equal(&a) {
					t.Fatalf("operator %d at %d and then %d:\n%+v\n%+v", i, before.Parallelism, parallelism, b, a)
				}
				checkPlaces(t, before, after)
			}
			m = next
		}
	})
}

func checkPlaces(t *rapid.T, before, after *OperatorState) {
	unionOf := func(o *OperatorState, i int) (n int) { // elements of union lists
		for _, l := range o.Subtasks[i].Lists {
			if l.Mode == Union {
				n += len(l.Elements)
			}
		}
		return n
	}
	least, most := map[string]int{}, map[string]int{}
	for i, s := range after.Subtasks {
		first, last := keygroup.Range(i, after.Parallelism, after.MaxParallelism)
		for _, k := range s.Keyed {
			if k.First < first || k.Last > last {
				t.Fatalf("subtask %d, which has groups %d to %d, got %d to %d", i, first, last, k.First, k.Last)
			}
		}
		if unionOf(after, i) != unionOf(after, 0) {
			t.Fatalf("subtask %d has %d elements of a union list, subtask 0 has %d", i, unionOf(after, i), unionOf(after, 0))
		}
		broadcasts := 0
		share := map[string]int{"s1": 0, "s2": 0}
		for _, l := range s.Lists {
			switch l.Mode {
			case Broadcast:
				broadcasts++
			case Split:
				share[l.Name] += len(l.Elements)
			}
		}
		if broadcasts > 1 {
			t.Fatalf("subtask %d has %d copies of a broadcast list", i, broadcasts)
		}
		for name, n := range share {
			if i == 0 {
				least[name], most[name] = n, n
			}
			least[name], most[name] = min(least[name], n), max(most[name], n)
		}
	}
	for name := range least {
		if before.Parallelism != after.Parallelism && most[name]-least[name] > 1 {
			t.Fatalf("list %s was dealt in shares of %d to %d", name, least[name], most[name])
		}
	}
}

// 1 → 3 → 2, by hand.
func TestRescaleOneThreeTwo(t *testing.T) {
	file := KeyedFile{Handle: Handle{Location: "mem:/f", Length: 100}}
	one := KeyedState{First: 0, Last: 15, Files: []KeyedFile{file}}
	for g := range 16 {
		one.Sections = append(one.Sections, Section{Group: g, Offset: int64(g)})
	}
	list := func(name string, n int64) ListState {
		l := ListState{Name: name, File: Handle{Location: "mem:/l", Length: 100}}
		for i := range n {
			l.Elements = append(l.Elements, Extent{Offset: i})
		}
		return l
	}
	m := &Metadata{Operators: []OperatorState{{ID: operatorID(0), Parallelism: 1, MaxParallelism: 16,
		Subtasks: []SubtaskState{{Keyed: []KeyedState{one}, Lists: []ListState{list("a", 4), list("b", 2)}}}}}}
	var steps []string
	for _, p := range []int{3, 2} {
		a, err := Assign(m, []Target{{ID: operatorID(0), Parallelism: p, MaxParallelism: 16}}, Rules{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range a.Operators[0].Subtasks {
			var words []string
			for _, k := range s.Keyed {
				words = append(words, ranged(k))
			}
			for _, l := range s.Lists {
				word := l.Name
				for _, e := range l.Elements {
					word += string(rune('0' + e.Offset))
				}
				words = append(words, word)
			}
			steps = append(steps, strings.Join(words, " "))
		}
		m = rescaled(m, a)
	}
	want := []string{
		"0-5 a01", "6-10 a2 b0", "11-15 a3 b1", // b is dealt from subtask 1 on
		"0-5 6-7 a01 b0", "8-10 11-15 a2 a3 b1",
	}
	if !slices.Equal(steps, want) {
		t.Errorf("got  %q\nwant %q", steps, want)
	}
}

func ranged(k KeyedState) string {
	number := func(n int) string {
		if n >= 10 {
			return string(rune('0'+n/10)) + string(rune('0'+n%10))
		}
		return string(rune('0' + n))
	}
	return number(k.First) + "-" + number(k.Last)
}

func TestRefused(t *testing.T) {
	keyed := func(n, max int) OperatorState {
		return OperatorState{ID: operatorID(n), Name: "count", UID: "c", Parallelism: 1, MaxParallelism: max,
			Subtasks: []SubtaskState{{Keyed: []KeyedState{{Last: max - 1}}}}}
	}
	toInput, onOutput := keyed(0, 128), keyed(0, 128)
	toInput.Subtasks[0].Inputs = []ChannelState{{Gate: 1}}
	onOutput.Subtasks[0].Outputs = []ChannelState{{Gate: 0}}
	target := Target{ID: operatorID(0), Vertex: "count -> sink", Parallelism: 1, MaxParallelism: 128}
	fixed := target
	fixed.MaxParallelism, fixed.FixedMax = 64, true
	wide := target
	wide.Parallelism, wide.MaxParallelism = 200, 512
	reads := func(from int, route Route) Target {
		t := Target{ID: operatorID(7), Task: ident.VertexID{ID: ident.ID{7}}, Parallelism: 1, MaxParallelism: 128}
		t.Inputs = []Input{{From: operatorID(from), Route: route}}
		return t
	}
	reader := keyed(7, 128)
	neighbour := target
	neighbour.ID = operatorID(1)
	for _, c := range []struct {
		name    string
		states  []OperatorState
		targets []Target
		want    string
		gone    bool
	}{
		{"operator gone", []OperatorState{keyed(0, 128)}, nil, "Cannot map checkpoint/savepoint state for operator " + operatorID(0).String() +
			" (count, uid c) to the new program, because the operator is not available in the new program. If you want to allow to skip this, you can set the --allowNonRestoredState option on the CLI.", true},
		{"other maximum", []OperatorState{keyed(0, 128)}, []Target{fixed}, "with max parallelism 128 to new program with max parallelism 64", false},
		{"too parallel", []OperatorState{keyed(0, 128)}, []Target{wide}, "The maximum parallelism (128) of the restored state is lower than the configured parallelism (200)", false},
		{"input gone", []OperatorState{toInput}, []Target{target}, "There are records in flight to input 1 of operator", false},
		{"no longer the first", []OperatorState{toInput}, []Target{neighbour, target}, "There are records in flight to input 1 of operator", false},
		{"output gone", []OperatorState{onOutput}, []Target{target}, "There are records in flight on output 0 of the task of operator", false},
		{"new reader", []OperatorState{onOutput}, []Target{target, reads(0, Anywhere)}, "which nobody reads in the new program who did in the old one", false},
		{"broadcast now", []OperatorState{onOutput, reader}, []Target{target, reads(0, Everywhere)}, "in the new program all subtasks read them", false},
		{"two maxima", []OperatorState{keyed(0, 128), keyed(1, 256)}, []Target{target, neighbour}, "has the max parallelisms 128 and 256", false},
	} {
		_, err := Assign(&Metadata{Operators: c.states}, c.targets, Rules{Source: "file:/sp"})
		e, ok := errors.AsType[*IncompatibleError](err)
		if !ok || !strings.HasPrefix(err.Error(), "Failed to rollback to checkpoint/savepoint file:/sp. ") ||
			!strings.Contains(err.Error(), c.want) || e.Reasons[0].Gone != c.gone {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestDroppedStateIsListed(t *testing.T) {
	state := OperatorState{ID: operatorID(0), Parallelism: 1, MaxParallelism: 1, Subtasks: []SubtaskState{{Lists: []ListState{{Name: "l"}}}}}
	empty := OperatorState{ID: operatorID(1), Parallelism: 1, MaxParallelism: 1, Subtasks: make([]SubtaskState, 1)}
	a, err := Assign(&Metadata{Operators: []OperatorState{state, empty}}, nil, Rules{AllowNonRestored: true})
	if err != nil || len(a.Dropped) != 2 || a.Dropped[0].ID != state.ID {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := Assign(&Metadata{Operators: []OperatorState{empty}}, nil, Rules{}); err != nil {
		t.Errorf("an operator without state that is gone: %v", err)
	}
	a, err = Assign(&Metadata{}, []Target{{ID: operatorID(0), Parallelism: 3, MaxParallelism: 128}}, Rules{})
	if err != nil || a.Operators[0].Restored || len(a.Operators[0].Subtasks) != 3 {
		t.Errorf("a new operator: %+v, %v", a, err)
	}
}

func TestHandlesOnce(t *testing.T) {
	shared := KeyedFile{Handle: Handle{Location: "mem:/s", Length: 5}}
	m := &Metadata{Operators: []OperatorState{{Coordinator: Handle{Inline: []byte("ab"), Length: 2}, Subtasks: []SubtaskState{
		{Keyed: []KeyedState{{Files: []KeyedFile{shared}}}}, {Keyed: []KeyedState{{Files: []KeyedFile{shared, {Handle: Handle{Location: "mem:/o", Length: 7}}}}}},
	}}}}
	var all []fs.Location
	for h := range m.Handles() {
		all = append(all, h.Location)
	}
	if !slices.Equal(all, []fs.Location{"", "mem:/s", "mem:/o"}) || m.Size() != 14 {
		t.Errorf("%q, %d bytes", all, m.Size())
	}
}
