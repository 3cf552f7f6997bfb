// Package tpch holds the tables and the 22 queries of TPC-H, with its validation
// parameters, in the SQL that Flink, DuckDB and Weir all take.
//
// It promises that the texts are TPC-H's but for three things: intervals have
// their precision left out, the view of query 15 is a WITH (variant 15a), and
// what query 11 calls value has another name, because that is a keyword. Texts
// of fixed length are strings, because a CSV file has no padding. It never makes
// data: that is the program in dbgen.
package tpch

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

// A Table is one of the eight, with its columns in the order of its files.
type Table struct {
	Name    string
	Columns []Column
}

// A Column has a type as Flink writes it.
type Column struct{ Name, Type string }

const money = "DECIMAL(15, 2)"

// Tables are all tables, the smallest first.
var Tables = []Table{
	{"region", []Column{{"r_regionkey", "INT"}, {"r_name", "STRING"}, {"r_comment", "STRING"}}},
	{"nation", []Column{{"n_nationkey", "INT"}, {"n_name", "STRING"}, {"n_regionkey", "INT"}, {"n_comment", "STRING"}}},
	{"supplier", []Column{{"s_suppkey", "INT"}, {"s_name", "STRING"}, {"s_address", "STRING"}, {"s_nationkey", "INT"}, {"s_phone", "STRING"},
		{"s_acctbal", money}, {"s_comment", "STRING"}}},
	{"customer", []Column{{"c_custkey", "INT"}, {"c_name", "STRING"}, {"c_address", "STRING"}, {"c_nationkey", "INT"}, {"c_phone", "STRING"},
		{"c_acctbal", money}, {"c_mktsegment", "STRING"}, {"c_comment", "STRING"}}},
	{"part", []Column{{"p_partkey", "INT"}, {"p_name", "STRING"}, {"p_mfgr", "STRING"}, {"p_brand", "STRING"}, {"p_type", "STRING"},
		{"p_size", "INT"}, {"p_container", "STRING"}, {"p_retailprice", money}, {"p_comment", "STRING"}}},
	{"partsupp", []Column{{"ps_partkey", "INT"}, {"ps_suppkey", "INT"}, {"ps_availqty", "INT"}, {"ps_supplycost", money}, {"ps_comment", "STRING"}}},
	{"orders", []Column{{"o_orderkey", "BIGINT"}, {"o_custkey", "INT"}, {"o_orderstatus", "STRING"}, {"o_totalprice", money}, {"o_orderdate", "DATE"},
		{"o_orderpriority", "STRING"}, {"o_clerk", "STRING"}, {"o_shippriority", "INT"}, {"o_comment", "STRING"}}},
	{"lineitem", []Column{{"l_orderkey", "BIGINT"}, {"l_partkey", "INT"}, {"l_suppkey", "INT"}, {"l_linenumber", "INT"}, {"l_quantity", money},
		{"l_extendedprice", money}, {"l_discount", money}, {"l_tax", money}, {"l_returnflag", "STRING"}, {"l_linestatus", "STRING"},
		{"l_shipdate", "DATE"}, {"l_commitdate", "DATE"}, {"l_receiptdate", "DATE"}, {"l_shipinstruct", "STRING"}, {"l_shipmode", "STRING"},
		{"l_comment", "STRING"}}},
}

// Create is the statement that declares the table in Flink's dialect, with its
// CSV files in a directory of dir.
func (t *Table) Create(dir string) string {
	var columns []string
	for _, c := range t.Columns {
		columns = append(columns, c.Name+" "+c.Type)
	}
	return fmt.Sprintf("CREATE TABLE %s (%s) WITH ('connector' = 'filesystem', 'path' = '%s', 'format' = 'csv');\n",
		t.Name, strings.Join(columns, ", "), quote(path.Join(dir, t.Name)))
}

// CreateView is the statement that lets DuckDB read the same files each time the
// table is asked.
func (t *Table) CreateView(dir string) string {
	var columns []string
	for _, c := range t.Columns {
		columns = append(columns, fmt.Sprintf("'%s': '%s'", c.Name, strings.ReplaceAll(c.Type, "STRING", "VARCHAR")))
	}
	return fmt.Sprintf("CREATE VIEW %s AS SELECT * FROM read_csv('%s', header = false, delim = ',', quote = '\"', escape = '\"', columns = {%s})",
		t.Name, quote(path.Join(dir, t.Name, t.Name+".csv")), strings.Join(columns, ", "))
}

func quote(text string) string { return strings.ReplaceAll(text, "'", "''") }

//go:embed queries
var queries embed.FS

// Queries is how many there are.
const Queries = 22

// Query is the text of the query with a number from 1, with a semicolon and a
// newline at its end.
func Query(number int) string {
	text, err := queries.ReadFile(fmt.Sprintf("queries/q%d.sql", number))
	if err != nil {
		panic(fmt.Sprintf("query %d of TPC-H: %v", number, err))
	}
	return string(text)
}
