package process

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/blob"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/memory"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/taskexecutor"
	"github.com/weirstream/weir/internal/worker/assignment"
)

// Options are what a Launcher is made of.
type Options struct {
	Loop actor.Loop // the TaskExecutor's
	// Fetch brings a program here and calls then on the loop with the path of
	// an executable file.
	Fetch func(program blob.Hash, then func(path string, err error))
	// Self is the program that runs SQL plans; empty: that of this process.
	Self string
	// TaskExecutor is the process address workers reach the TaskExecutor under.
	TaskExecutor string
	Resource     ident.ResourceID
	Cluster      func() ident.ClusterID // called on the loop; nil: none
	// Directory gets one directory a worker, which is the worker's working and
	// temporary directory. It must exist.
	Directory string
	// Limit lets the kernel hold each worker to its share of the memory: where
	// control groups can be written they do it, on Linux without them what is
	// mapped is bounded.
	Limit bool
	// WriteBuffers is how many network buffers a blocking partition gathers
	// records in; 0: the worker's default.
	WriteBuffers int
	// BufferSize is the size of a network buffer; 0: the worker's default.
	BufferSize int
	// Silence is for how long a worker may not hear of the TaskExecutor until nobody counts
	// on it any more; 0: for ever.
	Silence time.Duration
	// Spare are directories on other disks, in which workers also keep what does
	// not fit into memory. They must exist.
	Spare []string
	// Stdout and Stderr get what workers print; nil: nobody. They are written
	// to from several goroutines.
	Stdout, Stderr io.Writer
	Logger         *slog.Logger
}

// Launcher starts the workers of one TaskExecutor.
type Launcher struct {
	options   Options
	groups    *controlGroups
	elsewhere string // see Elsewhere
	running   sync.WaitGroup

	launched int // children so far; touched on the loop only

	mu       sync.Mutex // guards handoffs
	handoffs map[ident.JobID]handoff
}

// handoff is where a worker takes data connections.
type handoff struct {
	path string
	of   int // the number of the child
}

var _ taskexecutor.Launcher = (*Launcher)(nil)

// New makes a launcher. Whoever makes it must Close it.
func New(o Options) *Launcher {
	if o.Stdout == nil {
		o.Stdout = io.Discard
	}
	if o.Stderr == nil {
		o.Stderr = io.Discard
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	l := &Launcher{options: o, handoffs: map[ident.JobID]handoff{}}
	if o.Limit {
		l.groups = findControlGroups(o.Logger)
	}
	if len(filepath.Join(o.Directory, directoryName))+longestRandom > maxSocketDirectory {
		l.elsewhere = filepath.Join(os.TempDir(), fmt.Sprintf("weir-%d-%08x-", os.Getpid(), rand.Uint32()))
	}
	return l
}

// ControlGroups is what the paths of the workers' control groups begin with;
// empty: they have none. A TaskManager that is killed leaves them.
func (l *Launcher) ControlGroups() string { return l.groups.pattern() }

// Elsewhere is what the paths of the workers' directories begin with where sockets in
// Options.Directory would have paths that are too long; empty: they are there. A
// TaskManager that is killed leaves them.
func (l *Launcher) Elsewhere() string { return l.elsewhere }

// Close waits until all workers are gone. They must have been killed, or be
// about to end by themselves.
func (l *Launcher) Close() { l.running.Wait() }

// Handoff gives the unix socket on which the job's newest worker takes data
// connections, once it listens there. It may be called from anywhere.
func (l *Launcher) Handoff(job ident.JobID) (path string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h, ok := l.handoffs[job]
	return h.path, ok
}

// setHandoff notes a worker's socket, unless there is one of a worker that was launched
// after it: making its directory may have taken so long that it is not wanted any more.
func (l *Launcher) setHandoff(c *child, path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.handoffs[c.id].of <= c.number {
		l.handoffs[c.id] = handoff{path, c.number}
	}
}

// dropHandoff forgets a worker's socket, unless another one has come after it.
func (l *Launcher) dropHandoff(c *child) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.handoffs[c.id].of == c.number {
		delete(l.handoffs, c.id)
	}
}

// Launch fetches the job's program and starts it.
func (l *Launcher) Launch(job *pb.Job, token string, share memory.Share, events taskexecutor.WorkerEvents) taskexecutor.Worker {
	l.launched++
	c := &child{launcher: l, number: l.launched, job: job, token: token, share: share, events: events}
	if l.options.Cluster != nil {
		c.cluster = l.options.Cluster()
	}
	fail := func(text string, err error) {
		f := status.FailureOf(err)
		f.Chain = append([]string{text}, f.Chain...)
		c.post(f)
	}
	if err := c.id.UnmarshalText([]byte(job.JobId)); err != nil {
		fail("start worker", err)
		return c
	}
	switch {
	case job.Artifact != "": // the program of an SQL job has the functions that its plan calls
	case len(job.Plan) > 0:
		l.launchSelf(c, fail)
		return c
	default:
		fail("start worker of job "+job.JobId, fmt.Errorf("the job has no program of its own and no SQL plan; it runs only in the process that submits it"))
		return c
	}
	program, err := blob.ParseHash(job.Artifact)
	if err != nil {
		fail("start worker of job "+job.JobId, err)
		return c
	}
	l.options.Fetch(program, func(path string, err error) {
		switch {
		case !c.begin():
		case err != nil:
			fail(fmt.Sprintf("fetch the program %s of job %s", job.ArtifactName, job.JobId), err)
		default:
			l.running.Go(func() { c.run(path) })
		}
	})
	return c
}

// launchSelf starts a worker of an SQL plan without a program of its own: it is this one.
func (l *Launcher) launchSelf(c *child, fail func(text string, err error)) {
	path, err := l.options.Self, error(nil)
	if path == "" {
		path, err = os.Executable()
	}
	switch {
	case !c.begin():
	case err != nil:
		fail("find the program of this process, which runs SQL", err)
	default:
		l.running.Go(func() { c.run(path) })
	}
}

// assign is what the worker is told, and where it listens.
func (l *Launcher) assign(c *child, directory string, spare []string) assignment.Assignment {
	o := &l.options
	return assignment.Assignment{Job: c.id, Resource: o.Resource, Cluster: c.cluster, Token: c.token, TaskExecutor: o.TaskExecutor,
		Listen: "unix:" + directory + "/rpc.sock", Handoff: directory + "/data.sock",
		NetworkBytes: int64(c.share.Network), AllNetworkBytes: int64(c.share.AllNetwork), Slots: c.share.Held, AllSlots: c.share.Slots,
		ManagedBytes: int64(c.share.Managed), BufferSize: o.BufferSize, WriteBuffers: o.WriteBuffers, SilenceMillis: o.Silence.Milliseconds(), TempDirs: append([]string{directory}, spare...)}
}

// maxSocketDirectory is how long the path of a directory with sockets may be:
// the shortest limit of a socket's path is 104 bytes, with its final zero.
const maxSocketDirectory = 104 - 1 - len("/data.sock")

// The names of workers' directories begin with directoryName, and os.MkdirTemp adds a
// number of at most longestRandom digits.
const directoryName, longestRandom = "worker-", len("4294967295")

// makeDirectory makes the directory of one worker.
func (l *Launcher) makeDirectory() (string, error) {
	if l.elsewhere != "" {
		return os.MkdirTemp(filepath.Dir(l.elsewhere), filepath.Base(l.elsewhere))
	}
	return os.MkdirTemp(l.options.Directory, directoryName)
}

// makeSpare makes the directories of one worker on the other disks. One that
// cannot be made is done without.
func (l *Launcher) makeSpare() []string {
	var made []string
	for _, parent := range l.options.Spare {
		directory, err := os.MkdirTemp(parent, directoryName)
		if err != nil {
			l.options.Logger.Warn("a directory for temporary files cannot be used", "error", err)
			continue
		}
		made = append(made, directory)
	}
	return made
}
