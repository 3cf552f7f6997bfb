// Ledger is a stateful program in several versions, for the walk of an upgrade: it
// counts numbers by their last digits and writes a line with each count.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/weirstream/weir/stream"
)

func main() {
	version := flag.Int("version", 1, "1: counts in 32 bits; 2: in 64, with one operator more; 3: 2 without its ids; 4: counts as text")
	last := flag.Int64("last", 100_000, "the last number")
	out := flag.String("out", "", "where the lines go")
	hold := flag.String("hold", "", "as long as this `file` is there the job hardly goes on after a third of the numbers")
	flag.Parse()

	env := stream.NewEnv(stream.Mode(stream.Streaming))
	numbers := stream.Sequence(env, 1, *last).UID("numbers").Map(unhurried(*last/3, *hold))
	if *version > 1 {
		numbers = numbers.Map(func(v int64) int64 { return v }).Name("one more")
	}
	keyed := numbers.KeyBy(func(v int64) int64 { return v % 10 })
	var lines stream.DataStream[string]
	switch *version {
	case 1:
		lines = keyed.Process(func() stream.KeyedProcessFunction[int64, int64, string] { return &ledger[int32]{} }).UID("ledger")
	case 2:
		lines = keyed.Process(func() stream.KeyedProcessFunction[int64, int64, string] { return &ledger[int64]{} }).UID("ledger")
	case 3:
		lines = keyed.Process(func() stream.KeyedProcessFunction[int64, int64, string] { return &ledger[int64]{} })
	default:
		lines = keyed.Process(func() stream.KeyedProcessFunction[int64, int64, string] { return &scribe{} }).UID("ledger")
	}
	lines.WriteText(*out, func(line string) string { return line }).UID("lines")
	if err := env.Execute(context.Background(), "ledger"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// unhurried lets a hundred numbers take a millisecond. Those after free take two hundred
// while the file hold is there, so that a job outlasts all that is done to it meanwhile.
func unhurried(free int64, hold string) func(int64) int64 {
	return func(v int64) int64 {
		if v%100 == 0 {
			pause := time.Millisecond
			if _, err := os.Stat(hold); v > free && err == nil {
				pause = 200 * time.Millisecond
			}
			time.Sleep(pause)
		}
		return v
	}
}

// ledger counts by key, and by a timer of event time says how far it was at the end.
type ledger[N int32 | int64] struct{ n *stream.ValueState[N] }

func (l *ledger[N]) Open(c *stream.OpenContext) error {
	l.n = stream.NewValueState[N](c, "n")
	return nil
}

func (l *ledger[N]) Process(_ int64, c *stream.KeyedContext[int64], emit func(string)) error {
	n, _ := l.n.Value()
	l.n.Update(n + 1)
	emit(fmt.Sprint(c.Key(), ":", n+1))
	c.RegisterEventTimer(time.UnixMilli(1))
	return nil
}

func (l *ledger[N]) OnTimer(_ stream.Timer, c *stream.KeyedContext[int64], emit func(string)) error {
	n, _ := l.n.Value()
	emit(fmt.Sprint(c.Key(), " ended with ", n))
	return nil
}

// scribe keeps its count in a type that no number becomes.
type scribe struct{ n *stream.ValueState[string] }

func (s *scribe) Open(c *stream.OpenContext) error {
	s.n = stream.NewValueState[string](c, "n")
	return nil
}

func (s *scribe) Process(_ int64, c *stream.KeyedContext[int64], emit func(string)) error {
	n, _ := s.n.Value()
	s.n.Update(n + "|")
	emit(fmt.Sprint(c.Key(), ":", len(n)+1))
	return nil
}
