package schedule

import (
	"slices"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/invariant"
)

// sharing assigns subtasks to shared slots: the subtasks with number i of all
// vertices of a slot sharing group share slot i of the group. So a group needs
// as many slots as its widest vertex, forward edges stay inside a slot, and
// co-located subtasks, which are in one group, meet by themselves.
//
// Invariant: a shared slot is asked for or held exactly while it has tenants.
type sharing struct {
	byKey     map[shareKey]*sharedSlot
	byRequest map[RequestID]*sharedSlot
	bySlot    map[ident.AllocationID]*sharedSlot // those that have one
	requests  RequestID                          // last one given out
	// before are the allocations that shared slots had and gave back: what they
	// ran may find there what it left.
	before map[shareKey]ident.AllocationID
}

type shareKey struct {
	group string
	index int
}

// A sharedSlot is one physical slot for the subtasks that share it; each of
// them is a tenant: it holds a logical slot.
type sharedSlot struct {
	key     shareKey
	request RequestID       // 0: none open or granted
	slot    *execgraph.Slot // nil: not granted yet
	tenants []*execgraph.Execution
}

func newSharing() *sharing {
	return &sharing{byKey: map[shareKey]*sharedSlot{}, byRequest: map[RequestID]*sharedSlot{}, bySlot: map[ident.AllocationID]*sharedSlot{}, before: map[shareKey]ident.AllocationID{}}
}

func keyOf(v *execgraph.Vertex) shareKey {
	return shareKey{group: v.Parent.Job.SlotSharingGroup, index: v.Subtask}
}

// enter makes an attempt a tenant of its shared slot, and returns a request for
// it where none was made yet.
func (s *sharing) enter(e *execgraph.Execution) (*sharedSlot, *SlotRequest) {
	key := keyOf(e.Vertex)
	shared := s.byKey[key]
	if shared == nil {
		shared = &sharedSlot{key: key}
		s.byKey[key] = shared
	}
	shared.tenants = append(shared.tenants, e)
	if shared.request != 0 {
		return shared, nil
	}
	s.requests++
	shared.request = s.requests
	s.byRequest[shared.request] = shared
	return shared, &SlotRequest{ID: shared.request, Group: key.group, Index: key.index, Before: s.before[key]}
}

// leave ends an attempt's tenancy. When it was the last, the physical slot is
// returned, or the request for it withdrawn.
func (s *sharing) leave(e *execgraph.Execution) (returned *execgraph.Slot, withdrawn RequestID) {
	shared := s.byKey[keyOf(e.Vertex)]
	if shared == nil {
		return nil, 0
	}
	i := slices.Index(shared.tenants, e)
	if i < 0 {
		return nil, 0
	}
	shared.tenants = slices.Delete(shared.tenants, i, i+1)
	if len(shared.tenants) > 0 {
		return nil, 0
	}
	returned, withdrawn = shared.slot, shared.request
	s.drop(shared)
	if returned != nil {
		s.before[shared.key] = returned.Allocation
		withdrawn = 0
	}
	return returned, withdrawn
}

// grant gives a request its slot. It answers false when the request is not
// open: the slot then belongs to nobody here.
func (s *sharing) grant(request RequestID, slot *execgraph.Slot) bool {
	shared := s.byRequest[request]
	if shared == nil {
		return false
	}
	invariant.Check(shared.slot == nil, "request %d was granted twice", request)
	shared.slot = slot
	s.bySlot[slot.Allocation] = shared
	return true
}

// move gives a shared slot another physical one, which nobody uses.
func (s *sharing) move(shared *sharedSlot, to *execgraph.Slot) {
	shared.slot = to
	s.bySlot[to.Allocation] = shared
}

// drop forgets the slot of a shared slot, or its request.
func (s *sharing) drop(shared *sharedSlot) {
	delete(s.byRequest, shared.request)
	delete(s.byKey, shared.key)
	if shared.slot != nil {
		delete(s.bySlot, shared.slot.Allocation)
	}
}

// lose takes the slot of an allocation away and returns its tenants.
func (s *sharing) lose(allocation ident.AllocationID) []*execgraph.Execution {
	shared := s.bySlot[allocation]
	if shared == nil {
		return nil
	}
	s.drop(shared)
	delete(s.before, shared.key)
	return shared.tenants
}

// refuse takes an open request away and returns the tenants that waited.
func (s *sharing) refuse(request RequestID) []*execgraph.Execution {
	shared := s.byRequest[request]
	if shared == nil || shared.slot != nil {
		return nil
	}
	s.drop(shared)
	return shared.tenants
}
