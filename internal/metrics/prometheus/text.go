package prometheus

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weirstream/weir/internal/metrics"
)

// A page gathers the lines of each name: they must stand together.
type page struct {
	filterValues bool
	families     map[string]*family
}

type family struct {
	help    string
	summary bool
	lines   []byte
	seen    map[string]bool // labels that have a value
}

// Text writes groups of metrics, in the order of their names. filterValues puts
// _ for every character of a label's value that a name may not have, as Flink
// does unless it is told otherwise.
func Text(groups []metrics.Group, filterValues bool) []byte {
	p := page{filterValues, map[string]*family{}}
	for _, g := range groups {
		labels := p.labels(g.Labels)
		for _, m := range g.Metrics {
			p.add(string(g.Scope), labels, m)
		}
	}
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(p.families)) {
		f := p.families[name]
		kind := "gauge"
		if f.summary {
			kind = "summary"
		}
		b.WriteString("# HELP " + name + " " + f.help + "\n# TYPE " + name + " " + kind + "\n")
		b.Write(f.lines)
	}
	return b.Bytes()
}

func (p *page) add(scope, labels string, m metrics.Metric) {
	name := "flink_" + legal(scope) + "_" + legal(m.Name)
	f, d := p.families[name], m.Value.Distribution()
	if f == nil {
		f = &family{help: helpText.Replace(m.Name) + " (scope: " + helpText.Replace(scope) + ")", summary: d != nil, seen: map[string]bool{}}
		p.families[name] = f
	}
	if f.seen[labels] || f.summary != (d != nil) {
		return
	}
	f.seen[labels] = true
	if d == nil {
		f.line(name, labels, m.Value.Gauge())
		return
	}
	for _, q := range []struct {
		at    string
		value float64
	}{
		{"0.0", float64(d.Min)}, {"0.5", d.Median}, {"0.75", d.P75}, {"0.95", d.P95}, {"0.98", d.P98},
		{"0.99", d.P99}, {"0.999", d.P999}, {"1.0", float64(d.Max)},
	} {
		f.line(name, labels+`quantile="`+q.at+`",`, q.value)
	}
	f.line(name+"_count", labels, float64(d.Values))
}

// line writes one sample; labels ends with a comma where there are any.
func (f *family) line(name, labels string, value float64) {
	f.lines = append(f.lines, name...)
	if labels != "" {
		f.lines = append(append(append(f.lines, '{'), labels...), '}')
	}
	f.lines = append(append(append(f.lines, ' '), number(value)...), '\n')
}

// number writes a value as Prometheus reads it.
func number(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "+Inf"
	case math.IsInf(f, -1):
		return "-Inf"
	}
	return metrics.FormatDouble(f)
}

var (
	labelText = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	helpText  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
)

func (p *page) labels(all []metrics.Label) string {
	var b strings.Builder
	for _, l := range all {
		value := l.Value
		if p.filterValues {
			value = legal(value)
		}
		b.WriteString(strings.ReplaceAll(legal(l.Name), ":", "_") + `="` + labelText.Replace(strings.ToValidUTF8(value, "_")) + `",`)
	}
	return b.String()
}

// legal puts _ for what no name of a metric may have.
func legal(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == ':' || r == '_' {
			return r
		}
		return '_'
	}, name)
}

// contentType is that of the text format.
const contentType = "text/plain; version=0.0.4; charset=utf-8"

func length(text []byte) string { return strconv.Itoa(len(text)) }
