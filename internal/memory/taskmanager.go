package memory

import "fmt"

// TaskManagerMemory is the budget of a TaskManager, in bytes.
//
//	Process = Flink + Metaspace + Overhead
//	Flink   = FrameworkHeap + TaskHeap + FrameworkOffHeap + TaskOffHeap + Network + Managed
type TaskManagerMemory struct {
	Process          Size `json:"process"`
	Flink            Size `json:"flink"`
	FrameworkHeap    Size `json:"frameworkHeap"`
	TaskHeap         Size `json:"taskHeap"`
	FrameworkOffHeap Size `json:"frameworkOffHeap"`
	TaskOffHeap      Size `json:"taskOffHeap"`
	Network          Size `json:"network"`
	Managed          Size `json:"managed"`
	Metaspace        Size `json:"metaspace"`
	Overhead         Size `json:"overhead"`

	// Keys are the settings that took effect, in order.
	Keys []string `json:"keys"`
	// Ignored gives the settings that did not, and why.
	Ignored map[string]string `json:"ignored"`
	// Notes say where a bound replaced a fraction, in Flink's words.
	Notes []string `json:"-"`
	// From says where each part comes from, by its name in JSON.
	From map[string]string `json:"-"`
}

// Agent is what the TaskManager's own process may use: the part that is the
// framework's.
func (m TaskManagerMemory) Agent() Size { return m.FrameworkHeap + m.FrameworkOffHeap }

// Workers is what the processes of all jobs may use together: all but the
// framework's part.
func (m TaskManagerMemory) Workers() Size { return m.Process - m.Agent() }

// SoftLimit is what the garbage collector of a process aims at that may use at
// most limit: nine tenths, so that it works before the process is killed.
func SoftLimit(limit Size) Size { return limit / 10 * 9 }

// HeapLimit is the soft limit for the Go heap of all processes of the
// TaskManager together. Metaspace is in it, because Go has no use for one.
func (m TaskManagerMemory) HeapLimit() Size {
	return m.FrameworkHeap + m.TaskHeap + m.Metaspace
}

// Share is the budget of a job's worker, for the slots that the job holds.
func (m TaskManagerMemory) Share(held, slots int) Share {
	slots = max(slots, 1)
	n, of := Size(max(held, 0)), Size(slots)
	s := Share{
		Held: held, Slots: slots, Hard: m.Workers() / of * n, Network: m.Network / of * n, AllNetwork: m.Network, Managed: m.Managed / of,
	}
	s.Soft = SoftLimit(s.Hard)
	if held <= 0 {
		s.Hard, s.Soft = m.Workers()/of, SoftLimit(min(m.Workers()/of, max(leastIdle, m.FrameworkOffHeap)))
		s.Network = idleNetwork
	}
	return s
}

// Share is what the worker of one job may use, in bytes. Where the shares of all
// workers are for as many slots as there are, they are the TaskManager's budget.
//
// A worker without a slot keeps what tasks have produced, and serves it. Its
// network memory, and what its garbage collector aims at, are the framework's
// off-heap memory; it is not killed before it takes as much as one slot has.
type Share struct {
	Held, Slots int  // slots that the share is for, of those there are
	Hard        Size // of the process: the kernel ends it beyond
	Soft        Size // of the process: what its garbage collector aims at
	Network     Size
	AllNetwork  Size // of the TaskManager
	Managed     Size // of each slot
}

// idleNetwork is the network memory of a worker without a slot, and leastIdle
// what its garbage collector aims at, at least.
const idleNetwork, leastIdle = 2 * MB, 64 * MB

var taskManagerProcess = processKeys{
	process: TaskManagerProcessSize, flink: TaskManagerFlinkSize, metaspace: TaskManagerMetaspaceSize,
	fine: []string{TaskManagerTaskHeapSize, TaskManagerManagedSize},
	overhead: fractionKeys{
		key: TaskManagerOverheadFraction, minKey: TaskManagerOverheadMin, maxKey: TaskManagerOverheadMax,
		def: DefaultOverheadFraction, min: DefaultOverheadMin, max: DefaultOverheadMax,
	},
}

var networkFraction = fractionKeys{
	key: TaskManagerNetworkFraction, minKey: TaskManagerNetworkMin, maxKey: TaskManagerNetworkMax,
	def: DefaultNetworkFraction, min: DefaultNetworkMin, max: MaxSize,
	oldKey: "taskmanager.network.memory.fraction",
}

var managedFraction = fractionKeys{
	key: TaskManagerManagedFraction, def: DefaultManagedFraction, min: 0, max: MaxSize,
}

var taskManagerKeys = []string{
	TaskManagerProcessSize, TaskManagerFlinkSize, TaskManagerFrameworkHeapSize, TaskManagerFrameworkOffHeapSize,
	TaskManagerTaskHeapSize, TaskManagerTaskOffHeapSize, TaskManagerManagedSize, TaskManagerManagedFraction,
	TaskManagerNetworkFraction, TaskManagerNetworkMin, TaskManagerNetworkMax, TaskManagerMetaspaceSize,
	TaskManagerOverheadFraction, TaskManagerOverheadMin, TaskManagerOverheadMax,
}

// whyTaskManagerIgnores holds for fractions only: every size that is set takes effect.
var whyTaskManagerIgnores = map[string]string{
	TaskManagerManagedFraction:  TaskManagerManagedSize + " is set",
	TaskManagerNetworkFraction:  "network memory is what the other parts leave of the total",
	TaskManagerOverheadFraction: "overhead is what the other parts leave of " + TaskManagerProcessSize,
}

// TaskManager computes the budget of a TaskManager. The total may be given as
// process size, as flink size, or by the parts; the order in which they are
// looked at is Flink's. An error is in Flink's words.
func TaskManager(source Source) (TaskManagerMemory, error) {
	s := newSettings(source)
	m := &TaskManagerMemory{}
	t := s.derive(taskManagerProcess,
		func() Size { return m.fromParts(s) },
		func(flink Size) { m.fromFlink(s, flink) })
	if s.err != nil {
		return TaskManagerMemory{}, fmt.Errorf("TaskManager memory configuration failed: %w", s.err)
	}
	m.Process, m.Flink, m.Metaspace, m.Overhead = t.process, t.flink, t.metaspace, t.overhead
	m.Keys, m.Ignored = s.effects(taskManagerKeys, whyTaskManagerIgnores)
	m.Notes, m.From = s.notes, s.from
	return *m, nil
}

// readFixed reads the parts that are never derived.
func (m *TaskManagerMemory) readFixed(s *settings) {
	m.FrameworkHeap = s.sized("frameworkHeap", TaskManagerFrameworkHeapSize, DefaultFrameworkHeapSize)
	m.FrameworkOffHeap = s.sized("frameworkOffHeap", TaskManagerFrameworkOffHeapSize, DefaultFrameworkOffHeapSize)
	m.TaskOffHeap = s.sized("taskOffHeap", TaskManagerTaskOffHeapSize, DefaultTaskOffHeapSize)
}

// fromParts serves the case that task heap and managed memory are set. Network
// memory is the rest of the flink size, or a fraction when that is not set.
func (m *TaskManagerMemory) fromParts(s *settings) (flink Size) {
	m.TaskHeap = s.sized("taskHeap", TaskManagerTaskHeapSize, 0)
	m.Managed = s.sized("managed", TaskManagerManagedSize, 0)
	m.readFixed(s)
	if s.has(TaskManagerFlinkSize) {
		flink = s.sized("flink", TaskManagerFlinkSize, 0)
		m.networkFromRest(s, flink)
		return flink
	}
	others := s.sum(m.FrameworkHeap, m.FrameworkOffHeap, m.TaskHeap, m.TaskOffHeap, m.Managed)
	s.from["flink"] = "the sum of its six parts"
	m.Network = s.inversePart("network memory", "network", others, "flink", s.fraction(networkFraction))
	return s.sum(others, m.Network)
}

// fromFlink divides a flink size. With a task heap set, network memory is the
// rest; otherwise the task heap is.
func (m *TaskManagerMemory) fromFlink(s *settings, flink Size) {
	m.readFixed(s)
	if s.has(TaskManagerTaskHeapSize) {
		m.TaskHeap = s.sized("taskHeap", TaskManagerTaskHeapSize, 0)
		m.readManaged(s, flink)
		m.networkFromRest(s, flink)
		return
	}
	m.readManaged(s, flink)
	m.Network = s.part("network memory", "network", flink, "flink", s.fraction(networkFraction))
	others := s.sum(m.FrameworkHeap, m.FrameworkOffHeap, m.TaskOffHeap, m.Managed, m.Network)
	if others > flink {
		s.fail("Sum of configured Framework Heap Memory (%s), Framework Off-Heap Memory (%s), Task Off-Heap Memory (%s), Managed Memory (%s) and Network Memory (%s) exceed configured Total Flink Memory (%s).",
			m.FrameworkHeap.Human(), m.FrameworkOffHeap.Human(), m.TaskOffHeap.Human(), m.Managed.Human(), m.Network.Human(), flink.Human())
	}
	m.TaskHeap = flink - others
	s.from["taskHeap"] = "what the other parts leave of flink"
}

func (m *TaskManagerMemory) readManaged(s *settings, flink Size) {
	if s.has(TaskManagerManagedSize) {
		m.Managed = s.sized("managed", TaskManagerManagedSize, 0)
		return
	}
	m.Managed = s.part("managed memory", "managed", flink, "flink", s.fraction(managedFraction))
}

func (m *TaskManagerMemory) networkFromRest(s *settings, flink Size) {
	others := s.sum(m.FrameworkHeap, m.FrameworkOffHeap, m.TaskHeap, m.TaskOffHeap, m.Managed)
	if others > flink {
		s.fail("Sum of configured Framework Heap Memory (%s), Framework Off-Heap Memory (%s), Task Heap Memory (%s), Task Off-Heap Memory (%s) and Managed Memory (%s) exceed configured Total Flink Memory (%s).",
			m.FrameworkHeap.Human(), m.FrameworkOffHeap.Human(), m.TaskHeap.Human(), m.TaskOffHeap.Human(), m.Managed.Human(), flink.Human())
	}
	m.Network = flink - others
	s.from["network"] = "what the other parts leave of flink"
	bounds := s.fraction(networkFraction)
	if m.Network < bounds.min || m.Network > bounds.max {
		s.fail("If Total Flink, Task Heap and (or) Managed Memory sizes are explicitly configured then the Network Memory size is the rest of the Total Flink memory after subtracting all other configured types of memory, but the derived Network Memory is inconsistent with its configuration. Caused by: Derived Network Memory size (%s) is not in configured Network Memory range [%s, %s].",
			m.Network.Human(), bounds.min.Human(), bounds.max.Human())
	}
}
