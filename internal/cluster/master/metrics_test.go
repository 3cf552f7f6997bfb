package master

import (
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/metrics/prometheus"
)

// What Prometheus is told of a cluster with a job that waits for slots.
func TestTheMasterTellsPrometheus(t *testing.T) {
	m, err := start(t, "metrics.reporter.p.factory.class=org.apache.flink.metrics.prometheus.PrometheusReporterFactory", "metrics.reporter.p.port=0")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Dispatcher().Submit(t.Context(), graph()); err != nil {
		t.Fatal(err)
	}
	groups, err := m.collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	page := string(prometheus.Text(groups, true))
	for _, want := range []string{
		`flink_jobmanager_numRunningJobs{host="localhost",} 1.0`, `flink_jobmanager_taskSlotsTotal{host="localhost",} 0.0`,
		`flink_jobmanager_job_numRestarts{host="localhost",job_id="01000000000000000000000000000000",job_name="waits",} 0.0`,
		"flink_jobmanager_Status_JVM_Memory_Heap_Used{", "flink_jobmanager_Status_JVM_Memory_Heap_Max{",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
	if len(m.PrometheusAddresses()) != 1 {
		t.Errorf("endpoints: %v", m.PrometheusAddresses())
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
