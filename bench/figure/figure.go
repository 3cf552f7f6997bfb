// Package figure holds the figures Weir is held to and the table they are
// reported in.
//
// It promises that a figure is met or missed by the median of what was measured
// and by nothing else, and that the spread is shown. It never measures.
package figure

import (
	"fmt"
	"slices"
	"strconv"
)

// A Figure is one line of the table.
type Figure struct {
	Name string
	// Key is where its values are found: "Benchmark/name metric" of a Go
	// benchmark, or the name of a process measurement.
	Key  string
	Unit string
	// Limit is the least value, or the greatest if AtMost; 0: none, the figure
	// is only shown.
	Limit  float64
	AtMost bool
	// Wall says that it is wall time, which other programs make longer.
	Wall bool
	// Missed says why the limit is not reached, where that is known.
	Missed string
}

// Target is the limit as people read it.
func (f *Figure) Target() string {
	switch {
	case f.Limit == 0:
		return "–"
	case f.AtMost:
		return fmt.Sprintf("≤ %s %s", number(f.Limit), f.Unit)
	}
	return fmt.Sprintf("≥ %s %s", number(f.Limit), f.Unit)
}

// Met says whether v reaches the limit.
func (f *Figure) Met(v float64) bool {
	return f.Limit == 0 || f.AtMost && v <= f.Limit || !f.AtMost && v >= f.Limit
}

// number prints three digits that mean something.
func number(v float64) string {
	switch {
	case v != 0 && v < 0.001:
		return strconv.FormatFloat(v, 'g', 2, 64)
	case v < 10:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// Values are what was measured, by key, in the order of measuring.
type Values map[string][]float64

// Add records one value.
func (v Values) Add(key string, value float64) { v[key] = append(v[key], value) }

// A Summary is what the values of one key come to.
type Summary struct {
	N                int
	Median, Min, Max float64
}

// Summarize gives the summary of values, which is zero without any.
func Summarize(values []float64) Summary {
	if len(values) == 0 {
		return Summary{}
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return Summary{N: n, Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Min: sorted[0], Max: sorted[n-1]}
}

// String gives "median [min..max]".
func (s Summary) String() string {
	return fmt.Sprintf("%s [%s..%s]", short(s.Median), short(s.Min), short(s.Max))
}

// short rounds to three digits.
func short(v float64) string {
	switch a := max(v, -v); {
	case a == 0:
		return "0"
	case a < 0.001:
		return strconv.FormatFloat(v, 'g', 2, 64)
	case a < 1:
		return strconv.FormatFloat(v, 'f', 3, 64)
	case a < 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a < 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}
