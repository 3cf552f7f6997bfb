package metrics

import "strings"

// A Metric is a name with its value, within a scope that whoever holds it knows.
type Metric struct {
	Name  string
	Value Value
}

// Flat gives what REST shows of metrics: for a histogram one number each for its
// least, greatest and mean value and its quantiles.
func Flat(all []Metric) []Metric {
	flat := make([]Metric, 0, len(all))
	for _, m := range all {
		d := m.Value.Distribution()
		if d == nil {
			flat = append(flat, m)
			continue
		}
		for _, part := range []Metric{
			{"min", Whole(d.Min)}, {"max", Whole(d.Max)}, {"mean", Number(d.Mean)}, {"median", Number(d.Median)},
			{"stddev", Number(d.Deviation)}, {"p75", Number(d.P75)}, {"p90", Number(d.P90)}, {"p95", Number(d.P95)},
			{"p98", Number(d.P98)}, {"p99", Number(d.P99)}, {"p999", Number(d.P999)},
		} {
			flat = append(flat, Metric{m.Name + "_" + part.Name, part.Value})
		}
	}
	return flat
}

// reserved stand between the parts of a metric's identifier.
var reserved = strings.NewReplacer(" ", "_", ".", "_", ":", "_", ",", "_")

// OperatorName is an operator's name as a part of the identifiers of its
// metrics: "Source: datagen[1]" is Source__datagen[1].
func OperatorName(name string) string { return reserved.Replace(name) }
