package process

import (
	"runtime"
	"time"

	"github.com/weirstream/weir/internal/metrics"
	"github.com/weirstream/weir/internal/status"
)

// rates makes rates of totals: collection over a minute, and the load of the
// processors over the time since the last reading.
type rates struct {
	collection *metrics.History
	begun      time.Duration // CollectionTime at the first reading
	first      bool
	at         time.Time
	cpu        time.Duration
}

func newRates(now time.Time) *rates {
	return &rates{collection: metrics.NewHistory(now, 1), first: true, at: now}
}

func (r *rates) read(now time.Time, f *status.ProcessFigures) {
	if r.first {
		r.first, r.begun, r.cpu = false, f.CollectionTime, f.CPU
	}
	r.collection.Read(now, []int64{int64(f.CollectionTime - r.begun)})
	f.CollectionMillisPerSecond = r.collection.PerSecond(0) / float64(time.Millisecond)
	if passed := now.Sub(r.at); passed > 0 {
		f.CPULoad = min(1, max(0, float64(f.CPU-r.cpu)/float64(passed)/float64(runtime.NumCPU())))
		r.at, r.cpu = now, f.CPU
	}
}
