// Topn names the pages that were asked for most in each minute.
//
//	topn --input "requests/*.csv" [--n 3]
//
// A line is time,page, with a time as in 2024-05-17T09:30:00Z; lines may come up to ten
// seconds late. Pages are counted in windows of their own, in parallel; the counts of one
// window then meet under its end, and are ranked when the watermark says that all are
// there.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/weirstream/weir/stream"
)

func main() {
	log.SetFlags(0)
	input := flag.String("input", "", "`glob` of files with requests; ** crosses directories")
	n := flag.Int("n", 3, "how many pages are named")
	flag.Parse()
	if *input == "" || *n < 1 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	env := stream.NewEnv()
	top(stream.ReadText(env, *input), *n).Print().Parallelism(1)
	if err := env.Execute(ctx, "topn"); err != nil {
		log.Fatalf("topn: %v", err)
	}
}

type request struct {
	At   time.Time
	Page string
}

// count is how often a page was asked for in a minute.
type count = stream.Windowed[string, int64]

// top gives the n pages that were asked for most in each minute, in order.
func top(lines stream.DataStream[string], n int) stream.DataStream[string] {
	return lines.
		Process(func() stream.ProcessFunction[string, request] { return parser{} }).
		Watermarks(stream.BoundedOutOfOrderness(10*time.Second, func(r request) time.Time { return r.At })).
		KeyBy(func(r request) string { return r.Page }).
		Window(stream.Tumbling(time.Minute)).Count().
		KeyBy(func(c count) int64 { return c.End.UnixMilli() }).
		Process(func() stream.KeyedProcessFunction[int64, count, string] { return &ranking{n: n} }).Name("Top N")
}

// ranking keeps the counts of each window until all are there.
type ranking struct {
	n      int
	counts *stream.ListState[count]
}

func (r *ranking) Open(c *stream.OpenContext) error {
	r.counts = stream.NewListState[count](c, "counts")
	return nil
}

func (r *ranking) Process(v count, c *stream.KeyedContext[int64], _ func(string)) error {
	r.counts.Add(v)
	c.RegisterEventTimer(v.End) // a millisecond behind the last record of the window
	return nil
}

func (r *ranking) OnTimer(_ stream.Timer, _ *stream.KeyedContext[int64], emit func(string)) error {
	all := r.counts.Get()
	r.counts.Clear()
	slices.SortFunc(all, func(a, b count) int { return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Key, b.Key)) })
	for i, c := range all[:min(r.n, len(all))] {
		emit(fmt.Sprintf("%s %d. %s %d", c.Start.Format("15:04"), i+1, c.Key, c.Value))
	}
	return nil
}

type parser struct{}

// Process fails on a line that is no request.
func (parser) Process(line string, _ *stream.ProcessContext, emit func(request)) error {
	text, page, found := strings.Cut(line, ",")
	at, err := time.Parse(time.RFC3339, text)
	if !found || err != nil {
		return fmt.Errorf("%q is no request: want time,page, with a time as in 2024-05-17T09:30:00Z", line)
	}
	emit(request{at, page})
	return nil
}
