package config

import (
	"slices"
	"strings"
	"testing"
)

func TestPrometheusReporters(t *testing.T) {
	c := must(t, map[string]string{
		"metrics.reporter.prom.factory.class":              PrometheusFactory,
		"metrics.reporter.prom.port":                       "9250-9260",
		"metrics.reporter.prom.filterLabelValueCharacters": "false",
		"metrics.reporter.prom.interval":                   "10 s",
		"metrics.reporter.other.factory.class":             PrometheusFactory,
		"metrics.reporter.other.host":                      "0.0.0.0",
		"metrics.reporter.jmx.factory.class":               "org.apache.flink.metrics.jmx.JMXReporterFactory",
		"metrics.reporter.jmx.port":                        "x",
		"metrics.scope.delimiter":                          "_",
	})
	all := PrometheusReporters(c)
	if len(all) != 2 || all[0].Name != "other" || all[0].Host != "0.0.0.0" || !slices.Equal(all[0].Ports, []PortRange{{9249, 9249}}) || !all[0].FilterLabels ||
		all[1].Name != "prom" || !slices.Equal(all[1].Ports, []PortRange{{9250, 9260}}) || all[1].FilterLabels {
		t.Errorf("got %+v", all)
	}
	whys := map[string]string{}
	for _, i := range c.Ignored() {
		whys[i.Key] = i.Why
	}
	for key, want := range map[string]string{
		"metrics.reporter.prom.interval":     "has only factory.class",
		"metrics.reporter.jmx.factory.class": "the only metric reporter here",
		"metrics.reporter.jmx.port":          "the only metric reporter here",
		"metrics.scope.delimiter":            "scopes by labels",
	} {
		if !strings.Contains(whys[key], want) {
			t.Errorf("%s: %q, want %q", key, whys[key], want)
		}
		delete(whys, key)
	}
	if len(whys) > 0 {
		t.Errorf("without effect too: %v", whys)
	}
	c, err := c.With("metrics.reporters", "prom, jmx")
	if err != nil {
		t.Fatal(err)
	}
	if all := PrometheusReporters(c); len(all) != 1 || all[0].Name != "prom" {
		t.Errorf("chosen by name: %+v", all)
	}
	if PrometheusReporters(nil) != nil {
		t.Error("reporters without a configuration")
	}
}

func TestReportersSettingsAreChecked(t *testing.T) {
	_, err := New(map[string]string{
		"metrics.reporter.prom.factory.class":              PrometheusFactory,
		"metrics.reporter.prom.port":                       "70000",
		"metrics.reporter.prom.filterLabelValueCharacters": "perhaps",
	})
	for _, want := range []string{"metrics.reporter.prom.port", "port 70000 is above 65535", "metrics.reporter.prom.filterLabelValueCharacters", "true or false"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}

func TestReportersSettingsAreExplained(t *testing.T) {
	for _, setting := range []string{"factory.class", "port", "host", "filterLabelValueCharacters"} {
		e, err := Explain("metrics.reporter.mine." + setting)
		if err != nil || len(e.Options) != 1 || e.Options[0].Doc == "" || e.Options[0].Key != "metrics.reporter.mine."+setting || e.Why != "" {
			t.Errorf("%s: %+v, error %v", setting, e, err)
		}
	}
	if e, err := Explain("metrics.reporter.mine.interval"); err != nil || !strings.Contains(e.Why, "of reporters only Prometheus is known") {
		t.Errorf("a setting of other reporters: %+v, error %v", e, err)
	}
}
