package execgraph

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/status"
)

func late(t testing.TB, text string) *Graph {
	t.Helper()
	g, err := NewLate(job(text), ident.GraphID{ID: ident.ID{7}}, begin, begin.Add(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// finishAll lets all current attempts that have not ended do so in a state.
func (g *Graph) finishAll(state status.Execution) {
	for _, v := range g.Vertices {
		for _, s := range v.Subtasks {
			if s.Current.State().Terminal() {
				continue
			}
			for s.Current.State() < status.Running {
				if s.Current.State() == status.Scheduled && s.Current.Slot == nil {
					g.Bind(s.Current, &Slot{Index: s.Subtask})
				}
				g.SetExecution(s.Current, s.Current.State()+1, begin)
			}
			if state == status.Canceled {
				g.SetExecution(s.Current, status.Canceling, begin)
			}
			g.SetExecution(s.Current, state, begin)
		}
	}
}

func (g *Graph) resizeTo(n int) {
	layouts := make([]Layout, len(g.Vertices))
	for i := range layouts {
		layouts[i] = Layout{Parallelism: n, Why: fmt.Sprint("as wanted: ", n)}
	}
	g.Resize(layouts, begin)
}

func (g *Graph) current() string {
	var words []string
	for _, v := range g.Vertices {
		for _, s := range v.Subtasks {
			words = append(words, fmt.Sprintf("%s%d#%d", v.Job.Name, s.Subtask, s.Current.ID.Attempt))
		}
	}
	return strings.Join(words, " ")
}

func TestResize(t *testing.T) {
	g := late(t, "a 2\nb 2 <- a:all")
	v := g.View()
	if g.AllLaidOut() || !g.AllTerminal() || v.Vertices[0].Parallelism != 2 || len(v.Vertices[0].Subtasks) != 0 {
		t.Fatalf("before it is laid out: %+v", v.Vertices[0])
	}
	for _, step := range []struct {
		to   int
		want string
	}{
		{1, "a0#0 b0#0"}, {3, "a0#1 a1#1 a2#1 b0#1 b1#1 b2#1"}, {2, "a0#2 a1#2 b0#2 b1#2"}, {3, "a0#3 a1#3 a2#3 b0#3 b1#3 b2#3"},
	} {
		g.resizeTo(step.to)
		if got := g.current(); got != step.want {
			t.Errorf("resized to %d:\n got %s\nwant %s", step.to, got, step.want)
		}
		if !g.AllLaidOut() || g.AllTerminal() || len(g.Regions) != 1 || len(g.Regions[0].Vertices) != 2*step.to {
			t.Errorf("resized to %d: %d regions, the first of %d tasks", step.to, len(g.Regions), len(g.Regions[0].Vertices))
		}
		v := g.View()
		if one := v.Vertices[1]; one.Parallelism != step.to || one.MaxParallelism != 128 || one.Why != fmt.Sprint("as wanted: ", step.to) {
			t.Errorf("resized to %d: shown as %d of %d, %q", step.to, one.Parallelism, one.MaxParallelism, one.Why)
		}
		g.finishAll(status.Canceled)
	}
	view := g.View()
	if earlier := view.Vertices[0].Subtasks[2].Earlier; len(earlier) != 1 || earlier[0].State != status.Canceled {
		t.Errorf("the attempts before of a subtask that came back: %+v", earlier)
	}
}

// TestWiringFollows deploys resized graphs: every consumer reads each producer's
// subpartition of its own number.
func TestWiringFollows(t *testing.T) {
	g := late(t, "a 2\nb 2 <- a:all\nc 2 <- b:pointwise")
	for _, n := range [][]int{{2, 3, 1}, {1, 1, 4}, {3, 2, 2}} {
		layouts := make([]Layout, 3)
		for i := range n {
			layouts[i] = Layout{Parallelism: n[i]}
		}
		g.Resize(layouts, begin)
		for _, v := range g.Vertices {
			for _, s := range v.Subtasks {
				g.SetExecution(s.Current, status.Scheduled, begin)
				g.Bind(s.Current, &Slot{Index: s.Subtask})
			}
		}
		for i, v := range g.Vertices {
			for _, s := range v.Subtasks {
				d := g.Deployment(s.Current)
				if d.Parallelism != n[i] || d.MaxParallelism != 128 {
					t.Errorf("%v: %s is deployed with parallelism %d of %d", n, s.Name(), d.Parallelism, d.MaxParallelism)
				}
				if i == 0 && d.Partitions[0].Subpartitions != n[1] {
					t.Errorf("%v: %s writes %d subpartitions", n, s.Name(), d.Partitions[0].Subpartitions)
				}
				if i == 1 && (len(d.Gates[0].Channels) != n[0] || slices.ContainsFunc(d.Gates[0].Channels, func(c Channel) bool { return c.First != s.Subtask })) {
					t.Errorf("%v: %s reads %+v", n, s.Name(), d.Gates[0].Channels)
				}
			}
		}
		g.finishAll(status.Canceled)
	}
}

// TestCountsFollow resizes at random, with attempts that end in all ways.
func TestCountsFollow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, err := NewLate(job("a 2\nb 2 <- a:all"), ident.GraphID{ID: ident.ID{7}}, begin, begin)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[ident.AttemptID]bool{}
		highest := map[ident.VertexID]int{} // number of an attempt so far, from 1
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			g.resizeTo(rapid.IntRange(1, 5).Draw(t, "parallelism"))
			before := maps.Clone(highest)
			for _, v := range g.Vertices {
				for _, s := range v.Subtasks {
					if seen[s.Current.ID] {
						t.Fatalf("attempt %s was there before", s.Current.ID)
					}
					seen[s.Current.ID] = true
					if number := s.Current.ID.Attempt + 1; number <= before[v.Job.ID] {
						t.Fatalf("attempt %s is there after one with number %d", s.Current.ID, before[v.Job.ID]-1)
					}
					highest[v.Job.ID] = max(highest[v.Job.ID], s.Current.ID.Attempt+1)
					if g.Attempt(s.Current.ID) != s.Current || s.Region == nil {
						t.Fatalf("attempt %s is not found", s.Current.ID)
					}
				}
			}
			end := rapid.SampledFrom([]status.Execution{status.Canceled, status.Finished, status.Failed}).Draw(t, "end")
			g.finishAll(end)
			if rapid.Bool().Draw(t, "again") { // a task alone
				one := g.Vertices[0].Subtasks[0]
				highest[one.Parent.Job.ID] = max(highest[one.Parent.Job.ID], g.NewAttempt(one, begin).ID.Attempt+1)
				g.finishAll(end)
			}
			if !g.AllTerminal() || g.AllFinished() != (end == status.Finished) {
				t.Fatalf("all end as %s: terminal %t, finished %t", end, g.AllTerminal(), g.AllFinished())
			}
		}
	})
}
