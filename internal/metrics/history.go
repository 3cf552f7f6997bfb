package metrics

import "time"

// Rates are taken over the last window, from readings that lie at least step
// apart, as Flink's are.
const (
	window = time.Minute
	step   = 5 * time.Second
	// least is how much must have been seen to tell a rate.
	least = 100 * time.Millisecond
)

// A History turns totals that only rise into rates. It belongs to one goroutine.
//
// Invariant: rows are ordered by time, at least step apart, and at most one is
// older than window before the newest reading; the first one is all zero.
type History struct {
	rows   []reading
	newest reading
}

type reading struct {
	at     time.Time
	totals []int64
}

// NewHistory makes a history of n totals that were all zero at the given time.
func NewHistory(at time.Time, n int) *History {
	first := reading{at, make([]int64, n)}
	return &History{rows: []reading{first}, newest: first}
}

// Read takes the totals as they are now. A clock that goes back is not followed.
//
// The obvious way, Flink's, divides by the whole window from the beginning, so
// that a job seems to speed up for a minute. We divide by the time that was seen.
func (h *History) Read(now time.Time, totals []int64) {
	if now.Before(h.newest.at) {
		return
	}
	h.newest.at = now
	if &h.newest.totals[0] == &h.rows[0].totals[0] {
		h.newest.totals = make([]int64, len(totals))
	}
	copy(h.newest.totals, totals)
	if now.Sub(h.rows[len(h.rows)-1].at) < step {
		return
	}
	row := reading{now, nil}
	for len(h.rows) > 1 && now.Sub(h.rows[1].at) >= window {
		row.totals = h.rows[0].totals // reused
		h.rows = append(h.rows[:0], h.rows[1:]...)
	}
	row.totals = append(row.totals[:0], totals...)
	h.rows = append(h.rows, row)
}

// PerSecond is how much the i-th total rises in a second; 0 until a while has
// been seen.
func (h *History) PerSecond(i int) float64 {
	seen := h.newest.at.Sub(h.rows[0].at)
	if seen < least {
		return 0
	}
	return float64(h.newest.totals[i]-h.rows[0].totals[i]) / seen.Seconds()
}
