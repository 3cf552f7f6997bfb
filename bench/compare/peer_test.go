package main

import (
	"strings"
	"testing"
)

const rowsText = "JobManager ready, s\tshipped; n=1\t3.10\t3.00\t3.20\nTM CPU, s\tBATCH \"p\"=2; n=1\t19.00\t19.00\t19.00\n"

func TestRowsAreReadByName(t *testing.T) {
	rows, err := readRows([]byte(rowsText))
	if err != nil || rows["JobManager ready, s"] != 3.1 || rows["TM CPU, s"] != 19 {
		t.Fatalf("%v, %v", rows, err)
	}
	l := line{row: "JobManager ready, s", sum: "TM CPU, s", scale: 10}
	if v, err := l.of(rows); err != nil || v != 221 {
		t.Errorf("sum of two rows: %v, %v", v, err)
	}
	l.sum = "no such row"
	if _, err := l.of(rows); err == nil || !strings.Contains(err.Error(), "no such row") {
		t.Errorf("a row that is missing: %v", err)
	}
}

func TestMissingHarnessIsNamed(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	_, err := openPeer(t.Context(), dir, t.Output())
	for _, want := range []string{dir + ": setup.sh is missing", "Java 17 is not installed", "Maven is not installed"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func TestRatioSaysHowMuchBetterWeirIs(t *testing.T) {
	p := pair{lines: []line{{name: "time", unit: "s", less: true}, {name: "rate", unit: "M/s"}}}
	got := p.rows(sides{flink: [][]float64{{20, 30}, {10, 10}}, weir: [][]float64{{2, 1}, {50, 70}}})
	want := "| time | s | 25.0 [20.0..30.0] | 1.50 [1.00..2.00] | × 20.0 [10.0..30.0] |\n" +
		"| rate | M/s | 10.0 [10.0..10.0] | 60.0 [50.0..70.0] | × 6.00 [5.00..7.00] |\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func FuzzRows(f *testing.F) {
	f.Add([]byte(rowsText))
	f.Fuzz(func(t *testing.T, text []byte) {
		if rows, err := readRows(text); err != nil && rows != nil {
			t.Errorf("%q: rows with an error", text)
		}
	})
}
