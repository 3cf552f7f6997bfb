package memory_test

import (
	"encoding/json/v2"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/memory"
)

// TestWorkedExamples has one row for each rule, with the figures Flink gives.
func TestWorkedExamples(t *testing.T) {
	tests := []struct{ name, config, want string }{
		{"network at its minimum", "process.size=1024m",
			"process=1073741824 flink=603979776 fwHeap=134217728 fwOff=134217728 taskHeap=26843542 taskOff=0 network=67108864 managed=241591914 metaspace=268435456 overhead=201326592"},
		{"the shipped file", "process.size=1728m",
			"process=1811939328 flink=1342177280 fwHeap=134217728 fwOff=134217728 taskHeap=402653174 taskOff=0 network=134217730 managed=536870920 metaspace=268435456 overhead=201326592"},
		{"overhead by fraction", "process.size=4g",
			"process=4294967296 flink=3597035104 fwHeap=134217728 fwOff=134217728 taskHeap=1530082070 taskOff=0 network=359703515 managed=1438814063 metaspace=268435456 overhead=429496736"},
		{"parts without a total", "task.heap.size=512m managed.size=256m",
			"process=1662808521 flink=1193046473 fwHeap=134217728 fwOff=134217728 taskHeap=536870912 taskOff=0 network=119304649 managed=268435456 metaspace=268435456 overhead=201326592"},
		{"overhead is the rest", "process.size=1728m flink.size=1000m",
			"process=1811939328 flink=1048576000 fwHeap=134217728 fwOff=134217728 taskHeap=255852537 taskOff=0 network=104857601 managed=419430406 metaspace=268435456 overhead=494927872"},
		{"network is the rest", "task.heap.size=512m managed.size=256m flink.size=1280m",
			"process=1811939328 flink=1342177280 fwHeap=134217728 fwOff=134217728 taskHeap=536870912 taskOff=0 network=268435456 managed=268435456 metaspace=268435456 overhead=201326592"},
		{"task heap alone is no total", "process.size=1728m task.heap.size=300m",
			"process=1811939328 flink=1342177280 fwHeap=134217728 fwOff=134217728 taskHeap=314572800 taskOff=0 network=222298104 managed=536870920 metaspace=268435456 overhead=201326592"},
		{"the least that works", "process.size=982m", "ok"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := memory.TaskManager(parse("taskmanager.memory.", tt.config))
			if err != nil {
				t.Fatal(err)
			}
			if tt.want != "ok" && line(m) != tt.want {
				t.Errorf("got  %s\nwant %s", line(m), tt.want)
			}
		})
	}
}

func TestRefusalsAreInFlinksWords(t *testing.T) {
	tests := []struct{ config, want string }{
		{"process.size=768m", "Sum of configured Framework Heap Memory (128.000mb (134217728 bytes)), Framework Off-Heap Memory (128.000mb (134217728 bytes)), Task Off-Heap Memory (0 bytes), Managed Memory (128.000mb (134217730 bytes)) and Network Memory (64.000mb (67108864 bytes)) exceed configured Total Flink Memory (320.000mb (335544320 bytes))."},
		{"process.size=981m", "Sum of configured Framework Heap Memory ("},
		{"process.size=2048", "Sum of configured JVM Metaspace (256.000mb (268435456 bytes)) and JVM Overhead (192.000mb (201326592 bytes)) exceed configured Total Process Memory (2.000kb (2048 bytes))."},
		{"process.size=1g task.heap.size=1g", "Task Heap Memory (1024.000mb (1073741824 bytes)), Task Off-Heap Memory (0 bytes) and Managed Memory (230.400mb (241591914 bytes)) exceed configured Total Flink Memory (576.000mb (603979776 bytes))."},
		{"task.heap.size=512m managed.size=256m flink.size=1024m network.min=1", "If Total Flink, Task Heap and (or) Managed Memory sizes are explicitly configured then the Network Memory size is the rest of the Total Flink memory after subtracting all other configured types of memory, but the derived Network Memory is inconsistent with its configuration. Caused by: Derived Network Memory size (0 bytes) is not in configured Network Memory range [1 bytes, 8388608.000tb (9223372036854775807 bytes)]."},
		{"process.size=1g flink.size=1g", "The configured Total Process Memory size (1024.000mb (1073741824 bytes)) is less than the sum of the derived Total Flink Memory size (1024.000mb (1073741824 bytes)) and the configured or default JVM Metaspace size  (256.000mb (268435456 bytes))."},
		{"process.size=1500m flink.size=1200m", "Derived JVM Overhead size (44.000mb (46137344 bytes)) is not in configured JVM Overhead range [192.000mb (201326592 bytes), 1024.000mb (1073741824 bytes)]."},
		{"process.size=2g network.fraction=1.5", "Inconsistently configured Key: 'taskmanager.memory.network.fraction' , default: 0.1 (fallback keys: [{key=taskmanager.network.memory.fraction, isDeprecated=true}]) (1.5) and its min (64.000mb (67108864 bytes)), max (8388608.000tb (9223372036854775807 bytes)) value. Caused by: fraction must be in range [0, 1)"},
		{"process.size=2g jvm-overhead.max=100m", "Key: 'taskmanager.memory.jvm-overhead.fraction' , default: 0.1 (fallback keys: []) (0.10000000149011612) and its min (192.000mb (201326592 bytes)), max (100.000mb (104857600 bytes)) value. Caused by: min value must be less or equal to max value"},
		{"process.size=1.5g", "Cannot read memory size from config option 'taskmanager.memory.process.size'. Memory size unit '.5g' does not match any of the recognized units: (b | bytes) / (k | kb | kibibytes) / (m | mb | mebibytes) / (g | gb | gibibytes) / (t | tb | tebibytes)"},
		{"managed.size=1g", "Either required fine-grained memory (taskmanager.memory.task.heap.size and taskmanager.memory.managed.size), or Total Flink Memory size (Key: 'taskmanager.memory.flink.size' , default: null (fallback keys: [])), or Total Process Memory size (Key: 'taskmanager.memory.process.size' , default: null (fallback keys: [])) need to be configured explicitly."},
		{"process.size=2g managed.fraction=nearly", "Could not parse value 'nearly' for key 'taskmanager.memory.managed.fraction'."},
		{"task.heap.size=9223372036854775807 managed.size=1g", "the configured memory sizes add up to more than 9223372036854775807 bytes"},
	}
	for _, tt := range tests {
		_, err := memory.TaskManager(parse("taskmanager.memory.", tt.config))
		if err == nil {
			t.Errorf("%s: accepted", tt.config)
			continue
		}
		if !strings.HasPrefix(err.Error(), "TaskManager memory configuration failed: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s\n got %v\nwant %s", tt.config, err, tt.want)
		}
	}
}

func TestWhichKeysTookEffect(t *testing.T) {
	const p = "taskmanager.memory."
	m, err := memory.TaskManager(parse(p, "process.size=1728m flink.size=1280m managed.size=512m managed.fraction=0.4 jvm-overhead.fraction=0.2 network.fraction=0.2"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{p + "flink.size", p + "managed.size", p + "network.fraction", p + "process.size"}; !slices.Equal(m.Keys, want) {
		t.Errorf("keys %v, want %v", m.Keys, want)
	}
	if got, want := slices.Sorted(maps.Keys(m.Ignored)), []string{p + "jvm-overhead.fraction", p + "managed.fraction"}; !slices.Equal(got, want) {
		t.Errorf("ignored %v, want %v", m.Ignored, want)
	}
	for key, why := range m.Ignored {
		if why == "" {
			t.Errorf("no reason for %s", key)
		}
	}
	low, err := memory.TaskManager(parse(p, "process.size=1024m"))
	if err != nil {
		t.Fatal(err)
	}
	const note = "The derived from fraction jvm overhead memory (102.400mb (107374184 bytes)) is less than its min value 192.000mb (201326592 bytes), min value will be used instead"
	if !slices.Contains(low.Notes, note) {
		t.Errorf("notes %q", low.Notes)
	}
}

func TestJSONForm(t *testing.T) {
	m, err := memory.TaskManager(source{memory.TaskManagerProcessSize: "1728m"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"process":1811939328,"flink":1342177280,"frameworkHeap":134217728,"taskHeap":402653174,"frameworkOffHeap":134217728,"taskOffHeap":0,"network":134217730,"managed":536870920,"metaspace":268435456,"overhead":201326592,"keys":["taskmanager.memory.process.size"],"ignored":{}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Workers have what the slots of their jobs have, and together never more than
// there is.
func TestSlotsShareEqually(t *testing.T) {
	m, err := memory.TaskManager(parse("taskmanager.memory.", "process.size=1728m"))
	if err != nil {
		t.Fatal(err)
	}
	const slots = 3
	one, all := m.Share(1, slots), m.Share(slots, slots)
	if one.Held != 1 || one.Slots != slots || one.Hard != m.Workers()/slots || one.Soft != memory.SoftLimit(one.Hard) ||
		one.Network != m.Network/slots || one.AllNetwork != m.Network || one.Managed != m.Managed/slots {
		t.Errorf("the share of one of three slots is %+v", one)
	}
	if two := m.Share(2, slots); two.Hard+one.Hard != all.Hard || two.Network+one.Network != all.Network || two.Managed != one.Managed {
		t.Errorf("the shares %+v and %+v are not together %+v", one, two, all)
	}
	if all.Hard > m.Workers() || all.Network > m.Network {
		t.Errorf("the share of all slots is %+v, more than there is", all)
	}
	if none := m.Share(0, slots); none.Hard != one.Hard || none.Soft != memory.SoftLimit(128*memory.MB) || none.Network != 2*memory.MB {
		t.Errorf("the share of no slot is %+v", none)
	}
	if want := m.FrameworkHeap + m.TaskHeap + m.Metaspace; m.HeapLimit() != want {
		t.Errorf("heap limit %d, want %d", m.HeapLimit(), want)
	}
}

func TestJobManager(t *testing.T) {
	const p = "jobmanager.memory."
	tests := []struct {
		config                               string
		process, flink, heap, off, overheads memory.Size
	}{
		{"process.size=1600m", 1600 * memory.MB, 1207959552, 1073741824, 134217728, 201326592},
		{"process.size=1024m", 1024 * memory.MB, 603979776, 469762048, 134217728, 201326592},
		{"flink.size=1g", 1543503872, memory.GB, 939524096, 134217728, 201326592},
		{"heap.size=512m", 1140850688, 671088640, 512 * memory.MB, 134217728, 201326592},
	}
	for _, tt := range tests {
		m, err := memory.JobManager(parse(p, tt.config))
		if err != nil {
			t.Errorf("%s: %v", tt.config, err)
			continue
		}
		if m.Process != tt.process || m.Flink != tt.flink || m.Heap != tt.heap || m.OffHeap != tt.off || m.Overhead != tt.overheads || m.HeapLimit() != m.Heap+m.Metaspace {
			t.Errorf("%s: %+v", tt.config, m)
		}
	}
	for _, tt := range []struct{ config, want string }{
		{"off-heap.size=1g", "Either required fine-grained memory (jobmanager.memory.heap.size), or Total Flink Memory size"},
		{"flink.size=64m", "The configured Total Flink Memory (64.000mb (67108864 bytes)) is less than the configured Off-heap Memory (128.000mb (134217728 bytes))."},
		{"flink.size=1g heap.size=1g", "Sum of the configured JVM Heap Memory (1024.000mb (1073741824 bytes)) and the configured or default Off-heap Memory (128.000mb (134217728 bytes)) exceeds the configured Total Flink Memory (1024.000mb (1073741824 bytes))."},
	} {
		if _, err := memory.JobManager(parse(p, tt.config)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s\n got %v\nwant %s", tt.config, err, tt.want)
		}
	}
}

// Each part says where it comes from: a key, a default, a fraction of another
// part, a bound of one, or the rest.
func TestWherePartsComeFrom(t *testing.T) {
	m, err := memory.TaskManager(source{"taskmanager.memory.process.size": "1024m", "taskmanager.memory.network.max": "1g"})
	if err != nil {
		t.Fatal(err)
	}
	for part, want := range map[string]string{
		"process":       "taskmanager.memory.process.size",
		"flink":         "process without metaspace and overhead",
		"metaspace":     "the default of taskmanager.memory.jvm-metaspace.size",
		"managed":       "0.4 (taskmanager.memory.managed.fraction) of flink",
		"taskHeap":      "what the other parts leave of flink",
		"network":       "taskmanager.memory.network.min: 0.1 (taskmanager.memory.network.fraction) of flink would be less, 60397978 bytes",
		"overhead":      "taskmanager.memory.jvm-overhead.min: 0.1 (taskmanager.memory.jvm-overhead.fraction) of process would be less, 107374184 bytes",
		"frameworkHeap": "the default of taskmanager.memory.framework.heap.size",
	} {
		if m.From[part] != want {
			t.Errorf("%s comes from %q, want %q", part, m.From[part], want)
		}
	}
	if m.Agent()+m.Workers() != m.Process || memory.SoftLimit(m.Workers()) >= m.Workers() {
		t.Errorf("the process has %d and its workers %d of %d", m.Agent(), m.Workers(), m.Process)
	}
	j, err := memory.JobManager(source{"jobmanager.memory.heap.size": "512m"})
	if err != nil || len(j.From) != 6 || j.From["process"] != "the sum of flink, metaspace and overhead" || j.From["heap"] != "jobmanager.memory.heap.size" {
		t.Errorf("a JobManager's parts come from %v, error %v", j.From, err)
	}
}
