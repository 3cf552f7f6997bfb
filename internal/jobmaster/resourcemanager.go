package jobmaster

import (
	"errors"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/heartbeat"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

const (
	firstDeclaration = time.Millisecond       // pause after the first declaration that failed
	lastDeclaration  = 10 * time.Second       // and the longest one; each is twice the one before
	refusedPause     = 100 * time.Millisecond // before registering anew where a declaration was refused
)

// resourceManager is the Master's connection to the ResourceManager.
//
//	connect ─▶ registering ─answer─▶ registered(term) ─declares─▶ …
//	              ▲   └─error─ pause, growing ─┐            │ heartbeat lost, connection broken,
//	              └────────────────────────────┴────────────┘ fenced off or refused
//
// Invariant: what is sent while registered is the newest requirement, with a
// version above all before. The tasks never depend on the connection.
type resourceManager struct {
	m       *Master
	address rpc.Address
	round   int            // of connecting; answers of an earlier one are void
	term    ident.LeaderID // zero: not registered
	monitor *heartbeat.Monitor[ident.LeaderID]
	unwatch func()
	timer   actor.Timer // the next attempt to register

	slots    int   // the requirement
	version  int64 // of the declaration last sent
	dirty    bool  // the requirement was not acknowledged in this round
	sending  bool  // a declaration is on its way, or waits for its repetition
	retry    actor.Timer
	pause    time.Duration // before the next repetition
	finished bool          // the job is over: no more connecting
}

func newResourceManager(m *Master) *resourceManager {
	r := &resourceManager{m: m, address: m.options.ResourceManager}
	r.monitor = heartbeat.NewMonitor(m.loop, m.options.HeartbeatTimeout, func(ident.LeaderID) {
		m.log.Warn("ResourceManager out of contact", "cause", "no heartbeat for "+m.options.HeartbeatTimeout.String())
		r.connect()
	})
	return r
}

// connect drops the connection, if there is one, and registers anew.
func (r *resourceManager) connect() {
	r.disconnect()
	if r.finished {
		return
	}
	r.register(0)
}

func (r *resourceManager) disconnect() {
	r.round++
	r.term = ident.LeaderID{}
	r.monitor.Stop()
	if r.unwatch != nil {
		r.unwatch()
		r.unwatch = nil
	}
	for _, t := range []actor.Timer{r.timer, r.retry} {
		if t != nil {
			t.Stop()
		}
	}
	r.timer, r.retry, r.sending, r.dirty = nil, nil, false, true
}

// register makes an attempt to register; they count from zero.
func (r *resourceManager) register(attempt int) {
	round, pace := r.round, r.m.options.Registration
	request := &pb.RegisterJobMasterRequest{
		JobId: r.m.job.String(), JobMasterId: r.m.term.String(), JobMasterAddress: r.m.system.Self(),
	}
	gateway.RegisterJobMaster.Call(r.m.system, r.m.loop, r.address, ident.LeaderID{}, request, pace.Timeout(attempt),
		func(response *pb.RegisterJobMasterResponse, err error) {
			if round != r.round {
				return
			}
			var term ident.LeaderID
			if err == nil {
				err = term.UnmarshalText([]byte(response.ResourceManagerId))
			}
			if err != nil {
				pause := pace.Pause(attempt, err)
				r.m.log.Info("ResourceManager not reached", "address", r.address, "error", err, "again", pause)
				r.timer = r.m.loop.After(pause, func() { r.register(attempt + 1) })
				return
			}
			r.registered(term)
		})
}

func (r *resourceManager) registered(term ident.LeaderID) {
	r.m.log.Info("registered at ResourceManager", "term", term)
	r.term = term
	r.monitor.Add(term)
	r.unwatch = r.m.system.Watch(r.m.loop, r.address.Process, func(cause error) {
		r.m.log.Warn("ResourceManager out of contact", "cause", cause)
		r.unwatch = nil
		r.connect()
	})
	r.pause = firstDeclaration
	r.send()
}

// beat takes a heartbeat of the ResourceManager.
func (r *resourceManager) beat(req *pb.HeartbeatFromResourceManagerRequest, reply func(*pb.Empty, error)) {
	var term ident.LeaderID
	if err := term.UnmarshalText([]byte(req.ResourceManagerId)); err != nil {
		reply(nil, rpc.Refuse("heartbeat of the ResourceManager: %v", err))
		return
	}
	if !r.monitor.Beat(term) {
		reply(nil, rpc.Refuse("heartbeat of ResourceManager %s, JobMaster %s is registered at %s", term, r.m.term, r.term))
		return
	}
	reply(&pb.Empty{}, nil)
}

// declare makes the requirement the one to be sent.
func (r *resourceManager) declare(slots int) {
	r.slots, r.dirty = slots, true
	if r.retry != nil { // what waits to be repeated is out of date
		r.retry.Stop()
		r.retry, r.sending = nil, false
	}
	r.send()
}

// send sends the requirement, unless one is on its way: its answer then sends
// the newest. Nothing is sent while unconnected.
func (r *resourceManager) send() {
	if r.term.IsZero() || !r.dirty || r.sending {
		return
	}
	r.sending, r.dirty = true, false
	round := r.round
	gateway.DeclareRequiredResources.Call(r.m.system, r.m.loop, r.address, r.term, r.declaration(), 0,
		func(_ *pb.Empty, err error) {
			if round == r.round {
				r.sent(err)
			}
		})
}

func (r *resourceManager) declaration() *pb.DeclareRequiredResourcesRequest {
	r.version++
	request := &pb.DeclareRequiredResourcesRequest{
		JobId: r.m.job.String(), JobMasterId: r.m.term.String(), JobMasterAddress: r.m.system.Self(), Version: r.version,
	}
	if r.slots > 0 {
		request.Requirements = []*pb.ResourceRequirement{{Slots: int32(r.slots)}}
	}
	return request
}

// sent takes the outcome of a declaration.
func (r *resourceManager) sent(err error) {
	switch {
	case err == nil:
		r.sending, r.pause = false, firstDeclaration
		r.send()
	case errors.Is(err, rpc.ErrTimeout) || errors.Is(err, rpc.ErrUnreachable):
		r.dirty = true
		r.retry = r.m.loop.After(r.pause, func() {
			r.retry, r.sending = nil, false
			r.send()
		})
		r.pause = min(2*r.pause, lastDeclaration)
	default: // another term, or a ResourceManager that does not know the job
		r.m.log.Warn("requirement refused by ResourceManager", "error", err)
		r.disconnect()
		r.timer = r.m.loop.After(refusedPause, r.connect)
	}
}

// goodbye withdraws the requirement and the registration.
func (r *resourceManager) goodbye(state status.Job) {
	term := r.term
	r.finished = true
	r.disconnect()
	if term.IsZero() {
		return
	}
	r.slots = 0
	gateway.DeclareRequiredResources.Send(r.m.system, r.m.loop, r.address, term, r.declaration())
	r.m.farewell(r.address, gateway.DisconnectJobMaster.Name, term, &pb.DisconnectJobMasterRequest{
		JobId: r.m.job.String(), JobMasterId: r.m.term.String(), JobStatus: state.String(), Cause: "the job is " + state.String(),
	})
}
