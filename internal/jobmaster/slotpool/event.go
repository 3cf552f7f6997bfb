package slotpool

import (
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/status"
)

// RequestID names one wish for a slot; it is never used twice.
type RequestID int64

// A Request is one wish for a slot. Group is the slot sharing group it is for,
// named when the wish cannot be met.
type Request struct {
	ID    RequestID
	Group string
	// Prefer is the slot that it should get if that is free; zero: none. Another
	// one serves as well.
	Prefer ident.AllocationID
}

// An Event is something that happened to the pool.
type Event interface{ event() }

type (
	// Want asks for all these slots, a bulk.
	Want struct{ Requests []Request }

	// Keep says how many slots the job is to have at least, whether it has wishes
	// for them or not: its parallelism follows the slots there are. 0: none.
	Keep struct{ Slots int }

	// Withdraw takes wishes back that are not granted; others are left as they are.
	Withdraw struct{ Requests []RequestID }

	// Offer is a TaskManager's offer of its slots. The answer is one Answer.
	Offer struct {
		TaskManager ident.ResourceID
		Slots       []*execgraph.Slot
	}

	// Release gives a granted slot back: the request that got it is over.
	Release struct{ Allocation ident.AllocationID }

	// SlotFailed says that a TaskManager no longer has a slot.
	SlotFailed struct {
		TaskManager ident.ResourceID
		Allocation  ident.AllocationID
		Cause       *status.Failure
	}

	// TaskManagerGone says that all slots of a TaskManager are lost.
	TaskManagerGone struct {
		TaskManager ident.ResourceID
		Cause       *status.Failure
	}

	// NotEnough is the ResourceManager's word that it cannot meet a requirement. Working
	// says that some slots are in use, and not only granted.
	NotEnough struct {
		Needed, Registered, Free int
		Working                  bool
	}

	// Tick says that time has passed, and whether slots are in use, as in NotEnough.
	Tick struct{ Working bool }

	// Close ends the pool: the job is over.
	Close struct{}
)

func (Want) event()            {}
func (Keep) event()            {}
func (Withdraw) event()        {}
func (Offer) event()           {}
func (Release) event()         {}
func (SlotFailed) event()      {}
func (TaskManagerGone) event() {}
func (NotEnough) event()       {}
func (Tick) event()            {}
func (Close) event()           {}

// An Effect is something the owner of the Pool must do, in the order given.
type Effect interface{ effect() }

type (
	// Declare tells the ResourceManager the whole requirement. Only the newest
	// one counts.
	Declare struct{ Slots int }

	// Grant answers a request.
	Grant struct {
		Request RequestID
		Slot    *execgraph.Slot
	}

	// Refuse says that requests cannot be met. They are no longer pending.
	Refuse struct {
		Requests []RequestID
		Cause    *status.Failure
	}

	// Lost says that granted slots are gone.
	Lost struct {
		Allocations []ident.AllocationID
		Cause       *status.Failure
	}

	// Answer answers an Offer with the accepted slots.
	Answer struct{ Accepted []ident.AllocationID }

	// Free gives a slot back to its TaskManager.
	Free struct {
		Slot  *execgraph.Slot
		Cause string
	}
)

func (Declare) effect() {}
func (Grant) effect()   {}
func (Refuse) effect()  {}
func (Lost) effect()    {}
func (Answer) effect()  {}
func (Free) effect()    {}

// Options are the pool's settings.
type Options struct {
	// RequestTimeout is how long a bulk that the known slots cannot meet may
	// wait: Flink's slot.request.timeout.
	RequestTimeout time.Duration
	// IdleTimeout is how long a slot above the requirement is kept: Flink's
	// slot.idle.timeout.
	IdleTimeout time.Duration
	// Bounded says that the job's tasks end by themselves, so that a slot in use
	// may serve a waiting request later.
	Bounded bool
	// Unread are the TaskManagers where tasks that have finished have left what others
	// may still read, and which keep their slots: without any the job's process there
	// would end, and that with it. It is asked when slots are to go; nil: there are none.
	Unread func() []ident.ResourceID
}
