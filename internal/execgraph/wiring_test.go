package execgraph

import (
	"fmt"
	"testing"

	"github.com/weirstream/weir/internal/jobgraph"
)

// TestLinksCover checks, for every parallelism from 1 to 8 on both sides, that
// each subpartition of each producer is read by exactly one consumer, that each
// consumer reads at least one producer and each producer is read, and that a
// consumer's producers are neighbours.
func TestLinksCover(t *testing.T) {
	for _, d := range []jobgraph.Distribution{jobgraph.Pointwise, jobgraph.AllToAll} {
		for producers := 1; producers <= 8; producers++ {
			for consumers := 1; consumers <= 8; consumers++ {
				t.Run(fmt.Sprintf("%s/%d-%d", d, producers, consumers), func(t *testing.T) { covers(t, d, producers, consumers) })
			}
		}
	}
}

func covers(t *testing.T, d jobgraph.Distribution, producers, consumers int) {
	read := map[Link]int{}
	for c := range consumers {
		links := Links(d, producers, consumers, c)
		if len(links) == 0 {
			t.Errorf("consumer %d reads nothing", c)
		}
		for i, l := range links {
			read[l]++
			if i > 0 && l.Producer != links[i-1].Producer+1 {
				t.Errorf("consumer %d reads producers %v", c, links)
			}
		}
		if d == jobgraph.Pointwise && producers == consumers && fmt.Sprint(links) != fmt.Sprint([]Link{{Producer: c, Count: 1}}) {
			t.Errorf("equal parallelism: consumer %d reads %v", c, links)
		}
	}
	total := 0
	for p := range producers {
		n := Subpartitions(d, producers, consumers, p)
		if n == 0 {
			t.Errorf("producer %d feeds nobody", p)
		}
		total += n
		for s := range n {
			if read[Link{p, s, 1}] != 1 {
				t.Errorf("subpartition %d of producer %d is read by %d consumers", s, p, read[Link{p, s, 1}])
			}
		}
	}
	if len(read) != total {
		t.Errorf("%d subpartitions are read, %d are produced: %v", len(read), total, read)
	}
}

func TestPointwiseIsFlinks(t *testing.T) {
	for _, test := range []struct {
		producers, consumers int
		want                 string
	}{
		{3, 2, "[[{0 0 1}] [{1 0 1} {2 0 1}]]"},
		{2, 3, "[[{0 0 1}] [{0 1 1}] [{1 0 1}]]"},
		{3, 7, "[[{0 0 1}] [{0 1 1}] [{0 2 1}] [{1 0 1}] [{1 1 1}] [{2 0 1}] [{2 1 1}]]"},
		{4, 2, "[[{0 0 1} {1 0 1}] [{2 0 1} {3 0 1}]]"},
	} {
		var all [][]Link
		for c := range test.consumers {
			all = append(all, Links(jobgraph.Pointwise, test.producers, test.consumers, c))
		}
		if got := fmt.Sprint(all); got != test.want {
			t.Errorf("%d to %d: got %s, want %s", test.producers, test.consumers, got, test.want)
		}
	}
}
