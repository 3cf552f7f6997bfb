package failover

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// model is the exponential-delay strategy as its specification writes it, in
// milliseconds; the pauses it allows lie between two bounds.
type model struct {
	Exponential
	k    int
	next int64 // minus infinity: there was no failure
}

// failure gives whether it is a new attempt, and the shortest and the longest
// time at which the restart may be due.
func (m *model) failure(now int64) (fresh bool, least, most int64) {
	if now <= m.next {
		return false, m.next, m.next
	}
	if m.next == math.MinInt64 || now-m.next >= m.Reset.Milliseconds() {
		m.k = 0
	}
	initial, longest := m.Initial.Milliseconds(), m.Max.Milliseconds()
	b := min(float64(initial)*math.Pow(m.Multiplier, float64(m.k)), 1e15)
	base := int64(b)
	j := int64(float64(base) * m.Jitter)
	bound := func(pause int64) int64 { return now + max(initial, min(pause, longest)) }
	m.k++
	return true, bound(base - j), bound(base + j)
}

// TestExponentialDelayIsItsSpecification plays random failures.
func TestExponentialDelayIsItsSpecification(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	merged, reset, used, longest := 0, 0, 0, 0
	for range 2000 {
		e := Exponential{
			Initial: time.Duration(1+r.IntN(3000)) * time.Millisecond, Multiplier: 1 + float64(1+r.IntN(40))/10,
			Reset: time.Duration(1+r.IntN(100_000)) * time.Millisecond, Jitter: float64(r.IntN(11)) / 10, Attempts: 1 + r.IntN(20),
		}
		e.Max = e.Initial + time.Duration(r.IntN(60_000))*time.Millisecond
		s, m := NewExponentialDelay(e, r.Int64N), &model{Exponential: e, next: math.MinInt64}
		now := int64(1_000_000)
		for range 30 {
			before := m.k
			fresh, least, most := m.failure(now)
			at := time.UnixMilli(now)
			if got := s.Failed(at); got != fresh {
				t.Fatalf("seed %d, %+v: new attempt %t, want %t", seed, e, got, fresh)
			}
			m.next = s.next.UnixMilli() // chance has chosen one of the allowed ones
			if m.next < least || m.next > most {
				t.Fatalf("seed %d, %+v, restart %d: due after %d ms, want %d to %d", seed, e, m.k, m.next-now, least-now, most-now)
			}
			if got, want := s.Delay(at), time.Duration(max(0, m.next-now))*time.Millisecond; got != want {
				t.Fatalf("seed %d, %+v: pause %s, want %s", seed, e, got, want)
			}
			if got := s.MayRestart(); got != (m.k <= e.Attempts) {
				t.Fatalf("seed %d, %+v: may restart %t at restart %d", seed, e, got, m.k)
			}
			switch {
			case !fresh:
				merged++
			case m.k == 1 && before > 1:
				reset++
			case m.k > e.Attempts:
				used++
			case least-now == e.Max.Milliseconds():
				longest++
			}
			now += r.Int64N(2 * (m.next - now + e.Reset.Milliseconds()))
			if r.IntN(2) == 0 {
				now = m.next + r.Int64N(10) - 2
			}
		}
	}
	if merged < 1000 || reset < 1000 || used < 100 || longest < 100 {
		t.Errorf("seed %d: too little was seen: %d merged, %d resets, %d used up, %d at the maximum", seed, merged, reset, used, longest)
	}
}

// TestFailureRateIsItsSpecification keeps all failures, and counts.
func TestFailureRateIsItsSpecification(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	refused := 0
	for range 2000 {
		most, interval := 1+r.IntN(5), time.Duration(1+r.IntN(1000))*time.Millisecond
		s := NewFailureRate(most, interval, time.Second)
		var all []time.Time
		now := time.UnixMilli(1)
		for range 30 {
			all = append(all, now)
			s.Failed(now)
			want := len(all) <= most || now.Sub(all[len(all)-1-most]) > interval
			if got := s.MayRestart(); got != want {
				t.Fatalf("seed %d, %d failures in %s: may restart %t, want %t; failures at %v", seed, most, interval, got, want, all)
			}
			if !want {
				refused++
			}
			now = now.Add(time.Duration(r.Int64N(2*int64(interval)/int64(most)+1) / 1e6 * 1e6))
		}
	}
	if refused < 1000 {
		t.Errorf("seed %d: only %d were refused", seed, refused)
	}
}
