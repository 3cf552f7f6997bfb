package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// columns are those of the table that scans read, as Flink declares them.
const columns = "id BIGINT, customer INT, city STRING, quantity INT, price DECIMAL(10, 2), sold DATE, note STRING"

// A row of that table is a function of its number.
type row struct {
	id       int64
	customer int
	city     string
	quantity int
	cents    int64
	day      int // of the year 2024, from 0
	note     string
}

var cities = []string{"Oslo", "Bergen", "Trondheim", "Stavanger", "Kristiansand", "Tromsø", "Ålesund", "Bodø"}

var notes = []string{"leave at the door", "call first, please", "gift", "paid in advance", "as agreed by telephone", "none"}

// days are the texts of the days of 2024.
var days = func() (all [366]string) {
	i := 0
	for month, length := range []int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31} {
		for day := range length {
			all[i] = fmt.Sprintf("2024-%02d-%02d", month+1, day+1)
			i++
		}
	}
	return all
}()

// rowOf mixes the number by Vigna's SplitMix64; no two rows have the same id.
func rowOf(n int64) row {
	z := uint64(n+1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return row{
		id: n ^ 0x5555, customer: int(z % 100_000), city: cities[z>>20%8], quantity: int(z >> 24 % 50), cents: int64(z >> 32 % 100_000),
		day: int(z >> 12 % 366), note: notes[z>>50%6],
	}
}

// csv appends the row as a line of a CSV file.
func (r row) csv(b []byte) []byte {
	b = append(strconv.AppendInt(b, r.id, 10), ',')
	b = append(strconv.AppendInt(b, int64(r.customer), 10), ',')
	b = append(append(b, r.city...), ',')
	b = append(strconv.AppendInt(b, int64(r.quantity), 10), ',')
	b = append(r.price(b), ',')
	b = append(append(b, days[r.day]...), ',')
	if r.note == notes[1] { // it has a comma
		return append(append(append(b, '"'), r.note...), '"', '\n')
	}
	return append(append(b, r.note...), '\n')
}

// json appends the row as a line of a file of JSON objects.
func (r row) json(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"id":`...), r.id, 10)
	b = strconv.AppendInt(append(b, `,"customer":`...), int64(r.customer), 10)
	b = append(append(append(b, `,"city":"`...), r.city...), '"')
	b = strconv.AppendInt(append(b, `,"quantity":`...), int64(r.quantity), 10)
	b = r.price(append(b, `,"price":`...))
	b = append(append(append(b, `,"sold":"`...), days[r.day]...), '"')
	return append(append(append(b, `,"note":"`...), r.note...), '"', '}', '\n')
}

func (r row) price(b []byte) []byte {
	b = append(strconv.AppendInt(b, r.cents/100, 10), '.')
	return append(b, byte('0'+r.cents/10%10), byte('0'+r.cents%10))
}

// filtered is what scans ask for: how many rows, items and how much money of
// large orders in the second half of the year.
const filtered = "SELECT COUNT(*) AS n, SUM(quantity) AS items, SUM(price) AS money FROM %s WHERE quantity > 25 AND sold >= DATE '2024-07-01';\n"

// totals are what of the first rows is known without reading them.
type totals struct {
	rows, items            int64
	filtered, sold, income int64 // rows, items and cents of the filter above
}

func totalsOf(rows int64) totals {
	var t totals
	for n := range rows {
		r := rowOf(n)
		t.rows++
		t.items += int64(r.quantity)
		if r.quantity > 25 && days[r.day] >= "2024-07-01" {
			t.filtered++
			t.sold += int64(r.quantity)
			t.income += r.cents
		}
	}
	return t
}

// answer is the one to the query filtered.
func (t totals) answer() answer {
	return answer{rows: [][]string{{strconv.FormatInt(t.filtered, 10), strconv.FormatInt(t.sold, 10), fmt.Sprintf("%d.%02d", t.income/100, t.income%100)}}}
}

// generated is what there is of the table in one format.
type generated struct {
	Rows, Bytes int64
}

// generate writes at least so many bytes of rows into DIR/FORMAT/rows.FORMAT,
// unless they are there.
func generate(dir, format string, size int64, line func(row, []byte) []byte, log io.Writer) (g generated, err error) {
	complete := filepath.Join(dir, format+".complete")
	if text, err := os.ReadFile(complete); err == nil && json.Unmarshal(text, &g) == nil {
		return g, nil
	}
	fmt.Fprintf(log, "generating %d MB of %s in %s\n", size/1e6, format, dir)
	if err := os.MkdirAll(filepath.Join(dir, format), 0o755); err != nil {
		return g, err
	}
	f, err := os.Create(filepath.Join(dir, format, "rows."+format))
	if err != nil {
		return g, err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	var text []byte
	for ; g.Bytes < size; g.Rows++ {
		text = line(rowOf(g.Rows), text[:0])
		g.Bytes += int64(len(text))
		if _, err = out.Write(text); err != nil {
			break
		}
	}
	if err = errors.Join(err, out.Flush(), f.Close()); err != nil {
		return g, fmt.Errorf("generate %s: %w", format, err)
	}
	if text, err = json.Marshal(g); err != nil {
		return g, err
	}
	return g, os.WriteFile(complete, text, 0o644)
}
