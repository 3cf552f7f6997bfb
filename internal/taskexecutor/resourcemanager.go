package taskexecutor

import (
	"fmt"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/rpc/registration"
	"github.com/weirstream/weir/internal/taskexecutor/slottable"
)

// resourceManager is the connection to the ResourceManager.
//
//	looking ──RegisterTaskExecutor──▶ known ──SendSlotReport──▶ registered
//	   ▲        (refused: fatal)        │                          │
//	   └──────── error, no heartbeat, connection lost ◀────────────┘
//
// Invariant: what belongs to an older epoch has no effect any more.
type resourceManager struct {
	epoch    int
	attempt  int
	term     ident.LeaderID // zero while looking
	instance string
	blob     string
	cluster  ident.ClusterID // as it says; zero: it has none
	reported bool            // the slot report has arrived
	retry    actor.Timer     // of the next attempt
	silence  actor.Timer     // runs out when no heartbeat comes
	expires  time.Time       // when silence runs out
	giveUp   actor.Timer     // runs while there is no ResourceManager
	unwatch  func()
}

func (r *resourceManager) registered() bool { return !r.term.IsZero() && r.reported }

// drop ends the connection, except for the time to give up.
func (r *resourceManager) drop() {
	r.epoch++
	r.term, r.reported = ident.LeaderID{}, false
	stopTimer(&r.retry)
	stopTimer(&r.silence)
	if r.unwatch != nil {
		r.unwatch()
		r.unwatch = nil
	}
}

// close ends the connection and the search for one.
func (r *resourceManager) close() {
	r.drop()
	stopTimer(&r.giveUp)
}

// connect looks for the ResourceManager anew; tasks and slots stay as they are.
func (e *Executor) connect() {
	m := &e.master
	m.drop()
	m.attempt = 0
	if m.giveUp == nil {
		m.giveUp = e.loop.After(e.options.RegistrationTimeout, func() {
			e.fail(fmt.Errorf("no ResourceManager at %s took this TaskManager within %s", e.options.ResourceManager, e.options.RegistrationTimeout))
		})
	}
	e.register()
}

// connectLater tries again some time after a failed attempt.
func (e *Executor) connectLater(err error, wait time.Duration) {
	m := &e.master
	m.drop()
	m.attempt++
	if wait >= time.Second {
		e.log.Warn("no ResourceManager yet", "address", e.options.ResourceManager.String(), "error", err, "again", wait)
	}
	m.retry = e.loop.After(wait, e.register)
}

func (e *Executor) register() {
	o, m := &e.options, &e.master
	epoch := m.epoch
	cluster := ""
	if !o.Cluster.IsZero() {
		cluster = o.Cluster.String()
	}
	request := &pb.RegisterTaskExecutorRequest{ResourceId: string(o.ResourceID), RpcAddress: e.system.Self(), DataAddresses: o.DataAddresses,
		ClusterId: cluster, Version: o.Version, Slots: int32(o.Slots), Total: profileToProto(o.Total), Hardware: o.Hardware,
		MemoryConfiguration: o.MemoryConfiguration, LogFile: o.LogFile}
	gateway.RegisterTaskExecutor.Call(e.system, e.loop, o.ResourceManager, ident.LeaderID{}, request, o.Registration.Timeout(m.attempt),
		func(answer *pb.RegisterTaskExecutorResponse, err error) {
			if m.epoch != epoch || e.stopped != nil {
				return
			}
			if err == nil && answer.Rejected != "" {
				m.close()
				e.fail(fmt.Errorf("the ResourceManager at %s refused this TaskManager: %s", o.ResourceManager, answer.Rejected))
				return
			}
			if err == nil {
				err = m.term.UnmarshalText([]byte(answer.ResourceManagerId))
			}
			if err == nil && answer.ClusterId != "" {
				err = m.cluster.UnmarshalText([]byte(answer.ClusterId))
			}
			if err != nil {
				e.connectLater(err, o.Registration.Pause(m.attempt, err))
				return
			}
			m.instance, m.blob = answer.InstanceId, answer.BlobAddress
			e.reportSlots()
		})
}

// reportSlots is the second call of the registration: it makes the slots usable.
func (e *Executor) reportSlots() {
	m := &e.master
	epoch := m.epoch
	m.unwatch = e.system.Watch(e.loop, e.options.ResourceManager.Process, func(cause error) {
		if m.epoch == epoch {
			e.loseResourceManager(cause.Error())
		}
	})
	e.heardOfResourceManager()
	request := &pb.SendSlotReportRequest{ResourceId: string(e.options.ResourceID), InstanceId: m.instance, Report: e.slotReport(),
		Process: gateway.ProcessFiguresToProto(e.process())}
	gateway.SendSlotReport.Call(e.system, e.loop, e.options.ResourceManager, m.term, request, 0, func(_ *pb.Empty, err error) {
		if m.epoch != epoch || e.stopped != nil {
			return
		}
		if err != nil { // if it was refused, then because the registration is void
			e.connectLater(err, min(registration.Growing(m.attempt), e.options.Registration.ErrorDelay))
			return
		}
		m.reported = true
		stopTimer(&m.giveUp)
		e.log.Info("registered at the ResourceManager", "address", e.options.ResourceManager.String(), "term", m.term)
		e.retryAt(e.options.ResourceManager.Process)
	})
}

// heardOfResourceManager starts its time of silence anew.
func (e *Executor) heardOfResourceManager() {
	m := &e.master
	epoch := m.epoch
	stopTimer(&m.silence)
	m.expires = e.loop.Now().Add(e.options.HeartbeatTimeout)
	m.silence = e.loop.After(e.options.HeartbeatTimeout, func() {
		if m.epoch == epoch {
			e.silentResourceManager()
		}
	})
}

func (e *Executor) silentResourceManager() {
	e.loseResourceManager(fmt.Sprintf("no heartbeat for %s", e.options.HeartbeatTimeout))
}

func (e *Executor) loseResourceManager(cause string) {
	e.log.Warn("ResourceManager lost, tasks go on", "cause", cause)
	e.connect()
}

func (e *Executor) heartbeatFromResourceManager(req *pb.HeartbeatFromResourceManagerRequest, reply func(*pb.TaskExecutorHeartbeat, error)) {
	if err := e.checkResourceManager(req.ResourceManagerId); err != nil {
		reply(nil, err)
		return
	}
	e.heardOfResourceManager()
	reply(&pb.TaskExecutorHeartbeat{Report: e.slotReport(), Process: gateway.ProcessFiguresToProto(e.process())}, nil)
}

// checkResourceManager refuses a ResourceManager this TaskManager is not
// registered at, or is no more: what comes when its time is over is of before this process
// stood still, and it has given this TaskManager up.
func (e *Executor) checkResourceManager(term string) error {
	known := !e.master.term.IsZero() && e.master.term.String() == term
	if known && !e.loop.Now().Before(e.master.expires) {
		e.silentResourceManager()
		known = false
	}
	if !known {
		return rpc.Refuse("TaskManager %s is not registered at ResourceManager %s", e.options.ResourceID, term)
	}
	return nil
}

func (e *Executor) slotReport() *pb.SlotReport {
	report := &pb.SlotReport{}
	for i := range e.table.Size() {
		report.Slots = append(report.Slots, &pb.SlotStatus{Index: int32(i)})
	}
	for _, s := range e.table.Slots() {
		report.Slots[s.Index] = &pb.SlotStatus{Index: int32(s.Index), AllocationId: s.Allocation.String(), JobId: s.Job.String(), Profile: profileToProto(s.Profile)}
	}
	return report
}

// notifyFree tells the ResourceManager of a slot that has become free. If the
// call is lost, the report in the next heartbeat tells it.
func (e *Executor) notifyFree(f slottable.Freed) {
	if e.master.term.IsZero() {
		return
	}
	gateway.NotifySlotAvailable.Send(e.system, e.loop, e.options.ResourceManager, e.master.term, &pb.NotifySlotAvailableRequest{
		ResourceId: string(e.options.ResourceID), InstanceId: e.master.instance, SlotIndex: int32(f.Index), AllocationId: f.Allocation.String()})
}

func profileToProto(p slottable.Profile) *pb.ResourceProfile {
	return &pb.ResourceProfile{Cpu: p.CPU, TaskHeap: p.TaskHeap, TaskOffHeap: p.TaskOffHeap, Managed: p.Managed, Network: p.Network}
}

func profileFromProto(p *pb.ResourceProfile) slottable.Profile {
	return slottable.Profile{CPU: p.GetCpu(), TaskHeap: p.GetTaskHeap(), TaskOffHeap: p.GetTaskOffHeap(), Managed: p.GetManaged(), Network: p.GetNetwork()}
}
