package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MetricsReporters chooses among the reporters that are described.
var MetricsReporters = declare(text, Option[string]{
	Key: "metrics.reporters", Effect: ProcessRestart, NoDefault: true,
	Doc: "The names of the metric reporters to start, separated by commas. Without it all that have metrics.reporter.NAME.factory.class are.",
})

// PrometheusFactory is the factory class that stands for a Prometheus endpoint.
const PrometheusFactory = "org.apache.flink.metrics.prometheus.PrometheusReporterFactory"

// reporterPrefix begins the keys of metric reporters: metrics.reporter.NAME.x.
const reporterPrefix = "metrics.reporter."

// A PrometheusReporter is an endpoint that Prometheus reads, one in each
// JobManager and TaskManager.
type PrometheusReporter struct {
	Name string
	// Ports are where it may listen; the first free one is taken.
	Ports []PortRange
	// Host is the interface it listens on; empty: the one of the process. The key
	// is Weir's own.
	Host string
	// FilterLabels puts _ for characters in the values of labels that a name may
	// not have.
	FilterLabels bool
}

// The settings of a Prometheus reporter and what they are without being set.
const (
	reporterFactory = "factory.class"
	reporterPort    = "port"
	reporterHost    = "host"
	reporterFilter  = "filterLabelValueCharacters"
)

// reporterSettings are what a Prometheus reporter reads.
var reporterSettings = map[string]Info{
	reporterFactory: {Type: text.name, Forms: PrometheusFactory, Default: "(none)",
		Doc: "What the reporter is. The only one is Prometheus: an endpoint in each JobManager and TaskManager where it reads the metrics."},
	reporterPort: {Type: ports.name, Forms: ports.forms, Default: "9249",
		Doc: "The ports of the endpoint; each process takes the first free one. A process that finds none goes on without."},
	reporterHost: {Type: text.name, Forms: text.forms, Default: "(none)",
		Doc: "The address the endpoint listens at; without it the bind-host of the process. Flink's listens at all addresses."},
	reporterFilter: {Type: boolean.name, Forms: boolean.forms, Default: "true",
		Doc: "Whether characters that the name of a metric may not have become _ in the values of labels too."},
}

// reporterInfo describes a setting of a Prometheus reporter.
func reporterInfo(key string) (Info, bool) {
	_, setting, ok := reporterSetting(key)
	info, read := reporterSettings[setting]
	if !ok || !read {
		return Info{}, false
	}
	info.Key, info.Effect = key, ProcessRestart
	return info, true
}

// PrometheusReporters gives the endpoints that are to be opened, by name.
func PrometheusReporters(c *Config) []PrometheusReporter {
	var all []PrometheusReporter
	for _, name := range c.reporters() {
		if c.reporterWhy(name) == "" {
			r, _ := c.prometheusReporter(name)
			all = append(all, r)
		}
	}
	return all
}

// reporters lists the names of the reporters that have a setting.
func (c *Config) reporters() []string {
	names := map[string]bool{}
	if c != nil {
		for key := range c.settings {
			if name, _, ok := reporterSetting(key); ok {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// reporterSetting splits the key of a reporter's setting.
func reporterSetting(key string) (name, setting string, ok bool) {
	rest, ok := strings.CutPrefix(key, reporterPrefix)
	if !ok {
		return "", "", false
	}
	name, setting, ok = strings.Cut(rest, ".")
	return name, setting, ok && name != "" && setting != ""
}

// reporterWhy says why a reporter is not started; empty: it is.
func (c *Config) reporterWhy(name string) string {
	if chosen, set := MetricsReporters.Lookup(c); set {
		in := slices.ContainsFunc(strings.FieldsFunc(chosen, func(r rune) bool { return r == ',' || r == ';' }),
			func(s string) bool { return strings.TrimSpace(s) == name })
		if !in {
			return fmt.Sprintf("%s does not name the reporter %s", MetricsReporters.Key, name)
		}
	}
	switch class, _ := c.Get(reporterPrefix + name + "." + reporterFactory); class {
	case PrometheusFactory:
		return ""
	case "":
		return fmt.Sprintf("%s%s.%s does not say what the reporter is", reporterPrefix, name, reporterFactory)
	default:
		return "the only metric reporter here is " + PrometheusFactory
	}
}

// reporterKeyWhy is whyIgnored for the settings of reporters; ok: it is one.
func (c *Config) reporterKeyWhy(key string) (why string, ok bool) {
	name, setting, ok := reporterSetting(key)
	if !ok {
		return "", false
	}
	if why := c.reporterWhy(name); why != "" {
		return why, true
	}
	if _, read := reporterSettings[setting]; read {
		return "", true
	}
	return "the Prometheus reporter has only factory.class, port, host and filterLabelValueCharacters", true
}

// prometheusReporter reads the settings of one reporter.
func (c *Config) prometheusReporter(name string) (PrometheusReporter, []Problem) {
	r := PrometheusReporter{Name: name, Ports: []PortRange{{9249, 9249}}, FilterLabels: true}
	var problems []Problem
	bad := func(key, raw, kind, forms string, err error) {
		problems = append(problems, badValue(key, raw, c.settings[key].origin, Info{Type: kind, Forms: forms}, err))
	}
	prefix := reporterPrefix + name + "."
	if raw, ok := c.Get(prefix + reporterPort); ok {
		v, err := ports.parse(raw)
		if err != nil {
			bad(prefix+reporterPort, raw, ports.name, ports.forms, err)
		}
		r.Ports = v
	}
	if raw, ok := c.Get(prefix + reporterFilter); ok {
		v, err := boolean.parse(raw)
		if err != nil {
			bad(prefix+reporterFilter, raw, boolean.name, boolean.forms, err)
		}
		r.FilterLabels = v
	}
	r.Host, _ = c.Get(prefix + reporterHost)
	return r, problems
}

// reporterProblems checks the settings of the reporters that are started.
func (c *Config) reporterProblems() []Problem {
	var all []Problem
	for _, name := range c.reporters() {
		if c.reporterWhy(name) == "" {
			_, problems := c.prometheusReporter(name)
			all = append(all, problems...)
		}
	}
	return all
}
