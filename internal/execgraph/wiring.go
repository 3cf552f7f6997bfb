package execgraph

import (
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/jobgraph"
)

// A Link says what a consumer reads of one producer: Count subpartitions, from
// Subpartition on.
type Link struct{ Producer, Subpartition, Count int }

// Links lists what a consumer subtask reads, in channel order.
//
// All-to-all: every producer, and of each the subpartition with the consumer's
// number. Pointwise follows Flink's formula: with at least as many producers as
// consumers, a consumer reads the contiguous share of producers
// [i·P/C, (i+1)·P/C); with fewer, producer p feeds the contiguous share of
// consumers [⌈p·C/P⌉, ⌈(p+1)·C/P⌉), each its own subpartition. So with equal
// parallelism subtask i reads subtask i.
func Links(d jobgraph.Distribution, producers, consumers, consumer int) []Link {
	if d == jobgraph.AllToAll {
		links := make([]Link, producers)
		for p := range links {
			links[p] = Link{Producer: p, Subpartition: consumer, Count: 1}
		}
		return links
	}
	invariant.Check(d == jobgraph.Pointwise, "distribution %q", d)
	if producers >= consumers {
		first, end := consumer*producers/consumers, (consumer+1)*producers/consumers
		links := make([]Link, 0, end-first)
		for p := first; p < end; p++ {
			links = append(links, Link{Producer: p, Count: 1})
		}
		return links
	}
	p := consumer * producers / consumers
	first, _ := fedBy(p, producers, consumers)
	return []Link{{Producer: p, Subpartition: consumer - first, Count: 1}}
}

// Subpartitions is the number of consumers that read a producer subtask.
func Subpartitions(d jobgraph.Distribution, producers, consumers, producer int) int {
	if d == jobgraph.AllToAll {
		return consumers
	}
	if producers >= consumers {
		return 1
	}
	first, end := fedBy(producer, producers, consumers)
	return end - first
}

// fedBy gives the consumers [first, end) that producer p feeds when there are
// fewer producers than consumers.
func fedBy(p, producers, consumers int) (first, end int) {
	return (p*consumers + producers - 1) / producers, ((p+1)*consumers + producers - 1) / producers
}
