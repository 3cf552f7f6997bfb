package execgraph

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
)

// open is a job whose second vertex, b, has an open parallelism and reads a, of
// so many subtasks.
func open(producers, most int, d jobgraph.Distribution, ship string) *jobgraph.Graph {
	g := job(fmt.Sprintf("a %d\nb 0 <- a:blocking-pointwise\nc 1 <- b:blocking-all", producers))
	b := g.Vertices[1]
	b.MaxParallelism = most
	b.Inputs[0].Distribution, b.Inputs[0].Ship = d, ship
	g.Vertices[0].Produces[0].Distribution = d
	return g
}

// TestOpenInputIsReadOnce checks that, whatever parallelism is decided, every
// subpartition that was written before is read by exactly one subtask, or whole
// by each.
func TestOpenInputIsReadOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		producers, most := rapid.IntRange(1, 9).Draw(t, "producers"), rapid.IntRange(1, 9).Draw(t, "most")
		n := rapid.IntRange(1, most).Draw(t, "parallelism")
		distribution, ship := jobgraph.Pointwise, "RESCALE"
		switch rapid.IntRange(0, 2).Draw(t, "edge") {
		case 1:
			distribution, ship = jobgraph.AllToAll, "HASH"
		case 2:
			distribution, ship = jobgraph.AllToAll, "BROADCAST"
		}
		g, err := New(open(producers, most, distribution, ship), ident.GraphID{ID: ident.ID{7}}, begin, begin)
		if err != nil {
			t.Fatal(err)
		}
		a, b, c := g.Vertices[0], g.Vertices[1], g.Vertices[2]
		written := make([]int, producers)
		for i, s := range a.Subtasks {
			written[i] = g.subpartitions(a.Job.Produces[0], s)
		}
		if b.LaidOut() || c.LaidOut() || !b.CanLayOut() || c.CanLayOut() || g.AllLaidOut() || b.Parallelism() != 0 || c.Parallelism() != 1 {
			t.Fatal("a vertex must not be laid out before what it reads")
		}
		regions := g.LayOut(b, Layout{Parallelism: n}, begin)
		if len(regions) != n || len(g.Regions) != producers+n || regions[0].Index != producers {
			t.Fatalf("%d regions, %d in all", len(regions), len(g.Regions))
		}
		read := map[[2]int]int{}
		for i, s := range b.Subtasks {
			awaits := map[*Vertex]bool{}
			for _, link := range b.Inputs[0].links(s) {
				awaits[a.Subtasks[link.Producer]] = true
				for k := range link.Count {
					read[[2]int{link.Producer, link.Subpartition + k}]++
				}
			}
			if len(awaits) != len(regions[i].Awaits) {
				t.Fatalf("subtask %d reads %d producers and awaits %d", i, len(awaits), len(regions[i].Awaits))
			}
		}
		times := 1
		if ship == "BROADCAST" {
			times = n
		}
		for p, subs := range written {
			if again := g.subpartitions(a.Job.Produces[0], a.Subtasks[p]); again != subs {
				t.Fatalf("producer %d writes %d subpartitions now, and wrote %d", p, again, subs)
			}
			for k := range subs {
				if got := read[[2]int{p, k}]; got != times {
					t.Fatalf("subpartition %d of producer %d is read %d times, want %d", k, p, got, times)
				}
				delete(read, [2]int{p, k})
			}
		}
		if len(read) > 0 {
			t.Fatalf("read, but never written: %v", read)
		}
		if g.LayOut(c, Layout{Parallelism: 1}, begin); !g.AllLaidOut() {
			t.Fatal("not all is laid out")
		}
	})
}

func TestEvenShares(t *testing.T) {
	if got := fmt.Sprint(EvenShares(7, 3)); got != "[{0 2} {2 2} {4 3}]" {
		t.Error(got)
	}
}
