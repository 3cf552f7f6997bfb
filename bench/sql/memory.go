package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// groupBytes is the least that a group of the aggregation takes: its key and its
// two sums, each of eight bytes, and nothing for finding it.
const groupBytes = 3 * 8

// needs is how many times the memory it has the aggregation needs.
const needs = 4

const grouped = "SELECT COUNT(*) AS n, SUM(c) AS c, SUM(items) AS items FROM " +
	"(SELECT id, COUNT(*) AS c, SUM(CAST(quantity AS BIGINT)) AS items FROM csv_rows GROUP BY id) AS each_id;\n"

// aggregate groups all rows of the CSV file by their ids, which all differ, with a
// quarter of the managed memory that the groups take. It runs on a cluster, where
// memory is given out, and watches what is written to the directory for temporary files.
func (s *scans) aggregate(ctx context.Context, t totals) error {
	spare, err := os.MkdirTemp("", "weir-bench-")
	if err != nil {
		return fmt.Errorf("make a directory for temporary files: %w", err)
	}
	defer os.RemoveAll(spare)
	managed := t.rows * groupBytes / needs
	c, err := openClustered(ctx, s.weir, s.create("csv"), 1, "io.tmp.dirs="+spare, "taskmanager.memory.managed.size="+strconv.FormatInt(managed, 10)+"b")
	if err != nil {
		return err
	}
	most := watch(ctx, spare)
	a, spent, err := c.query(ctx, grouped)
	spilled := most()
	if err = errors.Join(err, c.close()); err != nil {
		return err
	}
	want := answer{rows: [][]string{{strconv.FormatInt(t.rows, 10), strconv.FormatInt(t.rows, 10), strconv.FormatInt(t.items, 10)}}}
	if d := differs(want, a); d != "" {
		return errors.New("the answer is wrong: " + d)
	}
	fmt.Fprintf(s.log, "aggregation of %d groups with %d MB: %.2f CPU-s, %.2f s, %d MB in files\n", t.rows, managed/1e6, spent.cpu, spent.wall, spilled/1e6)
	if spilled == 0 {
		return errors.New("nothing was written to files, although the groups do not fit into the memory")
	}
	s.values.Add("aggregation spilled", float64(t.rows*groupBytes)/float64(managed))
	s.values.Add("aggregation files", float64(spilled)/1e6)
	s.values.Add("aggregation rate", float64(t.rows)/1e6/spent.cpu)
	return nil
}

// watch looks how many bytes lie in a directory, until the function it gives is
// called, which tells the most.
func watch(ctx context.Context, dir string) (most func() int64) {
	ctx, stop := context.WithCancel(ctx)
	result := make(chan int64)
	go func() {
		var greatest int64
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			greatest = max(greatest, bytesIn(dir))
			select {
			case <-tick.C:
			case <-ctx.Done():
				result <- greatest
				return
			}
		}
	}()
	return func() int64 { stop(); return <-result }
}

// bytesIn sums the files below a directory; those that go meanwhile do not count.
func bytesIn(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	return sum
}

// firstSelects are how often the first SELECT of a process is measured, and what is asked.
const firstSelects = 11

// first measures the whole of a `weir sql` that answers one query over a small
// file, from its start to its end.
func (s *scans) first(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "weir-bench-")
	if err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	small := scans{dir: dir}
	if _, err := generate(dir, "csv", 4000, row.csv, s.log); err != nil {
		return err
	}
	e, err := openEmbedded(s.weir, small.create("csv"))
	if err != nil {
		return err
	}
	defer e.close()
	for i := range 1 + firstSelects {
		_, spent, err := e.query(ctx, "SELECT city, COUNT(*) AS n, SUM(price) AS money FROM csv_rows GROUP BY city ORDER BY money DESC;\n")
		if err != nil {
			return err
		}
		if i > 0 { // the first reads the program from the disk
			s.values.Add("first select", spent.wall*1e3)
			s.values.Add("first select CPU", spent.cpu*1e3)
		}
	}
	return nil
}
