package main

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestGeneratedFilesHoldTheTotals(t *testing.T) {
	dir := t.TempDir()
	c, err := generate(dir, "csv", 50_000, row.csv, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	j, err := generate(dir, "json", 50_000, row.json, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []struct {
		generated
		rows [][]string
	}{{c, readCSV(t, dir)}, {j, readJSON(t, dir)}} {
		if g.Bytes < 50_000 || g.Bytes > 51_000 || int64(len(g.rows)) != g.Rows {
			t.Errorf("%d bytes and %d rows, of which %d were read; want 50,000 bytes and a little more", g.Bytes, g.Rows, len(g.rows))
		}
		want, got := totalsOf(g.Rows), totals{rows: int64(len(g.rows))}
		ids := map[string]bool{}
		for _, r := range g.rows { // id, quantity, price, sold
			ids[r[0]] = true
			quantity, err := strconv.ParseInt(r[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			cents, err := strconv.ParseInt(strings.Replace(r[2], ".", "", 1), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			got.items += quantity
			if quantity > 25 && r[3] >= "2024-07-01" {
				got.filtered++
				got.sold += quantity
				got.income += cents
			}
		}
		if got != want || len(ids) != len(g.rows) {
			t.Errorf("totals %+v of %d ids, want %+v of as many ids as rows", got, len(ids), want)
		}
	}
	again, err := generate(dir, "csv", 50_000, nil, io.Discard)
	if err != nil || again != c {
		t.Errorf("what is there is generated again: %+v, %v", again, err)
	}
}

func readCSV(t *testing.T, dir string) (rows [][]string) {
	f, err := os.Open(filepath.Join(dir, "csv", "rows.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		rows = append(rows, []string{r[0], r[3], r[4], r[5]})
	}
	return rows
}

func readJSON(t *testing.T, dir string) (rows [][]string) {
	text, err := os.ReadFile(filepath.Join(dir, "json", "rows.json"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r struct {
			ID, Quantity, Price json.Number
			Sold                string
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, []string{r.ID.String(), r.Quantity.String(), r.Price.String(), r.Sold})
	}
	return rows
}
