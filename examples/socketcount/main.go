// Socketcount counts the words of a text that a TCP server sends, while it comes:
// with each word it prints how often it has come so far.
//
//	nc -lk 9999              # in another window; then type
//	socketcount --address localhost:9999
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"strings"

	"github.com/weirstream/weir/stream"
)

func main() {
	log.SetFlags(0)
	address := flag.String("address", "localhost:9999", "`host:port` of the server that sends text")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	env := stream.NewEnv()
	count(stream.Socket(env, *address)).Print().Parallelism(1)
	if err := env.Execute(ctx, "socket word count"); err != nil && ctx.Err() == nil {
		log.Fatalf("socketcount: %v", err)
	}
}

// count emits, with each word of a line, how often it has come.
func count(lines stream.DataStream[string]) stream.DataStream[stream.Pair[string, int64]] {
	return lines.
		FlatMap(strings.FieldsSeq).
		Map(strings.ToLower).
		KeyBy(stream.Self[string]).
		Count()
}
