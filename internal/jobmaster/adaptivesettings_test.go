package jobmaster

import (
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/config"
)

func TestAdaptiveSettings(t *testing.T) {
	for _, test := range []struct {
		settings    string
		follows     bool
		wait, delay time.Duration
	}{
		{"jobmanager.scheduler=default", false, 5 * time.Minute, 30 * time.Second},
		{"jobmanager.scheduler=Adaptive", true, 5 * time.Minute, 30 * time.Second},
		{"jobmanager.scheduler=adaptive jobmanager.adaptive-scheduler.rescale-trigger.max-delay=7s", true, 5 * time.Minute, 7 * time.Second},
		{"scheduler-mode=reactive", true, -time.Millisecond, 30 * time.Second},
		{"scheduler-mode=reactive jobmanager.adaptive-scheduler.resource-wait-timeout=9s", true, 9 * time.Second, 30 * time.Second},
	} {
		job := map[string]string{"execution.checkpointing.interval": "10s"}
		for setting := range strings.FieldsSeq(test.settings) {
			key, value, _ := strings.Cut(setting, "=")
			job[key] = value
		}
		cluster, err := config.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := jobSettings(cluster, job)
		if err != nil {
			t.Fatal(err)
		}
		graph := twoVertices(1)
		o := adaptiveOptions(c, true)
		if follows(graph, c) != test.follows || o.WaitTimeout != test.wait || o.MaxDelay != test.delay {
			t.Errorf("%s: follows %t, waits %s, delay %s", test.settings, follows(graph, c), o.WaitTimeout, o.MaxDelay)
		}
		graph.Batch = true
		if follows(graph, c) {
			t.Errorf("%s: a batch job follows the slots", test.settings)
		}
		if o := adaptiveOptions(c, false); o.MaxDelay != 0 && !strings.Contains(test.settings, "max-delay") {
			t.Errorf("%s: without checkpoints a rescale waits for %s", test.settings, o.MaxDelay)
		}
	}
}
