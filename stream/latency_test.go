package stream_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/stream"
)

// talk is a server that a test speaks through, one line at a time.
type talk struct {
	address string
	say     chan string // closed: hang up
}

// newTalk serves one connection; the test waits for its end.
func newTalk(t *testing.T) *talk {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &talk{address: l.Addr().String(), say: make(chan string)}
	var serving sync.WaitGroup
	serving.Go(func() {
		defer l.Close()
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		for line := range s.say {
			if _, err := fmt.Fprintln(c, line); err != nil {
				return
			}
		}
	})
	t.Cleanup(serving.Wait)
	return s
}

// Each line a socket source takes is at the sink before the next is sent, through
// exchanges and keyed aggregates, and whatever the buffer time-out: nothing waits
// for a batch to fill when input pauses.
func TestResultsDoNotWaitForFullBatches(t *testing.T) {
	for _, buffer := range []time.Duration{-1, 0, 100 * time.Millisecond, time.Hour} {
		t.Run(buffer.String(), func(t *testing.T) {
			server := newTalk(t)
			env := stream.NewEnv(quiet, stream.DefaultParallelism(3), stream.BufferTimeout(buffer))
			heard := make(chan stream.Pair[string, int64])
			stream.Socket(env, server.address).
				FlatMap(strings.FieldsSeq).Rebalance().
				KeyBy(stream.Self[string]).Count().Rebalance().
				ForEach(func(p stream.Pair[string, int64]) error { heard <- p; return nil })
			ended := make(chan error)
			go func() { ended <- env.Execute(t.Context(), "prompt") }()
			counts := map[string]int64{}
			for _, word := range []string{"to", "be", "or", "not", "to", "be"} {
				counts[word]++
				server.say <- word
				if got := <-heard; got.Key != word || got.Value != counts[word] {
					t.Errorf("got %v after %q", got, word)
				}
			}
			close(server.say)
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// What a slow function has emitted arrives within the buffer time-out, though the
// batch it works on is not done; and it is canceled in the middle of one.
func TestASlowFunctionDoesNotHoldBackItsResults(t *testing.T) {
	arrived := errors.New("arrived")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	env := stream.NewEnv(quiet, stream.DefaultParallelism(1), stream.BufferTimeout(time.Millisecond), stream.Mode(stream.Streaming))
	var mapped atomic.Int64
	stream.Sequence(env, 1, 1<<40).
		Map(func(v int64) int64 {
			for began := time.Now(); time.Since(began) < time.Millisecond; {
				runtime.Gosched()
			}
			mapped.Add(1)
			return v
		}).
		Rebalance().
		ForEach(func(v int64) error { cancel(arrived); return nil })
	if err := env.Execute(ctx, "slow"); !errors.Is(err, arrived) {
		t.Error(err)
	}
	if n := mapped.Load(); n >= batch.MaxRows {
		t.Errorf("%d records were mapped: a whole batch", n)
	}
}

// A job over a socket that says nothing ends with its context.
func TestASilentSocketEndsWithItsContext(t *testing.T) {
	server := newTalk(t)
	defer close(server.say)
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	env := stream.NewEnv(quiet, stream.DefaultParallelism(2))
	stream.Socket(env, server.address).ForEach(func(string) error { cancel(enough); return nil })
	go func() { server.say <- "hello" }()
	if err := env.Execute(ctx, "silent"); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
}

func TestARefusedSocketFailsTheJob(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	env := stream.NewEnv(quiet)
	stream.Socket(env, l.Addr().String()).Discard()
	err = env.Execute(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "connect to "+l.Addr().String()) {
		t.Errorf("got %v", err)
	}
}

// Text comes back as it was written, whatever the parallelism.
func TestTextIsWrittenAndReadAgain(t *testing.T) {
	for _, p := range []int{1, 2, 4, 7} {
		dir := filepath.Join(t.TempDir(), "out")
		env := stream.NewEnv(quiet, stream.DefaultParallelism(p))
		stream.Sequence(env, 1, 1000).WriteText(dir, func(v int64) string { return fmt.Sprint(v) })
		execute(t, env)
		parts, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(parts) != p || filepath.Base(parts[0]) != "part-0" {
			t.Errorf("parallelism %d: parts %q, error %v", p, parts, err)
		}
		env = stream.NewEnv(quiet, stream.DefaultParallelism(p))
		got := stream.ReadText(env, filepath.Join(dir, "*")).Collect()
		execute(t, env)
		var want []string
		for v := range int64(1000) {
			want = append(want, fmt.Sprint(v+1))
		}
		slices.Sort(want)
		if !slices.Equal(slices.Sorted(slices.Values(got.Values())), want) {
			t.Errorf("parallelism %d: read %d lines", p, len(got.Values()))
		}
	}
}

// A job that fails leaves no unfinished part behind.
func TestAFailedJobLeavesNoUnfinishedPart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	env := stream.NewEnv(quiet, stream.DefaultParallelism(2))
	stream.Sequence(env, 1, 1<<62).WriteText(dir, func(v int64) string {
		if v > 10000 {
			panic("enough")
		}
		return "line"
	})
	if err := env.Execute(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("got %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// Settings that change where and how operations run do not change results, and a
// program without a name has one.
func TestEverySettingIsTaken(t *testing.T) {
	for _, how := range settings() {
		env := how.env()
		s := stream.Sequence(env, 1, 200).Name("numbers").UID("source").Parallelism(how.parallelism).MaxParallelism(64).SlotSharingGroup("in")
		doubled := s.Map(func(v int64) int64 { return 2 * v }).StartNewChain().Name("double").UID("double").CoLocationGroup("pair")
		got := doubled.KeyBy(func(v int64) int64 { return v % 10 }).Sum(stream.Self[int64]).
			DisableChaining().UID("sum").MaxParallelism(32).CoLocationGroup("pair").Collect()
		doubled.Discard().Name("nothing").UID("nothing").Parallelism(1).MaxParallelism(1).DisableChaining().SlotSharingGroup("out")
		if err := env.Execute(t.Context(), ""); err != nil {
			t.Fatalf("%+v: %v", how, err)
		}
		last := map[int64]int64{}
		for _, p := range got.Values() {
			last[p.Key] = p.Value
		}
		sum := int64(0)
		for _, v := range last {
			sum += v
		}
		if len(last) != 5 || sum != 200*201 {
			t.Errorf("%+v: got %v", how, last)
		}
	}
}

// Lines that several subtasks print do not mix.
func TestPrintedLinesDoNotMix(t *testing.T) {
	out := captureStdout(t, func() {
		env := stream.NewEnv(quiet, stream.DefaultParallelism(4))
		stream.Sequence(env, 1, 20000).Map(func(v int64) string { return fmt.Sprintf("<%d %s>", v, strings.Repeat("x", int(v%50))) }).Print()
		execute(t, env)
	})
	lines := bufio.NewScanner(strings.NewReader(out))
	n := 0
	for lines.Scan() {
		n++
		rest, found := strings.CutPrefix(lines.Text()[1:], "> <")
		if !found || !strings.HasSuffix(rest, ">") || strings.Count(rest, "<") > 0 {
			t.Fatalf("line %d: %q", n, lines.Text())
		}
	}
	if n != 20000 {
		t.Errorf("%d lines", n)
	}
}
