package sqlrun_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/sql/session"
)

// parquetTable makes a table of Parquet files.
func parquetTable(t *testing.T, s session.Session, name, columns, rest, options string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), name)
	run(t, s, fmt.Sprintf("CREATE TABLE %s (%s) %s WITH ('connector'='filesystem', 'path'='%s', 'format'='parquet'%s)", name, columns, rest, dir, options))
	return dir
}

func TestWrittenParquet(t *testing.T) {
	columns := `i INT, t STRING, d DECIMAL(12, 9), f DOUBLE, b BYTES, x BOOLEAN, dt DATE, tm TIME(3), ts TIMESTAMP(6), z TIMESTAMP_LTZ(3),
		a ARRAY<INT>, m MAP<STRING, DOUBLE>, r ROW<n INT, t STRING>, n BIGINT NOT NULL`
	want := "\n1 | q\"ä\n | 0.000000027 | 1.0E10 | x'00ff' | TRUE | 2024-02-29 | 10:00:00.05 | 2024-03-31 10:00:00.050001 | 1970-01-01 09:00:00.500 | [1, NULL] | {k=1.0} | (2, NULL) | 5\n"
	for _, options := range []string{"", ", 'parquet.utc-timezone'='true', 'parquet.compression'='zstd'", ", 'parquet.write.int64.timestamp'='true', 'parquet.compression'='UNCOMPRESSED'",
		", 'parquet.page.size'='100', 'parquet.block.size'='500', 'parquet.enable.dictionary'='false', 'parquet.timestamp.time.unit'='nanos', 'parquet.write.int64.timestamp'='true'"} {
		s := open(t)
		run(t, s, "SET 'table.local-time-zone' = 'Asia/Tokyo'")
		dir := parquetTable(t, s, "j", columns, "", options)
		for range 2 {
			run(t, s, `INSERT INTO j VALUES (1, U&'q"\00e4\000a', 0.000000027, 1E10, x'00ff', TRUE, DATE '2024-02-29', TIME '10:00:00.05', TIMESTAMP '2024-03-31 10:00:00.050001', TO_TIMESTAMP_LTZ(500, 3),
				ARRAY[1, CAST(NULL AS INT)], MAP['k', 1E0], ROW(2, CAST(NULL AS STRING)), 5)`)
		}
		got := answer(t.Context(), s, "SELECT * FROM j")
		if _, rows, _ := strings.Cut(got, "\n"); "\n"+rows != want+want[1:] {
			t.Errorf("%s: what was written is read as %s", options, got)
		}
		run(t, s, "SET 'table.local-time-zone' = 'UTC'") // which a TIMESTAMP does not depend on
		if got := answer(t.Context(), s, "SELECT ts, z FROM j"); !strings.HasSuffix(got, "\n2024-03-31 10:00:00.050001 | 1970-01-01 00:00:00.500\n") {
			t.Errorf("%s: in another zone, %s", options, got)
		}
		if files, err := filepath.Glob(filepath.Join(dir, "part-*.parquet")); err != nil || len(files) != 2 {
			t.Errorf("%s: files %q, %v", options, files, err)
		}
	}
}

// Row groups are pruned, and what is read is the same.
func TestParquetFilters(t *testing.T) {
	s := open(t)
	run(t, s, "SET 'parallelism.default' = '2'", "CREATE TABLE numbers (n BIGINT) WITH ('connector'='datagen', 'fields.n.kind'='sequence', 'fields.n.start'='0', 'fields.n.end'='19999')")
	parquetTable(t, s, "p", "n BIGINT, v STRING, d DECIMAL(10, 1), nothing INT, f DOUBLE, ts TIMESTAMP(3)", "", ", 'parquet.block.size'='20000', 'parquet.write.int64.timestamp'='true'")
	run(t, s, "INSERT INTO p SELECT n, CAST(n / 100 AS STRING), n / 10.0, CAST(NULLIF(n, n) AS INT), n * 1E0, TIMESTAMPADD(SECOND, CAST(n AS INT), TIMESTAMP '2024-01-01 00:00:00') FROM numbers")
	for condition, want := range map[string]string{
		"TRUE": "20000", "n = 12345": "1", "n > 19990": "9", "n >= 19990 AND n < 19995": "5", "5 > n": "5", "n <> 3": "19999", "v = '7'": "100", "v IN ('7', '9')": "200",
		"d BETWEEN 10 AND 10.5": "6", "nothing IS NULL": "20000", "nothing IS NOT NULL": "0", "nothing = 1": "0", "f < 3E0": "3", "n = 1 OR n = 19999": "2", "n < 0": "0",
		"ts >= TIMESTAMP '2024-01-01 05:33:00'": "20", "NOT (n > 10)": "11", "n IS NOT NULL AND n < 3": "3", "n < 10 AND n / (n - 5) > 0": "",
	} {
		got := answer(t.Context(), s, "SELECT COUNT(*) FROM p WHERE "+condition)
		if want == "" {
			if !strings.Contains(got, "error: ") {
				t.Errorf("%s: %s", condition, got)
			}
		} else if !strings.HasSuffix(got, "\n"+want+"\n") {
			t.Errorf("%s: got %s, want %s", condition, got, want)
		}
	}
	// What is not read does not matter.
	dir := parquetTable(t, s, "q", "n BIGINT, v INT", "", ", 'parquet.block.size'='20000'")
	run(t, s, "SET 'parallelism.default' = '1'", "INSERT INTO q SELECT n, CAST(n AS INT) FROM numbers")
	files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err == nil {
		err = os.WriteFile(files[0], flipped(text, 100), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	for condition, want := range map[string]string{"n > 19990": "\n9\n", "n = 19000 + 5 OR n IN (18000, 18001)": "\n3\n", "n < 10": "row group 0, column n, byte 4: the page is damaged"} {
		if got := answer(t.Context(), s, "SELECT COUNT(*) FROM q WHERE "+condition); !strings.Contains(got, want) {
			t.Errorf("%s of a file with a damaged row group: %s", condition, got)
		}
	}
	if got := answer(t.Context(), s, "SELECT SUM(n) FROM p LIMIT 1"); !strings.HasSuffix(got, "\n199990000\n") {
		t.Error(got)
	}
}

func TestParquetIsRefused(t *testing.T) {
	for options, want := range map[string]string{
		", 'parquet.compresion'='gzip'":       "unsupported option 'parquet.compresion' for connector 'filesystem'; did you mean 'parquet.compression'?",
		", 'parquet.compression'='lzo'":       "option 'parquet.compression': 'lzo' is none of UNCOMPRESSED, SNAPPY, GZIP, BROTLI, LZ4, ZSTD, LZ4_RAW",
		", 'parquet.block.size'='big'":        "option 'parquet.block.size': 'big' is no number",
		", 'parquet.writer.version'='v2'":     "option 'parquet.writer.version': 'v2' is not written",
		", 'parquet.timestamp.time.unit'='s'": "option 'parquet.timestamp.time.unit': 's' is none of millis, micros, nanos",
		", 'csv.allow-comments'='true'":       "unsupported option 'csv.allow-comments'",
	} {
		s := open(t)
		parquetTable(t, s, "t", "a INT", "", options)
		for _, statement := range []string{"SELECT * FROM t", "INSERT INTO t VALUES (1)"} {
			if got := answer(t.Context(), s, statement); !strings.Contains(got, want) {
				t.Errorf("%s%s: got %s, want %s", statement, options, got, want)
			}
		}
	}
	s := open(t)
	dir := parquetTable(t, s, "t", "a INT", "", "")
	run(t, s, "INSERT INTO t VALUES (1)")
	files, _ := filepath.Glob(filepath.Join(dir, "*.parquet"))
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for want, text := range map[string][]byte{
		"it has 0 bytes, and a Parquet file has 12 at least":                 {},
		"it ends with \"\\n1,2\", and a Parquet file with \"PAR1\"":          []byte("a,b\n1,2\n1,2\n1,2"),
		"it is another kind of file, or the end of it is missing":            whole[:len(whole)-7],
		"byte 4: its footer is said to have":                                 append([]byte("....\xff\x00\x00\x00"), "PAR1"...),
		"column a, byte 4: the page is damaged: its checksum is another":     flipped(whole, 4+30),
		"byte " + fmt.Sprint(len(whole)-4) + ": it is encrypted, which is n": append(append([]byte{}, whole[:len(whole)-4]...), "PARE"...),
	} {
		if err := os.WriteFile(filepath.Join(dir, "x.parquet"), text, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{"SELECT * FROM t", "CHECK TABLE t"} {
			if got := answer(t.Context(), s, statement); !strings.Contains(got, want) || !strings.Contains(got, "x.parquet") {
				t.Errorf("%s: got %s, want %s", statement, got, want)
			}
		}
	}
	run(t, s, fmt.Sprintf("CREATE TABLE u (a STRING) WITH ('connector'='filesystem', 'path'='%s', 'format'='parquet')", files[0]),
		"CREATE TABLE v (a INT, i VARIANT) WITH ('connector'='filesystem', 'path'='/none', 'format'='parquet')")
	for statement, want := range map[string]string{
		"SELECT * FROM u":                         filepath.Base(files[0]) + ": column a is INT32 in the file, and STRING in the table",
		"SELECT * FROM v":                         "column i: format 'parquet' has no values of type VARIANT",
		"SELECT 1 / (a - 1), a FROM t":            "",
		"INSERT INTO v SELECT 1, PARSE_JSON('1')": "column i: format 'parquet' has no values of type VARIANT",
	} {
		if got := answer(t.Context(), s, statement); !strings.Contains(got, want) {
			t.Errorf("%s gives %s, want %s", statement, got, want)
		}
	}
	if err := os.Remove(filepath.Join(dir, "x.parquet")); err != nil {
		t.Fatal(err)
	}
	// A failure further on names the row.
	if got := answer(t.Context(), s, "SELECT 1 / (a - 1) FROM t"); !strings.Contains(got, files[0]+", row 1: a=1") {
		t.Errorf("a row that fails gives %s", got)
	}
	if got, want := answer(t.Context(), s, "CHECK TABLE t"), "1 | a | INT | 1 | 1 | <NULL>\n"; got != want {
		t.Errorf("CHECK TABLE gives %s", got)
	}
}

func flipped(text []byte, at int) []byte {
	text = append([]byte{}, text...)
	text[at] ^= 1
	return text
}

func TestParquetOverwrite(t *testing.T) {
	s := open(t)
	dir := parquetTable(t, s, "o", "n INT, v STRING, c STRING", "PARTITIONED BY (c)", "")
	run(t, s, "INSERT INTO o VALUES (1, 'a', 'x'), (2, 'b', 'y')", "INSERT OVERWRITE o SELECT n + 10, v, c FROM o WHERE n > 1")
	if got := answer(t.Context(), s, "SELECT c, n, v FROM o ORDER BY n"); !strings.HasSuffix(got, "\nx | 1 | a\ny | 12 | b\n") {
		t.Error(got)
	}
	if files, err := filepath.Glob(filepath.Join(dir, "c=y", "*")); err != nil || len(files) != 1 {
		t.Error(files, err)
	}
	if got := answer(t.Context(), s, "SELECT c FROM o"); strings.Count(got, "\n") != 3 {
		t.Error(got)
	}
}
