// Streams is a program whose jobs keep state, for runs in which its processes are
// killed, stopped and cut off. What they write is for the oracle to judge, which
// says what the lines hold.
//
//	streams KIND SPLITS N DIR [plainly]
//
// The input is SPLITS splits of N records each, which come at about a thousand
// records a second and split. With "plainly" records are appended to files as
// they come, by a function that takes no part in checkpoints.
package main

import (
	"context"
	"fmt"
	"iter"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/weirstream/weir/stream"
)

// record is a record of the input: its split and its place in it.
type record struct{ Split, Place int64 }

// kinds are the jobs. Each gives the lines that it writes.
var kinds = map[string]func(e *stream.Env, splits, n int64) stream.DataStream[string]{
	"counted": func(e *stream.Env, splits, n int64) stream.DataStream[string] {
		return number(input(e, splits, n), evenKey)
	},
	"windows": windows,
	"rescaled": func(e *stream.Env, splits, n int64) stream.DataStream[string] {
		return number(slowly(stream.Sequence(e, 0, splits*n-1), n), evenKey)
	},
	"skewed": skewed,
	"pairs":  pairs,
	"ruled":  ruled,
	"valued": func(e *stream.Env, splits, n int64) stream.DataStream[string] {
		return input(e, splits, n).AsyncOrdered(stream.AsyncCall(lookUp), stream.AsyncOptions{Timeout: time.Minute})
	},
	"matched": func(e *stream.Env, splits, n int64) stream.DataStream[string] {
		return input(e, splits, n).AsyncUnordered(stream.AsyncCall(lookUp), stream.AsyncOptions{Timeout: time.Minute})
	},
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 5 {
		log.Fatal("usage: streams KIND SPLITS N DIR [plainly]")
	}
	splits, err1 := strconv.ParseInt(os.Args[2], 10, 64)
	n, err2 := strconv.ParseInt(os.Args[3], 10, 64)
	make, known := kinds[os.Args[1]]
	if err1 != nil || err2 != nil || !known {
		log.Fatalf("streams: %q: a kind that is known, and two numbers, are wanted", os.Args[1:4])
	}
	env := stream.NewEnv(stream.Mode(stream.Streaming), stream.DefaultMaxParallelism(32))
	lines, dir := make(env, splits, n), os.Args[4]
	if len(os.Args) > 5 && os.Args[5] == "plainly" {
		lines.Process(func() stream.ProcessFunction[string, string] { return &appender{dir: dir} }).Discard()
	} else {
		lines.WriteText(dir, stream.Self[string])
	}
	if err := env.Execute(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// input is the records of all splits, with a subtask for each.
func input(e *stream.Env, splits, n int64) stream.DataStream[record] {
	return slowly(stream.Sequence(e, 0, splits*n-1).Parallelism(int(splits)), n).Parallelism(int(splits))
}

// slowly makes a thousand records a second and subtask of their numbers.
func slowly(numbers stream.DataStream[int64], n int64) stream.DataStream[record] {
	return numbers.Map(func(v int64) record {
		time.Sleep(time.Millisecond)
		return record{v / n, v % n}
	})
}

func evenKey(r record) int64 { return (r.Place*7 + r.Split*3) % 97 }

// number numbers the records of each key.
func number(in stream.DataStream[record], key func(record) int64) stream.DataStream[string] {
	return in.KeyBy(key).Process(func() stream.KeyedProcessFunction[int64, record, string] { return &numberer{} })
}

type numberer struct{ n *stream.ValueState[int64] }

func (f *numberer) Open(c *stream.OpenContext) error {
	f.n = stream.NewValueState[int64](c, "n")
	return nil
}

func (f *numberer) Process(r record, c *stream.KeyedContext[int64], emit func(string)) error {
	n, _ := f.n.Value()
	f.n.Update(n + 1)
	emit(fmt.Sprint(r.Split, r.Place, c.Key(), n+1))
	return nil
}

// timeOf is when a record was made: 10 ms after the one before it, but every 20th
// up to 3 s earlier.
func timeOf(r record) time.Time {
	at := r.Place * 10
	if r.Place%20 == 19 {
		at -= (r.Place*7919 + r.Split*104729) % 3000
	}
	return time.UnixMilli(at)
}

// windows puts records into windows of a second; some come too late.
func windows(e *stream.Env, splits, n int64) stream.DataStream[string] {
	late := stream.NewSideOutput[record]("late")
	in := input(e, splits, n).
		Watermarks(stream.BoundedOutOfOrderness(time.Second, timeOf)).
		KeyBy(evenKey).Window(stream.Tumbling(time.Second)).LateTo(late).
		Process(func() stream.WindowFunction[int64, record, string] { return lister{} })
	return in.Union(in.SideOutput(late).Map(func(r record) string { return fmt.Sprint(r.Split, r.Place, -1, 0) }))
}

// lister writes a line for each record of a window.
type lister struct{}

func (lister) Process(c *stream.WindowContext[int64], records iter.Seq[record], emit func(string)) error {
	size := 0
	for range records {
		size++
	}
	for r := range records {
		emit(fmt.Sprint(r.Split, r.Place, c.Start.UnixMilli(), size))
	}
	return nil
}

// appender appends lines to a file of its own, and knows nothing of checkpoints.
type appender struct {
	dir string
	f   *os.File
}

func (a *appender) Open(*stream.OpenContext) error {
	err := os.MkdirAll(a.dir, 0o777)
	if err == nil {
		a.f, err = os.CreateTemp(a.dir, "plain-*")
	}
	return err
}

func (a *appender) Process(line string, _ *stream.ProcessContext, _ func(string)) error {
	_, err := a.f.WriteString(strings.TrimSpace(line) + "\n")
	return err
}

func (a *appender) Close() error { return a.f.Close() }
