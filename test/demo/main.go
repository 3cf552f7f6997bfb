// Demo shows that a job counts right whatever dies. It starts a JobManager and two
// TaskManagers, runs examples/growing over a directory into which it puts files,
// kills a TaskManager twice with SIGKILL, and compares the counts with its own.
//
//	demo [--bin bin]
//
// The job writes a line for each word, with how often it has been seen so far. So the
// lines of a word that occurs n times must be the numbers 1 to n, each once: a record
// that was lost leaves a gap, one that was counted twice gives a number twice. Its
// exit code is 1 if a count is wrong.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

const (
	files      = 60 // put into the directory
	putEvery   = 250 * time.Millisecond
	firstKill  = 4 * time.Second // after the first file
	secondKill = 9 * time.Second
	patience   = 50 * time.Second // for all of it
)

func main() {
	bin := flag.String("bin", "bin", "`directory` of the programs weir and growing")
	flag.Parse()
	if err := run(*bin); err != nil {
		fmt.Fprintln(os.Stderr, "demo: "+err.Error())
		os.Exit(1)
	}
}

func run(bin string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it is not done after %s", patience))
	defer cancel()
	dir, err := os.MkdirTemp("", "weir-demo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c := &cluster{bin: bin, home: dir, began: time.Now()}
	defer c.stop()
	if err := c.start(ctx, 2); err != nil {
		return fmt.Errorf("start a cluster: %w", err)
	}
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.Mkdir(in, 0o777); err != nil {
		return err
	}
	job, err := c.submit(ctx, "--input", in, "--output", out, "--checkpoints", filepath.Join(dir, "checkpoints"))
	if err != nil {
		return fmt.Errorf("run the job: %w", err)
	}
	c.say("job %s counts the words of %s, with a checkpoint every second", job, in)
	return follow(ctx, c, job, newWriter(in), out)
}

// follow puts files, kills TaskManagers, and compares, until all has been counted.
func follow(ctx context.Context, c *cluster, job string, w *writer, out string) error {
	begun := time.Now()
	kills := []time.Duration{firstKill, secondKill}
	shown := time.Now()
	tick := time.NewTicker(putEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		if w.files < files {
			if err := w.put(); err != nil {
				return fmt.Errorf("put a file: %w", err)
			}
		}
		if len(kills) > 0 && time.Since(begun) > kills[0] {
			kills = kills[1:]
			if err := c.replace(ctx); err != nil {
				return fmt.Errorf("replace a TaskManager: %w", err)
			}
		}
		if time.Since(shown) < time.Second {
			continue
		}
		shown = time.Now()
		counted, err := count(out)
		if err != nil {
			return err
		}
		c.say("%2d files, %6d words put in; %6d counted, each once; %s", w.files, w.words, counted.words, c.state(ctx, job))
		if err := counted.within(w.counts); err != nil {
			return err
		}
		if w.files == files && len(kills) == 0 && counted.words == w.words {
			c.say("all %d words are counted, %d different ones; %d TaskManagers were killed meanwhile", w.words, len(w.counts), c.killed)
			return nil
		}
	}
}
