package stream_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weirstream/weir/stream"
)

// The word count: every line is cut into words, equal words meet in one subtask
// and are counted. All input is bounded, so each word comes once, at the end.
func Example() {
	dir, err := os.MkdirTemp("", "books")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "one.txt"), []byte("to be or not\nto be\n"), 0o600); err != nil {
		log.Fatal(err)
	}

	env := stream.NewEnv(stream.DefaultParallelism(1))
	stream.ReadText(env, filepath.Join(dir, "*.txt")).
		FlatMap(strings.FieldsSeq).
		KeyBy(stream.Self[string]).
		Count().
		Print()
	if err := env.Execute(context.Background(), "word count"); err != nil {
		log.Fatal(err)
	}
	// Unordered output:
	// {to 2}
	// {be 2}
	// {or 1}
	// {not 1}
}

// run executes an example.
func run(env *stream.Env) {
	if err := env.Execute(context.Background(), "example"); err != nil {
		fmt.Println(err)
	}
}

func ExampleEnv() {
	env := stream.NewEnv(stream.DefaultParallelism(1))
	stream.FromSlice(env, []string{"a", "b"}).Print()
	fmt.Println("the program is built, nothing has run")
	run(env)
	// Output:
	// the program is built, nothing has run
	// a
	// b
}

// Mistakes are told with the line of the program that made them.
func ExampleEnv_Execute() {
	env := stream.NewEnv(stream.DefaultParallelism(1))
	stream.FromSlice(env, []chan int{nil}).Rebalance().Map(func(chan int) int { return 0 }).Parallelism(2).Discard()
	err := env.Execute(context.Background(), "channels")
	text := err.Error()
	fmt.Println(text[strings.Index(text, "example_test.go"):][:15], text[strings.Index(text, "the records"):][:75])
	// Output:
	// example_test.go the records of "Source: Collection Source" go to another task and cannot be
}

func ExampleNewEnv() {
	env := stream.NewEnv(
		stream.DefaultParallelism(1),
		stream.DefaultMaxParallelism(256),
		stream.Mode(stream.Streaming),
		stream.BufferTimeout(10*time.Millisecond),
	)
	stream.Sequence(env, 1, 3).Print()
	run(env)
	// Output:
	// 1
	// 2
	// 3
}

func ExampleOption() {
	testing := []stream.Option{stream.DefaultParallelism(1), stream.Logger(slog.New(slog.DiscardHandler))}
	env := stream.NewEnv(testing...)
	stream.Sequence(env, 1, 2).Print()
	run(env)
	// Output:
	// 1
	// 2
}

// In streaming mode aggregates emit with every record, in batch mode at the end.
func ExampleRuntimeMode() {
	for _, mode := range []stream.RuntimeMode{stream.Streaming, stream.Batch} {
		env := stream.NewEnv(stream.Mode(mode), stream.DefaultParallelism(1))
		stream.FromSlice(env, []string{"a", "a", "a"}).KeyBy(stream.Self[string]).Count().Print()
		fmt.Println(mode)
		run(env)
	}
	// Output:
	// STREAMING
	// {a 1}
	// {a 2}
	// {a 3}
	// BATCH
	// {a 3}
}

// Records with equal keys keep their order.
func ExampleDataStream() {
	env := stream.NewEnv(stream.DefaultParallelism(1))
	numbers := stream.Sequence(env, 1, 6)
	even := numbers.Filter(func(n int64) bool { return n%2 == 0 })
	even.Map(func(n int64) string { return strings.Repeat("*", int(n)) }).Print()
	run(env)
	// Output:
	// **
	// ****
	// ******
}

func ExampleDataStream_FlatMap() {
	env := stream.NewEnv(stream.DefaultParallelism(1))
	stream.FromSlice(env, []string{"a b", "", "c"}).FlatMap(strings.FieldsSeq).Print()
	run(env)
	// Output:
	// a
	// b
	// c
}

func ExampleDataStream_Union() {
	env := stream.NewEnv(stream.DefaultParallelism(1))
	a, b := stream.FromSlice(env, []string{"a"}), stream.FromSlice(env, []string{"b"})
	a.Union(b).Print()
	run(env)
	// Unordered output:
	// a
	// b
}

func ExampleDataStream_PartitionBy() {
	env := stream.NewEnv()
	stream.Sequence(env, 1, 4).
		PartitionBy(func(v int64, n int) int { return int(v) % n }).
		Print().Parallelism(2)
	run(env)
	// Unordered output:
	// 2> 1
	// 1> 2
	// 2> 3
	// 1> 4
}

// Settings are those of the operation that made the stream.
func ExampleDataStream_UID() {
	env := stream.NewEnv(stream.DefaultParallelism(1))
	stream.Sequence(env, 1, 2).Name("numbers").UID("numbers-1").
		Map(func(n int64) int64 { return -n }).Name("negate").UID("negate-1").Parallelism(1).
		Print().Name("out").UID("out-1")
	run(env)
	// Output:
	// -1
	// -2
}

type reading struct {
	City    string
	Degrees float64
}

var readings = []reading{{"Oslo", 3}, {"Rome", 21}, {"Oslo", -2}}

func ExampleKeyedStream() {
	env := stream.NewEnv(stream.DefaultParallelism(1))
	byCity := stream.FromSlice(env, readings).KeyBy(func(r reading) string { return r.City })
	byCity.Min(func(r reading) float64 { return r.Degrees }).Print()
	run(env)
	// Unordered output:
	// {Oslo -2}
	// {Rome 21}
}

func ExampleKeyedStream_Reduce() {
	env := stream.NewEnv(stream.DefaultParallelism(1))
	stream.FromSlice(env, readings).
		KeyBy(func(r reading) string { return r.City }).
		Reduce(func(a, b reading) reading { return reading{a.City, max(a.Degrees, b.Degrees)} }).
		Print()
	run(env)
	// Unordered output:
	// {Oslo 3}
	// {Rome 21}
}

func ExamplePair() {
	env := stream.NewEnv(stream.DefaultParallelism(1))
	stream.FromSlice(env, readings).
		KeyBy(func(r reading) string { return r.City }).
		Sum(func(r reading) float64 { return r.Degrees }).
		Map(func(p stream.Pair[string, float64]) string { return fmt.Sprintf("%s: %+.1f", p.Key, p.Value) }).
		Print()
	run(env)
	// Unordered output:
	// Oslo: +1.0
	// Rome: +21.0
}

// mean works for every type that can be summed.
func mean[N stream.Number](vals []N) float64 {
	var sum N
	for _, v := range vals {
		sum += v
	}
	return float64(sum) / float64(len(vals))
}

func ExampleNumber() {
	fmt.Println(mean([]uint8{1, 2}), mean([]time.Duration{4, 6}))
	// Output: 1.5 5
}

// distinct passes on the first record of each value.
type distinct struct{ seen map[string]bool }

func (d *distinct) Process(v string, _ *stream.KeyedContext[string], emit func(string)) error {
	if !d.seen[v] {
		d.seen[v] = true
		emit(v)
	}
	return nil
}

func ExampleProcessFunction() {
	env := stream.NewEnv(stream.DefaultParallelism(1))
	stream.FromSlice(env, []string{"a", "b", "a"}).
		KeyBy(stream.Self[string]).
		Process(func() stream.KeyedProcessFunction[string, string, string] { return &distinct{seen: map[string]bool{}} }).
		Print()
	run(env)
	// Output:
	// a
	// b
}

// longest emits the longest word, when all have come.
type longest struct{ word string }

func (l *longest) Open(c *stream.OpenContext) error {
	fmt.Printf("open subtask %d of %d, attempt %d\n", c.Subtask, c.Parallelism, c.Attempt)
	return nil
}

func (l *longest) Process(v string, c *stream.ProcessContext, _ func(string)) error {
	if _, timed := c.Timestamp(); timed {
		return fmt.Errorf("%q has an event time, which no source gave it", v)
	}
	if len(v) > len(l.word) {
		l.word = v
	}
	return nil
}

func (l *longest) Finish(emit func(string)) error {
	emit(l.word)
	return nil
}

func (l *longest) Close() error {
	fmt.Println("close")
	return nil
}

// Life of a function: Open, Process for each record, Finish, Close.
func life() {
	env := stream.NewEnv(stream.DefaultParallelism(1))
	got := stream.FromSlice(env, []string{"a", "ccc", "bb"}).
		Process(func() stream.ProcessFunction[string, string] { return &longest{} }).Collect()
	run(env)
	fmt.Println(got.Values())
}

func ExampleOpener() {
	life()
	// Output:
	// open subtask 0 of 1, attempt 0
	// close
	// [ccc]
}

func ExampleFinisher() {
	life()
	// Output:
	// open subtask 0 of 1, attempt 0
	// close
	// [ccc]
}

func ExampleCloser() {
	life()
	// Output:
	// open subtask 0 of 1, attempt 0
	// close
	// [ccc]
}

func ExampleOpenContext() {
	life()
	// Output:
	// open subtask 0 of 1, attempt 0
	// close
	// [ccc]
}

func ExampleProcessContext() {
	life()
	// Output:
	// open subtask 0 of 1, attempt 0
	// close
	// [ccc]
}

func ExampleSink() {
	env := stream.NewEnv()
	stream.FromSlice(env, []int{1, 2}).Print().Name("to the screen").Parallelism(1)
	run(env)
	// Output:
	// 1
	// 2
}

func ExampleCollected() {
	env := stream.NewEnv(stream.DefaultParallelism(2))
	squares := stream.Sequence(env, 1, 4).Map(func(n int64) int64 { return n * n }).Collect()
	run(env)
	fmt.Println(slices.Sorted(slices.Values(squares.Values())))
	// Output: [1 4 9 16]
}

func ExampleDataStream_WriteText() {
	dir, err := os.MkdirTemp("", "out")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	env := stream.NewEnv(stream.DefaultParallelism(1))
	stream.Sequence(env, 1, 2).WriteText(dir, func(n int64) string { return fmt.Sprint("line ", n) })
	run(env)
	text, err := os.ReadFile(filepath.Join(dir, "part-0"))
	fmt.Print(string(text), err)
	// Output:
	// line 1
	// line 2
	// <nil>
}
