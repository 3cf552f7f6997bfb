// Package master wires a JobManager process: the Dispatcher with one JobMaster a
// job, the ResourceManager, the store of artifacts, the RPC port and the REST
// server.
//
// It promises that Start either gives a master that TaskManagers can reach or
// leaves nothing behind, that a port in use is named with its configuration
// key, and that Close suspends the jobs before anything they need goes away. It
// never decides anything about a job.
package master

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/blob"
	"github.com/weirstream/weir/internal/cluster/belongings"
	"github.com/weirstream/weir/internal/cluster/embedded/coordinators"
	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/fs/local"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/jobmaster/checkpointing"
	"github.com/weirstream/weir/internal/memory"
	"github.com/weirstream/weir/internal/resourcemanager"
	"github.com/weirstream/weir/internal/resourcemanager/slotmanager"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/registration"
	"github.com/weirstream/weir/internal/snapshot/storage"
)

const (
	// longCallback is how long one step of the loop may take before it is logged.
	longCallback = time.Second
	// closePatience is how long the end of the process waits for work beside the
	// loop, which a hanging disk may hold up for ever.
	closePatience = 2 * time.Second
)

// Options are what a master needs besides its configuration.
type Options struct {
	// Version is the binary's; TaskManagers of another one are refused.
	Version string
	// Archive writes down a job that has ended; it is called beside the loop and
	// may block. Its failure is logged, and of no consequence for the job. Nil:
	// nothing is written.
	Archive func(execgraph.View) error
	Logger  *slog.Logger // nil: nothing is logged
}

// Master is a running JobManager process. Its methods may be called from any
// goroutine.
type Master struct {
	config     *config.Config
	log        *slog.Logger
	memory     memory.JobManagerMemory
	loop       *actor.Real
	system     *rpc.Server
	blobs      *blob.Store
	finished   string // the directory of jobs that have ended; empty: they are in memory only
	manager    *resourcemanager.Manager
	dispatcher *dispatcher.Dispatcher
	belongings *belongings.Register
	measuring  measuring
	stores     func(ident.JobID) checkpointing.Store // of completed checkpoints; nil: they end with the process

	mu     sync.Mutex // guards server
	server *server    // nil: REST is not served
}

// Start starts a master that listens for TaskManagers. A configuration that
// cannot be used gives a *config.Error.
func Start(cfg *config.Config, o Options) (*Master, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Master{config: cfg, log: o.Logger}
	cluster, err := m.settings()
	if err != nil {
		return nil, err
	}
	if m.stores, err = m.checkpointStore(); err != nil {
		return nil, fmt.Errorf("start the JobManager: %w", err)
	}
	if m.system, err = listen(cfg, o.Logger); err != nil {
		return nil, err
	}
	if err := m.openFiles(); err != nil {
		m.system.Close()
		return nil, fmt.Errorf("start the JobManager: %w", err)
	}
	m.loop = actor.Start("jobmanager")
	m.loop.WarnAfter(longCallback, func(took time.Duration) { m.log.Warn("the JobManager was held up by one step", "took", took) })
	m.manager = resourcemanager.New(resourcemanager.Options{
		Loop: m.loop, System: m.system, Cluster: cluster, Version: o.Version, Logger: o.Logger,
		HeartbeatInterval: config.HeartbeatInterval.In(cfg), HeartbeatTimeout: config.HeartbeatTimeout.In(cfg),
		HeartbeatThreshold: config.HeartbeatRPCFailureThreshold.In(cfg), JobTimeout: config.ResourceManagerJobTimeout.In(cfg),
		StartUpPeriod: config.StandaloneStartUpTime.In(cfg), Balance: balances[config.TaskManagerLoadBalanceMode.In(cfg)],
	})
	m.dispatcher = dispatcher.New(dispatcher.Options{
		Loop: m.loop, NewJobMaster: m.jobMasters(), ReleaseArtifact: m.deleteBlob, Archive: m.archiving(o.Archive), Logger: o.Logger,
		Finished: dispatcher.StoreOptions{
			MaxCapacity: config.JobStoreMaxCapacity.In(cfg), MaxBytes: config.JobStoreCacheSize.In(cfg),
			Expiration: config.JobStoreExpirationTime.In(cfg), Files: m.finishedJobs(),
		},
	})
	m.loop.Post(func() {
		blob.Serve(m.system, m.loop, m.blobs)
		m.manager.Start()
	})
	m.openMetrics()
	m.log.Info("JobManager started", "rpc", m.system.Self(), "memory", m.memory.Process)
	return m, nil
}

// balances are the ways to choose TaskManagers for slots, by the name of the mode.
// Slots are spread out so that there is something to balance tasks over.
var balances = map[string]slotmanager.Balance{"SLOTS": slotmanager.SpreadOut, "TASKS": slotmanager.SpreadOut, "MIN_RESOURCES": slotmanager.FillUp}

// settings reads what must be right before anything is opened.
func (m *Master) settings() (ident.ClusterID, error) {
	var cluster ident.ClusterID
	var problems []config.Problem
	text := config.ClusterID.In(m.config)
	if err := cluster.UnmarshalText([]byte(text)); err != nil {
		problems = append(problems, config.Problem{
			Origin: m.config.Origin(config.ClusterID.Key), Key: config.ClusterID.Key, Value: text, What: err.Error(),
		})
	}
	var err error
	if m.memory, err = memory.JobManager(m.config); err != nil {
		problems = append(problems, config.Problem{What: err.Error()})
	}
	if len(problems) > 0 {
		return cluster, &config.Error{Problems: problems}
	}
	return cluster, nil
}

// openFiles removes what processes have left that were killed, and makes the
// store of artifacts. Jobs do not outlive the process that runs them, nor do
// their artifacts.
func (m *Master) openFiles() error {
	run, name := config.RunDir(m.config), fmt.Sprintf("jm-%06x", rand.Uint32N(1<<24))
	if err := belongings.Sweep(run); err != nil {
		m.log.Warn("files of a process that is gone stay", "error", err)
	}
	var err error
	if m.belongings, err = belongings.Open(run, name); err != nil {
		return fmt.Errorf("%w (%s)", err, config.PIDDirectory.Key)
	}
	dir := filepath.Join(config.BlobDir(m.config), name)
	if err = m.belongings.Directory(dir); err == nil {
		m.blobs, err = blob.NewStore(dir)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%w (%s)", err, config.BlobStorageDirectory.Key), m.belongings.Close())
	}
	if config.JobStoreType.In(m.config) != "File" {
		return nil
	}
	m.finished = filepath.Join(config.TempDirs(m.config)[0], name)
	if err := m.belongings.Directory(m.finished); err != nil {
		return errors.Join(fmt.Errorf("%w (%s)", err, config.TmpDirs.Key), m.belongings.Close())
	}
	return nil
}

// finishedJobs gives the Dispatcher files for jobs that have ended; nil: none.
func (m *Master) finishedJobs() dispatcher.Files {
	if m.finished == "" {
		return nil
	}
	return &finishedJobs{loop: m.loop, dir: m.finished, log: m.log}
}

// listen opens the RPC port. The master must be known by one name only, that
// TaskManagers are configured with, so a port that the system is to choose is
// chosen before it is listened on.
func listen(cfg *config.Config, log *slog.Logger) (*rpc.Server, error) {
	key, port := config.JobManagerRPCPort.Key, config.JobManagerRPCPort.In(cfg)
	advertised := port
	if bind, set := config.JobManagerRPCBindPort.Lookup(cfg); set {
		key, port = config.JobManagerRPCBindPort.Key, bind
	}
	host := config.JobManagerBindHost.In(cfg)
	const attempts = 5 // another process may take the chosen port meanwhile
	for attempt := 1; ; attempt++ {
		at, known := port, advertised
		if at == 0 {
			var err error
			if at, err = freePort(host); err != nil {
				return nil, fmt.Errorf("start the JobManager (%s, %s): %w", config.JobManagerBindHost.Key, key, err)
			}
		}
		if known == 0 {
			known = at
		}
		system, err := rpc.Listen(rpc.Options{
			Listen:    net.JoinHostPort(host, strconv.Itoa(at)),
			Advertise: net.JoinHostPort(config.JobManagerRPCAddress.In(cfg), strconv.Itoa(known)), Logger: log,
		})
		inUse := errors.Is(err, syscall.EADDRINUSE)
		switch {
		case err == nil:
			return system, nil
		case inUse && port == 0 && attempt < attempts:
		case inUse:
			return nil, fmt.Errorf("start the JobManager: port %d is in use; stop what uses it or set %s: %w", at, key, err)
		default:
			return nil, fmt.Errorf("start the JobManager (%s, %s): %w", config.JobManagerBindHost.Key, key, err)
		}
	}
}

// freePort finds a port that is free now.
func freePort(host string) (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// checkpointStore gives the stores of completed checkpoints that outlive the process;
// nil: they end with it.
func (m *Master) checkpointStore() (func(ident.JobID) checkpointing.Store, error) {
	if config.HighAvailabilityType.In(m.config) == "NONE" {
		return nil, nil
	}
	text := config.HighAvailabilityStorageDir.In(m.config)
	if text == "" {
		return nil, fmt.Errorf("%s is %s, and %s names no directory", config.HighAvailabilityType.Key, config.HighAvailabilityType.In(m.config), config.HighAvailabilityStorageDir.Key)
	}
	root, err := fs.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", config.HighAvailabilityStorageDir.Key, err)
	}
	root = root.Join(config.HighAvailabilityClusterID.In(m.config), "jobs")
	return func(job ident.JobID) checkpointing.Store {
		return checkpointing.NewLasting(m.loop, storage.Ledger{Files: m.Files(), Dir: root.Join(job.String(), "checkpoints")})
	}, nil
}

// jobMasters makes the owners of jobs.
func (m *Master) jobMasters() dispatcher.Factory {
	cfg := m.config
	return dispatcher.JobMasters(jobmaster.Options{
		Loop: m.loop, System: m.system, Coordinators: coordinators.Builtin(), Disk: storage.Disk{Files: m.Files()}, CheckpointStore: m.stores, Logger: m.log,
		ResourceManager:   rpc.Address{Process: m.system.Self(), Endpoint: gateway.ResourceManager},
		HeartbeatInterval: config.HeartbeatInterval.In(cfg), HeartbeatTimeout: config.HeartbeatTimeout.In(cfg),
		HeartbeatThreshold: config.HeartbeatRPCFailureThreshold.In(cfg),
		Registration: registration.Pace{
			FirstTimeout: config.RegistrationInitialTimeout.In(cfg), LastTimeout: config.RegistrationMaxTimeout.In(cfg),
			ErrorDelay: config.RegistrationErrorDelay.In(cfg), RefusedDelay: config.RegistrationRefusedDelay.In(cfg),
		},
		SlotRequestTimeout: config.SlotRequestTimeout.In(cfg), SlotIdleTimeout: config.SlotIdleTimeout.In(cfg),
		ExceptionHistory: config.WebExceptionHistorySize.In(cfg), AttemptsHistory: config.JobManagerAttemptsHistorySize.In(cfg),
		Config: cfg,
	})
}

// archiving gives what the Dispatcher calls to have a job written down.
func (m *Master) archiving(write func(execgraph.View) error) func(execgraph.View, func()) {
	if write == nil {
		return nil
	}
	return func(v execgraph.View, then func()) {
		var err error
		m.loop.Go(func() { err = write(v) }, func() {
			if err != nil {
				m.log.Warn("the job is not archived", "job", v.Job, "error", err)
			}
			then()
		})
	}
}

// deleteBlob removes an artifact that no job needs any more, and then calls then. It
// is called on the loop.
func (m *Master) deleteBlob(sha256 string, then func()) {
	h, err := blob.ParseHash(sha256)
	if err != nil {
		then()
		return
	}
	m.loop.Go(func() { err = m.blobs.Delete(h) }, func() {
		if err != nil {
			m.log.Warn("an artifact that no job needs stays", "artifact", sha256, "error", err)
		}
		then()
	})
}

// Files is where checkpoints and savepoints are.
func (m *Master) Files() fs.FileSystem { return fs.ByScheme{"file": local.FileSystem{}} }

// Config is what the master was started with.
func (m *Master) Config() *config.Config { return m.config }

// Memory is the budget of the process.
func (m *Master) Memory() memory.JobManagerMemory { return m.memory }

// Logger is where the master logs.
func (m *Master) Logger() *slog.Logger { return m.log }

// Dispatcher owns the jobs.
func (m *Master) Dispatcher() *dispatcher.Dispatcher { return m.dispatcher }

// Blobs holds the artifacts of jobs. Whoever puts one in before it submits a job
// keeps it there by Dispatcher.Retain.
func (m *Master) Blobs() *blob.Store { return m.blobs }

// Belongings lists the files that are removed when the process is gone.
func (m *Master) Belongings() *belongings.Register { return m.belongings }

// RPCAddress is where TaskManagers reach the master, host:port.
func (m *Master) RPCAddress() string { return m.system.Self() }

// TaskManagers lists the registered TaskManagers in the order they came.
func (m *Master) TaskManagers(ctx context.Context) ([]resourcemanager.View, error) {
	return actor.Query(ctx, m.loop, m.manager.TaskManagers)
}

// Overview counts TaskManagers and slots.
func (m *Master) Overview(ctx context.Context) (resourcemanager.Overview, error) {
	return actor.Query(ctx, m.loop, m.manager.Overview)
}

// Close ends the process's endpoints: no more jobs are taken, those that run are
// suspended, then REST and RPC stop. When ctx ends first, what has not ended by
// itself is ended at once. It is called once.
func (m *Master) Close(ctx context.Context) error {
	m.log.Info("JobManager is shutting down")
	err := m.dispatcher.Close(ctx)
	err = errors.Join(err, m.closeREST(ctx), m.closeMetrics())
	_, stopped := actor.Query(ctx, m.loop, func() bool {
		m.manager.Stop()
		m.system.Withdraw(gateway.Blob)
		return true
	})
	m.system.Close()
	if err = errors.Join(err, stopped, m.loop.CloseWithin(closePatience), m.belongings.Close()); err != nil {
		return fmt.Errorf("shut the JobManager down: %w", err)
	}
	return nil
}
