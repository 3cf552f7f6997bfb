package jobmaster

import (
	"errors"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/pb"
)

const (
	farewellAttempts = 4
	farewellTimeout  = 2 * time.Second
	farewellPause    = 100 * time.Millisecond // after the first attempt; each is twice the one before
	// deletePatience is how long the files of a job's checkpoints may take to be deleted
	// before the JobMaster goes without it.
	deletePatience = 30 * time.Second
)

// farewell tells a peer that the job is over here. It is repeated a few times;
// a peer that cannot be told notices by the missing heartbeats.
func (m *Master) farewell(to rpc.Address, method string, fence ident.LeaderID, request proto.Message) {
	m.partner++
	m.sayFarewell(to, rpc.Call{Method: method, Fence: fence, Request: request, Timeout: farewellTimeout}, 1, farewellPause)
}

func (m *Master) sayFarewell(to rpc.Address, call rpc.Call, attempt int, pause time.Duration) {
	m.system.Call(m.loop, to, call, &pb.Empty{}, func(err error) {
		lost := errors.Is(err, rpc.ErrTimeout) || errors.Is(err, rpc.ErrUnreachable)
		if lost && attempt < farewellAttempts {
			m.loop.After(pause, func() { m.sayFarewell(to, call, attempt+1, 2*pause) })
			return
		}
		if err != nil {
			m.log.Info("goodbye not taken", "peer", to, "error", err)
		}
		m.parted()
	})
}

// goodbye keeps the JobMaster until what is to be deleted of the job's checkpoints has
// been, for a while.
func (c *checkpoints) goodbye() {
	if c == nil {
		return
	}
	m, gone := c.m, false
	m.partner++
	part := func() {
		if !gone {
			gone = true
			m.parted()
		}
	}
	timer := m.loop.After(deletePatience, func() {
		m.log.Warn("files of the job's checkpoints may be left: deleting them takes too long", "waited", deletePatience)
		part()
	})
	c.owner.Settled(func() {
		timer.Stop()
		part()
	})
}
