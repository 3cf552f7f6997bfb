package main

import (
	"context"
	"encoding/json/v2"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"time"
)

func main() {
	seeds := flag.Int("seeds", 400, "how many worlds a defect has to survive")
	limit := flag.Duration("limit", time.Minute, "how long a defect is played at most")
	only := flag.String("only", "", "the names of the defects to play, separated by commas; empty: all")
	players := flag.Int("players", runtime.GOMAXPROCS(0), "how many worlds are played at the same time")
	child := flag.Bool("play", false, "play the worlds of this very build; used for the builds with a defect")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	survivors := 0
	if *child {
		err = play(*seeds, *players, *limit)
	} else {
		survivors, err = hunt(ctx, chosen(*only), *seeds, *players, *limit)
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
func chosen(names string) (rows []mutant) {
	if names == "" {
		return mutants
	}
	for name := range strings.SplitSeq(names, ",") {
		for _, m := range mutants {
			if m.name == name {
				rows = append(rows, m)
			}
		}
	}
	return rows
}

// hunt plays all defects and prints the table. It answers how many survived.
func hunt(ctx context.Context, rows []mutant, seeds, players int, limit time.Duration) (survivors int, err error) {
	root, err := moduleRoot()
	if err != nil {
		return 0, err
	}
	found, excused := 0, 0
	fmt.Printf("%-28s %-9s %6s  %-10s %s\n", "defect", "found", "seeds", "invariant", "what it breaks")
	for i := range rows {
		m := &rows[i]
		if m.survives != "" {
			excused++
			fmt.Printf("%-28s %-9s %6s  %-10s %s; not played: %s\n", m.name, "-", "-", "-", m.breaks, m.survives)
			continue
		}
		v, err := m.hunt(ctx, root, seeds, players, limit)
		answer, invariant, after := "yes", v.Invariant, int(v.Seed)
		switch {
		case ctx.Err() != nil:
			return survivors, ctx.Err()
		case err != nil: // the table is wrong, which is no defect found
			survivors++
			answer, invariant = "ERROR", "-"
			fmt.Fprintln(os.Stderr, "mutants:", err)
		case v.Seed == 0:
			survivors++
			answer, invariant, after = "SURVIVES", "-", v.Played
		default:
			found++
		}
		fmt.Printf("%-28s %-9s %6d  %-10s %s\n", m.name, answer, after, invariant, m.breaks)
	}
	fmt.Printf("%d defects: %d found, %d survive, %d not played\n", len(rows), found, survivors, excused)
	return survivors, nil
}

// hunt builds one defect and plays it.
func (m *mutant) hunt(ctx context.Context, root string, seeds, players int, limit time.Duration) (v verdict, err error) {
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return v, err
	}
	defer os.RemoveAll(dir)
	binary, err := m.build(ctx, root, dir)
	if err != nil {
		return v, err
	}
	// The player ends by itself; the deadline is for a world that hangs.
	ctx, cancel := context.WithTimeout(ctx, 2*limit+time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, binary, "-play", fmt.Sprintf("-seeds=%d", seeds), fmt.Sprintf("-players=%d", players), "-limit="+limit.String())
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return v, fmt.Errorf("play %s: %w", m.name, err)
	}
	if err := json.Unmarshal(out, &v); err != nil {
		return v, fmt.Errorf("play %s: %w: %q", m.name, err, out)
	}
	return v, nil
}
