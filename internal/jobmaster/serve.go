package jobmaster

import (
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster/schedule"
	"github.com/weirstream/weir/internal/jobmaster/slotpool"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// serve makes the Master's methods reachable, fenced by its term.
func (m *Master) serve() {
	mux := &rpc.Mux{Term: func() ident.LeaderID { return m.term }}
	rpc.Handle(mux, gateway.RegisterTaskManager, m.managers.register)
	rpc.Handle(mux, gateway.OfferSlots, m.managers.offer)
	rpc.Handle(mux, gateway.FailSlot, m.managers.failSlot)
	rpc.Handle(mux, gateway.OutputsLost, m.managers.outputsLost)
	rpc.Handle(mux, gateway.UpdateTaskExecutionState, m.updateTaskExecutionState)
	rpc.Handle(mux, gateway.ReportTaskMetrics, m.reportTaskMetrics)
	rpc.Handle(mux, gateway.NotifyNotEnoughResources, m.notEnoughResources)
	rpc.Handle(mux, gateway.HeartbeatToJobMaster, m.resourceManager.beat)
	rpc.Handle(mux, gateway.RequestOperator, m.requestOperator)
	rpc.Handle(mux, gateway.AcknowledgeCheckpoint, m.checkpoints.acknowledge)
	rpc.Handle(mux, gateway.DeclineCheckpoint, m.checkpoints.decline)
	m.system.Serve(gateway.JobMaster(m.job), m.loop, mux)
}

// updateTaskExecutionState takes the report of a task. The answer says whether
// the attempt counts here; one that does not is stopped by its TaskManager.
func (m *Master) updateTaskExecutionState(req *pb.UpdateTaskExecutionStateRequest, reply func(*pb.UpdateTaskExecutionStateResponse, error)) {
	attempt, err := ident.ParseAttempt(req.Attempt)
	if err != nil {
		reply(nil, rpc.Refuse("report of a task: %v", err))
		return
	}
	state, ok := status.ParseExecution(req.State)
	if !ok {
		reply(nil, rpc.Refuse("report of task %s: no task has the state %q", attempt, req.State))
		return
	}
	report := schedule.TaskReport{
		Attempt: attempt, State: state, Failure: gateway.FailureFromProto(req.Failure), Accumulators: req.Accumulators,
	}
	if req.Metrics != nil {
		metrics := metricsOf(req.Metrics)
		report.Metrics = &metrics
	}
	for _, p := range req.Outputs {
		report.Sizes = append(report.Sizes, p.Bytes)
	}
	m.post(func() {
		known := m.scheduler.Knows(attempt, state)
		m.applySchedule(report)
		reply(&pb.UpdateTaskExecutionStateResponse{Known: known}, nil)
	})
}

func (m *Master) reportTaskMetrics(req *pb.ReportTaskMetricsRequest, reply func(*pb.Empty, error)) {
	for _, one := range req.Metrics {
		attempt, err := ident.ParseAttempt(one.Attempt)
		if err != nil {
			reply(nil, rpc.Refuse("metrics of a task: %v", err))
			return
		}
		m.schedule(schedule.Measured{Attempt: attempt, Metrics: metricsOf(one)})
	}
	reply(&pb.Empty{}, nil)
}

func metricsOf(t *pb.TaskMetrics) execgraph.Metrics {
	return execgraph.Metrics{
		RecordsIn: t.RecordsIn, RecordsOut: t.RecordsOut, BytesIn: t.BytesIn, BytesOut: t.BytesOut,
		BusyMillis: t.BusyMillis, IdleMillis: t.IdleMillis, BackpressuredMillis: t.BackpressuredMillis,
		Figures: gateway.TaskFiguresFromProto(t.Figures),
	}
}

func (m *Master) notEnoughResources(req *pb.NotEnoughResourcesRequest, reply func(*pb.Empty, error)) {
	if req.JobId != m.job.String() {
		reply(nil, rpc.Refuse("this is the JobMaster of job %s, not of %s", m.job, req.JobId))
		return
	}
	m.log.Warn("not enough slots", "needed", req.Needed, "registered", req.Registered, "free", req.Free)
	m.applyPoolLater(slotpool.NotEnough{Needed: int(req.Needed), Registered: int(req.Registered), Free: int(req.Free), Working: m.working()})
	reply(&pb.Empty{}, nil)
}

// working reports whether some task is in a slot.
func (m *Master) working() bool {
	for _, v := range m.graph.Vertices {
		for _, s := range v.Subtasks {
			switch s.Current.State() {
			case status.Deploying, status.Initializing, status.Running, status.Canceling:
				return true
			}
		}
	}
	return false
}
