package main

import (
	"context"
	"fmt"
	"time"

	"github.com/weirstream/weir/stream"
)

// skewed numbers the records of two inputs by key. Four of five have one key, whose
// records take their time, so that the sources are held up.
func skewed(e *stream.Env, splits, n int64) stream.DataStream[string] {
	half := splits / 2
	first := input(e, half, n)
	second := input(e, splits-half, n).Map(func(r record) record { return record{r.Split + half, r.Place} }).Parallelism(int(splits - half))
	return number(first.Union(second), func(r record) int64 {
		if r.Place%5 != 0 {
			return 0
		}
		return evenKey(r)
	}).Map(func(line string) string {
		if len(line)%2 == 0 {
			time.Sleep(100 * time.Microsecond)
		}
		return line
	})
}

// pairs pairs the records of two inputs whose times, a millisecond a place, are at
// most 40 ms apart.
func pairs(e *stream.Env, _, n int64) stream.DataStream[string] {
	side := func() stream.KeyedStream[int64, record] {
		return input(e, 1, n).
			Watermarks(stream.Monotonic(func(r record) time.Time { return time.UnixMilli(r.Place) })).
			KeyBy(func(r record) int64 { return r.Place % 13 })
	}
	const reach = 40 * time.Millisecond
	return side().IntervalJoin(side(), -reach, reach).
		Join(func(a, b record) string { return fmt.Sprint(a.Place, b.Place, a.Place%13) })
}

// ruled numbers the records of each key, and says which rule was the newest.
func ruled(e *stream.Env, splits, n int64) stream.DataStream[string] {
	rules := stream.Sequence(e, 1, n/100).Parallelism(1).Map(func(v int64) int64 {
		time.Sleep(100 * time.Millisecond)
		return v
	}).Parallelism(1)
	return input(e, splits, n).KeyBy(evenKey).ConnectBroadcast(rules).
		Process(func() stream.KeyedBroadcastProcessFunction[int64, record, int64, string] { return &ruler{} })
}

type ruler struct {
	n     *stream.ValueState[int64]
	rules *stream.BroadcastState[string, int64]
}

func (f *ruler) Open(c *stream.OpenContext) error {
	f.n = stream.NewValueState[int64](c, "n")
	f.rules = stream.NewBroadcastState[string, int64](c, "rules")
	return nil
}

func (f *ruler) Process(r record, c *stream.KeyedContext[int64], emit func(string)) error {
	n, _ := f.n.Value()
	f.n.Update(n + 1)
	newest, _ := f.rules.Get("newest")
	emit(fmt.Sprint(r.Split, r.Place, c.Key(), n+1, newest))
	return nil
}

func (f *ruler) ProcessBroadcast(v int64, c *stream.KeyedBroadcastContext[int64], _ func(string)) error {
	f.rules.Put(c, "newest", v)
	return nil
}

// lookUp takes its time, some records more than others.
func lookUp(ctx context.Context, r record) ([]string, error) {
	wait := time.NewTimer(time.Duration(r.Place*7919%9) * time.Millisecond)
	defer wait.Stop()
	select {
	case <-wait.C:
		return []string{fmt.Sprint(r.Split, r.Place, 3*r.Place)}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
