package task

import (
	"sync/atomic"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/metrics"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/streamgraph"
)

// A Meter makes figures of what a task has counted. It belongs to one goroutine,
// which reads it about once a second; the task need not know.
type Meter struct {
	task    *Task
	history *metrics.History // nil before the task runs
	totals  []int64

	latency metrics.Sample
	probing bool
	probe   atomic.Int64 // nanoseconds the last probe waited; -1: it still does
}

// The totals that become rates; those of the operators follow, two each.
const (
	recordsIn = iota
	recordsOut
	bytesIn
	bytesOut
	batchesInLocal
	batchesInRemote
	batchesOut
	busy
	idle
	blocked
	mail
	taskTotals
)

// NewMeter makes the meter of a task.
func NewMeter(t *Task) *Meter { return &Meter{task: t} }

// Read gives the figures as they are; nil while the task does not run. The value
// is the caller's.
//
// Each reading puts a letter into the task's mail, unless the last one is still
// there, and looks how long the last one waited: so much is what any letter has
// to wait.
func (m *Meter) Read(now time.Time) *status.TaskFigures {
	t := m.task
	c, live := &t.metrics, t.live.Load()
	started := c.started.Load()
	if started == 0 || c.ended.Load() != 0 || live == nil {
		return nil
	}
	if m.history == nil {
		m.totals = make([]int64, taskTotals+2*len(t.operators))
		m.history = metrics.NewHistory(time.Unix(0, started), len(m.totals))
	}
	f := &status.TaskFigures{
		Initialization: time.Duration(c.initialization.Load()), HasInput: len(live.gates) > 0, InputWatermark: c.watermark.Load(),
		MailQueued: t.mail.waiting(), Operators: make([]status.OperatorFigures, len(t.operators)),
	}
	m.probeMail(now, f)
	m.count(now, live)
	m.history.Read(now, m.totals)
	m.fill(f)
	m.queues(live, f)
	return f
}

// probeMail takes what the last probe tells and sends the next one.
func (m *Meter) probeMail(now time.Time, f *status.TaskFigures) {
	if waited := m.probe.Load(); m.probing && waited >= 0 {
		m.probing = false
		m.latency.Take(time.Duration(waited).Milliseconds())
	}
	if !m.probing {
		m.probing = true
		m.probe.Store(-1)
		sent := time.Now()
		m.task.Mail(func() { m.probe.Store(int64(time.Since(sent))) })
	}
	f.MailLatency = m.latency.Describe()
}

// count reads the totals.
func (m *Meter) count(now time.Time, live *ends) {
	t, n := m.task, m.totals
	all := t.metricsAt(now)
	n[recordsIn], n[recordsOut], n[bytesIn], n[bytesOut] = all.RecordsIn, all.RecordsOut, all.BytesIn, all.BytesOut
	n[busy], n[idle], n[blocked], n[mail] = int64(all.Busy), int64(all.Idle), int64(all.Blocked), t.mail.taken.Load()
	n[batchesInRemote], n[batchesOut] = 0, 0
	for _, g := range live.gates {
		if r, ok := g.(remoteGate); ok {
			batches, _ := r.Remote()
			n[batchesInRemote] += batches
		}
	}
	n[batchesInLocal] = max(0, t.metrics.batchesIn.Load()-n[batchesInRemote])
	for _, p := range live.partitions {
		n[batchesOut] += p.Metrics().Batches
	}
	for i := range t.operators {
		o := &t.operators[i]
		in := all.RecordsIn
		if o.from >= 0 {
			in = n[taskTotals+2*o.from+1]
		}
		out := in
		if o.counts.Counted {
			out = o.emitted.Load()
		}
		n[taskTotals+2*i], n[taskTotals+2*i+1] = in, out
	}
}

// fill makes figures of the totals.
func (m *Meter) fill(f *status.TaskFigures) {
	count := func(i int) status.Count { return status.Count{Total: m.totals[i], PerSecond: m.history.PerSecond(i)} }
	share := func(i int) status.Share {
		perSecond := m.history.PerSecond(i) / float64(time.Millisecond)
		return status.Share{Total: time.Duration(m.totals[i]), MillisPerSecond: min(1000, max(0, perSecond))}
	}
	f.RecordsIn, f.RecordsOut, f.BytesIn, f.BytesOut = count(recordsIn), count(recordsOut), count(bytesIn), count(bytesOut)
	f.BatchesInLocal, f.BatchesInRemote, f.BatchesOut = count(batchesInLocal), count(batchesInRemote), count(batchesOut)
	f.Busy, f.Idle, f.Blocked, f.Mail = share(busy), share(idle), share(blocked), count(mail)
	t := m.task
	for i := range t.operators {
		o := &t.operators[i]
		in := f.InputWatermark
		if o.from >= 0 {
			in = f.Operators[o.from].OutputWatermark
		}
		out := in // an operator passes a watermark on before it takes the next
		if o.counts.Marks {
			out = o.watermark.Load()
		}
		f.Operators[i] = status.OperatorFigures{ID: o.id, Name: o.name, Source: o.kind == streamgraph.Source,
			RecordsIn: count(taskTotals + 2*i), RecordsOut: count(taskTotals + 2*i + 1), InputWatermark: in, OutputWatermark: out,
			DropsLate: o.counts.Dates, Late: o.late.Load()}
		m.ends(o, &f.Operators[i])
		if o.from == 0 && o.counts.Latest != nil && f.Operators[0].Source {
			m.lags(o, &f.Operators[0], out)
		}
		if since := t.metrics.idleSince.Load(); since != 0 && f.Operators[i].Source {
			f.Operators[i].SourceIdle = max(0, time.Since(time.Unix(0, since)))
		}
	}
}

// ends adds what is known of the systems at both ends of a job, and of alignment.
func (m *Meter) ends(o *operatorCounts, f *status.OperatorFigures) {
	if o.counts.Aligned {
		f.Drift = new(time.Duration(o.drift.Load()) * time.Millisecond)
	}
	if s := o.counts.Sink; s != nil {
		all := s.Totals()
		f.Sent = &status.SentFigures{Records: all.Records, Bytes: all.Bytes, Errors: all.Errors, Last: all.Last}
	}
	if s := o.counts.Source; s != nil {
		if records, known := s.Waiting(); known {
			f.Pending = &records
		}
		f.Unread = s.Errors()
	}
}

// lags adds how far a source is behind, which the operator behind it knows that gives
// its records their event time.
func (m *Meter) lags(o *operatorCounts, source *status.OperatorFigures, watermark int64) {
	if lag := o.lag.Load(); lag != batch.NoTimestamp {
		source.EmitLag = new(time.Duration(lag) * time.Millisecond)
	}
	if watermark != status.NoWatermark && watermark != element.MaxWatermark {
		source.WatermarkLag = new(time.Duration(m.task.Now()-watermark) * time.Millisecond)
	}
}

// queues reads how much waits at both ends.
func (m *Meter) queues(live *ends, f *status.TaskFigures) {
	var taken, room, held, limit int
	for _, g := range live.gates {
		if q, ok := g.(queuedGate); ok {
			elements, t, r := q.Queued()
			f.InQueued, taken, room = f.InQueued+elements, taken+t, room+r
		}
	}
	for _, p := range live.partitions {
		if q, ok := p.(queuedPartition); ok {
			batches, r := q.Queued()
			held, limit = held+batches, limit+r
			f.BackPressured = f.BackPressured || q.Waits()
		}
	}
	f.OutQueued = held
	if room > 0 {
		f.InUse = float64(taken) / float64(room)
	}
	if limit > 0 {
		f.OutUse = float64(held) / float64(limit)
	}
}
