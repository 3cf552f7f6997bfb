package tpch

import (
	"strings"
	"testing"
)

func TestQueriesAskOnlyForTablesThatAreDeclared(t *testing.T) {
	columns := map[string]bool{}
	for _, table := range Tables {
		for _, c := range table.Columns {
			if columns[c.Name] {
				t.Errorf("column %s is declared twice", c.Name)
			}
			columns[c.Name] = true
		}
	}
	for i := range Queries {
		text := Query(i + 1)
		if !strings.HasSuffix(text, ";\n") || strings.Count(text, ";") != 1 {
			t.Errorf("query %d is not one statement", i+1)
		}
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
			prefix, _, is := strings.Cut(word, "_")
			if is && (len(prefix) == 1 && strings.Contains("rnscpol", prefix) || prefix == "ps") && !columns[word] && !given[word] {
				t.Errorf("query %d has %s, which no table has", i+1, word)
			}
		}
	}
}

// given are names of that form that queries give to what they compute.
var given = map[string]bool{"c_count": true, "c_orders": true, "o_year": true, "l_year": true}

func TestStatementsDeclareTheSameColumns(t *testing.T) {
	region := Tables[0]
	if got, want := region.Create("/o'data"), "CREATE TABLE region (r_regionkey INT, r_name STRING, r_comment STRING) WITH "+
		"('connector' = 'filesystem', 'path' = '/o''data/region', 'format' = 'csv');\n"; got != want {
		t.Errorf("Weir and Flink:\n%s\nwant\n%s", got, want)
	}
	if got, want := region.CreateView("/o'data"), "CREATE VIEW region AS SELECT * FROM read_csv('/o''data/region/region.csv', header = false, delim = ',', quote = '\"', "+
		"escape = '\"', columns = {'r_regionkey': 'INT', 'r_name': 'VARCHAR', 'r_comment': 'VARCHAR'})"; got != want {
		t.Errorf("DuckDB:\n%s\nwant\n%s", got, want)
	}
}
