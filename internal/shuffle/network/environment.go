package network

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/fs/scratch"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/handshake"
	"github.com/weirstream/weir/internal/shuffle/local"
	"github.com/weirstream/weir/internal/shuffle/spill"
)

// Options say what an Environment is part of and what it may use.
type Options struct {
	Job     ident.JobID
	Self    ident.ResourceID // the TaskManager the process belongs to
	Cluster ident.ClusterID
	// Buffers is the number of network buffers, of BufferSize bytes each, and
	// Share what follows it in messages: what it is a part of.
	Buffers int
	Share   string
	// BufferSize is a power of two from LeastBufferSize on; 0: DefaultBufferSize. It is
	// taskmanager.memory.segment-size, and need not be that of other processes.
	BufferSize int
	// QueueDepth is how many batches a subpartition holds at most; 0: 8.
	QueueDepth int
	// BuffersPerChannel is how many buffers a remote channel always has; 0: 2.
	// It is taskmanager.network.memory.buffers-per-channel.
	BuffersPerChannel int
	// MaxBuffersPerChannel is how many it may have while it is busy; 0: 10.
	// It is taskmanager.network.memory.max-buffers-per-channel.
	MaxBuffersPerChannel int
	// PartitionWait is how long a gate waits for a partition, or for its
	// producer's worker, to appear; 0: 5 minutes.
	PartitionWait time.Duration
	// Scratch is where blocking partitions are; nil: there can be none. Whoever
	// made it closes it after the Environment.
	Scratch scratch.Space
	// WriteBuffers is how many buffers a blocking partition gathers records in
	// before it writes, if the network memory is not short; 0: 512. It is
	// taskmanager.network.sort-shuffle.min-buffers.
	WriteBuffers int
	// ReadBytes is how much blocking partitions read ahead, all together; 0:
	// 32 MiB. It is taskmanager.memory.framework.off-heap.batch-shuffle.size.
	ReadBytes int
	// Dial connects to the first address that answers; nil: Dial. It is
	// called with one address at a time.
	Dial   func(ctx context.Context, addrs []string) (net.Conn, error)
	Logger *slog.Logger // nil: nothing is logged
}

// An Environment is a worker process's share of the data plane. Its methods may
// be called from any goroutine.
type Environment struct {
	job       ident.JobID
	self      ident.ResourceID
	cluster   ident.ClusterID
	pool      *pool
	own, most int // buffers of a channel
	wait      time.Duration
	dial      func(ctx context.Context, addrs []string) (net.Conn, error)
	log       *slog.Logger
	registry  *local.Registry
	blocking  *spill.Store   // nil: there can be no blocking partitions
	gathers   int            // buffers of a blocking partition
	running   sync.WaitGroup // links and sessions

	mu       sync.Mutex
	gates    map[*Gate]struct{}
	links    map[ident.ResourceID]*link // that take new channels
	stops    map[*link]context.CancelCauseFunc
	sessions map[*session]struct{}
	closed   bool
}

var errClosed = errors.New("the data plane of this process is closed")

// NewEnvironment makes an environment without partitions, gates or connections.
func NewEnvironment(o Options) *Environment {
	size := or(o.BufferSize, DefaultBufferSize)
	invariant.Check(size >= LeastBufferSize && size&(size-1) == 0, "network buffers of %d bytes, want a power of two from %d on", size, LeastBufferSize)
	e := &Environment{
		job: o.Job, self: o.Self, cluster: o.Cluster, pool: &pool{size: size, total: o.Buffers, share: o.Share},
		own: max(1, or(o.BuffersPerChannel, 2)), wait: or(o.PartitionWait, 5*time.Minute), dial: o.Dial, log: o.Logger,
		gates: map[*Gate]struct{}{}, links: map[ident.ResourceID]*link{}, stops: map[*link]context.CancelCauseFunc{}, sessions: map[*session]struct{}{},
	}
	e.most = max(e.own, or(o.MaxBuffersPerChannel, 10))
	e.registry = local.NewRegistry(local.Settings{Depth: or(o.QueueDepth, 8), Rows: rowsOf(size), FrameBytes: size - headerSize, Wait: e.wait})
	if o.Scratch != nil {
		e.gathers = or(o.WriteBuffers, 512)
		e.blocking = spill.NewStore(spill.Settings{Space: o.Scratch, FrameBytes: size - headerSize, ReadBytes: or(o.ReadBytes, 32<<20)})
	}
	if e.dial == nil {
		e.dial = Dial
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	return e
}

// rowsOf is how many records a batch has at most that is not encoded: as many fewer
// than in others as a buffer is smaller, so that smaller buffers hold less between
// tasks of one process too.
func rowsOf(size int) int {
	return min(batch.MaxRows, batch.MaxRows*size/DefaultBufferSize)
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// CreatePartition makes the partition of a task that writes to so many
// consumers. A partition whose identifier is taken, or that comes after Close,
// is made but fails at the first Emit. A closed cancel ends a blocked Emit.
//
// NewSerializer must be safe to call from any goroutine.
func (e *Environment) CreatePartition(id ident.PartitionID, subpartitions int, newSerializer func() shuffle.Serializer, cancel <-chan struct{}) *local.Partition {
	return e.registry.Create(id, subpartitions, newSerializer, cancel)
}

// leastGathers is how many network buffers a blocking partition cannot do
// without.
const leastGathers = 16

// CreateBlockingPartition makes the partition of a task whose consumers read
// only when it has finished, and maybe several times. It stays until Release.
// The error wraps shuffle.ErrInsufficientBuffers if its write buffer cannot be
// had. A partition whose identifier is taken, or that comes after Close, is made
// but fails at the first Emit.
//
// NewSerializer must be safe to call from any goroutine.
func (e *Environment) CreateBlockingPartition(id ident.PartitionID, subpartitions int, newSerializer func() shuffle.Serializer, cancel <-chan struct{}) (*spill.Partition, error) {
	if e.blocking == nil {
		return nil, fmt.Errorf("create blocking partition %s: this process has no directory for temporary files (io.tmp.dirs)", id)
	}
	least := min(leastGathers, e.gathers)
	if err := e.pool.reserve(least, "create a blocking partition"); err != nil {
		return nil, err
	}
	n := least + e.pool.borrow(e.gathers-least)
	p, err := e.blocking.Create(id, subpartitions, n*e.pool.size, newSerializer, cancel, func() { e.pool.release(n) })
	if err != nil {
		e.pool.release(n)
		return nil, err
	}
	if err := e.registry.Add(p, true); err != nil {
		p.Fail(err)
	}
	return p, nil
}

// CreateGate makes the gate of a task, which waits for partitions that are not
// there yet. The error wraps shuffle.ErrInsufficientBuffers if the channels from
// other processes cannot have their buffers. Wake is called from other
// goroutines and must not block.
func (e *Environment) CreateGate(channels []Channel, newSerializer func() shuffle.Serializer, wake func(), cancel <-chan struct{}) (*Gate, error) {
	remote := 0
	for i, c := range channels {
		if c.Resource == e.self {
			continue
		}
		if remote++; len(c.Addresses) == 0 {
			return nil, fmt.Errorf("create gate: channel %d reads partition %s of %s, which has no address", i, c.Partition, c.Resource)
		}
	}
	g := &Gate{Gate: local.NewGate(len(channels), wake, cancel), env: e}
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, fmt.Errorf("create gate: %w", errClosed)
	}
	e.gates[g] = struct{}{}
	e.mu.Unlock()
	if err := e.pool.reserve(remote*e.own, fmt.Sprintf("create gate with %d channels from other processes", remote)); err != nil {
		e.forgetGate(g)
		return nil, err
	}
	if remote > 0 {
		g.serializer = newSerializer()
	}
	var away []*channel
	for i, c := range channels {
		if c.Resource == e.self {
			if c.Whole {
				g.ConnectWhole(i, e.registry, c.Partition, c.subs())
			} else {
				g.Connect(i, e.registry, c.Partition, c.subs())
			}
			continue
		}
		ch := &channel{
			gate: g, index: i, partition: c.Partition, subs: c.subs(), whole: c.Whole, pool: e.pool,
			own: e.own, most: e.most, reserved: e.own, announced: e.own,
		}
		g.Use(i, ch)
		away = append(away, ch)
	}
	for _, ch := range away {
		if err := e.open(ch, channels[ch.index]); err != nil {
			g.Close() // gives back the buffers of all channels, opened or not
			return nil, err
		}
	}
	return g, nil
}

// open adds a channel to the link to its producer's TaskManager, a new one if
// there is none.
func (e *Environment) open(ch *channel, c Channel) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return fmt.Errorf("create gate: %w", errClosed)
	}
	if l := e.links[c.Resource]; l != nil && l.open(ch) {
		return nil
	}
	// One buffer is what the link's reader reads into.
	if err := e.pool.reserve(1, fmt.Sprintf("connect to %s", c.Resource)); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(context.Background())
	l := &link{env: e, target: c.Resource, addresses: c.Addresses, wakeup: make(chan struct{}, 1), stop: stop, channels: map[uint32]*channel{}}
	l.open(ch)
	e.links[c.Resource], e.stops[l] = l, stop
	e.running.Go(func() {
		l.run(ctx)
		e.pool.release(1)
		e.mu.Lock()
		delete(e.stops, l)
		e.mu.Unlock()
	})
	return nil
}

// Serve takes over an incoming connection whose hello has been read, answers it
// and serves the partitions it asks for. It does not block.
func (e *Environment) Serve(conn net.Conn, hello handshake.Hello) {
	if reason := e.refusal(hello); reason != "" {
		e.refuse(conn, hello, reason)
		return
	}
	if err := e.pool.reserve(minFrames, "accept a data connection"); err != nil {
		e.refuse(conn, hello, err.Error())
		return
	}
	buffers := minFrames + e.pool.borrow(maxFrames-minFrames)
	s := &session{env: e, conn: conn, source: hello.Source, frame: min(e.pool.size, hello.BufferSize), wakeup: make(chan struct{}, 1), views: map[uint32]*view{}}
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		e.pool.release(buffers)
		e.refuse(conn, hello, errClosed.Error())
		return
	}
	e.sessions[s] = struct{}{}
	e.running.Go(func() {
		s.run(buffers)
		e.mu.Lock()
		delete(e.sessions, s)
		e.mu.Unlock()
	})
	e.mu.Unlock()
}

// refusal says why a hello is not meant for this environment.
func (e *Environment) refusal(h handshake.Hello) string {
	switch {
	case h.Version != handshake.Version:
		return fmt.Sprintf("data protocol version %d, this is version %d", h.Version, handshake.Version)
	case h.Cluster != e.cluster:
		return fmt.Sprintf("cluster %s, this is cluster %s", h.Cluster, e.cluster)
	case h.Target != e.self:
		return fmt.Sprintf("TaskManager %s, this is %s", h.Target, e.self)
	case h.Job != e.job:
		return fmt.Sprintf("job %s, this worker runs job %s", h.Job, e.job)
	case h.BufferSize < LeastBufferSize:
		return fmt.Sprintf("network buffers of %d bytes, %d are the least", h.BufferSize, LeastBufferSize)
	default:
		return ""
	}
}

func (e *Environment) refuse(conn net.Conn, hello handshake.Hello, reason string) {
	e.log.Warn("data connection refused", "taskmanager", hello.Source, "address", conn.RemoteAddr(), "reason", reason)
	_ = handshake.Refuse(conn, handshake.Refused, reason)
	_ = conn.Close()
}

// Release gives up a partition: what was not consumed is dropped.
func (e *Environment) Release(id ident.PartitionID) { e.registry.Release(id) }

// Partitions is how many partitions are neither consumed nor released. While
// there are some the process must not end.
func (e *Environment) Partitions() int { return e.registry.Len() }

// Buffers is how many network buffers there are and how many are set aside.
func (e *Environment) Buffers() (total, reserved int) {
	total, reserved, _ = e.Use()
	return total, reserved
}

// Resize changes the number of network buffers. Share follows that number in
// messages and says what it is a part of. When there are fewer, those who have
// borrowed some give them back with the next record; held is how many there may
// be until then.
func (e *Environment) Resize(buffers int, share string) (held int) {
	return e.pool.resize(buffers, share)
}

func (e *Environment) forgetGate(g *Gate) {
	e.mu.Lock()
	delete(e.gates, g)
	e.mu.Unlock()
}

func (e *Environment) forgetLink(l *link) {
	e.mu.Lock()
	if e.links[l.target] == l {
		delete(e.links, l.target)
	}
	e.mu.Unlock()
}

// closePatience is how long Close waits for the peers.
const closePatience = 2 * time.Second

// Close closes the gates, releases the partitions and their files, gives the peers a short time
// to hear of it, and ends every connection. The tasks have ended before. The
// error says that buffers were not given back.
func (e *Environment) Close() error {
	e.mu.Lock()
	e.closed = true
	gates := make([]*Gate, 0, len(e.gates))
	for g := range e.gates {
		gates = append(gates, g)
	}
	e.mu.Unlock()
	for _, g := range gates {
		g.Close()
	}
	e.registry.Close()

	ended := make(chan struct{})
	go func() {
		e.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(closePatience):
		e.cut()
		<-ended
	}
	if e.blocking != nil {
		e.blocking.Close()
	}
	if reserved, taken := e.pool.use(); reserved != 0 || taken != 0 {
		return fmt.Errorf("close data plane: %d network buffers were not given back, %d are in use", reserved, taken)
	}
	return nil
}

// cut ends the connections that did not end by themselves.
func (e *Environment) cut() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, stop := range e.stops {
		stop(errClosed)
	}
	for s := range e.sessions {
		_ = s.conn.Close()
	}
}
