package figure

import (
	"errors"
	"strings"
	"testing"
)

func TestSummaryIsTheMedianWithItsSpread(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   string
	}{
		{[]float64{3}, "3.00 [3.00..3.00]"},
		{[]float64{30, 10, 20}, "20.0 [10.0..30.0]"},
		{[]float64{1, 200, 2, 4}, "3.00 [1.00..200]"},
		{[]float64{0, 0.00001234, 0.5}, "1.2e-05 [0..0.500]"},
	} {
		if got := Summarize(test.values).String(); got != test.want {
			t.Errorf("%v: %s, want %s", test.values, got, test.want)
		}
	}
	if got := Summarize(nil); got != (Summary{}) {
		t.Errorf("nothing: %v", got)
	}
}

func TestTableNamesWhatIsMissedOrNotMeasured(t *testing.T) {
	figures := []Figure{
		{Name: "fast", Key: "fast", Unit: "M/s", Limit: 5},
		{Name: "slow", Key: "slow", Unit: "ms", Limit: 2.5, AtMost: true, Missed: "it waits"},
		{Name: "gone", Key: "gone", Unit: "ms", Limit: 1, AtMost: true},
		{Name: "shown", Key: "shown", Unit: "s"},
		{Name: "late", Key: "late", Unit: "ms", Limit: 2.5, AtMost: true, Wall: true},
	}
	values := Values{}
	values.Add("fast", 5)
	values.Add("slow", 2)
	values.Add("slow", 3)
	values.Add("slow", 4)
	values.Add("shown", 7)
	values.Add("late", 2)
	values.Add("late", 5)
	got := Table(figures, values, map[string]error{"gone": errors.New("no\nsuch thing")}, 1.25)
	for _, want := range []string{
		"| fast | ≥ 5 M/s | 5.00 [5.00..5.00] | 1 | yes |\n",
		"| slow | ≤ 2.5 ms | 3.00 [2.00..4.00] | 3 | **no** |\n",
		"| gone | ≤ 1 ms | not measured | 0 | |\n",
		"| shown | – | 7.00 [7.00..7.00] s | 1 | |\n",
		"* Missed: slow: 3.00 ms instead of ≤ 2.5 ms: it waits.\n",
		"* Missed: late: 3.50 ms instead of ≤ 2.5 ms: other programs used 1.2 cores meanwhile, and the least, 2.00 ms, meets it.\n",
		"* Not measured: gone: no such thing.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no line %q in\n%s", want, got)
		}
	}
}

func TestEveryFigureHasAKeyOfItsOwn(t *testing.T) {
	for _, table := range [][]Figure{All, Failover, State} {
		seen := map[string]bool{}
		for _, f := range table {
			if f.Key == "" || f.Name == "" || f.Unit == "" || seen[f.Key] {
				t.Errorf("figure %q: key %q, unit %q", f.Name, f.Key, f.Unit)
			}
			seen[f.Key] = true
		}
	}
}
