package record

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/snapshot"
)

var vertex = ident.VertexID{ID: ident.ID{1}}

func at(millis int64) time.Time { return time.UnixMilli(millis) }

func begin(t *Tracker, id int64) {
	t.Begin(id, snapshot.Checkpoint, snapshot.Canonical, []Part{{Vertex: vertex, Subtasks: []int{0, 1}}}, at(id*1000))
}

func ids(all []*Checkpoint) (ids []int64) {
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return ids
}

func TestHistoryIsBounded(t *testing.T) {
	tracker := NewTracker(3, Settings{})
	for id := range int64(6) {
		begin(tracker, id+1)
		switch id + 1 {
		case 1: // stays in progress
		case 2:
			tracker.Fail(2, "why", at(2500))
		default:
			tracker.Complete(id+1, "mem:/x")
		}
	}
	v := tracker.View()
	if got := ids(v.History); !slices.Equal(got, []int64{6, 5, 1}) {
		t.Errorf("history %v", got)
	}
	if got := ids(v.All()); !slices.Equal(got, []int64{6, 5, 1, 2}) { // the failed one is the newest of its kind
		t.Errorf("all %v", got)
	}
	if v.Find(2) != v.Failed || v.Find(3) != nil || v.Find(6) != v.Completed {
		t.Error("Find gives another")
	}
	if want := (Counts{Total: 6, InProgress: 1, Completed: 4, Failed: 1}); v.Counts != want {
		t.Errorf("counts %+v", v.Counts)
	}
}

// A View does not change with what comes later.
func TestViewStays(t *testing.T) {
	tracker := NewTracker(10, Settings{})
	begin(tracker, 1)
	before := tracker.View()
	tracker.Ack(1, vertex, 1, Figures{State: 7}, at(1010))
	tracker.Ack(1, ident.VertexID{}, 0, Figures{State: 7}, at(1010)) // of no vertex
	tracker.Ack(1, vertex, 9, Figures{State: 7}, at(1010))           // of no subtask
	between := tracker.View()
	tracker.Complete(1, "mem:/x")
	done := tracker.View()
	tracker.Discard(1)
	if c := before.Find(1); c.Acknowledged != 0 || !c.Tasks[0].Subtasks[1].Acked.IsZero() || c.Duration() != -1 {
		t.Errorf("before: %+v", c)
	}
	if c := between.Find(1); c.Acknowledged != 1 || c.State != 7 || c.Status != InProgress || c.Duration() != 10*time.Millisecond {
		t.Errorf("between: %+v", c)
	}
	if done.Find(1).Discarded || done.Completed.Discarded || !tracker.View().Find(1).Discarded || !tracker.View().Completed.Discarded {
		t.Error("what was discarded later is shown, or is not")
	}
}

// percentile by hand: all values sorted, the place p·(n+1).
func percentile(values []int64, p float64) Percentile {
	sorted := slices.Sorted(slices.Values(values))
	place := p * float64(len(sorted)+1) / 100
	switch i := int(place); {
	case i < 1:
		return Percentile(float64(sorted[0]))
	case i >= len(sorted):
		return Percentile(float64(sorted[len(sorted)-1]))
	default:
		return Percentile(float64(sorted[i-1]) + (place-float64(i))*float64(sorted[i]-sorted[i-1]))
	}
}

func TestSummary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 50), 1, 60).Draw(t, "values")
		var s summary
		var sum int64
		for _, v := range values {
			s.add(v)
			sum += v
		}
		got := s.spread()
		want := Spread{
			Min: slices.Min(values), Max: slices.Max(values), Average: sum / int64(len(values)), P50: percentile(values, 50),
			P90: percentile(values, 90), P95: percentile(values, 95), P99: percentile(values, 99), P999: percentile(values, 99.9),
		}
		if got != want {
			t.Fatalf("%v: %+v, want %+v", values, got, want)
		}
	})
}

func TestSummaryForgetsTheOldest(t *testing.T) {
	var s summary
	for v := range int64(window + 500) {
		s.add(v)
	}
	s.add(-1) // is not known
	got := s.spread()
	if got.Min != 0 || got.Max != window+499 || got.P50 != 500+Percentile(window-1)/2 || len(s.sorted) != window || !slices.IsSorted(s.sorted) {
		t.Errorf("%+v of %d values", got, len(s.sorted))
	}
	if few := SpreadOf([]int64{4, -1, 1}); few.Min != 1 || few.Max != 4 || few.Average != 2 || !math.IsNaN(float64(few.P50)) {
		t.Errorf("%+v", few)
	}
}
