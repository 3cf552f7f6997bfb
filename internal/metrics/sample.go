package metrics

import (
	"math"
	"slices"

	"github.com/weirstream/weir/internal/status"
)

// A Sample keeps the last values of something, to be described. The zero Sample
// is empty. It belongs to one goroutine.
type Sample struct {
	values [sampleSize]int64
	n      int // taken so far
}

const sampleSize = 60

// Take adds a value; the oldest one is forgotten.
func (s *Sample) Take(v int64) {
	s.values[s.n%sampleSize] = v
	s.n++
}

// Describe gives the statistics, quantiles interpolated between neighbours and
// the deviation of a sample, as Flink's histograms do.
func (s *Sample) Describe() status.Distribution {
	n := min(s.n, sampleSize)
	if n == 0 {
		return status.Distribution{}
	}
	sorted := slices.Sorted(slices.Values(s.values[:n]))
	sum, squares := 0.0, 0.0
	for _, v := range sorted {
		sum += float64(v)
	}
	mean := sum / float64(n)
	for _, v := range sorted {
		squares += (float64(v) - mean) * (float64(v) - mean)
	}
	deviation := 0.0
	if n > 1 {
		deviation = math.Sqrt(squares / float64(n-1))
	}
	q := func(p float64) float64 { return quantile(sorted, p) }
	return status.Distribution{
		Values: n, Min: sorted[0], Max: sorted[n-1], Mean: mean, Deviation: deviation,
		Median: q(0.5), P75: q(0.75), P90: q(0.9), P95: q(0.95), P98: q(0.98), P99: q(0.99), P999: q(0.999),
	}
}

// quantile interpolates between the neighbours of the place p·(n+1) in sorted
// values, counted from 1.
func quantile(sorted []int64, p float64) float64 {
	n := len(sorted)
	at := p * float64(n+1)
	i := int(at)
	switch {
	case i < 1:
		return float64(sorted[0])
	case i >= n:
		return float64(sorted[n-1])
	}
	low, high := float64(sorted[i-1]), float64(sorted[i])
	return low + (at-float64(i))*(high-low)
}
