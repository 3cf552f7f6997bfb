package taskexecutor

import (
	"errors"
	"slices"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/taskexecutor/slottable"
)

// requestSlot reserves a slot for a job and goes on to offer it to the job's
// JobMaster.
func (e *Executor) requestSlot(req *pb.RequestSlotRequest, reply func(*pb.Empty, error)) {
	if err := e.checkResourceManager(req.ResourceManagerId); err != nil {
		reply(nil, err)
		return
	}
	var id ident.JobID
	var allocation ident.AllocationID
	var term ident.LeaderID
	if err := errorOf(id.UnmarshalText([]byte(req.JobId)), allocation.UnmarshalText([]byte(req.AllocationId)), term.UnmarshalText([]byte(req.JobMasterId))); err != nil {
		reply(nil, rpc.Refuse("request slot: %v", err))
		return
	}
	if err := e.table.Reserve(int(req.SlotIndex), id, allocation, profileFromProto(req.Profile), e.loop.Now()); err != nil {
		reply(nil, rpc.Refuse("request slot %d for job %s: %v", req.SlotIndex, id, err))
		return
	}
	e.log.Info("slot reserved", "slot", req.SlotIndex, "job", id, "allocation", allocation)
	e.armExpiry()
	e.fit()
	reply(&pb.Empty{}, nil)
	j := e.jobOf(id)
	if j == nil {
		j = &job{id: id}
		e.jobs = append(e.jobs, j)
	}
	address := rpc.Address{Process: req.JobMasterAddress, Endpoint: gateway.JobMaster(id)}
	switch {
	case j.term != term || j.address != address:
		e.follow(j, term, address)
	case j.state == closed:
		e.reconnect(j)
	default:
		e.offerSoon(j)
	}
}

// offerSoon offers the reserved slots of a job once the messages that are here
// already have been worked off, so that slots that came together are offered
// together.
func (e *Executor) offerSoon(j *job) {
	if j.state != connected || j.offerDue {
		return
	}
	j.offerDue = true
	e.loop.Post(func() {
		j.offerDue = false
		e.offer(j, false)
	})
}

// offer offers the slots of a job that its JobMaster has not taken yet, or all
// of them when it may not know any. Only the answer to the newest offer counts.
func (e *Executor) offer(j *job, all bool) {
	if j.state != connected {
		return
	}
	offered := slices.DeleteFunc(e.table.OfJob(j.id), func(s *slottable.Slot) bool {
		return s.State == slottable.Releasing || s.State == slottable.Active && !all
	})
	if len(offered) == 0 {
		return
	}
	j.offers++
	number, epoch := j.offers, j.epoch
	request := &pb.OfferSlotsRequest{ResourceId: string(e.options.ResourceID)}
	for _, s := range offered {
		request.Offers = append(request.Offers, &pb.SlotOffer{AllocationId: s.Allocation.String(), SlotIndex: int32(s.Index), Profile: profileToProto(s.Profile)})
	}
	gateway.OfferSlots.Call(e.system, e.loop, j.address, j.term, request, 0, func(answer *pb.OfferSlotsResponse, err error) {
		if j.epoch != epoch || j.offers != number || j.state != connected {
			return
		}
		switch {
		case errors.Is(err, rpc.ErrTimeout):
			e.offer(j, all)
		case errors.Is(err, rpc.ErrDisconnected):
			// It may have been taken: the connection is made anew, with an offer of all.
			e.reconnect(j)
		case err != nil:
			e.log.Warn("slot offer failed", "job", j.id, "error", err)
			for _, o := range request.Offers {
				e.release(o.AllocationId, "the offer to the JobMaster failed: "+err.Error())
			}
		default:
			e.offerAnswered(j, request.Offers, answer.Accepted)
		}
	})
}

func (e *Executor) offerAnswered(j *job, offers []*pb.SlotOffer, accepted []string) {
	for _, o := range offers {
		if !slices.Contains(accepted, o.AllocationId) {
			e.release(o.AllocationId, "the JobMaster did not take the slot")
			continue
		}
		var a ident.AllocationID
		if a.UnmarshalText([]byte(o.AllocationId)) == nil && !e.table.Activate(j.id, a) {
			e.failSlot(j, o.AllocationId, "the slot was freed before the JobMaster took it")
		}
	}
	e.armExpiry()
}

// failSlot tells a JobMaster that a slot it counts on is not there.
func (e *Executor) failSlot(j *job, allocation, cause string) {
	gateway.FailSlot.Send(e.system, e.loop, j.address, j.term, &pb.FailSlotRequest{ResourceId: string(e.options.ResourceID), AllocationId: allocation, Cause: cause})
}

// release frees the slot of an allocation, given as text.
func (e *Executor) release(allocation, cause string) {
	var a ident.AllocationID
	if a.UnmarshalText([]byte(allocation)) == nil {
		e.carryOut(e.table.Free(a, cause))
	}
}

func (e *Executor) freeSlot(req *pb.FreeSlotRequest, reply func(*pb.Empty, error)) {
	var a ident.AllocationID
	if err := a.UnmarshalText([]byte(req.AllocationId)); err != nil {
		reply(nil, rpc.Refuse("free slot: %v", err))
		return
	}
	e.carryOut(e.table.Free(a, req.Cause))
	reply(&pb.Empty{}, nil)
}

// carryOut does what the slot table decided.
func (e *Executor) carryOut(effects []slottable.Effect) {
	for _, effect := range effects {
		switch f := effect.(type) {
		case slottable.Freed:
			e.log.Info("slot freed", "slot", f.Index, "job", f.Job, "allocation", f.Allocation, "cause", f.Cause)
			e.notifyFree(f)
			if j := e.jobOf(f.Job); j != nil {
				delete(j.unlisted, f.Allocation)
				e.review(j)
			}
			e.fit()
		case slottable.FailTasks:
			for _, attempt := range f.Tasks {
				if t := e.tasks[attempt]; t != nil {
					e.abort(t, &status.Failure{Kind: status.FailureError, Message: "the slot was released: " + f.Cause})
				}
			}
		}
	}
	e.armExpiry()
}

// armExpiry sets the timer to the slot whose time is over first.
func (e *Executor) armExpiry() {
	stopTimer(&e.expiry)
	at, ok := e.table.Deadline()
	if !ok || e.stopped != nil {
		return
	}
	e.expiry = e.loop.After(max(0, at.Sub(e.loop.Now())), func() {
		e.expiry = nil
		e.carryOut(e.table.Expire(e.loop.Now()))
	})
}
