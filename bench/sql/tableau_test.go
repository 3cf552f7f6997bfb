package main

import (
	"slices"
	"strings"
	"testing"
)

func TestTableIsReadFromWhatAClientPrints(t *testing.T) {
	const weir = `Flink SQL> [INFO] Execute statement succeeded.

Flink SQL> +----+--------+
| id |   city |
+----+--------+
|  1 |   Oslo |
|  2 | <NULL> |
| 30 | Å | B  |
+----+--------+
3 rows in set (0.02 seconds)

Shutting down the session...
done.
`
	const flink = `Flink SQL> SELECT id,
>   city FROM t+----+------+
| id | city |
+----+------+
|  1 |      |
+----+------+
1 row in set (3.10 seconds)
`
	for _, test := range []struct {
		name, out, err string
		want           [][]string
	}{
		{"behind the prompt, with other letters and a bar in a value", weir, "", [][]string{{"1", "Oslo"}, {"2", "<NULL>"}, {"30", "Å | B"}}},
		{"behind the statement, with an empty text", flink, "", [][]string{{"1", ""}}},
		{"the last of two", weir + flink, "", [][]string{{"1", ""}}},
		{"no rows", "Flink SQL> Empty set (0.01 seconds)\n", "", nil},
		{"refused", "Flink SQL> [ERROR] Could not execute SQL statement. Reason:\nno such\ttable\n", "Could not execute SQL statement. Reason: no such table", nil},
		{"nothing", "Flink SQL> \n", "no table in", nil},
		{"a line that is too short", strings.Replace(flink, "|  1 |      |", "|  1 |   |", 1), "is not as long as its frame", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := readTableau(test.out)
			switch {
			case test.err != "":
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want one with %q", err, test.err)
				}
			case err != nil:
				t.Error(err)
			case !slices.EqualFunc(got.rows, test.want, slices.Equal[[]string]):
				t.Errorf("rows %q, want %q", got.rows, test.want)
			}
		})
	}
}

func TestAnswersAreCompared(t *testing.T) {
	want := answer{rows: [][]string{{"1", "2.50", "0.034435890"}, {"2", "<NULL>", "25.575154611"}}, doubles: []bool{false, false, true}}
	for _, test := range []struct {
		name, differs string
		rows          [][]string
	}{
		{"decimals of a scale stand for doubles", "", [][]string{{"1", "2.50", "0.034436"}, {"2", "<NULL>", "25.575155"}}},
		{"doubles may be added in another order", "", [][]string{{"1", "2.50", "3.44358900001E-2"}, {"2", "<NULL>", "25.575154611"}}},
		{"a decimal that is rounded wrongly", `row 1, column 3 is "0.034435"`, [][]string{{"1", "2.50", "0.034435"}, {"2", "<NULL>", "25.575155"}}},
		{"a decimal is not a double", `row 1, column 2 is "2.5" instead of "2.50"`, [][]string{{"1", "2.5", "0.034436"}, {"2", "<NULL>", "25.575155"}}},
		{"another order", `row 1, column 1 is "2"`, [][]string{{"2", "<NULL>", "25.575155"}, {"1", "2.50", "0.034436"}}},
		{"no NULL", `row 2, column 2 is "0.00"`, [][]string{{"1", "2.50", "0.034436"}, {"2", "0.00", "25.575155"}}},
		{"a row too few", "1 rows instead of 2", [][]string{{"1", "2.50", "0.034436"}}},
		{"a column too few", "row 1 has 2 columns instead of 3", [][]string{{"1", "2.50"}, {"2", "<NULL>"}}},
	} {
		if got := differs(want, answer{rows: test.rows}); !strings.Contains(got, test.differs) || test.differs == "" && got != "" {
			t.Errorf("%s: %q, want %q", test.name, got, test.differs)
		}
	}
}
