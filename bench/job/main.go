// Job is a program that runs one of the measured jobs where it is submitted to:
//
//	job chain n=100000000
//	job keyed n=100000000 keys=1000000
//	job filled n=100000000 keys=1000000
//	job idle address=127.0.0.1:9000
//	job fragile address=127.0.0.1:9000
//	job words input=GLOB output=DIR exchanges=1
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/weirstream/weir/bench/jobs"
	"github.com/weirstream/weir/stream"
)

const names = "chain, keyed, filled, idle, fragile or words"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "job: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no job named: %s", names)
	}
	given := map[string]string{"n": "1000", "keys": "1000000", "address": "", "input": "", "output": "", "exchanges": "0"}
	for _, arg := range args[1:] {
		key, value, _ := strings.Cut(arg, "=")
		if _, known := given[key]; !known {
			return fmt.Errorf("unknown option %q: n, keys, address, input, output or exchanges", arg)
		}
		given[key] = value
	}
	n, err := strconv.ParseInt(given["n"], 10, 64)
	if err != nil {
		return fmt.Errorf("n: %w", err)
	}
	keys, err := strconv.ParseInt(given["keys"], 10, 64)
	if err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	exchanges, err := strconv.Atoi(given["exchanges"])
	if err != nil {
		return fmt.Errorf("exchanges: %w", err)
	}
	mode := stream.Streaming
	if args[0] == "words" {
		mode = stream.Batch
	}
	e := stream.NewEnv(stream.Mode(mode))
	switch args[0] {
	case "chain":
		jobs.Chain(e, n)
	case "keyed":
		jobs.Keyed(e, n, keys)
	case "filled":
		jobs.Filled(e, n, keys)
	case "idle":
		jobs.Idle(e, given["address"])
	case "fragile":
		jobs.Fragile(e, given["address"])
	case "words":
		jobs.Words(e, given["input"], given["output"], exchanges)
	default:
		return fmt.Errorf("unknown job %q: %s", args[0], names)
	}
	return e.Execute(context.Background(), args[0])
}
