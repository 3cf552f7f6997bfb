package task

import (
	"sync/atomic"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/streamgraph"
)

// Metrics is what a task has done so far.
type Metrics struct {
	RecordsIn, RecordsOut int64
	BytesIn, BytesOut     int64
	Busy, Idle, Blocked   time.Duration
}

// counters are written by the task's goroutine, at most once a batch, and read
// by anyone. Times are Unix nanoseconds, 0: not yet.
type counters struct {
	recordsIn, recordsOut atomic.Int64
	batchesIn             atomic.Int64
	idle                  atomic.Int64 // nanoseconds, of waits that ended
	idleSince             atomic.Int64 // 0: does not wait
	crowded               atomic.Int64 // nanoseconds, of waits for room in outputs that ended
	crowdedSince          atomic.Int64 // 0: does not wait
	initialization        atomic.Int64 // nanoseconds
	started, ended        atomic.Int64
	watermark             atomic.Int64
}

func (c *counters) idleFrom(now time.Time) { c.idleSince.Store(now.UnixNano()) }

func (c *counters) idleUntil(now time.Time) {
	c.idle.Add(max(0, now.UnixNano()-c.idleSince.Load()))
	c.idleSince.Store(0)
}

func (c *counters) crowdedFrom() { c.crowdedSince.Store(time.Now().UnixNano()) }

func (c *counters) crowdedUntil() {
	c.crowded.Add(max(0, time.Now().UnixNano()-c.crowdedSince.Load()))
	c.crowdedSince.Store(0)
}

// ends are the task's gates and partitions, for who measures them. What they
// count may be read from any goroutine.
type ends struct {
	gates      []Gate
	partitions []Partition
}

// operatorCounts are an operator's counts and what was published of them.
type operatorCounts struct {
	id     string
	name   string
	kind   streamgraph.Kind
	from   int // place of the operator that feeds it in the chain; -1: the head
	counts operator.Counts
	// emitted, late and watermark are the counts of those names as of late.
	emitted, late, watermark atomic.Int64
	// managed and drift are counts of those names as of late.
	managed, drift atomic.Int64
	// latest is that of counts, and lag how long after it that record was emitted; both
	// are -1<<63 before there is one. Milliseconds.
	latest int64
	lag    atomic.Int64
}

// operatorsOf lists the operators of a chain, each after the one that feeds it.
func operatorsOf(chain *streamgraph.Chain) []operatorCounts {
	all := make([]operatorCounts, len(chain.Nodes))
	place := map[*streamgraph.Node]int{}
	for i, n := range chain.Nodes {
		place[n] = i
	}
	for i, n := range chain.Nodes {
		o := &all[i]
		described := chain.Vertex.Operators[i]
		o.id, o.name, o.kind, o.from = described.ID.String(), described.Name, n.Kind, -1
		o.latest = batch.NoTimestamp
		o.lag.Store(batch.NoTimestamp)
		o.counts.Counted = n.Kind == streamgraph.Sink // which emits nothing
		for _, e := range n.In {
			if from, inside := place[e.From]; inside && i > 0 {
				o.from = from
			}
		}
	}
	return all
}

// publish lets others see what the operators have counted. It is called when
// output is flushed, so many times a second at most.
func (t *Task) publish() {
	for i := range t.operators {
		o := &t.operators[i]
		o.emitted.Store(o.counts.Emitted)
		o.late.Store(o.counts.Late)
		o.watermark.Store(o.counts.Watermark)
		o.managed.Store(o.counts.Managed)
		o.drift.Store(o.counts.Drift)
		if o.counts.Latest == nil {
			continue
		}
		if latest := o.counts.Latest(); latest != o.latest {
			o.latest = latest
			o.lag.Store(t.Now() - latest)
		}
	}
}

// Managed is how many bytes of managed memory the task's operators hold. From any
// goroutine.
func (t *Task) Managed() int64 {
	sum := int64(0)
	for i := range t.operators {
		sum += t.operators[i].managed.Load()
	}
	return sum
}

// Metrics gives the task's counts. From any goroutine.
func (t *Task) Metrics() Metrics { return t.metricsAt(time.Now()) }

func (t *Task) metricsAt(now time.Time) Metrics {
	c, at := &t.metrics, now.UnixNano()
	m := Metrics{RecordsIn: c.recordsIn.Load(), RecordsOut: c.recordsOut.Load()}
	if live := t.live.Load(); live != nil {
		for _, p := range live.partitions {
			out := p.Metrics()
			m.BytesOut += out.Bytes
			m.Blocked += out.Blocked
		}
		for _, g := range live.gates {
			if r, ok := g.(remoteGate); ok {
				_, bytes := r.Remote()
				m.BytesIn += bytes
			}
		}
	}
	m.Blocked += time.Duration(c.crowded.Load())
	start, end := c.started.Load(), c.ended.Load()
	if start == 0 {
		return m
	}
	m.Idle = time.Duration(c.idle.Load())
	if end == 0 {
		end = at
		if since := c.idleSince.Load(); since != 0 {
			m.Idle += time.Duration(max(0, at-since))
		}
		if since := c.crowdedSince.Load(); since != 0 {
			m.Blocked += time.Duration(max(0, at-since))
		}
	}
	m.Busy = max(0, time.Duration(end-start)-m.Idle-m.Blocked)
	return m
}

// What gates and partitions may tell beside what they must.
type (
	// remoteGate counts what came from other processes.
	remoteGate interface{ Remote() (batches, bytes int64) }
	// queuedGate knows how much waits, and how much of its room is taken.
	queuedGate interface {
		Queued() (elements, taken, room int)
	}
	// queuedPartition likewise.
	queuedPartition interface {
		Queued() (batches, room int)
		Waits() bool
	}
)

// CountIn adds to the records taken. Once a batch.
func (t *Task) CountIn(records int) { t.metrics.recordsIn.Add(int64(records)) }

// CountOut adds to the records handed over. Once a batch.
func (t *Task) CountOut(records int) { t.metrics.recordsOut.Add(int64(records)) }
