package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// differs says how an answer differs from the one that is wanted; empty: it does
// not. Rows are in order, for all queries of TPC-H have one. Texts, whole numbers
// and decimals are the same to the last digit. Where the wanted column is a
// binary floating-point number, as DuckDB's averages and quotients are, a decimal
// of Flink's type is right if it is that number rounded to its scale. Blanks around
// a text do not count, because a table shows none.
func differs(want, got answer) string {
	if len(want.rows) != len(got.rows) {
		return fmt.Sprintf("%d rows instead of %d", len(got.rows), len(want.rows))
	}
	for i, row := range want.rows {
		if len(row) != len(got.rows[i]) {
			return fmt.Sprintf("row %d has %d columns instead of %d", i+1, len(got.rows[i]), len(row))
		}
		for j, cell := range row {
			double := j < len(want.doubles) && want.doubles[j]
			if !same(strings.TrimSpace(cell), strings.TrimSpace(got.rows[i][j]), double) {
				return fmt.Sprintf("row %d, column %d is %q instead of %q", i+1, j+1, got.rows[i][j], cell)
			}
		}
	}
	return ""
}

// relative is by how much sums of floating-point numbers may differ that were
// added in another order.
const relative = 1e-9

func same(want, got string, double bool) bool {
	if want == got || !double {
		return want == got
	}
	w, err := strconv.ParseFloat(want, 64)
	g, err2 := strconv.ParseFloat(got, 64)
	if err != nil || err2 != nil {
		return false
	}
	tolerance := relative * math.Abs(w)
	if _, fraction, decimal := strings.Cut(got, "."); decimal && !strings.ContainsAny(got, "eE") {
		tolerance += 0.5 * math.Pow10(-len(fraction))
	}
	return math.Abs(w-g) <= tolerance
}
