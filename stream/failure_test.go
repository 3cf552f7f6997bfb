package stream_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/connector/files"
	"github.com/weirstream/weir/stream"
)

// here gives "file:line" of the line so many below the caller's.
func here(below int) string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", file, line+below)
}

var line string // of the function that panicked last

// blow panics at the line it is called from.
func blow[T any](v T) T {
	line = here(1)
	panic("the lid is off")
}

// faulty is a ProcessFunction that fails where it is told to.
type faulty struct{ where, how string }

func (f *faulty) fail(where string) error {
	switch {
	case f.where != where:
		return nil
	case f.how == "panic":
		blow(0)
	}
	return errors.New("the lid is off")
}

func (f *faulty) Open(*stream.OpenContext) error { return f.fail("Open") }
func (f *faulty) Process(v int64, _ *stream.ProcessContext, emit func(int64)) error {
	emit(v)
	return f.fail("Process")
}
func (f *faulty) Finish(emit func(int64)) error { return f.fail("Finish") }
func (f *faulty) Close() error                  { return f.fail("Close") }

// failures are programs that fail while they run, in an operation named
// "the one", each with the function that does. The function of KeyBy also runs in
// the operation after it.
var failures = map[string]func(s stream.DataStream[int64], how string){
	"Map": func(s stream.DataStream[int64], _ string) { s.Map(blow).Name("the one").Discard() },
	"Filter": func(s stream.DataStream[int64], _ string) {
		s.Filter(func(int64) bool { return blow(true) }).Name("the one").Discard()
	},
	"FlatMap": func(s stream.DataStream[int64], _ string) {
		s.FlatMap(func(v int64) iter.Seq[int64] {
			return func(yield func(int64) bool) { _ = yield(v) && yield(blow(v)) }
		}).Name("the one").Discard()
	},
	"KeyBy": func(s stream.DataStream[int64], _ string) { s.Name("the one").KeyBy(blow).Count().Discard() },
	"Reduce": func(s stream.DataStream[int64], _ string) {
		s.KeyBy(one).Reduce(func(a, b int64) int64 { return blow(a) }).Name("the one").Discard()
	},
	"Sum": func(s stream.DataStream[int64], _ string) { s.KeyBy(one).Sum(blow).Name("the one").Discard() },
	"Max": func(s stream.DataStream[int64], _ string) { s.KeyBy(one).Max(blow).Name("the one").Discard() },
	"PartitionBy": func(s stream.DataStream[int64], _ string) {
		s.Name("the one").PartitionBy(func(_ int64, n int) int { return blow(n) }).Discard()
	},
	"ForEach": func(s stream.DataStream[int64], how string) {
		s.ForEach(func(int64) error { return (&faulty{"ForEach", how}).fail("ForEach") }).Name("the one")
	},
	"WriteText": func(s stream.DataStream[int64], _ string) {
		s.WriteText(filepath.Join(os.TempDir(), "never made"), func(int64) string { return blow("") }).Name("the one")
	},
	"ProcessFunction": func(s stream.DataStream[int64], _ string) {
		s.Process(func() stream.ProcessFunction[int64, int64] { return blow(&faulty{}) }).Name("the one").Discard()
	},
	"Open":    process("Open"),
	"Process": process("Process"),
	"Finish":  process("Finish"),
	"Close":   process("Close"),
}

func one(int64) int64 { return 1 }

func process(where string) func(stream.DataStream[int64], string) {
	return func(s stream.DataStream[int64], how string) {
		s.KeyBy(one).Process(onKeys[int64](func() stream.ProcessFunction[int64, int64] { return &faulty{where, how} })).Name("the one").Discard()
	}
}

// A panic in any function is told with its text, the operation and the line.
func TestAPanicIsToldWithItsLine(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	for name, build := range failures {
		for _, mode := range []stream.RuntimeMode{stream.Streaming, stream.Batch} {
			line = "not called"
			env := setting{parallelism: 1, mode: mode, unchained: true}.env()
			build(stream.Sequence(env, 1, 9), "panic")
			err := env.Execute(t.Context(), "panics")
			if err == nil {
				t.Errorf("%s: the program ran", name)
				continue
			}
			wanted := []string{`job "panics" failed`, "panic: the lid is off", line}
			if mode == stream.Streaming && name != "KeyBy" {
				wanted = append(wanted, "the one")
			}
			for _, want := range wanted {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s, %s: the error does not say %q:\n%v", name, mode, want, err)
				}
			}
		}
	}
}

// An error that a function returns is told with the operation.
func TestAnErrorIsToldWithItsOperation(t *testing.T) {
	for _, name := range []string{"ForEach", "Open", "Process", "Finish", "Close"} {
		env := stream.NewEnv(quiet, stream.DefaultParallelism(2), stream.Mode(stream.Streaming))
		failures[name](stream.Sequence(env, 1, 9), "error")
		err := env.Execute(t.Context(), "fails")
		if err == nil || !strings.Contains(err.Error(), "the one") || !strings.HasSuffix(err.Error(), "the lid is off") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestRuntimePanicsNameTheLineOfTheProgramNotOfTheLibrary(t *testing.T) {
	env := stream.NewEnv(quiet, stream.DefaultParallelism(1))
	var at string
	stream.Sequence(env, -3, 9).Map(func(v int64) string { at = here(0); return strings.Repeat("x", int(v)) }).Discard()
	err := env.Execute(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "strings: negative Repeat count (") || !strings.Contains(err.Error(), at) {
		t.Errorf("want the line %s, got %v", at, err)
	}
	env = stream.NewEnv(quiet, stream.DefaultParallelism(1))
	stream.Sequence(env, 0, 9).Map(func(v int64) int64 { at = here(0); return 1 / v }).Discard()
	err = env.Execute(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "integer divide by zero (") || !strings.Contains(err.Error(), at) {
		t.Errorf("want the line %s, got %v", at, err)
	}
}

// A function that ends its goroutine, as t.FailNow does, must not hang the job.
func TestAFunctionThatEndsItsGoroutineFailsTheJob(t *testing.T) {
	env := stream.NewEnv(quiet)
	stream.Sequence(env, 1, 9).Map(func(v int64) int64 { runtime.Goexit(); return v }).Discard()
	if err := env.Execute(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "ended its goroutine") {
		t.Errorf("got %v", err)
	}
}

func TestAPartitionOutOfRangeIsTold(t *testing.T) {
	for _, to := range []int{-1, 2, 1 << 40} {
		env := stream.NewEnv(quiet, stream.DefaultParallelism(2))
		stream.Sequence(env, 1, 9).PartitionBy(func(int64, int) int { return to }).Discard()
		err := env.Execute(t.Context(), "")
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("Sequence Source chose partition %d, there are 2 (0 to 1)", to)) {
			t.Errorf("got %v", err)
		}
	}
}

// What was emitted before the failure can be seen.
func TestRecordsBeforeAFailureAreCollected(t *testing.T) {
	env := stream.NewEnv(quiet, stream.DefaultParallelism(1))
	got := stream.Sequence(env, 1, 9).Filter(func(v int64) bool {
		if v == 5 {
			panic("five")
		}
		return true
	}).Collect()
	if err := env.Execute(t.Context(), ""); err == nil || !slices.Equal(got.Values(), []int64{1, 2, 3, 4}) {
		t.Errorf("got %v, error %v", got.Values(), err)
	}
}

func TestInputThatCannotBeReadIsNamed(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("good.txt"), "a\nb\n")
	if err := os.Mkdir(at("directory.txt"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("nowhere"), at("dangling")); err != nil {
		t.Fatal(err)
	}
	long, err := os.Create(at("long"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(long.Truncate(100<<20), long.Close()); err != nil { // one line of zeros
		t.Fatal(err)
	}
	for _, test := range []struct {
		pattern string
		want    []string
	}{
		{at("*.csv"), []string{"no file matches", at("*.csv")}},
		{at("missing.txt"), []string{"no file matches", at("missing.txt")}},
		{at("[a"), []string{"is not a glob", at("[a")}},
		{at("dangling"), []string{at("dangling")}},
		{at("directory.txt"), []string{at("directory.txt")}},
		{at("long"), []string{at("long"), "longer than", fmt.Sprint(files.MaxLine)}},
	} {
		env := stream.NewEnv(quiet, stream.DefaultParallelism(2))
		stream.ReadText(env, at("good.txt"), test.pattern).Discard()
		err := env.Execute(t.Context(), "reads")
		if err == nil {
			t.Errorf("%s: the program ran", test.pattern)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error does not say %q: %v", test.pattern, want, err)
			}
		}
	}
}

// A job whose context ends returns its cause soon, whatever its functions do.
func TestAJobEndsWithItsContext(t *testing.T) {
	enough := errors.New("enough")
	for _, mode := range []stream.RuntimeMode{stream.Streaming, stream.Batch} {
		for name, build := range endless {
			t.Run(name+" "+string(mode), func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				begun := make(chan struct{}, 1)
				t.Setenv("WEIR_SETTINGS", `{"execution.batch-shuffle-mode":"ALL_EXCHANGES_PIPELINED"}`) // who reads all of endless input never begins
				env := setting{parallelism: 2, mode: mode}.env()
				build(stream.Sequence(env, 1, 1<<62), ctx, begun)
				go func() { <-begun; cancel(enough) }()
				if err := env.Execute(ctx, "endless"); !errors.Is(err, enough) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

// begin tells that the program runs.
func begin(begun chan struct{}) {
	select {
	case begun <- struct{}{}:
	default:
	}
}

var endless = map[string]func(s stream.DataStream[int64], ctx context.Context, begun chan struct{}){
	"fast": func(s stream.DataStream[int64], _ context.Context, begun chan struct{}) {
		s.Map(func(v int64) int64 { begin(begun); return v }).KeyBy(one).Count().Discard()
	},
	"waiting for the context": func(s stream.DataStream[int64], ctx context.Context, begun chan struct{}) {
		s.Map(func(v int64) int64 { begin(begun); <-ctx.Done(); return v }).Discard()
	},
	"waiting for the task": func(s stream.DataStream[int64], _ context.Context, begun chan struct{}) {
		s.Rebalance().Process(func() stream.ProcessFunction[int64, int64] { return &waiter{begun: begun} }).Discard()
	},
	"one record that multiplies": func(s stream.DataStream[int64], _ context.Context, begun chan struct{}) {
		s.FlatMap(func(v int64) iter.Seq[int64] {
			return func(yield func(int64) bool) {
				for yield(v) {
					begin(begun)
				}
			}
		}).Discard()
	},
	"back pressure": func(s stream.DataStream[int64], ctx context.Context, begun chan struct{}) {
		s.Rebalance().ForEach(func(int64) error { begin(begun); <-ctx.Done(); return nil }).Parallelism(1)
	},
}

// waiter waits in Process until its task is canceled.
type waiter struct {
	begun chan struct{}
	done  <-chan struct{}
}

func (w *waiter) Open(c *stream.OpenContext) error { w.done = c.Done; return nil }
func (w *waiter) Process(int64, *stream.ProcessContext, func(int64)) error {
	begin(w.begun)
	<-w.done
	return nil
}
