package main

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// recordFile has a line for each defect that was found: its name, and a seed
// whose world notices it. That world is played first, so that a table that is
// still right is printed soon; if it no longer notices anything, because the
// world has changed, the search begins at seed 1 as it did before.
const recordFile = "internal/testkit/sim/mutants/found.txt"

//go:embed found.txt
var foundBefore string

// recorded gives the seeds of the record by the defects' names.
func recorded() map[string]uint64 {
	seeds := map[string]uint64{}
	for line := range strings.Lines(foundBefore) {
		var name string
		var seed uint64
		if n, _ := fmt.Sscan(line, &name, &seed); n == 2 {
			seeds[name] = seed
		}
	}
	return seeds
}

// record writes the record anew.
func record(root string, seeds map[string]uint64) error {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(seeds)) {
		if slices.ContainsFunc(mutants, func(m mutant) bool { return m.name == name && m.survives == "" }) {
			fmt.Fprintln(&b, name, seeds[name])
		}
	}
	if err := os.WriteFile(filepath.Join(root, recordFile), []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("record the seeds: %w", err)
	}
	return nil
}
