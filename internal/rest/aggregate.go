package rest

import (
	"slices"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
)

// aggregated are statistics over the attempts of a vertex.
type aggregated struct {
	Metrics   map[string]statistics `json:"metrics"`
	Durations map[string]statistics `json:"status-duration"`
}

// statistics of whole numbers, cut to whole numbers as in Flink.
type statistics struct {
	P25     int64 `json:"p25"`
	Min     int64 `json:"min"`
	Average int64 `json:"avg"`
	Median  int64 `json:"median"`
	Max     int64 `json:"max"`
	Sum     int64 `json:"sum"`
	P95     int64 `json:"p95"`
	P75     int64 `json:"p75"`
}

func aggregate(attempts []*execgraph.AttemptView, now time.Time) aggregated {
	metrics, durations := map[string][]int64{}, map[string][]int64{}
	if len(attempts) == 0 { // the names are there all the same, with zeros
		none := aggregate([]*execgraph.AttemptView{{}}, now)
		clearValues(none.Metrics)
		clearValues(none.Durations)
		return none
	}
	for _, a := range attempts {
		for name, value := range map[string]int64{
			"read-bytes": a.Metrics.BytesIn, "write-bytes": a.Metrics.BytesOut,
			"read-records": a.Metrics.RecordsIn, "write-records": a.Metrics.RecordsOut,
			"accumulated-backpressured-time": a.Metrics.BackpressuredMillis,
			"accumulated-idle-time":          a.Metrics.IdleMillis, "accumulated-busy-time": a.Metrics.BusyMillis,
		} {
			metrics[name] = append(metrics[name], value)
		}
		for state, d := range durationsOf(a, now) {
			durations[state] = append(durations[state], d)
		}
	}
	return aggregated{summarize(metrics), summarize(durations)}
}

func clearValues(all map[string]statistics) {
	for name := range all { // order: each is changed by itself
		all[name] = statistics{}
	}
}

func summarize(values map[string][]int64) map[string]statistics {
	all := map[string]statistics{}
	for name, v := range values {
		all[name] = statisticsOf(v)
	}
	return all
}

// statisticsOf describes at least one value.
func statisticsOf(values []int64) statistics {
	slices.Sort(values)
	var sum int64
	for _, v := range values {
		sum += v
	}
	n := len(values)
	return statistics{
		Min: values[0], Max: values[n-1], Sum: sum, Average: sum / int64(n),
		P25: percentile(values, 25), Median: percentile(values, 50), P75: percentile(values, 75), P95: percentile(values, 95),
	}
}

// percentile interpolates between the neighbours of the place p·(n+1)/100 in
// sorted values, counted from 1.
func percentile(sorted []int64, p int) int64 {
	at := float64(p) * float64(len(sorted)+1) / 100
	i := int(at)
	switch {
	case i < 1:
		return sorted[0]
	case i >= len(sorted):
		return sorted[len(sorted)-1]
	}
	low, high := float64(sorted[i-1]), float64(sorted[i])
	return int64(low + (at-float64(i))*(high-low))
}
