package resourcemanager

import (
	"slices"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/heartbeat"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/resourcemanager/slotmanager"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// jobMaster is one job whose JobMaster has registered.
type jobMaster struct {
	id      ident.JobID
	master  ident.LeaderID
	address rpc.Address
	link    *link
	gone    actor.Timer // runs while the JobMaster is out of contact
}

func (j *jobMaster) stopGone() {
	if j.gone != nil {
		j.gone.Stop()
	}
}

// remove drops a job and ends what runs for it.
func (m *Manager) remove(j *jobMaster) {
	m.jobBeats.Remove(j.id)
	j.link.close()
	j.stopGone()
	m.jobs = slices.DeleteFunc(m.jobs, func(other *jobMaster) bool { return other == j })
}

func (m *Manager) registerJobMaster(req *pb.RegisterJobMasterRequest, reply func(*pb.RegisterJobMasterResponse, error)) {
	var id ident.JobID
	var master ident.LeaderID
	if err := errorOf(id.UnmarshalText([]byte(req.JobId)), master.UnmarshalText([]byte(req.JobMasterId))); err != nil {
		reply(nil, rpc.Refuse("register JobMaster: %v", err))
		return
	}
	if old := m.job(id); old != nil {
		m.remove(old)
	}
	j := &jobMaster{id: id, master: master, address: rpc.Address{Process: req.JobMasterAddress, Endpoint: gateway.JobMaster(id)}}
	m.jobs = append(m.jobs, j)
	j.link = m.newLink(req.JobMasterAddress, func() { m.jobBeats.PingNow(id) })
	m.jobBeats.Add(id)
	m.log.Info("JobMaster registered", "job", id, "term", master, "address", req.JobMasterAddress)
	reply(&pb.RegisterJobMasterResponse{ResourceManagerId: m.id.String()}, nil)
}

func (m *Manager) pingJobMaster(id ident.JobID, done func(error)) {
	j := m.job(id)
	if j == nil {
		return
	}
	request := &pb.HeartbeatFromResourceManagerRequest{ResourceManagerId: m.id.String()}
	gateway.HeartbeatToJobMaster.Call(m.options.System, m.loop, j.address, j.master, request, m.options.HeartbeatTimeout, func(_ *pb.Empty, err error) {
		done(err)
		if err == nil && m.job(id) == j {
			j.link.renew()
		}
	})
}

// jobMasterSilent keeps the requirement for a while: the JobMaster may come back.
func (m *Manager) jobMasterSilent(id ident.JobID, loss *heartbeat.Loss) {
	j := m.job(id)
	m.log.Warn("JobMaster out of contact", "job", id, "cause", loss)
	j.gone = m.loop.After(m.options.JobTimeout, func() { m.forget(j) })
}

// forget drops a job and what it required.
func (m *Manager) forget(j *jobMaster) {
	m.remove(j)
	m.apply(slotmanager.JobGone{Job: j.id})
}

// known finds the job a JobMaster speaks for, if it is the registered one.
func (m *Manager) known(job, master string) (*jobMaster, error) {
	var id ident.JobID
	var term ident.LeaderID
	if err := errorOf(id.UnmarshalText([]byte(job)), term.UnmarshalText([]byte(master))); err != nil {
		return nil, rpc.Refuse("%v", err)
	}
	j := m.job(id)
	if j == nil || j.master != term {
		return nil, rpc.Refuse("JobMaster %s of job %s is not registered", master, job)
	}
	return j, nil
}

func (m *Manager) declareRequiredResources(req *pb.DeclareRequiredResourcesRequest, reply func(*pb.Empty, error)) {
	j, err := m.known(req.JobId, req.JobMasterId)
	if err != nil {
		reply(nil, err)
		return
	}
	e := slotmanager.Declared{Job: j.id, Master: j.master, MasterAddress: j.address.Process, Version: req.Version}
	for _, r := range req.Requirements {
		e.Requirements = append(e.Requirements, slotmanager.Requirement{Profile: profileFromProto(r.Profile), Slots: int(r.Slots)})
	}
	reply(&pb.Empty{}, nil) // acknowledged before anything is allocated
	m.apply(e)
}

func (m *Manager) disconnectJobMaster(req *pb.DisconnectJobMasterRequest, reply func(*pb.Empty, error)) {
	j, err := m.known(req.JobId, req.JobMasterId)
	if err != nil {
		reply(nil, err)
		return
	}
	m.log.Info("JobMaster disconnected", "job", j.id, "status", req.JobStatus, "cause", req.Cause)
	m.forget(j)
	reply(&pb.Empty{}, nil)
}
