package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/weirstream/weir/bench/figure"
	"github.com/weirstream/weir/bench/process"
)

// scans measures files of one format after another: a scan with a filter and
// sums, embedded, so that the whole of `weir sql` counts.
type scans struct {
	weir, dir string
	size      int64
	rounds    int
	log       io.Writer
	values    figure.Values
	failures  map[string]error
}

// failed notes why a figure has no value.
func (s *scans) failed(key string, err error) {
	fmt.Fprintf(s.log, "%s: %v\n", key, err)
	s.failures[key] = err
}

func (s *scans) create(format string) string {
	return fmt.Sprintf("CREATE TABLE %s_rows (%s) WITH ('connector' = 'filesystem', 'path' = '%s', 'format' = '%s');\n",
		format, columns, filepath.Join(s.dir, format), format)
}

// decoded is how many bytes of a row the columns that the scan needs take in
// memory: quantity, price and day.
const decoded = 4 + 8 + 4

func (s *scans) measure(ctx context.Context) {
	csv, err := generate(s.dir, "csv", s.size, row.csv, s.log)
	if err != nil {
		s.failed("csv scan", err)
		return
	}
	want := totalsOf(csv.Rows)
	s.scan(ctx, "csv", want, csv.Bytes)
	if json, err := generate(s.dir, "json", s.size, row.json, s.log); err != nil {
		s.failed("json scan", err)
	} else {
		s.scan(ctx, "json", totalsOf(json.Rows), json.Bytes)
	}
	if err := s.writeParquet(ctx); err != nil {
		s.failed("parquet scan", err)
	} else {
		s.scan(ctx, "parquet", want, csv.Rows*decoded)
	}
	if err := s.aggregate(ctx, want); err != nil {
		s.failed("aggregation spilled", err)
	}
}

// scan asks several times. bytes are what the figure counts.
func (s *scans) scan(ctx context.Context, format string, want totals, bytes int64) {
	e, err := openEmbedded(s.weir, s.create(format))
	if err != nil {
		s.failed(format+" scan", err)
		return
	}
	defer e.close()
	for range s.rounds {
		a, spent, err := e.query(ctx, fmt.Sprintf(filtered, format+"_rows"))
		if err == nil {
			if d := differs(want.answer(), a); d != "" {
				err = errors.New("the answer is wrong: " + d)
			}
		}
		if err != nil {
			s.failed(format+" scan", err)
			return
		}
		fmt.Fprintf(s.log, "%s scan: %.2f CPU-s, %.2f s\n", format, spent.cpu, spent.wall)
		s.values.Add(format+" scan", float64(bytes)/1e6/spent.cpu)
		s.values.Add(format+" scan wall", float64(bytes)/1e6/spent.wall)
	}
}

// writeParquet lets Weir write the rows of the CSV file as Parquet, unless they are there.
func (s *scans) writeParquet(ctx context.Context) error {
	complete := filepath.Join(s.dir, "parquet.complete")
	if _, err := os.Stat(complete); err == nil {
		return nil
	}
	fmt.Fprintf(s.log, "writing the rows as Parquet in %s\n", s.dir)
	e, err := openEmbedded(s.weir, "")
	if err != nil {
		return err
	}
	defer e.close()
	if err := os.RemoveAll(filepath.Join(s.dir, "parquet")); err != nil {
		return err
	}
	file := filepath.Join(e.home, "write.sql")
	text := "SET 'execution.runtime-mode' = 'batch';\n" + s.create("csv") + s.create("parquet") + "INSERT INTO parquet_rows SELECT * FROM csv_rows;\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	out, _, err := process.Run(e.command(ctx, "sql", "-f", file))
	if told := refusal(string(out)); told != nil {
		return told
	}
	if err != nil {
		return err
	}
	return os.WriteFile(complete, nil, 0o644)
}
