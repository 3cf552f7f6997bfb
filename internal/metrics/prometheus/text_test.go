package prometheus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/metrics"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// A sample is one line of a page.
type sample struct {
	name   string
	labels map[string]string
	value  float64
}

// parse reads the text format strictly: HELP and TYPE before the lines of a
// name, all lines of a name together, no sample twice.
func parse(text string) (samples []sample, kinds map[string]string, err error) {
	kinds = map[string]string{}
	current, seen := "", map[string]bool{}
	if text != "" && !strings.HasSuffix(text, "\n") {
		return nil, nil, errors.New("the last line does not end")
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		switch {
		case line == "":
		case strings.HasPrefix(line, "# HELP "):
			name, _, _ := strings.Cut(strings.TrimPrefix(line, "# HELP "), " ")
			if kinds[name] != "" {
				return nil, nil, fmt.Errorf("%s comes twice", name)
			}
			current = name
		case strings.HasPrefix(line, "# TYPE "):
			name, kind, _ := strings.Cut(strings.TrimPrefix(line, "# TYPE "), " ")
			if name != current || kind != "gauge" && kind != "summary" {
				return nil, nil, fmt.Errorf("%q after the help of %s", line, current)
			}
			kinds[name] = kind
		default:
			s, err := parseSample(line)
			if err != nil {
				return nil, nil, fmt.Errorf("%q: %w", line, err)
			}
			if base := strings.TrimSuffix(s.name, "_count"); s.name != current && base != current {
				return nil, nil, fmt.Errorf("%q stands under %s", line, current)
			}
			key := fmt.Sprint(s.name, s.labels)
			if seen[key] {
				return nil, nil, fmt.Errorf("%q comes twice", line)
			}
			seen[key] = true
			samples = append(samples, s)
		}
	}
	return samples, kinds, nil
}

func parseSample(line string) (s sample, err error) {
	end := strings.IndexAny(line, "{ ")
	if end <= 0 {
		return s, errors.New("no name")
	}
	s.name, s.labels, line = line[:end], map[string]string{}, line[end:]
	if legal(s.name) != s.name {
		return s, errors.New("an illegal name")
	}
	if line[0] == '{' {
		if line, err = parseLabels(line[1:], s.labels); err != nil {
			return s, err
		}
	}
	value, found := strings.CutPrefix(line, " ")
	if !found {
		return s, errors.New("no value")
	}
	s.value, err = strconv.ParseFloat(value, 64)
	return s, err
}

func parseLabels(text string, into map[string]string) (rest string, err error) {
	for {
		if rest, ok := strings.CutPrefix(text, "}"); ok {
			return rest, nil
		}
		name, after, ok := strings.Cut(text, `="`)
		if _, twice := into[name]; !ok || twice || legal(name) != name || strings.Contains(name, ":") {
			return "", fmt.Errorf("label %q", name)
		}
		var value strings.Builder
		for {
			i := strings.IndexAny(after, `"\`)
			if i < 0 {
				return "", errors.New("an open quote")
			}
			value.WriteString(after[:i])
			if after[i] == '"' {
				after = after[i+1:]
				break
			}
			plain, known := map[byte]string{'n': "\n", '"': `"`, '\\': `\`}[after[i+1]]
			if !known {
				return "", fmt.Errorf("escape %q", after[i:i+2])
			}
			value.WriteString(plain)
			after = after[i+2:]
		}
		into[name] = value.String()
		text = strings.TrimPrefix(after, ",")
	}
}

func TestNamesAndLabelsAreFlinks(t *testing.T) {
	labels := []metrics.Label{{Name: "host", Value: "node-1.local"}, {Name: "tm_id", Value: "10.0.0.1:4433-ab12"}}
	groups := []metrics.Group{
		{Scope: metrics.Operator, Labels: append(slices.Clip(labels), metrics.Label{Name: "operator_name", Value: "Source: Kafka[1]"}),
			Metrics: []metrics.Metric{{Name: "numRecordsIn", Value: metrics.Whole(45000000)}}},
		{Scope: metrics.Operator, Labels: append(slices.Clip(labels), metrics.Label{Name: "operator_name", Value: "sink"}),
			Metrics: []metrics.Metric{{Name: "numRecordsIn", Value: metrics.Whole(7)}}},
		{Scope: metrics.TaskManager, Labels: labels, Metrics: []metrics.Metric{
			{Name: "Status.JVM.Memory.Heap.Used", Value: metrics.Whole(1)}, {Name: "isIt", Value: metrics.Truth(true)},
			{Name: "path", Value: metrics.Text("n/a")}, {Name: "load", Value: metrics.Number(math.NaN())},
			{Name: "latency", Value: metrics.Spread(&status.Distribution{Values: 3, Min: 1, Max: 9, Median: 4.5})},
		}},
	}
	samples, kinds, err := parse(string(Text(groups, true)))
	if err != nil {
		t.Fatal(err)
	}
	find := func(name, label, value string) float64 {
		for _, s := range samples {
			if s.name == name && (label == "" || s.labels[label] == value) {
				return s.value
			}
		}
		t.Errorf("no %s with %s=%q in %v", name, label, value, samples)
		return 0
	}
	const in = "flink_taskmanager_job_task_operator_numRecordsIn"
	if v := find(in, "operator_name", "Source:_Kafka_1_"); v != 45000000 {
		t.Errorf("records of the source: %v", v)
	}
	find(in, "host", "node_1_local")
	find(in, "tm_id", "10_0_0_1:4433_ab12")
	find("flink_taskmanager_Status_JVM_Memory_Heap_Used", "", "")
	if find("flink_taskmanager_isIt", "", "") != 1 || find("flink_taskmanager_path", "", "") != 0 || !math.IsNaN(find("flink_taskmanager_load", "", "")) {
		t.Error("a truth is 1, a text 0, and NaN stays")
	}
	if find("flink_taskmanager_latency", "quantile", "0.5") != 4.5 || find("flink_taskmanager_latency", "quantile", "1.0") != 9 || find("flink_taskmanager_latency_count", "", "") != 3 {
		t.Errorf("the histogram: %v", samples)
	}
	if kinds["flink_taskmanager_latency"] != "summary" || kinds[in] != "gauge" {
		t.Errorf("kinds: %v", kinds)
	}
	if text := string(Text(groups, true)); !strings.Contains(text, "# HELP "+in+" numRecordsIn (scope: taskmanager_job_task_operator)\n") || !strings.Contains(text, " 4.5E7\n") {
		t.Errorf("page:\n%s", text)
	}
	if text := string(Text(groups, false)); !strings.Contains(text, `operator_name="Source: Kafka[1]"`) {
		t.Errorf("unfiltered page:\n%s", text)
	}
}

// A page stays well formed whatever things are called.
func FuzzText(f *testing.F) {
	f.Add("taskmanager", "a", "b\\\"\n", "num", true)
	f.Add("x{}", "", "ä\xff", "# HELP", false)
	f.Fuzz(func(t *testing.T, scope, label, value, name string, filter bool) {
		groups := []metrics.Group{
			{Scope: metrics.Scope(scope), Labels: []metrics.Label{{Name: "l" + label, Value: value}}, Metrics: []metrics.Metric{
				{Name: name, Value: metrics.Whole(1)}, {Name: name, Value: metrics.Whole(2)},
				{Name: name, Value: metrics.Spread(&status.Distribution{})}, {Name: name + "x", Value: metrics.Spread(&status.Distribution{Values: 1})}}},
			{Scope: metrics.Scope(scope), Labels: []metrics.Label{{Name: "l" + label, Value: value + "2"}}, Metrics: []metrics.Metric{{Name: name, Value: metrics.Number(0.5)}}},
		}
		if _, _, err := parse(string(Text(groups, filter))); err != nil {
			t.Errorf("%v in\n%s", err, Text(groups, filter))
		}
	})
}

func TestPagesAreServed(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	broken := false
	s := Serve(l, Options{Logger: slog.New(slog.DiscardHandler), Metrics: func(context.Context) ([]metrics.Group, error) {
		if broken {
			return nil, errors.New("not now")
		}
		return []metrics.Group{{Scope: metrics.JobManager, Metrics: []metrics.Metric{{Name: "numRunningJobs", Value: metrics.Whole(3)}}}}, nil
	}})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	look := func(method string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+l.Addr().String()+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		return answer.StatusCode, string(text)
	}
	if code, text := look(http.MethodGet); code != 200 || !strings.HasSuffix(text, "\nflink_jobmanager_numRunningJobs 3.0\n") {
		t.Errorf("%d: %s", code, text)
	}
	if code, text := look(http.MethodHead); code != 200 || text != "" {
		t.Errorf("HEAD: %d: %s", code, text)
	}
	if code, _ := look(http.MethodPost); code != 405 {
		t.Errorf("POST: %d", code)
	}
	broken = true
	if code, text := look(http.MethodGet); code != 503 || !strings.Contains(text, "not now") {
		t.Errorf("without metrics: %d: %s", code, text)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
