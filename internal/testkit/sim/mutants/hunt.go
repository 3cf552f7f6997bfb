package main

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// An outcome is what came of one row of the table.
type outcome struct {
	verdict
	place string // file:line
	err   error  // the table is wrong, or the player did not answer
	done  chan struct{}
}

// hunt plays the defects, several at a time, and prints the table in its order.
// It answers how many survived.
func hunt(ctx context.Context, rows []mutant, o options) (survivors int, err error) {
	root, err := moduleRoot()
	if err != nil {
		return 0, err
	}
	known, begun := recorded(), time.Now()
	outcomes := make([]outcome, len(rows))
	next := make(chan int)
	var hunters sync.WaitGroup
	for i := range outcomes {
		outcomes[i].done = make(chan struct{})
	}
	for range o.players {
		hunters.Go(func() {
			for i := range next {
				outcomes[i].hunt(ctx, &rows[i], root, known[rows[i].name], o)
				close(outcomes[i].done)
			}
		})
	}
	go func() {
		defer close(next)
		for i := range rows {
			next <- i
		}
	}()
	found, excused, played := 0, 0, 0
	fmt.Printf("%-28s %-8s %6s %7s  %-11s %s\n", "defect", "found", "seed", "played", "invariant", "where, and what it breaks")
	for i := range rows {
		m, r := &rows[i], &outcomes[i]
		<-r.done
		if ctx.Err() != nil {
			continue // the others end by themselves
		}
		played += r.Played
		line := func(answer string, seed, played any, invariant string) {
			fmt.Printf("%-28s %-8s %6v %7v  %-11s %s: %s\n", m.name, answer, seed, played, invariant, r.place, m.breaks)
		}
		switch {
		case r.err != nil:
			survivors++
			fmt.Fprintln(os.Stderr, "mutants:", r.err)
			line("ERROR", "-", r.Played, "-")
		case m.survives != "":
			excused++
			line("excused", "-", "-", "-")
			fmt.Printf("%-28s %s\n", "", "because "+m.survives)
		case r.Seed == 0:
			survivors++
			line("SURVIVES", "-", r.Played, "-")
		default:
			found++
			known[m.name] = r.Seed
			line("yes", r.Seed, r.Played, r.Invariant)
		}
	}
	hunters.Wait()
	if ctx.Err() != nil {
		return survivors, ctx.Err()
	}
	fmt.Printf("%d defects: %d found, %d survive, %d excused; %d worlds in %s\n", len(rows), found, survivors, excused, played, time.Since(begun).Round(time.Second))
	if o.record {
		return survivors, record(root, known)
	}
	return survivors, nil
}

// hunt builds one defect and plays it, beginning with the world that noticed it
// before.
func (r *outcome) hunt(ctx context.Context, m *mutant, root string, first uint64, o options) {
	source, line, err := m.changed(root)
	if err != nil {
		r.err = err
		return
	}
	r.place = fmt.Sprintf("%s:%d", m.file, line)
	if m.survives != "" {
		return
	}
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		r.err = err
		return
	}
	defer os.RemoveAll(dir)
	binary, err := m.build(ctx, root, dir, source)
	if err != nil {
		r.err = err
		return
	}
	c := exec.CommandContext(ctx, binary, "-play", fmt.Sprintf("-seeds=%d", o.seeds), "-limit="+o.limit.String(), fmt.Sprintf("-first=%d", first))
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err == nil {
		err = json.Unmarshal(out, &r.verdict)
	}
	if err != nil {
		r.err = fmt.Errorf("play %s: %w", m.name, err)
	}
}
