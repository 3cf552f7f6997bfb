package task_test

import (
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/state"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/streamgraph"
	"github.com/weirstream/weir/internal/task"
)

// waiting is a source that emits the numbers from 1 to n and then waits until
// it is released.
func waiting(n int64, release <-chan struct{}) operator.SourceFactory {
	return operator.SourceFunc(func(c *operator.Context, out any) operator.Source {
		push := operator.Output[int64](out).Push
		next := int64(1)
		go func() {
			<-release
			c.Wake()
		}()
		return poll(func() operator.Progress {
			if next <= n {
				for ; next <= n; next++ {
					push(next, batch.NoTimestamp)
				}
				c.CountIn(int(n))
				return operator.More
			}
			select {
			case <-release:
				return operator.Done
			default:
				return operator.Wait
			}
		})
	})
}

type poll func() operator.Progress

func (p poll) Poll() operator.Progress { return p() }

// near says whether a rate is what it should be but for the moments at which
// tasks do something.
func near(got, want float64) bool { return math.Abs(got-want) < 10 }

func TestFiguresOfAnIdleChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var got []int64
		var mu sync.Mutex
		p := &program{}
		s := source(1, 0)
		s.Operator = waiting(1000, release)
		ints := operator.NewStream[int64]()
		p.add(s, nil, 0, nil)
		m := p.add(&streamgraph.Node{Kind: streamgraph.Transform, Name: "Map", Parallelism: 1, Operator: operator.Map(func(v int64) int64 { return v }), Stream: ints}, s, streamgraph.Forward, nil)
		f := p.add(&streamgraph.Node{Kind: streamgraph.Transform, Name: "Filter", Parallelism: 1, Operator: operator.Filter(func(v int64) bool { return v%4 == 0 }), Stream: ints}, m, streamgraph.Forward, nil)
		p.add(&streamgraph.Node{Kind: streamgraph.Sink, Name: "Sink", Parallelism: 1, Operator: collect(&got, &mu)}, f, streamgraph.Forward, nil)
		r := begin(t, p, jobgraph.Pipelined)
		meter := task.NewMeter(r.tasks[0])
		var figures *status.TaskFigures
		for range 10 {
			time.Sleep(time.Second)
			figures = meter.Read(time.Now())
		}
		if figures.RecordsIn.Total != 1000 || !near(figures.RecordsIn.PerSecond, 100) || figures.RecordsOut.Total != 0 || figures.HasInput {
			t.Errorf("records in %+v, out %+v", figures.RecordsIn, figures.RecordsOut)
		}
		if !near(figures.Idle.MillisPerSecond, 1000) || !near(figures.Busy.MillisPerSecond, 0) || figures.Blocked.Total != 0 || figures.BackPressured {
			t.Errorf("idle %+v, busy %+v, blocked %+v", figures.Idle, figures.Busy, figures.Blocked)
		}
		if figures.MailLatency.Values != 9 || figures.MailLatency.Max != 0 || figures.Mail.Total < 9 {
			t.Errorf("mail %+v, latency %+v", figures.Mail, figures.MailLatency)
		}
		for i, want := range []status.OperatorFigures{
			{Name: "Source", Source: true, RecordsIn: status.Count{Total: 1000}, RecordsOut: status.Count{Total: 1000}},
			{Name: "Map", RecordsIn: status.Count{Total: 1000}, RecordsOut: status.Count{Total: 1000}},
			{Name: "Filter", RecordsIn: status.Count{Total: 1000}, RecordsOut: status.Count{Total: 250}},
			{Name: "Sink", RecordsIn: status.Count{Total: 250}},
		} {
			o := figures.Operators[i]
			if o.Name != want.Name || o.Source != want.Source || o.RecordsIn.Total != want.RecordsIn.Total || o.RecordsOut.Total != want.RecordsOut.Total ||
				o.OutputWatermark != status.NoWatermark || len(o.ID) != 32 {
				t.Errorf("operator %d: %+v, want %+v", i, o, want)
			}
		}
		close(release)
		synctest.Wait()
		if figures := meter.Read(time.Now()); figures != nil {
			t.Errorf("an ended task has figures: %+v", figures)
		}
		r.end()
	})
}

func TestFiguresUnderBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := &program{}
		s := p.add(source(1, 100_000), nil, 0, nil)
		p.add(&streamgraph.Node{Kind: streamgraph.Sink, Name: "Sink", Parallelism: 1, Operator: operator.Sink(func(*operator.Context) (func(int64) error, func() error, error) {
			return func(int64) error {
				<-release
				return nil
			}, nil, nil
		})}, s, streamgraph.Rebalance, nil)
		r := begin(t, p, jobgraph.Pipelined)
		meters := []*task.Meter{task.NewMeter(r.tasks[0]), task.NewMeter(r.tasks[1])}
		var figures [2]*status.TaskFigures
		for range 30 {
			time.Sleep(time.Second)
			for i, m := range meters {
				figures[i] = m.Read(time.Now())
			}
		}
		held, slow := figures[0], figures[1]
		if !held.BackPressured || !near(held.Blocked.MillisPerSecond, 1000) || !near(held.Busy.MillisPerSecond, 0) || held.OutQueued == 0 || held.OutUse <= 0 || held.BatchesOut.Total == 0 {
			t.Errorf("the source: %+v", held)
		}
		if held.MailQueued != 1 || held.MailLatency.Values != 0 {
			t.Errorf("a blocked task took its mail: %+v", held)
		}
		if slow.BackPressured || !near(slow.Busy.MillisPerSecond, 1000) || !slow.HasInput || slow.InQueued == 0 || slow.BatchesInLocal.Total != 1 || slow.BatchesInRemote.Total != 0 ||
			slow.InputWatermark != status.NoWatermark {
			t.Errorf("the sink: %+v", slow)
		}
		close(release)
		r.end()
		for i, end := range []task.Metrics{r.tasks[0].Metrics(), r.tasks[1].Metrics()} {
			if end.RecordsIn != 100_000 || end.Busy+end.Idle+end.Blocked < 30*time.Second {
				t.Errorf("task %d ended with %+v", i, end)
			}
		}
	})
}

// A source without input has no watermark until its end, which is the last one.
func TestTheLastWatermarkIsSeen(t *testing.T) {
	if element.MaxWatermark <= status.NoWatermark {
		t.Fatal("watermarks rise")
	}
	p := &program{}
	var seen []int64
	s := p.add(source(1, 10), nil, 0, nil)
	p.add(&streamgraph.Node{Kind: streamgraph.Sink, Name: "Sink", Parallelism: 1, Operator: operator.FactoryFunc(func(*operator.Context, any) any {
		return &operator.Receiver[int64]{Push: func(int64, int64) {}, Watermark: func(at int64) { seen = append(seen, at) }, Finish: func() {}}
	})}, s, streamgraph.Rebalance, nil)
	run(t, p)
	if len(seen) != 1 || seen[0] != element.MaxWatermark {
		t.Errorf("watermarks %v", seen)
	}
}

// An operator that emits watermarks of its own tells them, those behind it have
// them as their input's, and records that came too late are counted.
func TestOwnWatermarksAndLateRecordsAreSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := &program{}
		s := source(1, 0)
		s.Operator = waiting(100, release)
		ints := operator.NewStream[int64]()
		p.add(s, nil, 0, nil)
		marks := p.add(&streamgraph.Node{Kind: streamgraph.Transform, Name: "Watermarks", Parallelism: 1, Stream: ints,
			Operator: operator.Watermarks(operator.EventTime[int64]{Timestamp: func(v int64) int64 { return v % 50 }})}, s, streamgraph.Forward, nil)
		count := state.Aggregator[int64, int64, int64]{Create: func() int64 { return 0 }, Add: func(n *int64, _ int64) { *n++ }, Result: func(n *int64) int64 { return *n }}
		windows := p.add(&streamgraph.Node{Kind: streamgraph.Transform, Name: "Windows", Parallelism: 1, Stream: ints, Operator: operator.AggregateSlices(operator.Sliding{Size: 10, Slide: 10},
			func(int64) int64 { return 0 }, count, nil, func(_ int64, _ operator.Window, n int64) int64 { return n })}, marks, streamgraph.Forward, nil)
		var got []int64
		var mu sync.Mutex
		p.add(&streamgraph.Node{Kind: streamgraph.Sink, Name: "Sink", Parallelism: 1, Operator: collect(&got, &mu)}, windows, streamgraph.Forward, nil)
		r := begin(t, p, jobgraph.Pipelined)
		meter := task.NewMeter(r.tasks[0])
		time.Sleep(time.Second)
		o := meter.Read(time.Now()).Operators
		if o[0].OutputWatermark != status.NoWatermark || o[1].OutputWatermark != 48 || o[2].InputWatermark != 48 || o[3].InputWatermark != 48 {
			t.Errorf("watermarks in %+v", o)
		}
		// Of the second round of times only those of the last window are in time.
		if !o[2].DropsLate || o[2].Late != 41 || o[1].DropsLate {
			t.Errorf("late records in %+v", o)
		}
		// The source is as far behind as the records that it emitted a second ago.
		emitted, watermark := time.Since(time.UnixMilli(49))-time.Second, time.Since(time.UnixMilli(48))
		if lag := o[0].EmitLag; lag == nil || *lag < emitted || *lag > emitted+time.Second/2 || o[0].WatermarkLag == nil || *o[0].WatermarkLag != watermark || o[1].EmitLag != nil {
			t.Errorf("emitted %v after its time with a watermark of %v ago, want about %v and %v", lag, o[0].WatermarkLag, emitted, watermark)
		}
		close(release)
		r.end()
	})
}
