package schedule

import (
	"fmt"
	"sort"
	"strings"

	"github.com/weirstream/weir/internal/execgraph"
)

// Sizing says how many subtasks a vertex gets whose parallelism the program
// leaves open. Its most is the vertex's maximum parallelism.
type Sizing struct {
	// Least is how many it gets at least, Flink's
	// execution.batch.adaptive.auto-parallelism.min-parallelism; 0: 1.
	Least int
	// Volume is how many bytes a subtask should get to read at most:
	// …avg-data-volume-per-task; 0: 16 MB.
	Volume int64
	// Sources bounds the parallelism of sources: …default-source-parallelism;
	// 0: nothing but their maximum does.
	Sources int
	// Otherwise is what a source gets that cannot say how much it has to read; 0: 1.
	Otherwise int
}

const (
	defaultVolume = 16 << 20
	// mostChannels bounds how many subpartitions one subtask reads of all its
	// producers, as Flink does.
	mostChannels = 1 << 15
)

func (z Sizing) complete() Sizing {
	z.Least = max(z.Least, 1)
	if z.Volume <= 0 {
		z.Volume = defaultVolume
	}
	return z
}

// A consumed input is what there is to read of it, when its producers have
// finished.
type consumed struct {
	from      string // who produced it
	producers int
	// alike: each subtask reads all of it. pointwise: the subpartitions of one
	// producer are not those of another.
	alike, pointwise bool
	sizes            []int64 // bytes by subpartition, over all producers
}

func (c *consumed) bytes() int64 {
	sum := int64(0)
	for _, b := range c.sizes {
		sum += b
	}
	return sum
}

// source sizes a source by its splits; nil: it cannot say.
func (z Sizing) source(splits *execgraph.Splits, most int) execgraph.Layout {
	limit := ""
	if z.Sources > 0 && z.Sources < most {
		most, limit = z.Sources, ", the most for a source"
	}
	least := min(z.Least, most)
	if splits == nil {
		n := max(least, min(z.Otherwise, most))
		return execgraph.Layout{Parallelism: n, Why: fmt.Sprintf("it cannot say how much it will read: the default, at least %d, at most %d%s", least, most, limit)}
	}
	want := min(int64(splits.Count), pieces(splits.Bytes, z.Volume))
	n := clamp(want, least, most)
	return execgraph.Layout{Parallelism: n, Why: fmt.Sprintf("%s in %s to read: %s", size(splits.Bytes), plural(splits.Count, "split"),
		z.why(want, n, least, most, z.Volume)+limit)}
}

// reader sizes a vertex by what its inputs hold.
//
// When all that is not the same for every subtask is exchanged all to all, the
// subpartitions, which hold unequal volumes, are cut into neighbouring shares of
// at most the volume wanted; the volume gives way when there would be too many
// or too few. Otherwise the number follows from the whole volume, and the
// subpartitions are shared out evenly.
func (z Sizing) reader(inputs []consumed, most int) execgraph.Layout {
	least := min(z.Least, most)
	var bytes, alike int64
	var sizes []int64
	producers, cut := 0, true
	for i := range inputs {
		in := &inputs[i]
		switch {
		case in.alike:
			alike += in.bytes()
			continue
		case in.pointwise:
			cut = false
		default:
			producers = max(producers, in.producers)
			sizes = sum(sizes, in.sizes)
		}
		bytes += in.bytes()
	}
	// What everyone reads takes its part of the volume, but never more than half.
	volume := max(1, z.Volume-min(alike, z.Volume/2))
	shares := []execgraph.Share(nil)
	want := pieces(bytes, volume)
	if cut && sizes != nil {
		atMost := max(1, mostChannels/producers)
		want = int64(len(cutShares(sizes, volume, atMost)))
		shares = legalShares(sizes, volume, atMost, least, most)
	}
	n := len(shares)
	if shares == nil {
		n = clamp(want, least, most)
		shares = execgraph.EvenShares(most, n)
	}
	why := fmt.Sprintf("%s produced by %s: %s", size(bytes), producersOf(inputs, false), z.why(want, n, least, most, volume))
	if alike > 0 {
		why += fmt.Sprintf(", beside %s that each reads of %s", size(alike), producersOf(inputs, true))
	}
	return execgraph.Layout{Parallelism: n, Shares: shares, Why: why}
}

// legalShares cuts subpartitions into shares whose number is between least and
// most, by the limit nearest to volume that does; nil: none does.
func legalShares(sizes []int64, volume int64, atMost, least, most int) []execgraph.Share {
	total := int64(0)
	for _, b := range sizes {
		total += b
	}
	// The number of shares does not rise with the limit.
	number := func(limit int64) int { return len(cutShares(sizes, limit, atMost)) }
	limit := volume
	switch n := number(volume); {
	case n > most: // the least limit by which there are few enough
		limit += int64(sort.Search(int(max(0, total-volume)), func(more int) bool { return number(volume+int64(more)) <= most }))
	case n < least: // the greatest by which there are enough
		limit = int64(sort.Search(int(min(volume, total)), func(l int) bool { return number(int64(l)+1) < least }))
	}
	shares := cutShares(sizes, limit, atMost)
	if n := len(shares); n < least || n > most {
		return nil
	}
	return shares
}

// cutShares cuts subpartitions into neighbouring shares of at most limit bytes,
// if no single one is larger, and at most atMost subpartitions.
func cutShares(sizes []int64, limit int64, atMost int) []execgraph.Share {
	var shares []execgraph.Share
	held := int64(0)
	for i, bytes := range sizes {
		if n := len(shares); n > 0 && held+bytes <= limit && shares[n-1].Count < atMost {
			shares[n-1].Count++
			held += bytes
			continue
		}
		shares = append(shares, execgraph.Share{First: i, Count: 1})
		held = bytes
	}
	return shares
}

func sum(a, b []int64) []int64 {
	if a == nil {
		return append([]int64{}, b...)
	}
	for i := range a {
		a[i] += b[i]
	}
	return a
}

// pieces is how many pieces of at most volume bytes there are.
func pieces(bytes, volume int64) int64 { return (bytes + volume - 1) / volume }

func clamp(n int64, least, most int) int { return int(max(int64(least), min(n, int64(most)))) }

// why tells how a number came about: that of the pieces, if nothing bounds it.
func (z Sizing) why(want int64, got, least, most int, volume int64) string {
	text := fmt.Sprintf("at most %s a task, at least %d, at most %d tasks", size(volume), least, most)
	if want > int64(got) {
		text += fmt.Sprintf("; without the bound there would be %d", want)
	}
	return text
}

// producersOf names the inputs' producers.
func producersOf(inputs []consumed, alike bool) string {
	var names []string
	for i := range inputs {
		if inputs[i].alike == alike {
			names = append(names, inputs[i].from)
		}
	}
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names, " and ")
}

// size is a number of bytes as people read it.
func size(bytes int64) string {
	if bytes < 1<<10 {
		return fmt.Sprintf("%d B", bytes)
	}
	value, unit := float64(bytes)/(1<<10), "kB"
	for _, next := range []string{"MB", "GB", "TB"} {
		if value < 1<<10 {
			break
		}
		value, unit = value/(1<<10), next
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", value), ".0") + " " + unit
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
