package process

import "testing"

func TestProcessorTimeIsReadBehindAnyName(t *testing.T) {
	for _, test := range []struct {
		line string
		want stat
		ok   bool
	}{
		{"7 (weir) S 3 7 7 0 -1 4194560 1 2 3 4 150 50 25 75 20 0 1 0 5", stat{7, 3, 3}, true},
		{"8 (a) b (c) R 7 8 8 0 -1 0 0 0 0 0 1 2 3 4 20", stat{8, 7, 0.1}, true},
		{"8 (short) R 7 8", stat{}, false},
		{"nothing", stat{}, false},
		{"x (y) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", stat{}, false},
	} {
		got, err := readStat([]byte(test.line))
		if (err == nil) != test.ok || got != test.want {
			t.Errorf("%q: %+v, %v", test.line, got, err)
		}
	}
}

func FuzzStat(f *testing.F) {
	f.Add([]byte("7 (weir) S 3 7 7 0 -1 4194560 1 2 3 4 150 50 25 75 20 0 1 0 5"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if s, err := readStat(line); err != nil && s != (stat{}) {
			t.Errorf("%q: %+v with an error", line, s)
		}
	})
}
