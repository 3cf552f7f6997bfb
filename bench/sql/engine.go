package main

import (
	"context"
	"fmt"
	"strings"
)

// cost is what a statement took.
type cost struct {
	wall float64 // seconds until the answer was complete
	cpu  float64 // processor seconds of all that answers
	// client is the part of cpu that a program of its own took which sends the
	// statement and shows the answer; 0 if there is none.
	client float64
}

// An answer is what a statement gave, as texts.
type answer struct {
	rows [][]string
	// doubles says of each column whether it is a binary floating-point number.
	doubles []bool
}

// null is what a client shows for NULL.
const null = "<NULL>"

// An engine answers queries over files.
type engine interface {
	// query answers one query. The tables have been declared by tables.
	query(ctx context.Context, sql string) (answer, cost, error)
	close() error
}

// The settings with which clients of Flink's kind show a result as it is.
var clientSettings = []string{
	"'execution.runtime-mode' = 'batch'",
	"'sql-client.execution.result-mode' = 'tableau'",
	"'table.display.max-column-width' = '1000'",
	"'table.optimizer.join-reorder-enabled' = 'true'",
	"'parallelism.default' = '2'",
}

// script is a file for Weir's or Flink's client that shows the answer of one query.
func script(tables, query string) string {
	var b strings.Builder
	for _, s := range clientSettings {
		fmt.Fprintf(&b, "SET %s;\n", s)
	}
	return b.String() + tables + query
}

// idle is what a query costs that reads no table: starting a client, declaring the
// tables, and a job of one row.
func idle(ctx context.Context, e engine) (cost, error) {
	_, spent, err := e.query(ctx, "SELECT 1;\n")
	return spent, err
}
