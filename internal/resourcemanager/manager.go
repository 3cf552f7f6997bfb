package resourcemanager

import (
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/heartbeat"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/resourcemanager/slotmanager"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// Options are what a Manager is made of. A zero duration or threshold means
// Flink's default, which the comment names.
type Options struct {
	Loop    actor.Loop
	System  rpc.System
	Cluster ident.ClusterID // TaskManagers that name another one are refused
	Version string          // TaskManagers of another one are refused
	// BlobAddress is the process that serves artifacts; empty: this one.
	BlobAddress string

	HeartbeatInterval time.Duration // heartbeat.interval: 10 s
	HeartbeatTimeout  time.Duration // heartbeat.timeout: 50 s
	// HeartbeatThreshold is how many pings in a row must find nobody for the
	// target to count as lost before the timeout; negative: the timeout alone
	// decides. It is heartbeat.rpc-failure-threshold: 2.
	HeartbeatThreshold int
	// JobTimeout is how long the requirement of a job outlives the contact to
	// its JobMaster. It is resourcemanager.job.timeout: 5 min.
	JobTimeout time.Duration
	// StartUpPeriod is how long after the start TaskManagers are waited for
	// before a job is told that there are not enough slots; zero: no time. It
	// is resourcemanager.standalone.start-up-time.
	StartUpPeriod time.Duration
	Balance       slotmanager.Balance // taskmanager.load-balance.mode: NONE
	Logger        *slog.Logger
}

func (o *Options) complete() {
	set := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	set(&o.HeartbeatInterval, 10*time.Second)
	set(&o.HeartbeatTimeout, 50*time.Second)
	set(&o.JobTimeout, 5*time.Minute)
	if o.HeartbeatThreshold == 0 {
		o.HeartbeatThreshold = 2
	}
	if o.BlobAddress == "" {
		o.BlobAddress = o.System.Self()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// Manager is the ResourceManager of a cluster whose TaskManagers come by
// themselves. All methods are called on its loop, except New.
//
// Invariant: executors and the slot manager's TaskManagers are the same, in the
// same order; a jobs entry lives until its JobMaster disconnects or has been
// silent for JobTimeout.
type Manager struct {
	options   Options
	loop      actor.Loop
	log       *slog.Logger
	id        ident.LeaderID
	slots     *slotmanager.Manager
	executors []*taskExecutor
	jobs      []*jobMaster
	// who is pinged: the instances in executors, and the jobs whose JobMaster
	// is in contact
	executorBeats *heartbeat.Manager[ident.InstanceID]
	jobBeats      *heartbeat.Manager[ident.JobID]
	timers        []actor.Timer
	stopped       bool
}

// New makes a Manager; Start lets it begin.
func New(o Options) *Manager {
	o.complete()
	m := &Manager{options: o, loop: o.Loop, log: o.Logger}
	m.slots = slotmanager.New(slotmanager.Options{
		Balance:       o.Balance,
		NewAllocation: func() ident.AllocationID { return ident.AllocationID{ID: ident.New(m.loop.Rand())} },
	})
	beats := heartbeat.Options{Interval: o.HeartbeatInterval, Timeout: o.HeartbeatTimeout, FailureThreshold: max(-1, o.HeartbeatThreshold), Unreachable: nobody}
	m.executorBeats = heartbeat.NewManager(m.loop, beats, m.pingTaskExecutor, m.taskExecutorDead)
	m.jobBeats = heartbeat.NewManager(m.loop, beats, m.pingJobMaster, m.jobMasterSilent)
	return m
}

// Start begins a leader term and serves the endpoint.
func (m *Manager) Start() {
	m.id = ident.LeaderID{ID: ident.New(m.loop.Rand())}
	mux := &rpc.Mux{Term: func() ident.LeaderID { return m.id }}
	rpc.Handle(mux, gateway.RegisterTaskExecutor, m.registerTaskExecutor)
	rpc.Handle(mux, gateway.SendSlotReport, m.sendSlotReport)
	rpc.Handle(mux, gateway.NotifySlotAvailable, m.notifySlotAvailable)
	rpc.Handle(mux, gateway.DisconnectTaskExecutor, m.disconnectTaskExecutor)
	rpc.Handle(mux, gateway.RegisterJobMaster, m.registerJobMaster)
	rpc.Handle(mux, gateway.DeclareRequiredResources, m.declareRequiredResources)
	rpc.Handle(mux, gateway.DisconnectJobMaster, m.disconnectJobMaster)
	m.options.System.Serve(gateway.ResourceManager, m.loop, mux)
	m.timers = append(m.timers, m.loop.After(max(0, m.options.StartUpPeriod), func() { m.apply(slotmanager.StartUpOver{}) }))
	m.log.Info("ResourceManager started", "term", m.id, "address", m.options.System.Self())
}

// Stop withdraws the endpoint and ends all heartbeats. TaskManagers and jobs
// notice by themselves.
func (m *Manager) Stop() {
	if m.stopped {
		return
	}
	m.stopped = true
	m.options.System.Withdraw(gateway.ResourceManager)
	m.executorBeats.Stop()
	m.jobBeats.Stop()
	for _, t := range m.executors {
		t.link.close()
	}
	for _, j := range m.jobs {
		j.link.close()
		j.stopGone()
	}
	for _, t := range m.timers {
		t.Stop()
	}
}

// ID is the Manager's leader term; zero before Start.
func (m *Manager) ID() ident.LeaderID { return m.id }

// apply advances the slot manager and carries its effects out.
func (m *Manager) apply(e slotmanager.Event) {
	if m.stopped {
		return
	}
	for _, effect := range m.slots.Apply(e, m.loop.Now()) {
		switch f := effect.(type) {
		case slotmanager.MatchAfter:
			m.matchAfter(f.Wait)
		case slotmanager.RequestSlot:
			m.requestSlot(f)
		case slotmanager.NotEnough:
			m.notEnough(f)
		}
	}
}

// matchAfter runs a matching; one without wait comes after what is in the
// mailbox now, so that changes that came together are matched together.
func (m *Manager) matchAfter(wait time.Duration) {
	match := func() { m.apply(slotmanager.Match{}) }
	if wait <= 0 {
		m.loop.Post(match)
		return
	}
	m.loop.After(wait, match)
}

func (m *Manager) requestSlot(f slotmanager.RequestSlot) {
	t := m.instance(f.Instance)
	if t == nil {
		m.apply(slotmanager.Refused{Instance: f.Instance, Slot: f.Slot, Allocation: f.Allocation})
		return
	}
	m.log.Info("slot requested", "taskmanager", t.id, "slot", f.Slot, "job", f.Job, "allocation", f.Allocation)
	request := &pb.RequestSlotRequest{SlotIndex: int32(f.Slot), JobId: f.Job.String(), AllocationId: f.Allocation.String(),
		Profile: profileToProto(f.Profile), JobMasterAddress: f.MasterAddress, JobMasterId: f.Master.String(), ResourceManagerId: m.id.String()}
	gateway.RequestSlot.Call(m.options.System, m.loop, t.address, ident.LeaderID{}, request, 0, func(_ *pb.Empty, err error) {
		if err != nil {
			m.log.Warn("slot refused", "taskmanager", t.id, "slot", f.Slot, "job", f.Job, "allocation", f.Allocation, "error", err)
			if nobody(err) { // it may be gone, and no connection broke
				m.executorBeats.PingNow(f.Instance)
			}
			m.apply(slotmanager.Refused{Instance: f.Instance, Slot: f.Slot, Allocation: f.Allocation})
			return
		}
		m.apply(slotmanager.Granted{Instance: f.Instance, Slot: f.Slot, Allocation: f.Allocation})
	})
}

func (m *Manager) notEnough(f slotmanager.NotEnough) {
	j := m.job(f.Job)
	if j == nil {
		return
	}
	m.log.Warn("not enough slots", "job", f.Job, "needed", f.Needed, "registered", f.Registered, "free", f.Free)
	gateway.NotifyNotEnoughResources.Send(m.options.System, m.loop, j.address, j.master, &pb.NotEnoughResourcesRequest{
		JobId: f.Job.String(), Needed: int32(f.Needed), Registered: int32(f.Registered), Free: int32(f.Free)})
}

// link notices when the connection to a target's process breaks, which is a
// hint to ping it now. A hint is used up by a break; an answer renews it.
type link struct {
	watch   func(broken func()) (stop func())
	broken  func()
	unwatch func() // nil: used up
}

func (m *Manager) newLink(process string, broken func()) *link {
	l := &link{broken: broken, watch: func(broken func()) func() {
		return m.options.System.Watch(m.loop, process, func(error) { broken() })
	}}
	l.renew()
	return l
}

func (l *link) renew() {
	if l.unwatch == nil {
		l.unwatch = l.watch(func() {
			l.unwatch = nil
			l.broken()
		})
	}
}

func (l *link) close() {
	if l.unwatch != nil {
		l.unwatch()
		l.unwatch = nil
	}
}

func (m *Manager) job(id ident.JobID) *jobMaster {
	i := slices.IndexFunc(m.jobs, func(j *jobMaster) bool { return j.id == id })
	if i < 0 {
		return nil
	}
	return m.jobs[i]
}

// nobody reports whether a call found nobody who could have executed it.
func nobody(err error) bool {
	return errors.Is(err, rpc.ErrUnreachable) || errors.Is(err, rpc.ErrUnknownEndpoint)
}
