package connectors

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/stream"
)

// lanes is a source whose splits are read at different speeds: split i gives records
// 0, 1, 2, … of which a reader emits pace[i] a millisecond, for each of its splits. Each
// record is a second of event time after the one before.
type lanes struct {
	pace     []int
	records  int // in each split
	pausable bool
}

// tick is record n of a lane.
type tick struct {
	Lane int
	N    int64
}

func (t tick) at() time.Time { return time.Unix(t.N, 0) }

func (l lanes) Bounded() bool { return true }

func (l lanes) Open(c connector.SourceContext, out connector.Output[tick]) (connector.Reader, error) {
	r := &laneReader{lanes: l, out: out}
	for i := c.Subtask; i < len(l.pace) && !c.Restored; i += c.Parallelism {
		r.begin(i, 0)
	}
	if l.pausable {
		return &pausableReader{r}, nil
	}
	return r, nil
}

type laneReader struct {
	lanes
	out  connector.Output[tick]
	mine []*lane
}

type lane struct {
	number int
	next   int64
	paused bool
	out    connector.SplitOutput[tick]
}

func (r *laneReader) begin(number int, next int64) {
	r.mine = append(r.mine, &lane{number: number, next: next, out: r.out.Begin(strconv.Itoa(number))})
}

func (r *laneReader) Add(split []byte) error {
	var number int
	var next int64
	_, err := fmt.Sscan(string(split), &number, &next)
	r.begin(number, next)
	return err
}

func (r *laneReader) NoMore() error { return nil }
func (r *laneReader) Close() error  { return nil }

func (r *laneReader) Splits() (all [][]byte, err error) {
	for _, l := range r.mine {
		all = append(all, fmt.Appendf(nil, "%d %d", l.number, l.next))
	}
	return all, nil
}

func (r *laneReader) Poll() (connector.Progress, error) {
	time.Sleep(time.Millisecond) // as a server would take
	left := r.mine[:0]
	for _, l := range r.mine {
		for range r.pace[l.number] {
			if l.paused || l.next == int64(r.records) {
				break
			}
			l.out.Emit(tick{l.number, l.next}, batch.NoTimestamp)
			l.next++
		}
		if l.next < int64(r.records) {
			left = append(left, l)
		} else {
			l.out.End()
		}
	}
	if r.mine = left; len(left) == 0 {
		return connector.Done, nil
	}
	return connector.More, nil
}

// pausableReader can leave splits alone.
type pausableReader struct{ *laneReader }

func (r *pausableReader) Pause(split string, paused bool) error {
	for _, l := range r.mine {
		if strconv.Itoa(l.number) == split {
			l.paused = paused
		}
	}
	return nil
}

// stumble fails a few times on its way.
func stumble(fails *atomic.Int64) func(t tick) tick {
	return func(t tick) tick {
		if t.N%500 == 333 && fails.Add(-1) >= 0 {
			panic("it was to fail")
		}
		return t
	}
}

// Splits that are read at different speeds are in order each, so none of their records
// is late, whoever fails, and whether or not operations are chained.
func TestASlowSplitIsNotLate(t *testing.T) { synctest.Test(t, aSlowSplitIsNotLate) }

func aSlowSplitIsNotLate(t *testing.T) {
	for _, options := range [][]stream.Option{
		{stream.DefaultParallelism(1)}, {stream.DefaultParallelism(2)}, {stream.DefaultParallelism(1), stream.DisableOperatorChaining()},
	} {
		var fails atomic.Int64
		fails.Store(3)
		env := stream.NewEnv(append(options, quiet, stream.Mode(stream.Streaming), stream.WatermarkInterval(5*time.Millisecond),
			stream.CheckpointInterval(20*time.Millisecond), stream.Restart(stream.FixedDelayRestart(10, 10*time.Millisecond)))...)
		counts := stream.FromSource(env, lanes{pace: []int{1, 7, 30}, records: 1000}).
			Watermarks(stream.Monotonic(tick.at)).
			Map(stumble(&fails)).
			KeyBy(func(t tick) int { return t.Lane }).
			Window(stream.Tumbling(100 * time.Second)).
			Aggregate(stream.Count[tick]()).
			Collect()
		execute(t, env)
		sum := map[string]int64{}
		for _, c := range counts.Values() {
			sum[fmt.Sprint(c.Key, c.Start)] = c.Value
		}
		for window, n := range sum {
			if n != 100 {
				t.Errorf("window %s has %d records, want 100", window, n)
			}
		}
		if len(sum) != 30 || fails.Load() > 0 {
			t.Errorf("%d windows, want 30; %d failures are left", len(sum), fails.Load())
		}
	}
}

// A source that is much faster than another waits for it, each of its splits by itself
// if they can be paused, also after failures, and goes on when the other has ended.
func TestAlignedSourcesStayTogether(t *testing.T) { synctest.Test(t, alignedSourcesStayTogether) }

func alignedSourcesStayTogether(t *testing.T) {
	const drift, records = 50, 2000
	for _, test := range []struct {
		name        string
		fast, slow  lanes
		parallelism int
		fails       int64
	}{
		{"two subtasks", lanes{pace: []int{40, 30}, records: records}, lanes{pace: []int{1}, records: records / 2}, 2, 0},
		{"with failures", lanes{pace: []int{40, 30}, records: records}, lanes{pace: []int{1}, records: records / 2}, 2, 2},
		{"splits of one subtask", lanes{pace: []int{40, 2, 30}, records: records, pausable: true}, lanes{pace: []int{1}, records: records / 2}, 1, 2},
	} {
		var fails, behind, most atomic.Int64
		fails.Store(test.fails)
		env := stream.NewEnv(quiet, stream.DefaultParallelism(test.parallelism), stream.Mode(stream.Streaming), stream.WatermarkInterval(20*time.Millisecond),
			stream.CheckpointInterval(30*time.Millisecond), stream.Restart(stream.FixedDelayRestart(10, 10*time.Millisecond)))
		strategy := stream.Monotonic(tick.at).Align("all", drift*time.Second, 5*time.Millisecond)
		slow := stream.FromSource(env, test.slow).Parallelism(1).Watermarks(strategy).Map(func(v tick) tick {
			behind.Store(v.N)
			return v
		}).Parallelism(1) // in the same task, so that nothing is on its way
		total := stream.FromSource(env, test.fast).Watermarks(strategy).Map(stumble(&fails)).Map(func(v tick) tick {
			if b := behind.Load(); b < records/2-1 && v.N-b > most.Load() {
				most.Store(v.N - b)
			}
			return v
		}).Union(slow).KeyBy(func(tick) int { return 0 }).Window(stream.Tumbling(100 * time.Second)).Aggregate(stream.Count[tick]()).Collect()
		execute(t, env)
		if got := most.Load(); got <= drift/2 || got > drift+40+1 {
			t.Errorf("%s: the fast source was %d s ahead, want at most %d and what it reads at once", test.name, got, drift)
		}
		sum, want := map[time.Time]int64{}, int64(len(test.fast.pace)*test.fast.records+test.slow.records)
		all := int64(0)
		for _, c := range total.Values() {
			all += c.Value - sum[c.Start]
			sum[c.Start] = c.Value
		}
		if all != want || fails.Load() > 0 {
			t.Errorf("%s: %d records, want %d; %d failures are left", test.name, all, want, fails.Load())
		}
	}
}

// Splits that cannot be paused fail the job, unless it lets them go ahead.
func TestSplitsThatCannotBeAligned(t *testing.T) { synctest.Test(t, splitsThatCannotBeAligned) }

func splitsThatCannotBeAligned(t *testing.T) {
	env := stream.NewEnv(quiet, stream.DefaultParallelism(1), stream.Mode(stream.Streaming))
	stream.FromSource(env, lanes{pace: []int{9, 1}, records: 1000}).
		Watermarks(stream.Monotonic(tick.at).Align("all", 5*time.Second, 5*time.Millisecond)).Discard()
	err := env.Execute(t.Context(), t.Name())
	if err == nil || !strings.Contains(err.Error(), `split "0" is ahead of others that the same subtask reads`) {
		t.Errorf("got %v", err)
	}
}

// What cannot be aligned is refused before it runs.
func TestAlignmentThatMakesNoSense(t *testing.T) {
	strategy := stream.Monotonic(tick.at)
	for want, build := range map[string]func(e *stream.Env, s stream.DataStream[tick]){
		"the group has no name": func(_ *stream.Env, s stream.DataStream[tick]) {
			s.Watermarks(strategy.Align("", time.Second, 0)).Discard()
		},
		"the greatest drift is 0s": func(_ *stream.Env, s stream.DataStream[tick]) { s.Watermarks(strategy.Align("all", 0, 0)).Discard() },
		"the interval is -1s": func(_ *stream.Env, s stream.DataStream[tick]) {
			s.Watermarks(strategy.Align("all", time.Second, -time.Second)).Discard()
		},
		"put Watermarks directly": func(_ *stream.Env, s stream.DataStream[tick]) {
			s.Map(stream.Self[tick]).Watermarks(strategy.Align("all", time.Second, 0)).Discard()
		},
		"it holds back its source to": func(_ *stream.Env, s stream.DataStream[tick]) {
			s.Watermarks(strategy.Align("all", time.Second, 0)).StartNewChain().Discard()
		},
	} {
		env := stream.NewEnv(quiet, stream.DefaultParallelism(1), stream.Mode(stream.Streaming))
		build(env, stream.FromSource(env, lanes{pace: []int{1}, records: 1}))
		if err := env.Execute(t.Context(), t.Name()); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "lanes_test.go:") {
			t.Errorf("%s: got %v", want, err)
		}
	}
}
