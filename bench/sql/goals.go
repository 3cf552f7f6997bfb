package main

import (
	"slices"

	"github.com/weirstream/weir/bench/figure"
)

// A goal is a figure of one part.
type goal struct {
	part string
	figure.Figure
}

// goals are all figures, in the order of their table.
var goals = []goal{
	{"tpch", figure.Figure{Name: "TPC-H: queries of which both of Weir's answers are right", Key: "tpch right", Unit: "of 22", Limit: 22}},
	{"tpch", figure.Figure{Name: "TPC-H, all queries: CPU of `weir sql`, embedded, to DuckDB's with as many threads as cores", Key: "tpch embedded/duckdb", Unit: "×", Limit: 4, AtMost: true}},
	{"tpch", figure.Figure{Name: "the same, DuckDB with one thread", Key: "tpch embedded/duckdb one thread", Unit: "×"}},
	{"tpch", figure.Figure{Name: "the same on a cluster, all processes and the client, DuckDB with as many threads as cores", Key: "tpch cluster/duckdb", Unit: "×", Limit: 4, AtMost: true}},
	{"tpch", figure.Figure{Name: "TPC-H, all queries: CPU of Flink's JobManager and TaskManager to that of Weir's", Key: "tpch flink/cluster", Unit: "×", Limit: 5}},
	{"tpch", figure.Figure{Name: "the same with both clients", Key: "tpch flink/cluster with clients", Unit: "×", Limit: 5}},
	{"tpch", figure.Figure{Name: "TPC-H, all queries: DuckDB", Key: "tpch duckdb CPU", Unit: "CPU-s"}},
	{"tpch", figure.Figure{Name: "TPC-H, all queries: Weir, embedded", Key: "tpch embedded CPU", Unit: "CPU-s"}},
	{"tpch", figure.Figure{Name: "TPC-H, all queries: Weir, cluster without client", Key: "tpch cluster CPU", Unit: "CPU-s"}},
	{"tpch", figure.Figure{Name: "TPC-H, all queries: Flink, cluster without client", Key: "tpch flink CPU", Unit: "CPU-s"}},
	{"scan", figure.Figure{Name: "CSV: scan, filter and sums, the whole process", Key: "csv scan", Unit: "MB/CPU-s", Limit: 400}},
	{"scan", figure.Figure{Name: "the same by wall time", Key: "csv scan wall", Unit: "MB/s"}},
	{"scan", figure.Figure{Name: "JSON, an object to a line: scan, filter and sums", Key: "json scan", Unit: "MB/CPU-s", Limit: 300}},
	{"scan", figure.Figure{Name: "the same by wall time", Key: "json scan wall", Unit: "MB/s"}},
	{"scan", figure.Figure{Name: "Parquet: scan, filter and sums, by the size of the decoded columns", Key: "parquet scan", Unit: "MB/CPU-s", Limit: 1000,
		Missed: "decompression takes more than a third of the time, and starting the process a twentieth"}},
	{"scan", figure.Figure{Name: "the same by wall time", Key: "parquet scan wall", Unit: "MB/s"}},
	{"scan", figure.Figure{Name: "aggregation that is right with a part of the memory that it needs: how many times more it needs", Key: "aggregation spilled", Unit: "×", Limit: 4}},
	{"scan", figure.Figure{Name: "bytes it had in files", Key: "aggregation files", Unit: "MB"}},
	{"scan", figure.Figure{Name: "groups, all processes and the client", Key: "aggregation rate", Unit: "M groups/CPU-s"}},
	{"plan", figure.Figure{Name: "Nexmark's query 5 from its text to the plan of the job", Key: "PlanNexmark5 cpu-ms/op", Unit: "CPU-ms", Limit: 2, AtMost: true}},
	{"plan", figure.Figure{Name: "the same, wall time", Key: "PlanNexmark5 ms/op", Unit: "ms"}},
	{"first", figure.Figure{Name: "`weir sql -f`, a query over a small CSV file: exec → exit", Key: "first select", Unit: "ms", Limit: 150, AtMost: true, Wall: true}},
	{"first", figure.Figure{Name: "the same, processor time", Key: "first select CPU", Unit: "ms"}},
}

// figuresOf are the figures of some parts.
func figuresOf(parts []string) (all []figure.Figure) {
	for _, g := range goals {
		if slices.Contains(parts, g.part) {
			all = append(all, g.Figure)
		}
	}
	return all
}
