package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func run() error {
	expressions := flag.String("expressions", "", "a `file` of expressions")
	statements := flag.String("statements", "", "a `file` of statements; statements-fixtures.sql beside it prepares each session")
	queries := flag.String("queries", "", "a `directory` of query cases, or one of them")
	mode := flag.String("mode", "batch", "how queries run: batch")
	parallelism := flag.Int("parallelism", 1, "how parallel the jobs of queries are")
	report := flag.String("report", "", "the `file` that every difference is written to")
	groups := flag.Bool("groups", false, "print the counts of each group")
	flag.Parse()
	if *expressions == "" && *statements == "" && *queries == "" {
		return fmt.Errorf("nothing to compare: give --expressions FILE, --statements FILE or --queries DIRECTORY")
	}
	if *mode != "batch" {
		return fmt.Errorf("--mode %s: queries run as batch only", *mode)
	}
	out := io.Discard
	if *report != "" {
		f, err := os.Create(*report)
		if err != nil {
			return fmt.Errorf("create the report: %w", err)
		}
		defer f.Close()
		out = f
	}
	for _, part := range []struct {
		name, path string
		compare    func(path string) (*comparison, error)
	}{
		{"expressions", *expressions, compareExpressions},
		{"statements", *statements, compareStatements},
		{"queries", *queries, func(path string) (*comparison, error) { return compareQueries(path, *parallelism) }},
	} {
		if part.path == "" {
			continue
		}
		result, err := part.compare(part.path)
		if err != nil {
			return err
		}
		for _, d := range append(result.differences, result.notes...) {
			if _, err := fmt.Fprintln(out, d); err != nil {
				return fmt.Errorf("write the report: %w", err)
			}
		}
		if *groups {
			result.printGroups(os.Stdout)
		}
		fmt.Printf("%s: %s\n", part.name, result.total)
		result.printParts(os.Stdout)
	}
	return nil
}
