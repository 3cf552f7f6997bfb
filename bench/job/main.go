// Job is a program that runs one of the measured jobs where it is submitted to:
//
//	job chain n=100000000
//	job keyed n=100000000 keys=1000000
//	job idle address=127.0.0.1:9000
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

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "job: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no job named: chain, keyed or idle")
	}
	given := map[string]string{"n": "1000", "keys": "1000000", "address": ""}
	for _, arg := range args[1:] {
		key, value, _ := strings.Cut(arg, "=")
		if _, known := given[key]; !known {
			return fmt.Errorf("unknown option %q: n, keys or address", arg)
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
	e := stream.NewEnv(stream.Mode(stream.Streaming))
	switch args[0] {
	case "chain":
		jobs.Chain(e, n)
	case "keyed":
		jobs.Keyed(e, n, keys)
	case "idle":
		jobs.Idle(e, given["address"])
	default:
		return fmt.Errorf("unknown job %q: chain, keyed or idle", args[0])
	}
	return e.Execute(context.Background(), args[0])
}
