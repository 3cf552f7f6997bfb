package connector

import (
	"sync/atomic"
	"time"
)

// SinkMetrics is where a Writer, or its Committer, tells what has gone to the other
// system, about once a batch, from any goroutine. A nil one forgets it.
type SinkMetrics struct {
	records, bytes, errors, last atomic.Int64
}

// Sent says that records have gone there, as so many bytes, and how long that took.
func (m *SinkMetrics) Sent(records int, bytes int64, took time.Duration) {
	if m != nil {
		m.records.Add(int64(records))
		m.bytes.Add(bytes)
		m.last.Store(int64(took))
	}
}

// Failed says that the other system has refused records, or could not be reached with
// them.
func (m *SinkMetrics) Failed(records int) {
	if m != nil {
		m.errors.Add(int64(records))
	}
}

// SinkTotals are all that a sink has told. Last is how long it took to send the last
// time.
type SinkTotals struct {
	Records, Bytes, Errors int64
	Last                   time.Duration
}

// Totals gives them.
func (m *SinkMetrics) Totals() SinkTotals {
	return SinkTotals{Records: m.records.Load(), Bytes: m.bytes.Load(), Errors: m.errors.Load(), Last: time.Duration(m.last.Load())}
}

// SourceMetrics is where a Reader tells what it knows of the other system, now and
// then, from any goroutine. A nil one forgets it.
type SourceMetrics struct {
	pending atomic.Int64 // one more than the number; 0: not known
	errors  atomic.Int64
}

// Pending says how many records its splits have that it has not emitted.
func (m *SourceMetrics) Pending(records int64) {
	if m != nil {
		m.pending.Store(records + 1)
	}
}

// Waiting gives what Pending said last.
func (m *SourceMetrics) Waiting() (records int64, known bool) {
	n := m.pending.Load()
	return n - 1, n > 0
}

// Failed says that so many records more could not be read and were passed over.
func (m *SourceMetrics) Failed(records int) {
	if m != nil {
		m.errors.Add(int64(records))
	}
}

// Errors gives how many records could not be read.
func (m *SourceMetrics) Errors() int64 { return m.errors.Load() }
