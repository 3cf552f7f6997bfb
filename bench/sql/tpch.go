package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/weirstream/weir/bench/figure"
	"github.com/weirstream/weir/bench/tpch"
)

// queryPatience bounds how long one query may take.
const queryPatience = 5 * time.Minute

// generateTPCH makes the tables of a scale factor in dir, unless they are there.
func generateTPCH(ctx context.Context, dir, scale string, log io.Writer) error {
	if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
		return nil
	}
	fmt.Fprintf(log, "generating TPC-H's tables with scale factor %s in %s\n", scale, dir)
	cmd := exec.CommandContext(ctx, "go", "run", ".", "-sf", scale, "-dir", dir)
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Join("bench", "tpch", "dbgen"), log, log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("generate TPC-H's tables: %w", err)
	}
	return nil
}

// declare gives the statements that declare all tables in dir.
func declare(dir string) string {
	var b strings.Builder
	for _, t := range tpch.Tables {
		b.WriteString(t.Create(dir))
	}
	return b.String()
}

// A contender is an engine that the queries are put to.
type contender struct {
	name   string
	engine engine
	err    error // why there is none
	costs  [tpch.Queries + 1]cost
	errs   [tpch.Queries + 1]error
	wrong  [tpch.Queries + 1]string // how an answer differs; "": it does not, or there is nothing to compare with
}

// answered says whether query i has a cost.
func (c *contender) answered(i int) bool {
	return c.engine != nil && c.errs[i] == nil && c.costs[i].wall > 0
}

// ask puts the queries to all contenders in turn. The first is the judge of what
// is right; without it, the first that answers is.
func ask(ctx context.Context, all []*contender, queries []int, log io.Writer) {
	for _, i := range queries {
		var want *answer
		for _, c := range all {
			if c.engine == nil || ctx.Err() != nil {
				continue
			}
			limited, cancel := context.WithTimeout(ctx, queryPatience)
			a, spent, err := c.engine.query(limited, tpch.Query(i))
			if limited.Err() != nil {
				err = fmt.Errorf("no answer within %s", queryPatience)
			}
			cancel()
			c.costs[i], c.errs[i] = spent, err
			switch {
			case err != nil:
				fmt.Fprintf(log, "q%d, %s: %v\n", i, c.name, err)
				continue
			case want == nil:
				want = &a
			default:
				c.wrong[i] = differs(*want, a)
			}
			fmt.Fprintf(log, "q%d, %s: %.2f CPU-s, %.2f s, %d rows %s\n", i, c.name, spent.cpu, spent.wall, len(a.rows), c.wrong[i])
		}
	}
}

// total is the cost of the queries that both have answered, and how many they are.
func total(c, other *contender, queries []int, of func(cost) float64) (sum, others float64, n int) {
	for _, i := range queries {
		if c.answered(i) && other.answered(i) {
			sum += of(c.costs[i])
			others += of(other.costs[i])
			n++
		}
	}
	return sum, others, n
}

func processor(c cost) float64 { return c.cpu }

func withoutClient(c cost) float64 { return c.cpu - c.client }

// The places of the contenders.
const (
	duckdbTwo = iota
	duckdbOne
	weirEmbedded
	weirClustered
	flinkCluster
)

// tpchFigures are the totals, as figures. A total stands only for all queries.
func tpchFigures(all []*contender, queries []int, values figure.Values, failures map[string]error) {
	right := 0
	for _, i := range queries {
		if all[weirEmbedded].answered(i) && all[weirEmbedded].wrong[i] == "" && all[weirClustered].answered(i) && all[weirClustered].wrong[i] == "" {
			right++
		}
	}
	switch {
	case all[duckdbTwo].engine == nil && all[flinkCluster].engine == nil:
		failures["tpch right"] = errors.New("there is neither DuckDB nor Flink to compare the answers with")
	default:
		values.Add("tpch right", float64(right))
	}
	ratio := func(key string, weir, peer int, inverse bool, of func(cost) float64) {
		if all[peer].engine == nil {
			failures[key] = all[peer].err
			return
		}
		w, p, n := total(all[weir], all[peer], queries, of)
		switch {
		case n < len(queries):
			failures[key] = fmt.Errorf("both have answered %d of %d queries", n, len(queries))
		case inverse:
			values.Add(key, p/w)
		default:
			values.Add(key, w/p)
		}
	}
	ratio("tpch embedded/duckdb", weirEmbedded, duckdbTwo, false, processor)
	ratio("tpch embedded/duckdb one thread", weirEmbedded, duckdbOne, false, processor)
	ratio("tpch cluster/duckdb", weirClustered, duckdbTwo, false, processor)
	ratio("tpch flink/cluster", weirClustered, flinkCluster, true, withoutClient)
	ratio("tpch flink/cluster with clients", weirClustered, flinkCluster, true, processor)
	for i, key := range []string{"tpch duckdb CPU", "", "tpch embedded CPU", "tpch cluster CPU", "tpch flink CPU"} {
		if key == "" {
			continue
		}
		if all[i].engine == nil {
			failures[key] = all[i].err
		} else if sum, _, n := total(all[i], all[i], queries, withoutClient); n == len(queries) {
			values.Add(key, sum)
		} else {
			failures[key] = fmt.Errorf("%d of %d queries were answered", n, len(queries))
		}
	}
}

// tpchTable shows the queries one by one, and below them what was wrong.
func tpchTable(all []*contender, queries []int) string {
	var table, below strings.Builder
	table.WriteString("| query |")
	for _, c := range all {
		fmt.Fprintf(&table, " %s |", c.name)
	}
	table.WriteString(" embedded / DuckDB | Flink / cluster | answers |\n|---|" + strings.Repeat("---|", len(all)+3) + "\n")
	for _, i := range queries {
		fmt.Fprintf(&table, "| q%d |", i)
		equal := "equal"
		for _, c := range all {
			table.WriteString(c.cell(i))
			if told := c.wrong[i]; told != "" || c.errs[i] != nil {
				if c.errs[i] != nil {
					told = c.errs[i].Error()
				}
				equal = "**see below**"
				fmt.Fprintf(&below, "* q%d, %s: %s\n", i, c.name, strings.Join(strings.Fields(told), " "))
			}
		}
		fmt.Fprintf(&table, " %s | %s | %s |\n", quotient(all[weirEmbedded], all[duckdbTwo], i, processor),
			quotient(all[flinkCluster], all[weirClustered], i, withoutClient), equal)
	}
	if below.Len() > 0 {
		return table.String() + "\n" + below.String()
	}
	return table.String()
}

// cell is what a query took: a client's time stands behind a plus sign.
func (c *contender) cell(i int) string {
	switch {
	case c.engine == nil:
		return " |"
	case c.errs[i] != nil:
		return " failed |"
	case c.costs[i].client > 0:
		return fmt.Sprintf(" %.2f + %.2f |", withoutClient(c.costs[i]), c.costs[i].client)
	}
	return fmt.Sprintf(" %.2f |", c.costs[i].cpu)
}

// quotient is that of two contenders' costs for one query, if both have one.
func quotient(c, other *contender, i int, of func(cost) float64) string {
	if !c.answered(i) || !other.answered(i) || of(other.costs[i]) == 0 {
		return "–"
	}
	return strconv.FormatFloat(of(c.costs[i])/of(other.costs[i]), 'f', 1, 64)
}
