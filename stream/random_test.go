package stream_test

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/stream"
)

// item is the record of the random programs.
type item struct {
	Key  int64
	Val  int64
	Text string
}

func compareItems(a, b item) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Val, b.Val), cmp.Compare(a.Text, b.Text))
}

// step is one operation of a random program: what the engine is told and what
// plain Go does.
type step struct {
	name  string
	build func(stream.DataStream[item]) stream.DataStream[item]
	plain func([]item) []item
}

// fold is a keyed aggregate at the end of a random program.
type fold struct {
	name  string
	build func(stream.DataStream[item]) stream.DataStream[item]
	add   func(acc *item, first bool, v item)
}

// steps are the operations without a key, each with a random constant.
func steps(r *rand.Rand) step {
	n := r.Int64N(5) + 1
	each := func(f func(item) []item) func([]item) []item {
		return func(in []item) (out []item) {
			for _, v := range in {
				out = append(out, f(v)...)
			}
			return out
		}
	}
	same := func(name string, build func(stream.DataStream[item]) stream.DataStream[item]) step {
		return step{name, build, func(in []item) []item { return in }}
	}
	move := func(v item) item { v.Key, v.Val = (v.Key*n+v.Val)%11, v.Val+n; return v }
	keep := func(v item) bool { return (v.Val+v.Key)%(n+1) != 0 }
	copies := func(v item) []item {
		out := make([]item, v.Val&1+v.Key&1)
		for i := range out {
			out[i] = item{Key: v.Key + int64(i), Val: v.Val, Text: v.Text + "x"}
		}
		return out
	}
	switch r.IntN(12) {
	case 0:
		return step{fmt.Sprintf("Map %d", n), func(s stream.DataStream[item]) stream.DataStream[item] { return s.Map(move) },
			each(func(v item) []item { return []item{move(v)} })}
	case 1:
		return step{fmt.Sprintf("Filter %d", n), func(s stream.DataStream[item]) stream.DataStream[item] { return s.Filter(keep) },
			each(func(v item) []item {
				if keep(v) {
					return []item{v}
				}
				return nil
			})}
	case 2:
		return step{"FlatMap", func(s stream.DataStream[item]) stream.DataStream[item] {
			return s.FlatMap(func(v item) iter.Seq[item] { return slices.Values(copies(v)) })
		}, each(copies)}
	case 3:
		return step{"Process", func(s stream.DataStream[item]) stream.DataStream[item] {
			return s.Process(func() stream.ProcessFunction[item, item] { return &doubler{} })
		}, each(func(v item) []item { return []item{v, {Key: v.Key, Val: -v.Val, Text: v.Text}} })}
	case 4:
		return same("Rebalance", stream.DataStream[item].Rebalance)
	case 5:
		return same("Rescale", stream.DataStream[item].Rescale)
	case 6:
		return same("Shuffle", stream.DataStream[item].Shuffle)
	case 7:
		return same("Global", stream.DataStream[item].Global)
	case 8:
		return same("PartitionBy", func(s stream.DataStream[item]) stream.DataStream[item] {
			return s.PartitionBy(func(v item, of int) int { return int(uint64(v.Val) % uint64(of)) })
		})
	case 9:
		return step{"Union with itself mapped", func(s stream.DataStream[item]) stream.DataStream[item] {
			return s.Map(move).Union(s.Filter(keep))
		}, func(in []item) (out []item) {
			for _, v := range in {
				out = append(out, move(v))
				if keep(v) {
					out = append(out, v)
				}
			}
			return out
		}}
	case 10:
		p := r.IntN(5) + 1
		return step{fmt.Sprintf("Map at parallelism %d", p), func(s stream.DataStream[item]) stream.DataStream[item] {
			return s.Map(move).Parallelism(p)
		}, each(func(v item) []item { return []item{move(v)} })}
	default:
		return step{"Map in a task of its own", func(s stream.DataStream[item]) stream.DataStream[item] {
			switch s = s.Map(move); n % 3 {
			case 0:
				return s.DisableChaining()
			case 1:
				return s.StartNewChain()
			}
			return s.SlotSharingGroup("other")
		}, each(func(v item) []item { return []item{move(v)} })}
	}
}

// doubler emits every record twice, once with the value negated.
type doubler struct{}

func (*doubler) Process(v item, _ *stream.ProcessContext, emit func(item)) error {
	emit(v)
	v.Val = -v.Val
	emit(v)
	return nil
}

// folds are the keyed aggregates, over integer, string and struct keys.
func folds(r *rand.Rand) fold {
	byKey, val := func(v item) int64 { return v.Key }, func(v item) int64 { return v.Val }
	pick := func(name string, build func(stream.DataStream[item]) stream.DataStream[stream.Pair[int64, int64]], add func(acc *item, first bool, v item)) fold {
		return fold{name, func(s stream.DataStream[item]) stream.DataStream[item] {
			return build(s).Map(func(p stream.Pair[int64, int64]) item { return item{Key: p.Key, Val: p.Value} })
		}, add}
	}
	switch r.IntN(6) {
	case 0:
		return pick("Count", func(s stream.DataStream[item]) stream.DataStream[stream.Pair[int64, int64]] {
			return s.KeyBy(byKey).Count()
		},
			func(acc *item, _ bool, v item) { acc.Key, acc.Val = v.Key, acc.Val+1 })
	case 1:
		return pick("Sum", func(s stream.DataStream[item]) stream.DataStream[stream.Pair[int64, int64]] {
			return s.KeyBy(byKey).Sum(val)
		},
			func(acc *item, _ bool, v item) { acc.Key, acc.Val = v.Key, acc.Val+v.Val })
	case 2:
		return pick("Min", func(s stream.DataStream[item]) stream.DataStream[stream.Pair[int64, int64]] {
			return s.KeyBy(byKey).Min(val)
		},
			func(acc *item, first bool, v item) {
				if first || v.Val < acc.Val {
					acc.Key, acc.Val = v.Key, v.Val
				}
			})
	case 3:
		return pick("Max", func(s stream.DataStream[item]) stream.DataStream[stream.Pair[int64, int64]] {
			return s.KeyBy(byKey).Max(val)
		},
			func(acc *item, first bool, v item) {
				if first || v.Val > acc.Val {
					acc.Key, acc.Val = v.Key, v.Val
				}
			})
	}
	both := func(a, b item) item { return item{Key: a.Key, Val: a.Val + b.Val, Text: max(a.Text, b.Text)} }
	add := func(acc *item, first bool, v item) {
		if first {
			*acc = v
		} else {
			*acc = both(*acc, v)
		}
	}
	if r.IntN(2) == 0 {
		return fold{"Reduce by text", func(s stream.DataStream[item]) stream.DataStream[item] {
			return s.KeyBy(func(v item) string { return fmt.Sprint(v.Key) }).Reduce(both)
		}, add}
	}
	return fold{"Reduce by struct", func(s stream.DataStream[item]) stream.DataStream[item] {
		return s.KeyBy(func(v item) [2]int64 { return [2]int64{v.Key, 1} }).Reduce(both)
	}, add}
}

// program is a random program with the results plain Go gives.
type program struct {
	input []item
	steps []step
	fold  *fold
	after []step // in batch mode only: there each key is emitted once
}

func newProgram(r *rand.Rand) *program {
	p := &program{input: make([]item, r.IntN(400))}
	for i := range p.input {
		p.input[i] = item{Key: r.Int64N(9), Val: r.Int64N(100), Text: strings.Repeat("ab", r.IntN(3))}
	}
	for range r.IntN(6) {
		p.steps = append(p.steps, steps(r))
	}
	if r.IntN(4) > 0 {
		f := folds(r)
		p.fold = &f
		for range r.IntN(3) {
			p.after = append(p.after, steps(r))
		}
	}
	return p
}

func (p *program) String() string {
	names := []string{fmt.Sprintf("%d records", len(p.input))}
	for _, s := range p.steps {
		names = append(names, s.name)
	}
	if p.fold != nil {
		names = append(names, p.fold.name)
	}
	for _, s := range p.after {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// plain gives the sorted results of plain Go, and how many records reach the
// aggregate.
func (p *program) plain(batch bool) (results []item, folded int) {
	results = p.input
	for _, s := range p.steps {
		results = s.plain(results)
	}
	folded = len(results)
	if p.fold != nil {
		acc := map[int64]*item{}
		for _, v := range results {
			_, old := acc[v.Key]
			if !old {
				acc[v.Key] = &item{}
			}
			p.fold.add(acc[v.Key], !old, v)
		}
		results = nil
		for _, v := range acc {
			results = append(results, *v)
		}
		if batch {
			for _, s := range p.after {
				results = s.plain(results)
			}
		}
	}
	return slices.SortedFunc(slices.Values(results), compareItems), folded
}

// run gives what the engine emits.
func (p *program) run(t *testing.T, how setting) []item {
	env := how.env()
	s := stream.FromSlice(env, p.input)
	for _, step := range p.steps {
		s = step.build(s)
	}
	if p.fold != nil {
		s = p.fold.build(s)
		if how.mode == stream.Batch {
			for _, step := range p.after {
				s = step.build(s)
			}
		}
	}
	got := s.Collect()
	execute(t, env)
	return got.Values()
}

// lastPerKey keeps the last record of each key.
func lastPerKey(all []item) []item {
	last := map[int64]item{}
	for _, v := range all {
		last[v.Key] = v
	}
	return slices.Collect(maps.Values(last))
}

// Whatever the parallelism, the chaining, the buffering and the mode, a program
// gives what plain Go gives. In streaming mode an aggregate emits with every
// record, and the last of a key is its result.
func TestRandomProgramsGiveWhatPlainGoGives(t *testing.T) {
	seeds, first := uint64(60), uint64(1)
	if *seedFlag != 0 {
		seeds, first = 1, *seedFlag
	}
	all := settings()
	for seed := first; seed < first+seeds; seed++ {
		r := rand.New(rand.NewPCG(seed, 1))
		p := newProgram(r)
		for range 8 {
			how := all[r.IntN(len(all))]
			want, folded := p.plain(how.mode == stream.Batch)
			got := p.run(t, how)
			if p.fold != nil && how.mode == stream.Streaming {
				if len(got) != folded {
					t.Errorf("-seed %d (%v; %+v): an aggregate emitted %d results for %d records", seed, p, how, len(got), folded)
				}
				got = lastPerKey(got)
			}
			slices.SortFunc(got, compareItems)
			if !slices.Equal(got, want) {
				t.Fatalf("-seed %d (%v; %+v):\n got %v\nwant %v", seed, p, how, got, want)
			}
		}
	}
}
