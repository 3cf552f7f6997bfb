package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"
)

// options say how defects are looked for.
type options struct {
	seeds   int           // worlds a defect has to survive
	limit   time.Duration // how long one is played at most; 0: until the last seed
	players int           // defects that are built and played at the same time
	record  bool
}

func main() {
	var o options
	flag.IntVar(&o.seeds, "seeds", 20_000, "how many worlds a defect has to survive")
	flag.DurationVar(&o.limit, "limit", 0, "how long a defect is played at most; 0: until the last seed")
	flag.IntVar(&o.players, "players", runtime.GOMAXPROCS(0), "how many defects are built and played at the same time")
	flag.BoolVar(&o.record, "record", false, "write the seeds that noticed something to "+recordFile)
	only := flag.String("only", "", "the names of the defects to play, separated by commas; empty: all")
	child := flag.Bool("play", false, "play the worlds of this very build; used for the builds with a defect")
	first := flag.Uint64("first", 0, "with -play: the seed to play before the others; 0: none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	survivors := 0
	if *child {
		err = play(o, *first)
	} else {
		var rows []mutant
		if rows, err = chosen(*only); err == nil {
			survivors, err = hunt(ctx, rows, o)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if survivors > 0 {
		os.Exit(1)
	}
}

// chosen are the rows that are named, in that order; all, if none is.
func chosen(names string) (rows []mutant, err error) {
	if names == "" {
		return mutants, nil
	}
	for name := range strings.SplitSeq(names, ",") {
		before := len(rows)
		for _, m := range mutants {
			if m.name == name {
				rows = append(rows, m)
			}
		}
		if len(rows) == before {
			return nil, fmt.Errorf("no defect has the name %q", name)
		}
	}
	return rows, nil
}
