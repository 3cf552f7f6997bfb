package rest

import (
	"bufio"
	"encoding/json/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/metrics"
	"github.com/weirstream/weir/internal/resourcemanager"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/testkit/recorded"
)

// TestMetricValues asks for metrics as clients do and compares the text.
func TestMetricValues(t *testing.T) {
	s := newWorld().server(t)
	job := "/jobs/" + running.String()
	source, count := job+"/vertices/"+vertexID(1).String(), job+"/vertices/"+vertexID(2).String()
	for _, c := range []struct{ path, want string }{
		{"/jobmanager/metrics?get=taskSlotsTotal,taskSlotsAvailable,doesNotExist,numRegisteredTaskManagers,numRunningJobs",
			`[{"id":"taskSlotsTotal","value":"2"},{"id":"taskSlotsAvailable","value":"1"},{"id":"numRegisteredTaskManagers","value":"1"},{"id":"numRunningJobs","value":"2"}]`},
		{"/jobmanager/metrics?get=doesNotExist", `[]`},
		{"/taskmanagers/" + manager + "/metrics?get=Status.JVM.Memory.Heap.Used,Status.JVM.CPU.Load,Status.JVM.GarbageCollector.All.TimeMsPerSecond,Status.JVM.CPU.Time",
			`[{"id":"Status.JVM.Memory.Heap.Used","value":"46724312"},{"id":"Status.JVM.CPU.Load","value":"0.0"},` +
				`{"id":"Status.JVM.GarbageCollector.All.TimeMsPerSecond","value":"1.05"},{"id":"Status.JVM.CPU.Time","value":"4350000000"}]`},
		{"/taskmanagers/nobody/metrics?get=Status.JVM.CPU.Load", `[]`},
		// As recorded in idle2-taskmanagers-metrics-get and its like.
		{"/taskmanagers/metrics?get=Status.JVM.Memory.Heap.Used,Status.JVM.Threads.Count",
			`[{"id":"Status.JVM.Memory.Heap.Used","min":4.6724312E7,"max":4.6724312E7,"avg":4.6724312E7,"sum":4.6724312E7,"skew":0.0},` +
				`{"id":"Status.JVM.Threads.Count","min":45.0,"max":45.0,"avg":45.0,"sum":45.0,"skew":0.0}]`},
		{"/taskmanagers/metrics?get=Status.JVM.Threads.Count&agg=max,AVG", `[{"id":"Status.JVM.Threads.Count","max":45.0,"avg":45.0}]`},
		{"/taskmanagers/metrics?get=Status.JVM.Threads.Count&taskmanagers=" + manager + "&agg=min", `[{"id":"Status.JVM.Threads.Count","min":45.0}]`},
		{"/taskmanagers/metrics?get=Status.JVM.Threads.Count&taskmanagers=nobody", `[]`},
		{"/taskmanagers/metrics?get=Status.JVM.Threads.Count,doesNotExist", `[]`},
		{job + "/metrics?get=uptime,numRestarts,lastCheckpointExternalPath,failingTime", `[{"id":"uptime","value":"59998"},{"id":"numRestarts","value":"0"},` +
			`{"id":"lastCheckpointExternalPath","value":"file:/data/ckpt/00000000000000000000000000000011/chk-3"},{"id":"failingTime","value":"0"}]`},
		{"/jobs/metrics?get=numRestarts,runningTime&agg=sum&jobs=" + running.String(), `[{"id":"numRestarts","sum":0.0},{"id":"runningTime","sum":59998.0}]`},
		{"/jobs/metrics?get=lastCheckpointExternalPath", `[]`}, // no number
		{source + "/metrics?get=1.numRecordsInPerSecond,0.numRecordsOut,0.Source__text.numRecordsOutPerSecond,0.isBackPressured,7.numRecordsIn",
			`[{"id":"1.numRecordsInPerSecond","value":"51.0"},{"id":"0.numRecordsOut","value":"4200"},` +
				`{"id":"0.Source__text.numRecordsOutPerSecond","value":"50.516666666666666"},{"id":"0.isBackPressured","value":"true"}]`},
		{source + "/subtasks/0/metrics?get=busyTimeMsPerSecond,backPressuredTimeMsPerSecond,mailboxLatencyMs_max,Shuffle.Netty.Output.Buffers.outPoolUsage",
			`[{"id":"busyTimeMsPerSecond","value":"0.0"},{"id":"backPressuredTimeMsPerSecond","value":"995"},` +
				`{"id":"mailboxLatencyMs_max","value":"4"},{"id":"Shuffle.Netty.Output.Buffers.outPoolUsage","value":"0.16666667"}]`},
		{source + "/subtasks/7/metrics", `[]`},
		{source + "/subtasks/metrics?get=numRecordsInPerSecond", `[{"id":"numRecordsInPerSecond","min":50.0,"max":51.0,"avg":50.5,"sum":101.0,"skew":0.9900990099009901}]`},
		{source + "/subtasks/metrics?get=numRecordsInPerSecond&subtasks=1&agg=avg", `[{"id":"numRecordsInPerSecond","avg":51.0}]`},
		{source + "/subtasks/metrics?get=numRecordsInPerSecond&subtasks=0-1,5&agg=sum", `[{"id":"numRecordsInPerSecond","sum":101.0}]`},
		{source + "/subtasks/metrics?get=numRecordsInPerSecond&subtasks=x", `[]`},
		{source + "/subtasks/metrics?get=numRecordsOut,doesNotExist", `[]`},
		{source + "/subtasks/metrics?get=isBackPressured", `[]`}, // no number
		{source + "/watermarks", `[]`},
		{count + "/watermarks", `[{"id":"0.currentInputWatermark","value":"-9223372036854775808"},{"id":"1.currentInputWatermark","value":"-9223372036854775808"}]`},
		{source + "/jm-operator-metrics", `[{"id":"Source__text_->_words.coordinator.enumerator.unassignedSplits"}]`},
		{source + "/jm-operator-metrics?get=Source__text_->_words.coordinator.enumerator.unassignedSplits",
			`[{"id":"Source__text_->_words.coordinator.enumerator.unassignedSplits","value":"3"}]`},
		{count + "/jm-operator-metrics", `[]`},
		{source + "/backpressure", `{"status":"ok","backpressureLevel":"high","end-timestamp":1795970611945,"subtasks":[` +
			`{"subtask":0,"attempt-number":0,"backpressureLevel":"high","ratio":0.995,"idleRatio":0.004,"busyRatio":0.0,"backpressure-level":"high"},` +
			`{"subtask":1,"attempt-number":0,"backpressureLevel":"high","ratio":0.995,"idleRatio":0.004,"busyRatio":0.0,"backpressure-level":"high"}],"backpressure-level":"high"}`},
		{"/jobs/" + scheduled.String() + "/vertices/" + vertexID(1).String() + "/backpressure", `{"status":"deprecated"}`},
		{"/jobs/" + finished.String() + "/vertices/" + vertexID(1).String() + "/metrics", `[]`},
		{"/jobs/" + finished.String() + "/metrics?get=uptime,downtime,runningTime", `[{"id":"uptime","value":"-1"},{"id":"downtime","value":"-1"},{"id":"runningTime","value":"0"}]`},
	} {
		if got := ask(t, s, "GET", c.path, ""); got.Code != 200 || got.Body.String() != c.want {
			t.Errorf("%s: %d\n got %s\nwant %s", c.path, got.Code, got.Body, c.want)
		}
	}
}

func TestPressureLevels(t *testing.T) {
	for ratio, want := range map[double]string{0: "ok", 0.1: "ok", 0.101: "low", 0.5: "low", 0.501: "high", 1: "high"} {
		if got := pressureLevel(ratio); got != want {
			t.Errorf("%v is %s, want %s", ratio, got, want)
		}
	}
}

// As a genuine Flink computed them, see streamop-v0-subtasks-metrics-get-all.
func TestSkew(t *testing.T) {
	for _, c := range []struct {
		numbers []float64
		want    float64
	}{
		{[]float64{6e6, 8e6}, 14.285714285714285}, {[]float64{139758, 139940}, 0.06507018284006322}, {[]float64{4, 28}, 75},
		{[]float64{3}, 0}, {[]float64{0, 0}, 0}, {[]float64{0, 0, 0, 9}, 100},
	} {
		if got := *combine("", c.numbers, []string{"skew"}).Skew; float64(got) != c.want {
			t.Errorf("skew of %v is %v, want %v", c.numbers, got, c.want)
		}
	}
}

// absent reads the table of package metrics of what Flink has and is not here.
func absent(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "metrics", "doc.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "# Flink's metrics that are not there")
	var patterns []string
	for line := range strings.Lines(table) {
		if row, ok := strings.CutPrefix(line, "//\t"); ok {
			pattern, why, _ := strings.Cut(row, "  ")
			if strings.TrimSpace(why) == "" && !strings.Contains(row, " ") {
				t.Errorf("%q is absent without a reason", row)
			}
			patterns = append(patterns, strings.TrimSpace(strings.SplitN(pattern, " ", 2)[0]))
		}
	}
	return patterns
}

// here is every name that is listed, without subtasks and operators.
func here() map[string]bool {
	f := figuresOf(0, 0)
	f.HasInput = true
	all := append(metrics.Flat(metrics.OfTask(f)), metrics.OfProcess(machine())...)
	all = append(all, metrics.OfTask(f)...)
	f.Operators[0].Pending, f.Operators[0].Drift, f.Operators[1].Sent = new(int64), new(time.Second), &status.SentFigures{}
	for i := range f.Operators {
		all = append(all, metrics.OfOperator(&f.Operators[i])...)
	}
	all = append(all, resourcemanager.Overview{}.Metrics()...)
	all = append(all, jobmaster.Metrics(&newWorld().jobs.views[0], epoch)...)
	names := map[string]bool{"numRunningJobs": true}
	for _, m := range all {
		names[m.Name] = true
	}
	return names
}

func isAbsent(patterns []string, name string) bool {
	for _, p := range patterns {
		if ok, err := path.Match(p, name); ok && err == nil {
			return true
		}
	}
	return false
}

// TestEveryMetricOfFlinkIsThereOrExcused goes through the list of Flink's
// documented metrics.
func TestEveryMetricOfFlinkIsThereOrExcused(t *testing.T) {
	list, err := os.Open(filepath.Join(recorded.Material(t, "reference"), "metrics.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	names, patterns, listedHere := here(), absent(t), 0
	scanner := bufio.NewScanner(list)
	for scanner.Scan() {
		fields := strings.Split(scanner.Text(), "\t")
		if fields[0] == "section" {
			continue
		}
		name := strings.ReplaceAll(fields[3], "<Collector/All>", "All")
		if infix, _, _ := strings.Cut(fields[2], " "); infix != "" {
			name = infix + "." + name
		}
		switch {
		case names[name]:
			listedHere++
			if isAbsent(patterns, name) {
				t.Errorf("%s is listed, and said to be absent", name)
			}
		case !isAbsent(patterns, name) && !strings.HasPrefix(fields[0], "Kinesis"):
			t.Errorf("%s (%s, %s) is neither listed nor said to be absent", name, fields[0], fields[1])
		}
	}
	if t.Logf("%d of Flink's documented metrics are listed", listedHere); listedHere < 80 {
		t.Errorf("only %d of Flink's documented metrics are listed", listedHere)
	}
}

var (
	metricsPath = regexp.MustCompile(`^(/v1)?/(jobmanager|taskmanagers(/[^/]+)?|jobs(/[0-9a-f]+)?(/vertices/[0-9a-f]+(/subtasks(/[0-9]+)?)?)?)/metrics$`)
	ofSubtasks  = regexp.MustCompile(`^[0-9]+\.`)
)

// TestEveryRecordedMetricIsThereOrExcused goes through all that a genuine Flink
// has listed.
func TestEveryRecordedMetricIsThereOrExcused(t *testing.T) {
	names, patterns, seen := here(), absent(t), map[string]bool{}
	for _, r := range recorded.Load(t) {
		if !metricsPath.MatchString(r.Request.Path) || r.Response.Status != 200 {
			continue
		}
		var body []struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(r.Response.Body, &body); err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
		for _, m := range body {
			name := ofSubtasks.ReplaceAllString(m.ID, "")
			if seen[name] {
				continue
			}
			seen[name] = true
			_, within, _ := strings.Cut(name, ".")
			if !names[name] && !isAbsent(patterns, name) && !names[within] && !isAbsent(patterns, within) && !ofOperator(name) {
				t.Errorf("%s of %s is neither listed nor said to be absent", name, r.Name)
			}
		}
	}
	if len(seen) < 200 {
		t.Errorf("only %d names were recorded", len(seen))
	}
}

// ofOperator reports metrics that Flink keeps of each operator and that are
// kept of tasks only here.
func ofOperator(name string) bool {
	return strings.HasSuffix(name, ".numBytesIn") || strings.HasSuffix(name, ".numBytesInPerSecond") ||
		strings.HasSuffix(name, ".numBytesOut") || strings.HasSuffix(name, ".numBytesOutPerSecond")
}
