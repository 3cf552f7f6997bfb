// Package jobs holds the jobs that are measured, each built on an environment
// that the caller executes: the benchmarks embedded, program job on a cluster.
//
// It promises that Chain and Keyed are, operation by operation, the jobs
// chain-tuple and keyed of the peer's harness.
package jobs

import (
	"iter"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/weirstream/weir/stream"
)

// Pair is the record of Chain and Keyed.
type Pair struct{ Key, Value int64 }

// Chain is sequence → map → filter (7 of 8 pass) → map → discard over the
// numbers below n, in one chain without an exchange.
func Chain(e *stream.Env, n int64) {
	stream.Sequence(e, 0, n-1).
		Map(func(x int64) Pair { return Pair{x, x * 7} }).
		Filter(func(p Pair) bool { return p.Key&7 != 0 }).
		Map(func(p Pair) Pair { return Pair{p.Key, p.Value + 1} }).
		Discard()
}

// Keyed is sequence → map → keyBy → reduce → discard: in streaming mode a hash
// exchange, a state access and a result for each of n records.
func Keyed(e *stream.Env, n, keys int64) {
	stream.Sequence(e, 0, n-1).
		Map(func(x int64) Pair { return Pair{mix(x) % keys, 1} }).
		KeyBy(func(p Pair) int64 { return p.Key }).
		Reduce(func(a, b Pair) Pair { return Pair{a.Key, a.Value + b.Value} }).
		Discard()
}

// Filled is Keyed that meets its keys in order, so that all are there after as many
// records as there are keys.
func Filled(e *stream.Env, n, keys int64) {
	stream.Sequence(e, 0, n-1).
		Map(func(x int64) Pair { return Pair{x % keys, 1} }).
		KeyBy(func(p Pair) int64 { return p.Key }).
		Reduce(func(a, b Pair) Pair { return Pair{a.Key, a.Value + b.Value} }).
		Discard()
}

// Windows is sequence → map → event time → keyBy 10,000 keys → windows → sum →
// discard: rate records to each millisecond of event time.
func Windows(e *stream.Env, n, rate int64, w stream.Windows) {
	stream.Sequence(e, 0, n-1).
		Map(func(x int64) Timed { return Timed{mix(x) % 10_000, 1, x / rate} }).
		Watermarks(stream.Monotonic(func(t Timed) time.Time { return time.UnixMilli(t.At) })).
		KeyBy(func(t Timed) int64 { return t.Key }).
		Window(w).
		Aggregate(stream.Aggregator[Timed, int64, int64]{
			Create: func() int64 { return 0 },
			Add:    func(sum *int64, t Timed) { *sum += t.Value },
			Merge:  func(sum *int64, other int64) { *sum += other },
			Result: func(sum *int64) int64 { return *sum },
		}).
		Discard()
}

// Timed is the record of Windows.
type Timed struct{ Key, Value, At int64 }

// mix spreads consecutive numbers evenly over the non-negative ones: the first
// half of MurmurHash3's finalizer.
func mix(x int64) int64 {
	h := uint64(x)
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	return int64(h &^ (1 << 63))
}

// Event is the record of the jobs with string keys.
type Event struct {
	Name  string
	Value int64
	Seq   int64
}

// names are the string keys.
var names = func() []string {
	names := make([]string, 10_000)
	for i := range names {
		names[i] = "sensor-" + strconv.Itoa(10_000+i)
	}
	return names
}()

// ToEvent makes the event of a number; it has one of 10,000 names.
func ToEvent(x int64) Event {
	h := mix(x)
	return Event{Name: names[uint64(h)%uint64(len(names))], Value: h & 1023, Seq: x}
}

// Keep holds for 1,023 of 1,024 events.
func Keep(v Event) bool { return v.Value != 0 }

// Name is the key of an event.
func Name(v Event) string { return v.Name }

// Count is sequence → map → filter → keyBy → count over 10,000 string keys.
func Count(e *stream.Env, n int64) {
	stream.Sequence(e, 0, n-1).Map(ToEvent).Filter(Keep).KeyBy(Name).Count().Discard()
}

// Maps is a chain of so many map operators over events.
func Maps(e *stream.Env, n int64, maps int) {
	s := stream.Sequence(e, 0, n-1).Map(ToEvent)
	for range maps {
		s = s.Map(func(v Event) Event { v.Value++; return v })
	}
	s.Discard()
}

// Idle reads lines that a server at address does not send, until it is canceled.
func Idle(e *stream.Env, address string) {
	stream.Socket(e, address).KeyBy(stream.Self[string]).Count().Discard()
}

// Fragile is Idle with a task that fails when the server sends the line "fail".
func Fragile(e *stream.Env, address string) {
	stream.Socket(e, address).Map(func(line string) string {
		if line == "fail" {
			panic("the server says so")
		}
		return line
	}).KeyBy(stream.Self[string]).Count().Discard()
}

// Words counts the words of text files and writes the counts to a directory. All
// words go through so many exchanges, one after another, before they are counted.
func Words(e *stream.Env, glob, directory string, exchanges int) {
	words := stream.ReadText(e, glob).FlatMap(WordsOf)
	for range exchanges {
		words = words.Rebalance().Map(func(word string) string { return word }) // what goes on is what was exchanged
	}
	words.KeyBy(stream.Self[string]).Count().
		WriteText(directory, func(c stream.Pair[string, int64]) string { return c.Key + "\t" + strconv.FormatInt(c.Value, 10) })
}

// WordsOf yields the words of a line: maximal runs of letters and digits, in
// lower case.
func WordsOf(line string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(line, separates) {
			if !yield(strings.ToLower(word)) {
				return
			}
		}
	}
}

func separates(r rune) bool {
	if r < utf8.RuneSelf {
		return !letterOrDigit[r]
	}
	return !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

var letterOrDigit = func() (table [utf8.RuneSelf]bool) {
	for r := range rune(utf8.RuneSelf) {
		table[r] = unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return table
}()
