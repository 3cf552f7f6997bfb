package task

import (
	"sync/atomic"
	"time"
)

// Metrics is what a task has done so far.
type Metrics struct {
	RecordsIn, RecordsOut int64
	BytesIn, BytesOut     int64
	Busy, Idle, Blocked   time.Duration
}

// counters are written by the task's goroutine once a batch and read by anyone.
type counters struct {
	recordsIn, recordsOut atomic.Int64
	bytesOut              atomic.Int64
	idle, blocked         atomic.Int64 // nanoseconds
	started, ended        atomic.Int64 // Unix nanoseconds; 0: not yet
}

// Metrics gives the task's figures. From any goroutine.
func (t *Task) Metrics() Metrics {
	c := &t.metrics
	m := Metrics{
		RecordsIn: c.recordsIn.Load(), RecordsOut: c.recordsOut.Load(), BytesOut: c.bytesOut.Load(),
		Idle: time.Duration(c.idle.Load()), Blocked: time.Duration(c.blocked.Load()),
	}
	start, end := c.started.Load(), c.ended.Load()
	if start == 0 {
		return m
	}
	if end == 0 {
		end = time.Now().UnixNano()
	}
	m.Busy = max(0, time.Duration(end-start)-m.Idle-m.Blocked)
	return m
}

// measureOutput copies the partitions' figures, which only this goroutine reads.
func (t *Task) measureOutput() {
	var bytes int64
	var blocked time.Duration
	for _, p := range t.partitions {
		m := p.Metrics()
		bytes += m.Bytes
		blocked += m.Blocked
	}
	t.metrics.bytesOut.Store(bytes)
	t.metrics.blocked.Store(int64(blocked))
}

// CountIn adds to the records taken. Once a batch.
func (t *Task) CountIn(records int) { t.metrics.recordsIn.Add(int64(records)) }

// CountOut adds to the records handed over. Once a batch.
func (t *Task) CountOut(records int) { t.metrics.recordsOut.Add(int64(records)) }
