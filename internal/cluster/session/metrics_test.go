//go:build unix

package session_test

import (
	"encoding/json/v2"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/client"
)

// observer reads what a cluster tells in numbers.
type observer struct {
	t    *testing.T
	http *http.Client
	rest string
}

func observe(t *testing.T, c *client.Client) *observer {
	return &observer{t, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, "http://" + strings.TrimPrefix(c.Address(), "http://")}
}

func (o *observer) text(url string) string {
	o.t.Helper()
	answer, err := o.http.Get(url)
	if err != nil {
		o.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		o.t.Fatalf("%s: %d %s, error %v", url, answer.StatusCode, text, err)
	}
	return string(text)
}

// sums asks for metrics put together; those that are not there yet are not in
// the map.
func (o *observer) sums(path, names string) map[string]float64 {
	o.t.Helper()
	var all []struct {
		ID  string  `json:"id"`
		Sum float64 `json:"sum"`
	}
	text := o.text(o.rest + path + "?agg=sum&get=" + names)
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		o.t.Fatalf("%s: %v in %s", path, err, text)
	}
	sums := map[string]float64{}
	for _, m := range all {
		sums[m.ID] = m.Sum
	}
	return sums
}

// until asks again until ok, or fails.
func (o *observer) until(what string, ok func() bool) {
	o.t.Helper()
	late, again := time.After(time.Minute), time.NewTicker(100*time.Millisecond)
	defer again.Stop()
	for !ok() {
		select {
		case <-late:
			o.t.Fatalf("%s: not within a minute", what)
		case <-again.C:
		}
	}
}

var (
	endpoint = regexp.MustCompile(`metrics are served to Prometheus.*address=(http://\S+)`)
	line     = regexp.MustCompile(`(?m)^(\w+)\{([^}]*)\} (\S+)$`)
)

// pages gives what each process of the cluster tells Prometheus.
func (o *observer) pages(home string) (all []string) {
	o.t.Helper()
	logs, err := filepath.Glob(filepath.Join(home, "log", "*.log"))
	if err != nil {
		o.t.Fatal(err)
	}
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			o.t.Fatal(err)
		}
		if m := endpoint.FindStringSubmatch(string(text)); m != nil {
			all = append(all, o.text(m[1]))
		}
	}
	return all
}

// A job that runs on two TaskManagers is seen in numbers by REST and by
// Prometheus, and both agree on what they are numbers of.
func TestAClusterIsMeasured(t *testing.T) {
	c, _, home := cluster(t, 2, "metrics.reporter.prom.factory.class=org.apache.flink.metrics.prometheus.PrometheusReporterFactory", "metrics.reporter.prom.port=0")
	o := observe(t, c)
	// Answered at once, by TaskManagers that have done nothing yet.
	idle := o.sums("/taskmanagers/metrics", "Status.JVM.Memory.Heap.Used,Status.JVM.Memory.Heap.Max,Status.Flink.Memory.Managed.Total,Status.JVM.Threads.Count")
	if len(idle) != 4 || idle["Status.JVM.Memory.Heap.Used"] <= 0 || idle["Status.JVM.Memory.Heap.Max"] < idle["Status.JVM.Memory.Heap.Used"] {
		t.Errorf("idle TaskManagers: %v", idle)
	}
	job, _ := endless(t, c, 4)
	var vertices struct {
		Vertices []struct {
			ID string `json:"id"`
		} `json:"vertices"`
	}
	if err := json.Unmarshal([]byte(o.text(o.rest+"/jobs/"+job)), &vertices); err != nil || len(vertices.Vertices) < 2 {
		t.Fatalf("vertices %v, error %v", vertices, err)
	}
	source, sum := "/jobs/"+job+"/vertices/"+vertices.Vertices[0].ID, "/jobs/"+job+"/vertices/"+vertices.Vertices[1].ID
	o.until("records counted by all four subtasks, and bytes between the TaskManagers", func() bool {
		out := o.sums(source+"/subtasks/metrics", "numRecordsOut,numRecordsOutPerSecond,numBytesOut,Source__Sequence_Source.numRecordsOut")
		in := o.sums(sum+"/subtasks/metrics", "numRecordsIn,numBytesIn,numBuffersInLocal,numBuffersInRemote,busyTimeMsPerSecond,currentInputWatermark")
		reported := strings.Count(o.text(o.rest+source+"/backpressure"), `"subtask":`) + strings.Count(o.text(o.rest+sum+"/watermarks"), `"id":`)
		return reported == 8 && out["numRecordsOut"] > 0 && out["numRecordsOutPerSecond"] > 0 && out["numBytesOut"] > 0 && out["Source__Sequence_Source.numRecordsOut"] > 0 &&
			in["numRecordsIn"] > 0 && in["numBytesIn"] > 0 && in["numBuffersInLocal"] > 0 && in["numBuffersInRemote"] > 0 && len(in) == 6
	})
	if text := o.text(o.rest + source + "/backpressure"); !strings.Contains(text, `"status":"ok"`) || strings.Count(text, `"subtask":`) != 4 {
		t.Errorf("back-pressure: %s", text)
	}
	if text := o.text(o.rest + sum + "/watermarks"); strings.Count(text, `currentInputWatermark","value":"-9223372036854775808"`) != 4 {
		t.Errorf("watermarks: %s", text)
	}
	tasks, jobs := 0, 0
	pages := o.pages(home)
	for _, page := range pages {
		for _, m := range line.FindAllStringSubmatch(page, -1) {
			value, err := strconv.ParseFloat(m[3], 64)
			if err != nil {
				t.Errorf("%s: %v", m[0], err)
			}
			here := strings.Contains(m[2], `job_id="`+job+`"`)
			switch m[1] {
			case "flink_taskmanager_job_task_numRecordsOut":
				if tasks++; !here || !strings.Contains(m[2], `tm_id="`) || !strings.Contains(m[2], `subtask_index="`) {
					t.Errorf("labels %s", m[2])
				}
			case "flink_jobmanager_job_uptime":
				if jobs++; !here || value <= 0 {
					t.Errorf("%s", m[0])
				}
			}
		}
	}
	if len(pages) != 3 || jobs != 1 || tasks < 8 {
		t.Errorf("%d endpoints tell of %d jobs and %d tasks", len(pages), jobs, tasks)
	}
	if err := c.Cancel(t.Context(), job); err != nil {
		t.Error(err)
	}
	if state := end(t, c, job); state != "CANCELED" {
		t.Errorf("after cancel: %s", state)
	}
	if text := o.text(o.rest + source + "/metrics"); text != "[]" {
		t.Errorf("tasks that have ended have metrics: %.200s", text)
	}
}
