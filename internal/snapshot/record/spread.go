package record

import (
	"math"
	"slices"
	"strconv"
)

// A Spread is how a figure of the completed checkpoints is distributed. The
// percentiles are those of Flink, between two values in proportion, and NaN when
// there is no value.
type Spread struct {
	Min, Max, Average        int64
	P50, P90, P95, P99, P999 Percentile
}

// A Percentile may be NaN, which is null as JSON text.
type Percentile float64

// MarshalJSON gives a number or null.
func (p Percentile) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(p)) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(p), 'g', -1, 64), nil
}

// UnmarshalJSON reads what MarshalJSON gave.
func (p *Percentile) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*p = Percentile(math.NaN())
		return nil
	}
	f, err := strconv.ParseFloat(string(text), 64)
	*p = Percentile(f)
	return err
}

// window is how many of the newest values percentiles are of.
const window = 10000

// A summary collects the values of one figure.
type summary struct {
	count, sum int64
	min, max   int64
	recent     []int64 // oldest first, from start, as a ring
	start      int
	sorted     []int64 // the same in order
}

// add counts a value; one below zero is not known.
func (s *summary) add(v int64) {
	if v < 0 {
		return
	}
	if s.count == 0 {
		s.min, s.max = v, v
	}
	s.count, s.sum, s.min, s.max = s.count+1, s.sum+v, min(s.min, v), max(s.max, v)
	if len(s.recent) < window {
		s.recent = append(s.recent, v)
	} else {
		oldest, _ := slices.BinarySearch(s.sorted, s.recent[s.start])
		s.sorted = slices.Delete(s.sorted, oldest, oldest+1)
		s.recent[s.start] = v
		s.start = (s.start + 1) % window
	}
	at, _ := slices.BinarySearch(s.sorted, v)
	s.sorted = slices.Insert(s.sorted, at, v)
}

func (s *summary) average() int64 {
	if s.count == 0 {
		return 0
	}
	return s.sum / s.count
}

func (s *summary) spread() Spread {
	return Spread{
		Min: s.min, Max: s.max, Average: s.average(), P50: s.percentile(50), P90: s.percentile(90),
		P95: s.percentile(95), P99: s.percentile(99), P999: s.percentile(99.9),
	}
}

// percentile is the value at place p·(n+1) of the sorted ones, counted from 1.
func (s *summary) percentile(p float64) Percentile {
	n := len(s.sorted)
	if n == 0 {
		return Percentile(math.NaN())
	}
	place := p * float64(n+1) / 100
	below := math.Floor(place)
	switch {
	case below < 1:
		return Percentile(s.sorted[0])
	case int(below) >= n:
		return Percentile(s.sorted[n-1])
	}
	lower, upper := float64(s.sorted[int(below)-1]), float64(s.sorted[int(below)])
	return Percentile(lower + (place-below)*(upper-lower))
}

// SpreadOf gives least, greatest and average of some values; percentiles are not
// asked for, and NaN. Values below zero are not known.
func SpreadOf(values []int64) Spread {
	var s summary
	for _, v := range values {
		if v >= 0 {
			if s.count == 0 {
				s.min, s.max = v, v
			}
			s.count, s.sum, s.min, s.max = s.count+1, s.sum+v, min(s.min, v), max(s.max, v)
		}
	}
	return s.spread()
}

// DistributionOf is how some values are distributed, none of which is below zero.
func DistributionOf(values []int64) Spread {
	var s summary
	for _, v := range values {
		s.add(v)
	}
	return s.spread()
}
