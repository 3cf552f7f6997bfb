package resourcemanager

import (
	"fmt"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/heartbeat"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/resourcemanager/slotmanager"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// maxSlots bounds what one TaskManager may offer.
const maxSlots = 1 << 16

// taskExecutor is one registration of one TaskManager.
type taskExecutor struct {
	id       ident.ResourceID
	instance ident.InstanceID
	address  rpc.Address
	request  *pb.RegisterTaskExecutorRequest // as it came, never changed
	seen     time.Time                       // when it was heard of last
	process  *status.ProcessFigures          // reported last, never changed; nil: none yet
	link     *link
}

func (m *Manager) registerTaskExecutor(req *pb.RegisterTaskExecutorRequest, reply func(*pb.RegisterTaskExecutorResponse, error)) {
	if reason := m.unwanted(req); reason != "" {
		m.log.Warn("TaskManager refused", "taskmanager", req.ResourceId, "address", req.RpcAddress, "reason", reason)
		reply(&pb.RegisterTaskExecutorResponse{ResourceManagerId: m.id.String(), ClusterId: clusterText(m.options.Cluster), Rejected: reason}, nil)
		return
	}
	t := &taskExecutor{id: ident.ResourceID(req.ResourceId), instance: ident.InstanceID{ID: ident.New(m.loop.Rand())},
		address: rpc.Address{Process: req.RpcAddress, Endpoint: gateway.TaskExecutorOf(ident.ResourceID(req.ResourceId))}, request: req, seen: m.loop.Now()}
	again := ""
	m.executors = slices.DeleteFunc(m.executors, func(old *taskExecutor) bool {
		if old.id == t.id {
			m.forgetTaskExecutor(old)
			again = " again"
		}
		return old.id == t.id
	})
	m.executors = append(m.executors, t)
	t.link = m.newLink(req.RpcAddress, func() { m.executorBeats.PingNow(t.instance) })
	m.executorBeats.Add(t.instance)
	m.log.Info("TaskManager registered"+again, "taskmanager", t.id, "address", req.RpcAddress, "slots", req.Slots)
	m.apply(slotmanager.Registered{TaskExecutor: t.id, Instance: t.instance, Slots: int(req.Slots), Total: profileFromProto(req.Total)})
	reply(&pb.RegisterTaskExecutorResponse{InstanceId: t.instance.String(), ResourceManagerId: m.id.String(),
		ClusterId: clusterText(m.options.Cluster), BlobAddress: m.options.BlobAddress}, nil)
}

func clusterText(c ident.ClusterID) string {
	if c.IsZero() {
		return ""
	}
	return c.String()
}

// unwanted says why a TaskManager is refused, or nothing.
func (m *Manager) unwanted(req *pb.RegisterTaskExecutorRequest) string {
	var cluster ident.ClusterID
	if req.ClusterId != "" {
		if err := cluster.UnmarshalText([]byte(req.ClusterId)); err != nil {
			return "cluster id: " + err.Error()
		}
	}
	switch {
	case !cluster.IsZero() && cluster != m.options.Cluster:
		return fmt.Sprintf("this is cluster %s, the TaskManager belongs to cluster %s; give it the same cluster.id, or the address of its own JobManager", m.options.Cluster, cluster)
	case req.Version != m.options.Version:
		return fmt.Sprintf("this cluster runs version %q, the TaskManager is version %q; start both from the same release", m.options.Version, req.Version)
	case req.ResourceId == "" || req.RpcAddress == "":
		return "a TaskManager must name its resource id and its address"
	case req.Slots < 1 || req.Slots > maxSlots:
		return fmt.Sprintf("a TaskManager has 1 to %d slots, this one says %d", maxSlots, req.Slots)
	}
	return ""
}

// pingTaskExecutor sends one heartbeat; the answer is also a slot report.
func (m *Manager) pingTaskExecutor(instance ident.InstanceID, done func(error)) {
	t := m.instance(instance)
	if t == nil {
		return
	}
	request := &pb.HeartbeatFromResourceManagerRequest{ResourceManagerId: m.id.String()}
	gateway.HeartbeatFromResourceManager.Call(m.options.System, m.loop, t.address, ident.LeaderID{}, request, m.options.HeartbeatTimeout,
		func(answer *pb.TaskExecutorHeartbeat, err error) {
			done(err)
			if err != nil || m.instance(instance) != t {
				return
			}
			t.seen = m.loop.Now()
			t.link.renew()
			t.measured(answer.Process)
			if answer.Report != nil {
				m.report(t, answer.Report)
			}
		})
}

// measured keeps the figures of a TaskManager that measures itself.
func (t *taskExecutor) measured(figures *pb.ProcessFigures) {
	if figures != nil {
		t.process = gateway.ProcessFiguresFromProto(figures)
	}
}

func (m *Manager) taskExecutorDead(instance ident.InstanceID, loss *heartbeat.Loss) {
	t := m.instance(instance)
	m.log.Warn("TaskManager lost", "taskmanager", t.id, "cause", loss)
	m.drop(t)
}

// forgetTaskExecutor ends what runs for a registration.
func (m *Manager) forgetTaskExecutor(t *taskExecutor) {
	m.executorBeats.Remove(t.instance)
	t.link.close()
}

// instance finds a registration.
func (m *Manager) instance(id ident.InstanceID) *taskExecutor {
	i := slices.IndexFunc(m.executors, func(t *taskExecutor) bool { return t.instance == id })
	if i < 0 {
		return nil
	}
	return m.executors[i]
}

// drop takes a TaskManager and its slots out of the cluster.
func (m *Manager) drop(t *taskExecutor) {
	m.forgetTaskExecutor(t)
	m.executors = slices.DeleteFunc(m.executors, func(other *taskExecutor) bool { return other == t })
	m.apply(slotmanager.Lost{Instance: t.instance})
}

// registered finds the registration a TaskManager speaks of.
func (m *Manager) registered(resource, instance string) (*taskExecutor, error) {
	var id ident.InstanceID
	if err := id.UnmarshalText([]byte(instance)); err != nil {
		return nil, rpc.Refuse("instance id: %v", err)
	}
	if t := m.instance(id); t != nil && t.id == ident.ResourceID(resource) {
		return t, nil
	}
	return nil, rpc.Refuse("TaskManager %s is not registered as instance %s", resource, instance)
}

func (m *Manager) sendSlotReport(req *pb.SendSlotReportRequest, reply func(*pb.Empty, error)) {
	t, err := m.registered(req.ResourceId, req.InstanceId)
	if err != nil {
		reply(nil, err)
		return
	}
	t.seen = m.loop.Now()
	t.measured(req.Process)
	m.report(t, req.Report)
	reply(&pb.Empty{}, nil)
}

func (m *Manager) report(t *taskExecutor, report *pb.SlotReport) {
	e := slotmanager.Reported{Instance: t.instance}
	for _, s := range report.GetSlots() {
		status := slotmanager.SlotStatus{Index: int(s.Index), Profile: profileFromProto(s.Profile)}
		if s.AllocationId != "" {
			if err := errorOf(status.Allocation.UnmarshalText([]byte(s.AllocationId)), status.Job.UnmarshalText([]byte(s.JobId))); err != nil {
				m.log.Warn("slot report has a line that cannot be read", "taskmanager", t.id, "slot", s.Index, "error", err)
				continue
			}
		}
		e.Slots = append(e.Slots, status)
	}
	m.apply(e)
}

func errorOf(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *Manager) notifySlotAvailable(req *pb.NotifySlotAvailableRequest, reply func(*pb.Empty, error)) {
	t, err := m.registered(req.ResourceId, req.InstanceId)
	var allocation ident.AllocationID
	if err := errorOf(err, allocation.UnmarshalText([]byte(req.AllocationId))); err != nil {
		reply(nil, err)
		return
	}
	m.apply(slotmanager.Freed{Instance: t.instance, Slot: int(req.SlotIndex), Allocation: allocation})
	reply(&pb.Empty{}, nil)
}

func (m *Manager) disconnectTaskExecutor(req *pb.DisconnectTaskExecutorRequest, reply func(*pb.Empty, error)) {
	t, err := m.registered(req.ResourceId, req.InstanceId)
	if err != nil {
		reply(nil, err)
		return
	}
	m.log.Info("TaskManager disconnected", "taskmanager", t.id, "cause", req.Cause)
	m.drop(t)
	reply(&pb.Empty{}, nil)
}

func profileToProto(p slotmanager.Profile) *pb.ResourceProfile {
	return &pb.ResourceProfile{Cpu: p.CPU, TaskHeap: p.TaskHeap, TaskOffHeap: p.TaskOffHeap, Managed: p.Managed, Network: p.Network}
}

func profileFromProto(p *pb.ResourceProfile) slotmanager.Profile {
	return slotmanager.Profile{CPU: p.GetCpu(), TaskHeap: p.GetTaskHeap(), TaskOffHeap: p.GetTaskOffHeap(), Managed: p.GetManaged(), Network: p.GetNetwork()}
}
