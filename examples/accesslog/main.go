// Accesslog sums up the access logs of a web server: for each status, how many
// requests there were, how many bytes were sent, and which path sent the most.
//
//	accesslog --input "/var/log/nginx/access.log*"
//
// Lines are in the Common Log Format; what follows the size is ignored, and lines
// that are not in it are counted and left out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"strings"

	"github.com/weirstream/weir/stream"
)

func main() {
	log.SetFlags(0)
	input := flag.String("input", "", "`glob` of access logs; ** crosses directories")
	flag.Parse()
	if *input == "" {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	env := stream.NewEnv()
	statuses, malformed := summarize(stream.ReadText(env, *input))
	statuses.Map(status.String).Print().Parallelism(1)
	malformed.Map(func(p stream.Pair[bool, int64]) string { return fmt.Sprintf("%d lines are malformed", p.Value) }).
		Print().Parallelism(1)
	if err := env.Execute(ctx, "access log"); err != nil {
		log.Fatalf("accesslog: %v", err)
	}
}

// status is what is known of the requests with one status.
type status struct {
	Code     int
	Requests int64
	Bytes    int64
	Largest  request // the one that sent the most
}

type request struct {
	Path  string
	Bytes int64
}

func (s status) String() string {
	return fmt.Sprintf("%d: %d requests, %d bytes, at most %d by %s", s.Code, s.Requests, s.Bytes, s.Largest.Bytes, s.Largest.Path)
}

// summarize gives one record a status, and the number of lines that have none.
func summarize(lines stream.DataStream[string]) (stream.DataStream[status], stream.DataStream[stream.Pair[bool, int64]]) {
	parsed := lines.Map(parse).Name("Parse")
	statuses := parsed.
		Filter(func(s status) bool { return s.Requests == 1 }).
		KeyBy(func(s status) int { return s.Code }).
		Reduce(add).Name("Sum Up")
	malformed := parsed.
		Filter(func(s status) bool { return s.Requests == 0 }).
		KeyBy(func(status) bool { return false }).
		Count().Name("Count Malformed")
	return statuses, malformed
}

// add sums up what is known of two sets of requests with one status.
func add(a, b status) status {
	sum := status{Code: a.Code, Requests: a.Requests + b.Requests, Bytes: a.Bytes + b.Bytes, Largest: a.Largest}
	if b.Largest.Bytes > a.Largest.Bytes || b.Largest.Bytes == a.Largest.Bytes && b.Largest.Path < a.Largest.Path {
		sum.Largest = b.Largest
	}
	return sum
}

// parse reads one line; what is malformed is a status of no requests.
func parse(line string) status {
	s, err := parseLine(line)
	if err != nil {
		return status{}
	}
	return s
}

var errFormat = errors.New("not in the Common Log Format")

// parseLine reads: host ident user [time] "method path protocol" status bytes.
func parseLine(line string) (status, error) {
	_, rest, ok := strings.Cut(line, `] "`)
	if !ok {
		return status{}, errFormat
	}
	end := strings.Index(rest, `" `)
	if end < 0 {
		return status{}, errFormat
	}
	words, fields := strings.Fields(rest[:end]), strings.Fields(rest[end+2:])
	if len(words) < 2 || len(fields) < 2 {
		return status{}, errFormat
	}
	code, err := strconv.Atoi(fields[0])
	if err != nil || code < 100 || code > 999 {
		return status{}, errFormat
	}
	size := int64(0)
	if fields[1] != "-" {
		if size, err = strconv.ParseInt(fields[1], 10, 64); err != nil || size < 0 {
			return status{}, errFormat
		}
	}
	return status{Code: code, Requests: 1, Bytes: size, Largest: request{Path: words[1], Bytes: size}}, nil
}
