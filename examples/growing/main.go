// Growing counts the words of a directory that grows, without an end.
//
//	growing --input DIR --output DIR [--checkpoints DIR] [--every 1s]
//
// Files are put into the input directory by renaming them. Each word that is counted
// gives a line "word<TAB>count" with the count so far, and is seen in a file below the
// output directory when the checkpoint that it belongs to is complete: once, whatever
// fails.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/weirstream/weir/connector/files"
	"github.com/weirstream/weir/format"
	"github.com/weirstream/weir/stream"
)

func main() {
	log.SetFlags(0)
	input := flag.String("input", "", "`directory` that grows")
	output := flag.String("output", "", "`directory` for the counts")
	checkpoints := flag.String("checkpoints", "", "`directory` for the checkpoints; without it they are in the JobManager's memory")
	every := flag.Duration("every", time.Second, "the time from one checkpoint to the next")
	flag.Parse()
	if *input == "" || *output == "" || flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "growing: no --input or --output, or unexpected arguments %q\n", flag.Args())
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	options := []stream.Option{stream.CheckpointInterval(*every)}
	if *checkpoints != "" {
		options = append(options, stream.CheckpointDirectory(*checkpoints))
	}
	env := stream.NewEnv(options...)
	stream.FromSource(env, files.Lines(*input).MonitorContinuously(200*time.Millisecond)).UID("input").
		FlatMap(strings.FieldsSeq).
		KeyBy(stream.Self[string]).
		Count().UID("count").
		SinkTo(files.Sink[stream.Pair[string, int64]]{Dir: *output, Format: format.Text[stream.Pair[string, int64]](line)}).UID("output")
	if err := env.Execute(ctx, "growing word count"); err != nil {
		log.Fatalf("growing: %v", err)
	}
}

func line(p stream.Pair[string, int64]) string { return fmt.Sprintf("%s\t%d", p.Key, p.Value) }
