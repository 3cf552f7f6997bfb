package connectors

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/connector/datagen"
	"github.com/weirstream/weir/stream"
)

// pages is a source that a program might have: pages of numbers, which come one after
// the other.
type pages struct {
	count, size int
	spread      bool
	finds       *atomic.Int64 // how often the enumerator fails
}

func (p pages) Bounded() bool { return true }
func (p pages) Spread() bool  { return p.spread }

func (p pages) Enumerator(c connector.EnumeratorContext) (connector.Enumerator, error) {
	next, _ := strconv.Atoi(string(c.State))
	return &pageFinder{pages: p, next: next}, nil
}

type pageFinder struct {
	pages
	next int
}

func (f *pageFinder) Discover(ctx context.Context) (connector.Discovery, error) {
	select {
	case <-ctx.Done():
		return connector.Discovery{}, nil
	case <-time.After(10 * time.Millisecond):
	}
	if f.next%10 == 9 && f.finds.Add(-1) >= 0 {
		return connector.Discovery{}, errors.New("it was to fail")
	}
	id := strconv.Itoa(f.next)
	f.next++
	return connector.Discovery{
		Splits: []connector.Split{{ID: "page " + id, Data: []byte(id + " 0")}},
		State:  []byte(strconv.Itoa(f.next)), Done: f.next == f.count,
	}, nil
}

func (f *pageFinder) Close() error { return nil }

func (p pages) Open(c connector.SourceContext, out connector.Output[string]) (connector.Reader, error) {
	return &pageReader{pages: p, c: c, out: out}, nil
}

// pageReader reads the first of its pages, and asks for another meanwhile.
type pageReader struct {
	pages
	c           connector.SourceContext
	out         connector.Output[string]
	splits      [][2]int // page and position
	asked, done bool
}

func (r *pageReader) Add(split []byte) error {
	var s [2]int
	_, err := fmt.Sscan(string(split), &s[0], &s[1])
	r.splits, r.asked = append(r.splits, s), false
	return err
}

func (r *pageReader) NoMore() error { r.done = true; return nil }
func (r *pageReader) Close() error  { return nil }

func (r *pageReader) Splits() (all [][]byte, err error) {
	for _, s := range r.splits {
		all = append(all, fmt.Appendf(nil, "%d %d", s[0], s[1]))
	}
	return all, nil
}

func (r *pageReader) Poll() (connector.Progress, error) {
	if !r.asked && !r.done && len(r.splits) < 2 {
		r.asked = true
		r.c.Request()
	}
	switch {
	case len(r.splits) == 0 && r.done:
		return connector.Done, nil
	case len(r.splits) == 0:
		return connector.Wait, nil
	}
	s := &r.splits[0]
	for range min(r.out.Room(), r.size-s[1], 10) {
		r.out.Emit(fmt.Sprint(s[0], "-", s[1]), batch.NoTimestamp)
		s[1]++
	}
	time.Sleep(time.Millisecond) // as a server would take
	if s[1] == r.size {
		r.splits = r.splits[1:]
	}
	return connector.More, nil
}

// A source of a program's own, whose enumerator and readers fail now and then: each
// record comes once.
func TestASourceOfOnesOwn(t *testing.T) { synctest.Test(t, aSourceOfOnesOwn) }

func aSourceOfOnesOwn(t *testing.T) {
	for _, spread := range []bool{false, true} {
		out := filepath.Join(t.TempDir(), "out")
		var finds, fails atomic.Int64
		finds.Store(2)
		fails.Store(2)
		from := pages{count: 50, size: 100, spread: spread, finds: &finds}
		env := stream.NewEnv(quiet, stream.DefaultParallelism(3), stream.Mode(stream.Streaming), stream.CheckpointInterval(25*time.Millisecond),
			stream.Restart(stream.FixedDelayRestart(10, 10*time.Millisecond)))
		stream.FromSource(env, from).
			Map(func(line string) string {
				if strings.HasSuffix(line, "7-77") && fails.Add(-1) >= 0 {
					panic("it was to fail")
				}
				return line
			}).
			WriteText(out, stream.Self[string])
		execute(t, env)
		var want []string
		for page := range from.count {
			for i := range from.size {
				want = append(want, fmt.Sprint(page, "-", i))
			}
		}
		slices.Sort(want)
		if got, _ := linesOf(t, out); !slices.Equal(got, want) {
			t.Errorf("spread %v: %d lines, %d of them different; want %d", spread, len(got), len(slices.Compact(got)), len(want))
		}
		if finds.Load() > 0 || fails.Load() > 0 {
			t.Errorf("spread %v: %d and %d failures are left", spread, finds.Load(), fails.Load())
		}
	}
}

// Made records come once, at their rate, whatever fails.
func TestMadeRecords(t *testing.T) { synctest.Test(t, madeRecords) }

func madeRecords(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	var fails atomic.Int64
	fails.Store(3)
	env := stream.NewEnv(quiet, stream.DefaultParallelism(2), stream.Mode(stream.Streaming), stream.CheckpointInterval(100*time.Millisecond),
		stream.Restart(stream.FixedDelayRestart(10, 10*time.Millisecond)))
	made := datagen.Source[int64]{Records: 5000, PerSecond: 1000, Make: func(n int64, _ *rand.Rand) int64 { return n }}
	began := time.Now()
	stream.FromSource(env, made).
		Map(func(n int64) int64 {
			if n%1000 == 777 && fails.Add(-1) >= 0 {
				panic("it was to fail")
			}
			return n
		}).
		WriteText(out, func(n int64) string { return strconv.FormatInt(n, 10) })
	execute(t, env)
	got, _ := linesOf(t, out)
	if n := len(got); n != 5000 || len(slices.Compact(got)) != 5000 {
		t.Errorf("%d lines, %d of them different; want 5000", n, len(slices.Compact(got)))
	}
	if took := time.Since(began); took < 4*time.Second || took > 10*time.Second {
		t.Errorf("5000 records at 1000 a second took %s of virtual time", took)
	}
}
