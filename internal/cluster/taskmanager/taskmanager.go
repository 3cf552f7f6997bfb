//go:build unix

// Package taskmanager wires a TaskManager process: the memory budget, the
// TaskExecutor with its RPC port, the launcher of worker processes, the programs
// they run, and the port where records arrive.
//
// It promises that a configuration that cannot be used is refused with all that
// is wrong with it, that two TaskManagers of one home directory share no file
// but their logs' directory, and that Close leaves neither a worker nor a socket
// nor a temporary file. It never runs user code.
package taskmanager

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/blob"
	"github.com/weirstream/weir/internal/cluster/belongings"
	"github.com/weirstream/weir/internal/cluster/reporters"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/memory"
	measure "github.com/weirstream/weir/internal/metrics/process"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/registration"
	"github.com/weirstream/weir/internal/taskexecutor"
	"github.com/weirstream/weir/internal/taskexecutor/dataport"
	"github.com/weirstream/weir/internal/taskexecutor/process"
)

const (
	// longCallback is how long one step of the loop may take before it is logged.
	longCallback = time.Second
	// closePatience is how long the end of the process waits for work beside the
	// loop, which a hanging disk may hold up for ever.
	closePatience = 2 * time.Second
)

// Options are what a TaskManager needs besides its configuration.
type Options struct {
	// Version is the binary's; the master must have the same.
	Version string
	// Number tells the TaskManagers of one host apart, for the names of logs.
	Number int
	// LogFile is the path of the process's log, for a master on the same host to
	// show it; empty: there is none.
	LogFile string
	Logger  *slog.Logger // nil: nothing is logged
}

// TaskManager is a running TaskManager process. Its methods may be called from
// any goroutine.
type TaskManager struct {
	config   *config.Config
	log      *slog.Logger
	settings settings
	id       ident.ResourceID
	loop     *actor.Real
	system   *rpc.Server
	fetcher  *blob.Fetcher
	launcher *process.Launcher
	executor *taskexecutor.Executor
	port     *dataport.Port
	sampler  *measure.Sampler
	// reporters are where the metrics are read.
	reporters *reporters.Set
	fatal     chan error
	// belongings list what is removed when the process is gone.
	belongings *belongings.Register
	// undo is what takes away what Start has made, the last thing first.
	undo []func() error
}

// Start starts a TaskManager, which then looks for its master. A configuration
// that cannot be used gives a *config.Error.
func Start(cfg *config.Config, o Options) (*TaskManager, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	t := &TaskManager{config: cfg, log: o.Logger, fatal: make(chan error, 1)}
	var err error
	if t.settings, err = readSettings(cfg); err != nil {
		return nil, err
	}
	if err := t.open(o); err != nil {
		return nil, errors.Join(fmt.Errorf("start the TaskManager: %w", err), t.takeDown())
	}
	t.loop.Post(t.executor.Start)
	t.log.Info("TaskManager started", "taskManager", t.id, "rpc", t.system.Self(), "data", t.port.Addresses(),
		"slots", t.settings.slots, "memory", t.settings.memory.Process)
	return t, nil
}

// open makes the parts in the order in which they need each other.
func (t *TaskManager) open(o Options) error {
	var err error
	if t.system, err = listen(t.config, t.log); err != nil {
		return err
	}
	t.undo = append(t.undo, func() error { t.system.Close(); return nil })
	suffix := fmt.Sprintf("%06x", rand.Uint32N(1<<24))
	if err := t.openBelongings(suffix); err != nil {
		return err
	}
	t.id = ident.ResourceID(config.TaskManagerResourceID.In(t.config))
	if t.id == "" {
		t.id = ident.ResourceID(t.system.Self() + "-" + suffix)
	}
	t.loop = actor.Start("taskmanager")
	t.loop.WarnAfter(longCallback, func(took time.Duration) { t.log.Warn("the TaskManager was held up by one step", "took", took) })
	t.undo = append(t.undo, func() error { return t.loop.CloseWithin(closePatience) })
	work, spare, err := t.workDirectories(suffix)
	if err != nil {
		return err
	}
	if err := t.openLauncher(o, work, spare); err != nil {
		return err
	}
	if err := t.openDataPort(suffix); err != nil {
		return err
	}
	t.openSampler()
	t.makeExecutor(o)
	t.openReporters()
	return nil
}

// openBelongings begins the list of what goes with this process, and removes
// what others have left that were killed.
func (t *TaskManager) openBelongings(suffix string) error {
	run := config.RunDir(t.config)
	if err := belongings.Sweep(run); err != nil {
		t.log.Warn("files of a process that is gone stay", "error", err)
	}
	var err error
	if t.belongings, err = belongings.Open(run, "tm-"+suffix); err != nil {
		return fmt.Errorf("%w (%s)", err, config.PIDDirectory.Key)
	}
	t.undo = append(t.undo, t.belongings.Close)
	return nil
}

// workDirectories make the directory of everything temporary, and one each in
// the other places for temporary files.
func (t *TaskManager) workDirectories(suffix string) (work string, spare []string, err error) {
	var all []string
	for _, parent := range config.TempDirs(t.config) {
		dir := filepath.Join(parent, "tm-"+suffix)
		if err := t.belongings.Directory(dir); err != nil {
			return "", nil, fmt.Errorf("make a directory for temporary files (%s): %w", config.TmpDirs.Key, err)
		}
		all = append(all, dir)
	}
	if err := os.Mkdir(filepath.Join(all[0], "workers"), 0o700); err != nil {
		return "", nil, fmt.Errorf("make a directory for temporary files (%s): %w", config.TmpDirs.Key, err)
	}
	return all[0], all[1:], nil
}

// openLauncher makes what fetches and starts the programs of jobs.
func (t *TaskManager) openLauncher(o Options, work string, spare []string) error {
	programs, err := blob.NewStore(filepath.Join(work, "programs"))
	if err != nil {
		return err
	}
	t.fetcher = blob.NewFetcher(t.system, t.loop, programs)
	out, err := t.openOutLog(o.Number)
	if err != nil {
		return err
	}
	t.undo = append(t.undo, out.Close)
	t.launcher = process.New(process.Options{
		Loop: t.loop, TaskExecutor: t.system.Self(), Resource: t.id, Cluster: func() ident.ClusterID { return t.settings.cluster },
		Fetch: func(program blob.Hash, then func(string, error)) {
			t.fetcher.Fetch(t.executor.BlobAddress(), program, then)
		},
		Directory: filepath.Join(work, "workers"), Spare: spare, Limit: true, WriteBuffers: config.TaskManagerSortShuffleMinBuffers.In(t.config), BufferSize: t.settings.bufferSize,
		Silence: config.HeartbeatTimeout.In(t.config), Stdout: out, Stderr: out, Logger: t.log,
	})
	for _, begin := range []string{t.launcher.ControlGroups(), t.launcher.Elsewhere()} {
		if begin == "" {
			continue
		}
		if err := t.belongings.AddAll(begin); err != nil {
			return err
		}
	}
	return nil
}

// openOutLog opens the file for what the workers print. It lies beside the
// process's own log and has the name Flink gives it.
func (t *TaskManager) openOutLog(number int) (*process.OutLog, error) {
	dir := config.LogDir(t.config)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the log directory (%s): %w", config.LogDirectory.Key, err)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("name a log after the host: %w", err)
	}
	name := fmt.Sprintf("weir-taskmanager-%d-%s.out", number, strings.ReplaceAll(host, "/", "_"))
	return process.OpenOutLog(filepath.Join(dir, name), int64(config.LogMaxFileSize.In(t.config)))
}

func (t *TaskManager) openDataPort(suffix string) error {
	socket, err := socketPath(config.RunDir(t.config), suffix, t.belongings)
	if err != nil {
		return err
	}
	listeners, err := listenData(t.config, socket)
	if err != nil {
		return err
	}
	host := config.TaskManagerHost.In(t.config)
	if host == "" {
		host, _, _ = net.SplitHostPort(t.system.Self())
	}
	t.port = dataport.Serve(dataport.Options{
		Listeners: listeners, Host: host, Cluster: t.settings.cluster, Resource: t.id, Handoff: t.launcher.Handoff, Logger: t.log,
	})
	t.undo = append(t.undo, t.port.Close)
	return nil
}

func (t *TaskManager) makeExecutor(o Options) {
	cfg, s := t.config, &t.settings
	t.executor = taskexecutor.New(taskexecutor.Options{
		Loop: t.loop, System: t.system, ResourceID: t.id, Cluster: s.cluster, Version: o.Version, Logger: t.log,
		ResourceManager: rpc.Address{Process: s.master, Endpoint: gateway.ResourceManager},
		Slots:           s.slots, Total: s.profile(), DataAddresses: t.port.Addresses(), Host: t.port.TCP(),
		HeartbeatInterval: config.HeartbeatInterval.In(cfg), HeartbeatTimeout: config.HeartbeatTimeout.In(cfg),
		Registration: registration.Pace{
			FirstTimeout: config.RegistrationInitialTimeout.In(cfg), LastTimeout: config.RegistrationMaxTimeout.In(cfg),
			ErrorDelay: config.RegistrationErrorDelay.In(cfg), RefusedDelay: config.RegistrationRefusedDelay.In(cfg),
		},
		RegistrationTimeout: config.TaskManagerRegistrationTimeout.In(cfg), SlotTimeout: config.TaskManagerSlotTimeout.In(cfg),
		CancellationTimeout: s.cancellation, Launcher: t.launcher, Share: func(held int) memory.Share { return s.memory.Share(held, s.slots) }, Hardware: s.hardware(), MemoryConfiguration: s.memoryJSON(),
		LogFile: o.LogFile, Process: t.process,
		OnFatal: func(err error) {
			select {
			case t.fatal <- err:
			default: // one reason is enough
			}
		},
	})
}

// ID names the TaskManager.
func (t *TaskManager) ID() ident.ResourceID { return t.id }

// Memory is the budget of the TaskManager and its workers.
func (t *TaskManager) Memory() memory.TaskManagerMemory { return t.settings.memory }

// AgentMemory is what the process itself may use: the part of the budget that is
// the framework's.
func (t *TaskManager) AgentMemory() memory.Size { return t.settings.memory.Agent() }

// Fatal gives at most one error: the TaskManager cannot go on and must be
// closed.
func (t *TaskManager) Fatal() <-chan error { return t.fatal }

// Close leaves the cluster, ends all workers and removes everything temporary.
// It does not return before they are gone. When ctx ends first it says so. It is
// called once.
func (t *TaskManager) Close(ctx context.Context, cause string) error {
	t.log.Info("TaskManager is shutting down", "reason", cause)
	_, err := actor.Ask(ctx, t.loop, func(reply func(struct{})) {
		t.fetcher.Stop()
		t.executor.Stop(cause, func() { reply(struct{}{}) })
	})
	if err != nil {
		err = fmt.Errorf("end the workers: %w", err)
	} else {
		t.launcher.Close()
	}
	if err = errors.Join(err, t.takeDown()); err != nil {
		return fmt.Errorf("shut the TaskManager down: %w", err)
	}
	return nil
}

// takeDown removes what Start has made.
func (t *TaskManager) takeDown() error {
	var problems []error
	for i := len(t.undo) - 1; i >= 0; i-- {
		problems = append(problems, t.undo[i]())
	}
	t.undo = nil
	return errors.Join(problems...)
}
