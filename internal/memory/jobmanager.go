package memory

import "fmt"

// JobManagerMemory is the budget of a JobManager, in bytes.
//
//	Process = Flink + Metaspace + Overhead
//	Flink   = Heap + OffHeap
type JobManagerMemory struct {
	Process   Size `json:"process"`
	Flink     Size `json:"flink"`
	Heap      Size `json:"heap"`
	OffHeap   Size `json:"offHeap"`
	Metaspace Size `json:"metaspace"`
	Overhead  Size `json:"overhead"`

	// Keys are the settings that took effect, in order.
	Keys []string `json:"keys"`
	// Ignored gives the settings that did not, and why.
	Ignored map[string]string `json:"ignored"`
	// Notes say where a bound replaced a fraction, in Flink's words.
	Notes []string `json:"-"`
	// From says where each part comes from, by its name in JSON.
	From map[string]string `json:"-"`
}

// HeapLimit is the soft limit for the Go heap, GOMEMLIMIT. Metaspace is in it, because Go
// has no use for one.
func (m JobManagerMemory) HeapLimit() Size { return m.Heap + m.Metaspace }

var jobManagerProcess = processKeys{
	process: JobManagerProcessSize, flink: JobManagerFlinkSize, metaspace: JobManagerMetaspaceSize,
	fine: []string{JobManagerHeapSize},
	overhead: fractionKeys{
		key: JobManagerOverheadFraction, minKey: JobManagerOverheadMin, maxKey: JobManagerOverheadMax,
		def: DefaultOverheadFraction, min: DefaultOverheadMin, max: DefaultOverheadMax,
	},
}

var jobManagerKeys = []string{
	JobManagerProcessSize, JobManagerFlinkSize, JobManagerHeapSize, JobManagerOffHeapSize, JobManagerMetaspaceSize,
	JobManagerOverheadFraction, JobManagerOverheadMin, JobManagerOverheadMax,
}

// JobManager computes the budget of a JobManager, by the rules of TaskManager.
func JobManager(source Source) (JobManagerMemory, error) {
	s := newSettings(source)
	m := &JobManagerMemory{}
	t := s.derive(jobManagerProcess,
		func() Size { return m.fromHeap(s) },
		func(flink Size) { m.fromFlink(s, flink) })
	if s.err != nil {
		return JobManagerMemory{}, fmt.Errorf("JobManager memory configuration failed: %w", s.err)
	}
	m.Process, m.Flink, m.Metaspace, m.Overhead = t.process, t.flink, t.metaspace, t.overhead
	m.Keys, m.Ignored = s.effects(jobManagerKeys, map[string]string{
		JobManagerOverheadFraction: "overhead is what the other parts leave of " + JobManagerProcessSize,
	})
	m.Notes, m.From = s.notes, s.from
	return *m, nil
}

func (m *JobManagerMemory) fromHeap(s *settings) (flink Size) {
	m.Heap = s.sized("heap", JobManagerHeapSize, 0)
	m.OffHeap = s.sized("offHeap", JobManagerOffHeapSize, DefaultJobManagerOffHeapSize)
	sum := s.sum(m.Heap, m.OffHeap)
	s.from["flink"] = "the sum of heap and offHeap"
	if s.has(JobManagerFlinkSize) {
		if flink := s.size(JobManagerFlinkSize, 0); sum != flink {
			s.fail("Sum of the configured JVM Heap Memory (%s) and the configured or default Off-heap Memory (%s) exceeds the configured Total Flink Memory (%s). Please, make the configuration consistent or configure only one option: either JVM Heap or Total Flink Memory.",
				m.Heap.Human(), m.OffHeap.Human(), flink.Human())
		}
	}
	return sum
}

func (m *JobManagerMemory) fromFlink(s *settings, flink Size) {
	m.OffHeap = s.sized("offHeap", JobManagerOffHeapSize, DefaultJobManagerOffHeapSize)
	if flink <= m.OffHeap {
		s.fail("The configured Total Flink Memory (%s) is less than the configured Off-heap Memory (%s).",
			flink.Human(), m.OffHeap.Human())
	}
	m.Heap = flink - m.OffHeap
	s.from["heap"] = "what offHeap leaves of flink"
}
