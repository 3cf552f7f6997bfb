// Dedup prints each line of some files once, however often it comes within a day.
//
//	dedup --input "events/*.txt"
//
// What has been seen is keyed state with a time to live, so it does not grow for ever,
// and is not forgotten by a restart either.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/weirstream/weir/stream"
)

func main() {
	log.SetFlags(0)
	input := flag.String("input", "", "`glob` of text files; ** crosses directories")
	flag.Parse()
	if *input == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	env := stream.NewEnv()
	once(stream.ReadText(env, *input)).Print().Parallelism(1)
	if err := env.Execute(ctx, "dedup"); err != nil {
		log.Fatalf("dedup: %v", err)
	}
}

// remembered is for how long a line is not let through again.
const remembered = 24 * time.Hour

// once lets each line through once.
func once(lines stream.DataStream[string]) stream.DataStream[string] {
	return lines.KeyBy(stream.Self[string]).
		Process(func() stream.KeyedProcessFunction[string, string, string] { return &dedup{} }).Name("Deduplicate")
}

// dedup lets a line through unless it has seen it.
type dedup struct{ seen *stream.ValueState[bool] }

func (d *dedup) Open(c *stream.OpenContext) error {
	d.seen = stream.NewValueState[bool](c, "seen", stream.TTL(remembered))
	return nil
}

func (d *dedup) Process(line string, _ *stream.KeyedContext[string], emit func(string)) error {
	if _, seen := d.seen.Value(); !seen {
		d.seen.Update(true)
		emit(line)
	}
	return nil
}
