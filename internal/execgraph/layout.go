package execgraph

import (
	"errors"
	"fmt"
	"time"

	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/jobgraph"
)

// A Layout is how a vertex is made parallel.
type Layout struct {
	// Parallelism is the number of its subtasks.
	Parallelism int
	// Shares are, by subtask, the subpartitions it reads of every producer of an
	// all-to-all input; nil: even ones. Only a vertex whose parallelism the
	// program left open has any. The shares cover the subpartitions in order.
	Shares []Share
	// Why says for people where the number comes from.
	Why string
}

// A Share is some neighbouring subpartitions. Where records are exchanged by
// key, they are the key groups with the same numbers.
type Share struct{ First, Count int }

// LaidOut reports whether the vertex has its subtasks. One has not while its
// parallelism, or the layout of what it reads, is not decided.
func (v *JobVertex) LaidOut() bool { return len(v.Subtasks) > 0 }

// Parallelism is the number of subtasks the vertex has or will have; 0: not
// decided yet.
func (v *JobVertex) Parallelism() int {
	if v.LaidOut() {
		return len(v.Subtasks)
	}
	return v.Job.Parallelism
}

// Layout is how the vertex was laid out.
func (v *JobVertex) Layout() Layout { return v.layout }

// CanLayOut reports whether all that the vertex reads is laid out, and it is not.
func (v *JobVertex) CanLayOut() bool {
	if v.LaidOut() {
		return false
	}
	for _, in := range v.Inputs {
		if !in.Source.LaidOut() {
			return false
		}
	}
	return true
}

// Finished reports whether every subtask has finished.
func (v *JobVertex) Finished() bool { return v.LaidOut() && v.finished == len(v.Subtasks) }

// AllLaidOut reports whether every vertex has its subtasks.
func (g *Graph) AllLaidOut() bool { return g.laidOut == len(g.Vertices) }

// LayOut gives a vertex its subtasks, and each of them a region, for good. What
// it reads has been laid out. It returns the regions, which stand after those
// that were there.
func (g *Graph) LayOut(v *JobVertex, l Layout, now time.Time) []*Region {
	g.split(v, l, now)
	var regions []*Region
	for _, s := range v.Subtasks {
		r := &Region{Index: len(g.Regions), Vertices: []*Vertex{s}}
		s.Region = r
		seen := map[*Vertex]bool{}
		for _, in := range v.Inputs {
			for _, link := range in.links(s) {
				if p := in.Source.Subtasks[link.Producer]; !seen[p] {
					seen[p] = true
					r.Awaits = append(r.Awaits, p)
				}
			}
		}
		g.Regions = append(g.Regions, r)
		regions = append(regions, r)
	}
	for _, in := range v.Inputs {
		if in.Source.ReadersLaidOut() {
			for _, s := range in.Source.Subtasks {
				s.Current.Sizes = nil // they have told what they had to
			}
		}
	}
	return regions
}

// split gives a vertex its subtasks, without regions.
func (g *Graph) split(v *JobVertex, l Layout, now time.Time) {
	job := v.Job
	invariant.Check(v.CanLayOut(), "vertex %q cannot be laid out", job.Name)
	invariant.Check(l.Parallelism >= 1 && l.Parallelism <= job.MaxParallelism && (job.Undecided() || l.Parallelism == job.Parallelism),
		"vertex %q of parallelism %d, at most %d, is laid out with %d", job.Name, job.Parallelism, job.MaxParallelism, l.Parallelism)
	if job.Undecided() && l.Shares == nil {
		l.Shares = EvenShares(job.MaxParallelism, l.Parallelism)
	}
	checkShares(v, &l)
	v.layout = l
	for i := range l.Parallelism {
		subtask := &Vertex{Parent: v, Subtask: i}
		subtask.Current = newExecution(g.ID, subtask, 0, now)
		v.Subtasks = append(v.Subtasks, subtask)
	}
	v.view = nil
	g.open += l.Parallelism
	g.laidOut++
}

func checkShares(v *JobVertex, l *Layout) {
	if !v.Job.Undecided() {
		invariant.Check(l.Shares == nil, "vertex %q has shares, though its parallelism is the program's", v.Job.Name)
		return
	}
	next := 0
	for _, s := range l.Shares {
		invariant.Check(s.First == next && s.Count > 0, "vertex %q: a share of %d subpartitions from %d on where %d is the next", v.Job.Name, s.Count, s.First, next)
		next += s.Count
	}
	invariant.Check(len(l.Shares) == l.Parallelism && next == v.Job.MaxParallelism,
		"vertex %q: %d shares of %d subpartitions for %d subtasks and %d subpartitions", v.Job.Name, len(l.Shares), next, l.Parallelism, v.Job.MaxParallelism)
}

// EvenShares cuts subpartitions into so many shares whose sizes differ by at
// most one.
func EvenShares(subpartitions, shares int) []Share {
	all := make([]Share, shares)
	for i := range all {
		all[i] = evenShare(subpartitions, shares, i)
	}
	return all
}

func evenShare(subpartitions, shares, i int) Share {
	first, end := i*subpartitions/shares, (i+1)*subpartitions/shares
	return Share{First: first, Count: end - first}
}

// Alike reports whether a data set of an edge with this partitioner holds for
// every consumer of a producer the same: all of it.
func Alike(ship string) bool { return ship == "BROADCAST" || ship == Forward }

// Forward is the partitioner of an edge whose consumer has a subtask for each of
// the producer's.
const Forward = "FORWARD"

// links lists what a subtask reads of the input.
//
// While the consumer's parallelism is open its producers write as many
// subpartitions as it may have subtasks. What is the same for all, they write
// once. Once it is decided, a consumer subtask reads a share of them: of an
// all-to-all input the same share of every producer; of a pointwise one the
// whole of its producers, or its part of the one it has.
func (in *Input) links(s *Vertex) []Link {
	v := s.Parent
	producers, consumers := len(in.Source.Subtasks), len(v.Subtasks)
	if !v.Job.Undecided() {
		return Links(in.Edge.Distribution, producers, consumers, s.Subtask)
	}
	whole := Share{Count: in.subpartitions()}
	links := Links(in.Edge.Distribution, producers, consumers, s.Subtask)
	for i := range links {
		l := &links[i]
		share := whole
		switch {
		case Alike(in.Edge.Ship):
		case in.Edge.Distribution == jobgraph.AllToAll:
			share = v.layout.Shares[s.Subtask]
		case producers < consumers:
			first, end := fedBy(l.Producer, producers, consumers)
			share = evenShare(whole.Count, end-first, s.Subtask-first)
		}
		l.Subpartition, l.Count = share.First, share.Count
	}
	return links
}

// subpartitions is how many each producer writes for a consumer whose
// parallelism the program left open.
func (in *Input) subpartitions() int {
	switch {
	case Alike(in.Edge.Ship):
		return 1
	case in.Edge.Distribution == jobgraph.AllToAll:
		return in.Consumer.Job.MaxParallelism
	}
	n := len(in.Source.Subtasks)
	return (in.Consumer.Job.MaxParallelism + n - 1) / n
}

// ReadersLaidOut reports whether every vertex that reads this one has its
// subtasks.
func (v *JobVertex) ReadersLaidOut() bool {
	for _, in := range v.Outputs {
		if !in.Consumer.LaidOut() {
			return false
		}
	}
	return true
}

// Produced keeps how much an attempt that ends has produced: by produced data
// set the bytes in each subpartition, of which those count that decide a
// parallelism. It refuses sizes that are not of this attempt.
func (g *Graph) Produced(e *Execution, sizes [][]int64) error {
	v := e.Vertex.Parent
	var kept [][]int64
	for _, in := range v.Outputs {
		if !in.Consumer.Job.Undecided() || in.Consumer.LaidOut() {
			continue
		}
		if kept == nil {
			kept = make([][]int64, len(v.Job.Produces))
		}
		got := 0
		if in.output < len(sizes) {
			got = len(sizes[in.output])
		}
		if want := in.subpartitions(); got != want {
			return fmt.Errorf("%s finished and told the size of %d subpartitions for %q, want %d", e.Vertex.Name(), got, in.Consumer.Job.Name, want)
		}
		kept[in.output] = sizes[in.output]
	}
	e.Sizes = kept
	return nil
}

// Sizes are the bytes in each subpartition of the input, summed over the
// producers, all of which have finished.
func (in *Input) Sizes() []int64 {
	sum := make([]int64, in.subpartitions())
	for _, s := range in.Source.Subtasks {
		for i, bytes := range s.Current.Sizes[in.output] {
			sum[i] += bytes
		}
	}
	return sum
}

// Say keeps what a source has to read.
func (v *JobVertex) Say(splits Splits) { v.Splits, v.view = &splits, nil }

// checkOpen refuses a job in which a parallelism is left open and which could
// not be laid out step by step.
func (g *Graph) checkOpen() error {
	if !g.Job.Undecided() {
		return nil
	}
	errOpen := errors.New("in a job that leaves a parallelism open, no vertex may be co-located and all data sets must be BLOCKING")
	for _, v := range g.Job.Vertices {
		if v.CoLocation != "" {
			return fmt.Errorf("vertex %q is in the co-location group %q: %w", v.Name, v.CoLocation, errOpen)
		}
		for _, set := range v.Produces {
			if set.Type != jobgraph.Blocking {
				return fmt.Errorf("vertex %q produces a data set that is %s: %w", v.Name, set.Type, errOpen)
			}
		}
	}
	return nil
}
