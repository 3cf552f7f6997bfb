package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func run() error {
	expressions := flag.String("expressions", "", "a file of expressions")
	report := flag.String("report", "", "where every difference is written")
	groups := flag.Bool("groups", false, "print the counts of each group")
	flag.Parse()
	out := os.Stdout
	if *report != "" {
		f, err := os.Create(*report)
		if err != nil {
			return fmt.Errorf("create the report: %w", err)
		}
		defer f.Close()
		out = f
	}
	if *expressions == "" {
		return fmt.Errorf("nothing to compare: give --expressions FILE")
	}
	result, err := compareExpressions(*expressions)
	if err != nil {
		return err
	}
	if *report != "" {
		for _, d := range result.differences {
			if _, err := fmt.Fprintln(out, d); err != nil {
				return fmt.Errorf("write the report: %w", err)
			}
		}
	}
	if *groups {
		result.printGroups(os.Stdout)
	}
	fmt.Printf("expressions: %s\n", result.total)
	return nil
}
