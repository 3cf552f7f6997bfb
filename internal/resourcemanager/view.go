package resourcemanager

import (
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/metrics"
	"github.com/weirstream/weir/internal/resourcemanager/slotmanager"
	"github.com/weirstream/weir/internal/status"
)

// View is what there is to see of one TaskManager. It shares nothing with the
// Manager's state.
type View struct {
	ID            ident.ResourceID
	RPCAddress    string
	DataAddresses []string
	DataPort      int // of the TCP data address; 0: there is none
	LastHeartbeat time.Time
	Slots         int // as it has told; 0 until it has
	Free          int
	Allocated     []AllocatedSlot
	Total         slotmanager.Profile
	// FreeResource is Total without what the allocated slots hold.
	FreeResource slotmanager.Profile
	Hardware     Hardware
	// MemoryConfiguration is JSON, as the TaskManager gave it.
	MemoryConfiguration []byte
	// LogFile is the path of its log; it can be read when the TaskManager is on
	// this host.
	LogFile string
	// Process are its figures, with those of its workers, as last reported and
	// never changed; nil: it has reported none.
	Process *status.ProcessFigures
}

// Hardware is the machine a TaskManager runs on; memory is in bytes.
type Hardware struct {
	CPUCores                                  int
	PhysicalMemory, FreeMemory, ManagedMemory int64
}

// AllocatedSlot is a slot that a job has or is about to get.
type AllocatedSlot struct {
	Index   int
	Job     ident.JobID
	Profile slotmanager.Profile
}

// Overview counts the cluster's resources.
type Overview struct{ TaskManagers, Slots, Free int }

// Metrics names the counts, in the scope of the JobManager.
func (o Overview) Metrics() []metrics.Metric {
	return []metrics.Metric{
		{Name: "numRegisteredTaskManagers", Value: metrics.Whole(int64(o.TaskManagers))},
		{Name: "taskSlotsTotal", Value: metrics.Whole(int64(o.Slots))},
		{Name: "taskSlotsAvailable", Value: metrics.Whole(int64(o.Free))},
	}
}

// TaskManagers lists the registered TaskManagers in the order they came.
func (m *Manager) TaskManagers() []View {
	views := make([]View, 0, len(m.executors))
	for i, t := range m.executors {
		views = append(views, view(t, m.slots.TaskExecutors()[i]))
	}
	return views
}

// Overview counts what is registered and what is free.
func (m *Manager) Overview() Overview {
	registered, free := m.slots.Slots()
	return Overview{TaskManagers: len(m.executors), Slots: registered, Free: free}
}

func view(t *taskExecutor, slots *slotmanager.TaskExecutor) View {
	r, h := t.request, t.request.Hardware
	v := View{ID: t.id, RPCAddress: r.RpcAddress, DataAddresses: append([]string(nil), r.DataAddresses...),
		DataPort: dataPort(r.DataAddresses), LastHeartbeat: t.seen, Free: slots.FreeSlots(),
		Total: slots.Total, FreeResource: slots.Total, MemoryConfiguration: append([]byte(nil), r.MemoryConfiguration...), LogFile: r.LogFile, Process: t.process,
		Hardware: Hardware{CPUCores: int(h.GetCpuCores()), PhysicalMemory: h.GetPhysicalMemory(), FreeMemory: h.GetFreeMemory(), ManagedMemory: h.GetManagedMemory()}}
	if slots.Reported {
		v.Slots = len(slots.Slots)
	}
	for _, s := range slots.Slots {
		if s.State == slotmanager.Free {
			continue
		}
		v.Allocated = append(v.Allocated, AllocatedSlot{Index: s.Index, Job: s.Job, Profile: s.Profile})
		v.FreeResource.CPU -= s.Profile.CPU
		v.FreeResource.TaskHeap -= s.Profile.TaskHeap
		v.FreeResource.TaskOffHeap -= s.Profile.TaskOffHeap
		v.FreeResource.Managed -= s.Profile.Managed
		v.FreeResource.Network -= s.Profile.Network
	}
	return v
}

func dataPort(addresses []string) int {
	for _, a := range addresses {
		if strings.HasPrefix(a, "unix:") {
			continue
		}
		if _, text, err := net.SplitHostPort(a); err == nil {
			if port, err := strconv.Atoi(text); err == nil {
				return port
			}
		}
	}
	return 0
}
